@extends('layouts.page')

@section('content')
    <h1>Laravel, <em>kept warm</em>.</h1>
    <p>
        @if ($requests > 1)
            This PHP process has booted Laravel once and has answered {{ $requests }} requests since. Reload, and see the counters move.
        @else
            This is the first request of this PHP process. Reload: in a persistent worker the next one finds Laravel booted.
        @endif
    </p>

    <div class="grid">
        <div class="card"><b>{{ number_format($milliseconds, 1) }} ms</b><span>from request to this line</span></div>
        <div class="card"><b>{{ getmypid() }}</b><span>process id of the worker</span></div>
        <div class="card"><b>{{ $requests }}</b><span>requests of this process</span></div>
        <div class="card"><b>{{ $visits }}</b><span>your visits (session)</span></div>
        <div class="card"><b>{{ PHP_VERSION }}</b><span>PHP, SAPI {{ PHP_SAPI }}</span></div>
        <div class="card"><b>{{ app()->version() }}</b><span>Laravel</span></div>
    </div>

    <h2>One query to SQLite</h2>
    <div class="grid articles">
        @foreach ($articles as $article)
            <div class="card"><b>{{ $article->title }}</b><span>{{ $article->body }}</span></div>
        @endforeach
    </div>

    @foreach ([
        'Answers' => ['/hello', '/json', '/bench', '/stream?lines=5&ms=400', '/generator?ms=400', '/download?kb=100', '/big?mb=1'],
        'State stays where it belongs' => ['/login?user=1', '/login?user=2', '/me', '/logout', '/cookies', '/locale?set=de', '/locale', '/leak?who=me', '/counter'],
        'Trouble' => ['/exception', '/abort/404', '/fatal', '/oom', '/exit?text=goodbye', '/dd?a=1', '/dump?a=1', '/echo', '/echo-outside', '/slow?ms=1000'],
        'Log lines' => ['/log?text=hello', '/terminate?ms=500'],
    ] as $heading => $links)
        <h2>{{ $heading }}</h2>
        <div class="links">@foreach ($links as $link)<a href="{{ url($link) }}">{{ $link }}</a>@endforeach</div>
    @endforeach
@endsection
