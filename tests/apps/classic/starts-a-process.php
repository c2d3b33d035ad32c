<?php

set_time_limit(0);
passthru('sleep 3600');
