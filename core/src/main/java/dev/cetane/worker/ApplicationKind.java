package dev.cetane.worker;

/** How an application is run. {@link #key()} is its name in the configuration and in HELLO. */
public enum ApplicationKind {
    /** A script that boots its framework and takes requests in a loop; runs under {@code php}. */
    WORKER("worker"),
    /** A worker script that was written for FrankenPHP: it answers with {@code echo} and {@code header()}, so it runs under {@code php-cgi}. */
    FRANKENPHP("frankenphp"),
    /** A {@code public/index.php} that is included once per request; runs under {@code php-cgi}. */
    FRONT_CONTROLLER("front-controller"),
    /** A directory with {@code bootstrap/app.php}, booted once by the client's own worker script; runs under {@code php}. */
    LARAVEL("laravel"),
    /** Any PHP files, run as under php-fpm: each request starts anew, in a child of a {@code php-cgi} that speaks FastCGI. */
    CLASSIC("classic");

    private final String key;

    ApplicationKind(String key) {
        this.key = key;
    }

    public String key() {
        return key;
    }

    /** Whether it needs {@code php-cgi}: the one SAPI for workers that keeps what {@code header()} sets, and the one that speaks FastCGI. */
    public boolean isCgi() {
        return this == FRONT_CONTROLLER || this == FRANKENPHP || this == CLASSIC;
    }

    /** Whether the application is the script that PHP is started with, and not run by the client's own. */
    public boolean isWorkerScript() {
        return this == WORKER || this == FRANKENPHP;
    }
}
