<?php

declare(strict_types=1);

namespace App\Http\Controllers;

use App\Support\ProcessCounter;
use App\Support\RequestHolder;
use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Cookie;

/**
 * State that belongs to one request, to one visitor or to the process: each answer says what is there, so that a test can see a leak.
 */
final class StateController
{
    public function counter(): JsonResponse
    {
        return response()->json(['pid' => getmypid(), 'requests' => ProcessCounter::current()]);
    }

    public function cookies(Request $request): JsonResponse
    {
        Cookie::queue('queued-one', $request->query('value', 'first'), 10);
        Cookie::queue('queued-two', 'second value; with = signs', 20);

        return response()
            ->json(['received' => $request->cookies->all()])
            ->cookie('direct', 'third', 30, '/', null, false, true, false, 'strict')
            ->withoutCookie('gone');
    }

    /**
     * `?set=` changes the locale and the configuration for this request.
     */
    public function locale(Request $request): JsonResponse
    {
        if (is_string($set = $request->query('set'))) {
            app()->setLocale($set);
            config(['app.name' => "Cetane in $set", 'demo.added' => $set]);
            date_default_timezone_set('Europe/Berlin');
        }

        return response()->json([
            'locale' => app()->getLocale(),
            'greeting' => __('demo.greeting'),
            'name' => config('app.name'),
            'added' => config('demo.added'),
            'timezone' => date_default_timezone_get(),
        ]);
    }

    public function leak(Request $request, RequestHolder $holder): JsonResponse
    {
        return response()->json([
            'given' => $request->query(),
            'held' => $holder->request->query(),
            'helper' => request()->query(),
            'url' => url()->full(),
        ]);
    }
}
