<?php

return ['greeting' => 'Guten Tag'];
