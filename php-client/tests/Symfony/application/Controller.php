<?php

declare(strict_types=1);

namespace Cetane\Tests\Symfony\Application;

use Symfony\Component\HttpFoundation\BinaryFileResponse;
use Symfony\Component\HttpFoundation\Cookie;
use Symfony\Component\HttpFoundation\File\UploadedFile;
use Symfony\Component\HttpFoundation\JsonResponse;
use Symfony\Component\HttpFoundation\RedirectResponse;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpFoundation\StreamedResponse;
use Symfony\Component\HttpKernel\Exception\NotFoundHttpException;

/** Each method is a page of its name. */
final class Controller
{
    public function __construct(private readonly Counter $counter)
    {
    }

    public function request(Request $request): Response
    {
        return new JsonResponse([
            'method' => $request->getMethod(),
            'query' => $request->query->all(),
            'form' => $request->request->all(),
            'cookies' => $request->cookies->all(),
            'content' => $request->getContent(),
            'uri' => $request->getUri(),
            'base' => $request->getBaseUrl(),
            'user' => [$request->getUser(), $request->getPassword()],
            'env' => $request->server->get('APP_ENV'),
            'mode' => $request->server->get('APP_RUNTIME_MODE'),
            'files' => \array_map(static fn (UploadedFile $file): array => [
                $file->getClientOriginalName(),
                $file->isValid(),
                $file->getContent(),
                $file->move(\dirname($file->getPathname()), 'moved')->getBasename(),
            ], $request->files->all()),
        ]);
    }

    public function count(): Response
    {
        return new Response((string) ++$this->counter->value);
    }

    public function head(): Response
    {
        $response = new Response('made', 201, ['X-Many' => ['a', 'b']]);
        $response->headers->setCookie(Cookie::create('name', 'value'));

        return $response->setStatusCode(201, 'Made Here');
    }

    public function redirect(): Response
    {
        return new RedirectResponse('/count');
    }

    public function missing(): Response
    {
        throw new NotFoundHttpException('nothing here');
    }

    public function session(Request $request): Response
    {
        $session = $request->getSession();
        $session->set('n', $session->get('n', 0) + 1);

        return new Response($session->get('n') . ' ' . $session->getId());
    }

    public function open(): Response
    {
        \session_start();
        $_SESSION['leak'] = 1;

        return new Response(\session_id());
    }

    public function sessionless(): Response
    {
        return new Response(\json_encode([\session_id(), $_SESSION ?? null]));
    }

    public function stream(): Response
    {
        return new StreamedResponse(static function (): void {
            echo 'one';
            \flush();
            echo 'two';
        });
    }

    public function brokenStream(): Response
    {
        return new StreamedResponse(static function (): void {
            echo 'one';
            \flush();
            throw new \RuntimeException('broken stream');
        });
    }

    public function file(Request $request): Response
    {
        return new BinaryFileResponse($request->query->get('path'));
    }

    public function temporary(Request $request): Response
    {
        return (new BinaryFileResponse($request->query->get('path')))->deleteFileAfterSend();
    }

    public function quit(): never
    {
        echo 'bye';
        exit(3);
    }
}
