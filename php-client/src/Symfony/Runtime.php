<?php

declare(strict_types=1);

namespace Cetane\Symfony;

use Cetane\Worker;
use Symfony\Component\HttpKernel\HttpKernelInterface;
use Symfony\Component\Runtime\Runner\ClosureRunner;
use Symfony\Component\Runtime\RunnerInterface;
use Symfony\Component\Runtime\SymfonyRuntime;

/**
 * For applications that use symfony/runtime: `APP_RUNTIME=Cetane\Symfony\Runtime` in the environment makes `public/index.php` a worker script.
 * Outside a worker, as for `bin/console`, it is Symfony's own runtime.
 *
 * Option `kernel_reboot`: `never` (the default) or `always`, see {@see HttpKernelRunner}. It is taken from the runtime's options, or from
 * APP_KERNEL_REBOOT in the environment.
 */
final class Runtime extends SymfonyRuntime
{
    private readonly bool $reboot;

    /** @param array<string, mixed> $options */
    public function __construct(array $options = [])
    {
        $reboot = $options['kernel_reboot'] ?? $_SERVER['APP_KERNEL_REBOOT'] ?? 'never';
        if ($reboot !== 'never' && $reboot !== 'always') {
            throw new \InvalidArgumentException('kernel_reboot is ' . \json_encode($reboot) . ', it must be never or always.');
        }
        $this->reboot = $reboot === 'always';
        parent::__construct($options);
    }

    public function getRunner(?object $application): RunnerInterface
    {
        if ($application instanceof HttpKernelInterface && (Worker::current() !== null || \getenv('CETANE_IN') !== false)) {
            return new ClosureRunner((new HttpKernelRunner($application, $this->reboot))->run(...));
        }

        return parent::getRunner($application);
    }
}
