<?php

declare(strict_types=1);

namespace Cetane\Tests\Laravel;

use Illuminate\Database\Eloquent\Model;

/**
 * A model that listens to its own events.
 */
final class Book extends Model
{
    public $timestamps = false;

    protected static function booted(): void
    {
        self::creating(static function (self $book): void {
            $book->title = $book->title === null ? 'set by a listener' : 'set twice';
        });
    }
}
