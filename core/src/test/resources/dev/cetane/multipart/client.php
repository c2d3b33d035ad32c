<?php

/* What the PHP client makes of forms that the supervisor has read: each comes as its length, "file" or "form", and the body field. */

declare(strict_types=1);

require __DIR__ . '/dump.php';
require $argv[1] . '/autoload.php';

while (($head = fread(STDIN, 8)) !== '' && $head !== false) {
    ['length' => $length, 'kind' => $kind] = unpack('Nlength/a4kind', $head);
    $body = '';
    while (strlen($body) < $length) {
        $body .= fread(STDIN, $length - strlen($body));
    }
    $form = Cetane\Form::decode($body, $kind === 'file');
    echo dump_form($form->variables(), $form->files());
}
