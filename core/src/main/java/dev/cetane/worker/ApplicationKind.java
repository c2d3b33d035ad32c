package dev.cetane.worker;

/** How an application is run. {@link #key()} is its name in the configuration and in HELLO. */
public enum ApplicationKind {
    /** A script that boots its framework and takes requests in a loop; runs under {@code php}. */
    WORKER("worker"),
    /** A {@code public/index.php} that is included once per request; runs under {@code php-cgi}. */
    FRONT_CONTROLLER("front-controller"),
    /** A directory with {@code bootstrap/app.php}, booted once by the client's own worker script; runs under {@code php}. */
    LARAVEL("laravel");

    private final String key;

    ApplicationKind(String key) {
        this.key = key;
    }

    public String key() {
        return key;
    }
}
