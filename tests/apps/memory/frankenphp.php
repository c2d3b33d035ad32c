<?php

require_once __DIR__ . '/serve.php';

do {
    $running = frankenphp_handle_request(memory_serve(...));
} while ($running);
