<?php

$megabyte = str_repeat('x', 1 << 20);
for ($i = 0; $i < (int) $_GET['mb']; $i++) {
    echo $megabyte;
}
