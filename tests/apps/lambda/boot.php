<?php

declare(strict_types=1);

// Says that it boots, and does so for ever.

fwrite(STDERR, "booting\n");
while (true) {
    sleep(1);
}
