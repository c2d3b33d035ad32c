<?php

/*
 * A front controller that gives tasks away and shares a table, see SharingTest.
 */

declare(strict_types=1);

use Cetane\SharedTable;
use Cetane\Tasks;

require_once dirname(__DIR__) . '/library.php';

header('Content-Type: application/json');
$visits = SharedTable::open('visits', 10, ['n' => 'int']);
echo json_encode(['pid' => getmypid(), 'visits' => $visits->increment('all', 'n'), 'results' => Tasks::resolve(['who' => 'whoAmI', 'greeting' => new Greeting('you')])]);
