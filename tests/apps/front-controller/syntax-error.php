<?php

$this is no PHP
