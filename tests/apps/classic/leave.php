<?php

/* What a script is that goes on when its client has left: it writes down when it is done. */

ignore_user_abort(true);
file_put_contents($_GET['file'] . '.begun', (string) getmypid());
while (!file_exists($_GET['file'] . '.go')) {
    usleep(1000);
    clearstatcache();
}
file_put_contents($_GET['file'], connection_aborted() ? 'aborted' : 'not aborted');
