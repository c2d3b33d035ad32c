package dev.cetane.lambda;

import dev.cetane.worker.WorkerException;

/** Statuses: their usual words, and which one says what to the sender of a request that has failed. */
final class HttpStatus {
    private HttpStatus() {}

    /** What the sender of a request gets when its job has ended so. */
    static int of(WorkerException.Kind kind) {
        return switch (kind) {
            case TIMED_OUT -> 504;
            case CRASHED, PROTOCOL -> 502;
            case APPLICATION -> 500;
            case UNDELIVERABLE -> 431;
            default -> 503;
        };
    }

    /** One sentence for people, which says nothing of the inside. */
    static String text(int status) {
        return switch (status) {
            case 413 -> "The request's body is larger than this server accepts.";
            case 431 -> "The request's header fields are larger than this server accepts.";
            case 500, 502 -> "The application failed.";
            case 504 -> "The application did not answer in time.";
            default -> "The application is not available.";
        };
    }

    /** The usual words for a status, empty for an unusual one. */
    static String reason(int status) {
        return switch (status) {
            case 200 -> "OK";
            case 201 -> "Created";
            case 202 -> "Accepted";
            case 204 -> "No Content";
            case 206 -> "Partial Content";
            case 301 -> "Moved Permanently";
            case 302 -> "Found";
            case 303 -> "See Other";
            case 304 -> "Not Modified";
            case 307 -> "Temporary Redirect";
            case 308 -> "Permanent Redirect";
            case 400 -> "Bad Request";
            case 401 -> "Unauthorized";
            case 403 -> "Forbidden";
            case 404 -> "Not Found";
            case 405 -> "Method Not Allowed";
            case 409 -> "Conflict";
            case 410 -> "Gone";
            case 413 -> "Content Too Large";
            case 415 -> "Unsupported Media Type";
            case 419 -> "Page Expired";
            case 422 -> "Unprocessable Content";
            case 429 -> "Too Many Requests";
            case 431 -> "Request Header Fields Too Large";
            case 500 -> "Internal Server Error";
            case 502 -> "Bad Gateway";
            case 503 -> "Service Unavailable";
            case 504 -> "Gateway Timeout";
            default -> "";
        };
    }
}
