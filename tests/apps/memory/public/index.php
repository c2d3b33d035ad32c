<?php

require_once __DIR__ . '/../serve.php';

memory_serve();
