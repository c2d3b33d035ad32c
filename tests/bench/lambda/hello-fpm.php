<?php

/* Hello world as php-fpm runs it. */

header('Content-Type: text/plain');
echo 'Hello world';
