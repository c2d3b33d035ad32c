<?php

http_response_code(418);
header('X-Said: before');
die('last words');
