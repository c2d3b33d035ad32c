<?php

/*
 * The front controller of the oracle: ?case=NAME runs the script of a case, which the test has written into the include path,
 * ?state shows what a request finds of those before it, and everything else shows what PHP has made of the request.
 */

require_once __DIR__ . '/../dump.php';

if (isset($_GET['case']) && is_string($_GET['case'])) {
    include $_GET['case'] . '.php';

    return;
}
header('Content-Type: application/json');
echo isset($_GET['state']) ? oracle_state() : oracle_request();
