<?php

ini_set('memory_limit', '8M');
$hole = str_repeat('x', 100_000_000);
