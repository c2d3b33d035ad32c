<?php

declare(strict_types=1);

namespace App\Http\Controllers;

use Illuminate\Http\JsonResponse;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Auth;

/**
 * Session authentication. The constructor keeps the request, as controllers in the wild do.
 */
final class AccountController
{
    public function __construct(private readonly Request $request)
    {
    }

    public function login(): JsonResponse
    {
        $user = Auth::loginUsingId((int) $this->request->query('user'));

        return response()->json(['user' => $user ? $user->name : null], $user ? 200 : 403);
    }

    public function logout(): JsonResponse
    {
        Auth::logout();
        $this->request->session()->invalidate();

        return response()->json(['user' => null]);
    }

    public function me(): JsonResponse
    {
        return response()->json(['user' => Auth::user()?->name, 'query' => $this->request->query()]);
    }
}
