<?php

throw new LogicException('it broke');
