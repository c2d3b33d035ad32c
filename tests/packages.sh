# shellcheck shell=bash
# Sourced by tests/run and core/demo: finds which of the named Debian 12 packages are missing, and installs them.
# What counts is what a package brings, not who brought it: a JDK or PHP of another origin is as good.

# java_major: the major version of the JDK that Maven will use, or nothing.
java_major() {
    local javac=javac
    [ -z "${JAVA_HOME:-}" ] || javac=$JAVA_HOME/bin/javac
    { "$javac" -version 2>&1 || true; } | sed -n 's/^javac \([0-9]*\).*/\1/p'
}

php_has() {
    php -r 'exit(extension_loaded($argv[1]) ? 0 : 1);' -- "$1" 2>/dev/null
}

package_present() {
    case $1 in
        openjdk-17-jdk-headless)
            local major
            major=$(java_major)
            [ "${major:-0}" -ge 17 ]
            ;;
        maven) command -v mvn ;;
        php8.2-cli) command -v php ;;
        php8.2-cgi) command -v php-cgi ;;
        php8.2-fpm) command -v php-fpm8.2 ;;
        php8.2-opcache) php_has 'Zend OPcache' ;;
        php8.2-sqlite3) php_has pdo_sqlite ;;
        php8.2-mysql) php_has pdo_mysql ;;
        php8.2-mbstring) php_has mbstring ;;
        php8.2-xml) php_has dom ;;
        php8.2-curl) php_has curl ;;
        php-laravel-framework) [ -f /usr/share/php/Illuminate/Foundation/Application.php ] ;;
        php-symfony-framework-bundle) [ -f /usr/share/php/Symfony/Bundle/FrameworkBundle/FrameworkBundle.php ] ;;
        php-symfony-runtime) [ -f /usr/share/php/Symfony/Component/Runtime/SymfonyRuntime.php ] ;;
        php-nyholm-psr7) [ -f /usr/share/php/Nyholm/Psr7/Response.php ] ;;
        php-psr-http-message) [ -f /usr/share/php/Psr/Http/Message/MessageInterface.php ] ;;
        dokuwiki) [ -f /usr/share/dokuwiki/doku.php ] ;;
        php-codesniffer) command -v phpcs ;;
        nginx-light) command -v nginx ;;
        procps) command -v pgrep ;;
        util-linux) command -v unshare && command -v setpriv ;;
        *) command -v "$1" ;;
    esac >/dev/null 2>&1
}

missing_packages() {
    local package
    for package in "$@"; do
        package_present "$package" || printf '%s\n' "$package"
    done
}

# install_packages WHO PACKAGE...: installs those that are missing; where it cannot, names them and ends the script.
install_packages() {
    local who=$1 missing
    shift
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
        cat >&2 <<MESSAGE
$who: missing, and not installed because this needs root on Debian 12: ${missing[*]}
$who: as root, run: apt-get update && apt-get install --no-install-recommends ${missing[*]}
MESSAGE
        exit 69
    fi
    echo "$who: installing ${missing[*]}"
    if ! apt_install "${missing[@]}"; then
        echo "$who: apt-get could not install: ${missing[*]}" >&2
        exit 69
    fi
    mapfile -t missing < <(missing_packages "$@")
    if [ "${#missing[@]}" -gt 0 ]; then
        echo "$who: installed, but still not found: ${missing[*]}; is another version first in PATH or JAVA_HOME?" >&2
        exit 69
    fi
}

# The packages are wanted for their programs: the services that Debian would start with them stay off. Without systemd,
# RUNLEVEL=1 tells invoke-rc.d that this is no time to start services.
apt_install() (
    export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
    units=()
    if [ -d /run/systemd/system ]; then
        for package in "$@"; do
            case $package in
                nginx-light) units+=(nginx.service) ;;
                php8.2-fpm) units+=(php8.2-fpm.service) ;;
                prometheus) units+=(prometheus.service) ;;
            esac
        done
    fi
    [ "${#units[@]}" -eq 0 ] || systemctl mask --runtime --quiet "${units[@]}"
    log=$(mktemp)
    install=(apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0)
    # Package lists that are there are tried first: an update costs half a minute.
    "${install[@]}" "$@" >"$log" 2>&1 || { apt-get update -qq && "${install[@]}" "$@"; } >"$log" 2>&1
    status=$?
    if [ "${#units[@]}" -gt 0 ]; then
        systemctl unmask --runtime --quiet "${units[@]}"
        systemctl disable --quiet "${units[@]}" 2>/dev/null
    fi
    [ "$status" -eq 0 ] || cat "$log" >&2
    rm -f "$log"
    exit "$status"
)

# An older JDK may be the default: Maven is pointed to one that is new enough.
use_jdk() {
    local major home
    major=$(java_major)
    if [ "${major:-0}" -lt 17 ]; then
        for home in /usr/lib/jvm/java-17-openjdk-*; do
            if [ -x "$home/bin/javac" ]; then
                export JAVA_HOME=$home
            fi
        done
    fi
}
