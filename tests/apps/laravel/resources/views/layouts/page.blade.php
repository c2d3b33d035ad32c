<!doctype html>
<html lang="{{ str_replace('_', '-', app()->getLocale()) }}">
<head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>@yield('title', config('app.name'))</title>
    <style>
        :root { color-scheme: light dark; --ink: #1c2430; --paper: #f6f7f9; --card: #fff; --line: #dfe3e8; --accent: #c2410c; --soft: #5b6675 }
        @media (prefers-color-scheme: dark) { :root { --ink: #e7eaee; --paper: #12161c; --card: #1b212a; --line: #2c3541; --accent: #fb923c; --soft: #9aa6b5 } }
        * { box-sizing: border-box }
        body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif }
        main { max-width: 60rem; margin: 0 auto; padding: 3rem 1.25rem }
        h1 { margin: 0; font-size: 2.4rem; letter-spacing: -.02em } h1 em { color: var(--accent); font-style: normal }
        h2 { margin: 2.5rem 0 .75rem; font-size: 1rem; color: var(--soft); font-weight: 600 }
        .grid { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)) }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1rem }
        .card b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums } .card span { color: var(--soft); font-size: .85rem }
        .articles { grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)) } .articles b { font-size: 1rem }
        .links a { display: inline-block; margin: 0 .4rem .4rem 0; padding: .2rem .6rem; border: 1px solid var(--line); border-radius: 1rem;
            color: inherit; text-decoration: none; font: .85rem ui-monospace, monospace } .links a:hover { border-color: var(--accent) }
    </style>
</head>
<body>
<main>
    @yield('content')
</main>
</body>
</html>
