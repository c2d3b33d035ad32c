<?php

declare(strict_types=1);

namespace Cetane\Tests\Symfony\Application;

use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Bundle\FrameworkBundle\Kernel\MicroKernelTrait;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpKernel\Kernel as SymfonyKernel;
use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

/** A small application with Symfony's own framework, routing and sessions. */
final class Kernel extends SymfonyKernel
{
    use MicroKernelTrait;

    public function registerBundles(): iterable
    {
        yield new FrameworkBundle();
    }

    public function getProjectDir(): string
    {
        return __DIR__;
    }

    public function getCacheDir(): string
    {
        return $_SERVER['APP_STORAGE'] . '/cache';
    }

    public function getLogDir(): string
    {
        return $_SERVER['APP_STORAGE'];
    }

    private function configureContainer(ContainerConfigurator $container): void
    {
        $container->extension('framework', [
            'secret' => 'secret',
            'http_method_override' => false,
            'session' => ['storage_factory_id' => 'session.storage.factory.native', 'handler_id' => null, 'save_path' => '%kernel.logs_dir%'],
            'router' => ['utf8' => true],
        ]);
        $services = $container->services();
        $services->set(Counter::class)->tag('kernel.reset', ['method' => 'reset']);
        $services->set(Controller::class)->public()->autowire()->tag('controller.service_arguments');
        $services->set(Terminated::class)->tag('kernel.event_listener', ['event' => 'kernel.terminate', 'method' => 'say']);
        if (isset($_SERVER['APP_BROKEN'])) {
            throw new \RuntimeException('the boot is broken');
        }
    }

    private function configureRoutes(RoutingConfigurator $routes): void
    {
        foreach (\get_class_methods(Controller::class) as $method) {
            if (!\str_starts_with($method, '__')) {
                $routes->add($method, "/$method")->controller([Controller::class, $method]);
            }
        }
    }
}
