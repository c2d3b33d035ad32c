<?php

set_time_limit(0);
while (true) {
    // Not sleep(): that ends with the first signal.
}
