@extends('layouts.page')

@section('title', 'Articles')

@section('content')
    <h1>Articles</h1>
    <p>Visit {{ $visits }}, {{ trans_choice('{1} one article|[2,*] :count articles', count($articles)) }}.</p>
    <div class="grid articles">
        @forelse ($articles as $article)
            <div class="card"><b>{{ $article->title }}</b><span>{{ $article->body }}</span></div>
        @empty
            <p>There are none.</p>
        @endforelse
    </div>
@endsection
