<?php

/* Counts in the memory that all children share: how often the opcode cache has found this file. */

header('Content-Type: text/plain');
echo getmypid(), ' ', opcache_get_status()['scripts'][__FILE__]['hits'] ?? 'not cached';
