<?php

set_time_limit(0);
while (true) {
    echo str_repeat('x', 8192);
}
