<?php

header('Status: 99 odd');
echo 'x';
