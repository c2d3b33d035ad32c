<?php

/* Rival (b): a PHP loop that makes PHP's variables of each event and calls the handler in its own process: `php loop.php hello|laravel`. */

declare(strict_types=1);

require __DIR__ . '/events.php';

function hello(): Closure
{
    return static fn (): array => [200, ['content-type' => ['text/plain']], 'Hello world'];
}

/** As an Octane-like host that forgets as little as it can. */
function laravel(string $path): Closure
{
    require "$path/vendor/autoload.php";
    $app = require "$path/bootstrap/app.php";
    if (!is_writable("$path/storage")) {
        require_once dirname(__DIR__, 3) . '/php-client/autoload.php';
        Cetane\Laravel\Lambda\Sandbox::prepare($app);
    }
    $app->beforeBootstrapping(
        Illuminate\Foundation\Bootstrap\RegisterProviders::class,
        static fn ($app) => (new Illuminate\Foundation\Bootstrap\SetRequestForConsole())->bootstrap($app),
    );
    $kernel = $app->make(Illuminate\Contracts\Http\Kernel::class);
    $kernel->bootstrap();

    return static function (string $body) use ($app, $kernel): array {
        $request = Illuminate\Http\Request::createFromBase(
            new Symfony\Component\HttpFoundation\Request($_GET, $_POST, [], $_COOKIE, $_FILES, $_SERVER, $body),
        );
        $response = $kernel->handle($request);
        $answer = [$response->getStatusCode(), array_map(static fn (array $values): array => array_map('strval', $values), $response->headers->all()), (string) $response->getContent()];
        $kernel->terminate($request, $response);
        $app->make('session')->forgetDrivers();
        $app->make('auth')->forgetGuards();
        $app->forgetInstance('session.store');
        $app->make('view')->flushState();

        return $answer;
    };
}

$script = $argv[1] === 'laravel' ? $argv[2] . '/public/index.php' : __FILE__;
$handler = $argv[1] === 'laravel' ? laravel($argv[2]) : hello();
$events = new Events();
while (true) {
    [$id, $event] = $events->next();
    $_SERVER = Events::server($event, $script);
    parse_str($_SERVER['QUERY_STRING'], $_GET);
    $_COOKIE = $_POST = $_FILES = [];
    foreach (explode('; ', $_SERVER['HTTP_COOKIE'] ?? '') as $cookie) {
        [$name, $value] = explode('=', $cookie, 2) + [1 => ''];
        $name === '' || $_COOKIE[$name] = urldecode($value);
    }
    $body = Events::body($event);
    if (str_starts_with($_SERVER['CONTENT_TYPE'] ?? '', 'application/x-www-form-urlencoded')) {
        parse_str($body, $_POST);
    }
    $events->answer($id, ...$handler($body));
}
