<?php

set_time_limit(0);
echo 'waiting';
ob_end_flush();
flush();
while (true) {
    usleep(1000);
}
