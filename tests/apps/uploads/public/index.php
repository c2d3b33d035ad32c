<?php

/* A front controller that takes uploads; the query says what becomes of them. */

header('Content-Type: application/json');
$paths = array_filter(array_column($_FILES, 'tmp_name'), static fn (string $path): bool => $path !== '');
switch ($_GET['do'] ?? '') {
    case 'keep':
        echo json_encode(move_uploaded_file($_FILES['f']['tmp_name'], $_GET['to']));
        break;
    case 'crash':
        posix_kill(getmypid(), SIGKILL);
        break;
    case 'hang':
        sleep(600);
        break;
    case 'exit':
        exit(json_encode(count($paths)));
    case 'throw':
        throw new RuntimeException('no uploads today');
    default:
        echo json_encode([
            'post' => $_POST,
            'input' => file_get_contents('php://input'),
            'files' => array_map(static fn (array $file): array => [
                $file['error'],
                $file['size'],
                $file['error'] === 0 ? sha1_file($file['tmp_name']) : null,
                is_uploaded_file($file['tmp_name']),
            ], $_FILES),
        ]);
}
