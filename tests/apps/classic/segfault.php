<?php

posix_kill(getmypid(), SIGSEGV);
