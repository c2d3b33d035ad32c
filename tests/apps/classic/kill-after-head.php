<?php

echo str_repeat('x', 100);
ob_end_flush();
flush();
posix_kill(getmypid(), SIGKILL);
