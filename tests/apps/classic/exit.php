<?php

echo 'left';
exit(3);
