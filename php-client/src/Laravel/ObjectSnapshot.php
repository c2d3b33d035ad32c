<?php

declare(strict_types=1);

namespace Cetane\Laravel;

use Closure;
use ReflectionClass;

/**
 * The properties of one object as they were when the snapshot was taken, whatever their visibility, and the way back to them.
 *
 * The copy is shallow: an array is restored whole, an object that a property refers to comes back as the same object with the state it
 * has by then. Static and readonly properties, and those declared by PHP's own classes, are left alone.
 *
 * @internal
 */
final class ObjectSnapshot
{
    /**
     * The restoring function of each class that declares properties, bound to it so that private ones are in reach.
     *
     * @var array<class-string, Closure(object, array<string, mixed>, list<string>): void>
     */
    private static array $restorers = [];

    /** @var list<array{Closure(object, array<string, mixed>, list<string>): void, array<string, mixed>, list<string>}> */
    private array $layers = [];

    /**
     * @param list<string> $kept names of the properties that keep their value when the others are restored
     */
    public function __construct(private readonly object $object, array $kept = [])
    {
        for ($class = new ReflectionClass($object); $class && $class->isUserDefined(); $class = $class->getParentClass()) {
            $values = [];
            $uninitialized = [];
            foreach ($class->getProperties() as $property) {
                $name = $property->getName();
                if (
                    $property->getDeclaringClass()->getName() !== $class->getName()
                    || $property->isStatic()
                    || $property->isReadOnly()
                    || (PHP_VERSION_ID >= 80400 && $property->isVirtual())
                    || in_array($name, $kept, true)
                ) {
                    continue;
                }
                if ($property->isInitialized($object)) {
                    $values[$name] = $property->getValue($object);
                } else {
                    $uninitialized[] = $name;
                }
            }
            if ($values !== [] || $uninitialized !== []) {
                $this->layers[] = [self::restorer($class->getName()), $values, $uninitialized];
            }
        }
    }

    public function restore(): void
    {
        foreach ($this->layers as [$restore, $values, $uninitialized]) {
            $restore($this->object, $values, $uninitialized);
        }
    }

    /**
     * @param class-string $class
     *
     * @return Closure(object, array<string, mixed>, list<string>): void
     */
    private static function restorer(string $class): Closure
    {
        return self::$restorers[$class] ??= Closure::bind(
            static function (object $object, array $values, array $uninitialized): void {
                foreach ($values as $name => $value) {
                    $object->$name = $value;
                }
                foreach ($uninitialized as $name) {
                    unset($object->$name);
                }
            },
            null,
            $class
        );
    }
}
