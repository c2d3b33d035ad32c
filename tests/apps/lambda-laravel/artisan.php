<?php

/* Artisan commands as a function. */

declare(strict_types=1);

Cetane\Lambda\Handler::run(new Cetane\Laravel\Lambda\ArtisanHandler(__DIR__));
