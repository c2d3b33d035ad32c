<?php

trigger_error('a warning', E_USER_WARNING);
error_log('a line of its own');
echo 'fine';
