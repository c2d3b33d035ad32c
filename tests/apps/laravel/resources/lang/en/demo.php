<?php

return ['greeting' => 'Hello'];
