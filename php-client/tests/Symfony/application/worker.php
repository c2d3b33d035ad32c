<?php

/* The public/index.php and vendor/autoload_runtime.php of a Symfony application, in one. */

declare(strict_types=1);

require_once 'Symfony/Bundle/FrameworkBundle/autoload.php';
require_once 'Symfony/Component/Runtime/autoload.php';

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Cetane\\Tests\\Symfony\\Application\\')) {
        require __DIR__ . '/' . substr($class, 33) . '.php';
    }
});

$application = static fn (array $context): object => new Cetane\Tests\Symfony\Application\Kernel($context['APP_ENV'], (bool) $context['APP_DEBUG']);
$runtime = new ($_SERVER['APP_RUNTIME'])(['disable_dotenv' => true, 'project_dir' => __DIR__]);
[$application, $arguments] = $runtime->getResolver($application)->resolve();

exit($runtime->getRunner($application(...$arguments))->run());
