<?php

declare(strict_types=1);

require_once dirname(__DIR__, 5) . '/tests/apps/laravel/vendor/autoload.php';
