<?php

declare(strict_types=1);

namespace App\Http\Controllers;

use App\Models\Article;
use App\Support\ProcessCounter;
use Illuminate\Contracts\View\View;
use Illuminate\Http\Request;

/**
 * The two pages with a view, a session and one query.
 */
final class PageController
{
    public function home(Request $request): View
    {
        $visits = $request->session()->increment('visits');

        return view('home', [
            'articles' => Article::query()->orderBy('id')->get(),
            'visits' => $visits,
            'requests' => ProcessCounter::current(),
            'milliseconds' => 1000 * (microtime(true) - (float) $request->server('REQUEST_TIME_FLOAT')),
        ]);
    }

    /**
     * The page of the benchmarks. It shows nothing that differs between servers, so that their answers can be compared.
     */
    public function bench(Request $request): View
    {
        return view('bench', [
            'articles' => Article::query()->orderBy('id')->get(),
            'visits' => $request->session()->increment('visits'),
        ]);
    }
}
