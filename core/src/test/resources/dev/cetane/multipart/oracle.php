<?php

/* What PHP itself makes of a request. */

declare(strict_types=1);

require __DIR__ . '/dump.php';

echo dump_form($_POST, $_FILES);
