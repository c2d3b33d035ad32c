<?php echo "ran";
