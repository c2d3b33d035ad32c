<?php

/* Opens the FIFOs and neither reads nor writes. */

declare(strict_types=1);

require __DIR__ . '/raw.php';

$in = fopen(getenv('CETANE_IN'), 'rbe');
$out = fopen(getenv('CETANE_OUT'), 'wbe');
while (true) {
    sleep(3600);
}
