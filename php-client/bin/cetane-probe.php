<?php

/*
 * Tells the supervisor which child of php-cgi serves a connection, and which PHP that is: the first request on each connection of a classic
 * application. Nobody else can ask for it, since it lies in no document root.
 */

declare(strict_types=1);

echo "\ncetane-probe\n", 'pid=', getmypid(), "\nphp=", PHP_VERSION, "\nsapi=", PHP_SAPI, "\nclient=FastCGI\n";
