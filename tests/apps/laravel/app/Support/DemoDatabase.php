<?php

declare(strict_types=1);

namespace App\Support;

use PDO;
use RuntimeException;

/**
 * The SQLite file behind the demo, made on first use.
 */
final class DemoDatabase
{
    private const ARTICLES = [
        ['Keep the engine warm', 'Laravel boots once per process. The next request finds routes, configuration and connections where it left them.'],
        ['One request at a time', 'A worker answers one request, cleans up, and takes the next. Nothing of a visitor stays behind.'],
        ['Crashes are normal', 'A worker that dies costs the request it was serving. Another one is there before you look.'],
        ['Time is money', 'Each millisecond of a request is accounted for: waiting, PHP, transfer, clean-up.'],
        ['Nothing to install', 'No PHP extension, no second web server, no message broker. A JVM and the PHP you have.'],
    ];

    /**
     * Makes the database at $path unless it is there. Workers may race: each builds a file of its own, the first to link it into place wins.
     */
    public static function ensure(string $path): void
    {
        if (is_file($path)) {
            return;
        }
        $draft = tempnam(dirname($path), 'draft');
        if ($draft === false) {
            throw new RuntimeException('No database could be made in ' . dirname($path) . '. Is it writable?');
        }
        try {
            self::fill(new PDO('sqlite:' . $draft, null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]));
            if (!@link($draft, $path) && !is_file($path)) {
                throw new RuntimeException("The database could not be put at $path.");
            }
        } finally {
            unlink($draft);
        }
    }

    private static function fill(PDO $database): void
    {
        $database->exec('CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, remember_token TEXT)');
        $database->exec("INSERT INTO users (id, name) VALUES (1, 'Ada'), (2, 'Grace')");
        $database->exec('CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL)');
        $insert = $database->prepare('INSERT INTO articles (title, body) VALUES (?, ?)');
        foreach (self::ARTICLES as $article) {
            $insert->execute($article);
        }
    }
}
