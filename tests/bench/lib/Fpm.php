<?php

declare(strict_types=1);

/**
 * The rival: nginx in front of a static php-fpm pool over a Unix socket, nothing logged per request. A kept connection to fpm is
 * faster but occupies a child, and requests that come while all are occupied may starve: so it is measured both ways, and never
 * more connections are kept than there are children.
 */
final class Fpm extends Server
{
    public function __construct(
        private readonly string $public,
        private readonly int $children,
        private readonly bool $keepAlive,
        private readonly string $warmUp = '/',
    ) {
        parent::__construct($keepAlive ? 'fpm-kept' : 'fpm');
    }

    public function start(): void
    {
        $dir = $this->directory;
        $keep = $this->keepAlive ? "keepalive {$this->children};" : '';
        $keepConnection = $this->keepAlive ? 'on' : 'off';
        file_put_contents("$dir/fpm.conf", <<<CONF
            [global]
            error_log = $dir/fpm.log
            daemonize = no
            [www]
            listen = $dir/fpm.sock
            listen.backlog = 511
            pm = static
            pm.max_children = {$this->children}
            catch_workers_output = yes
            clear_env = no
            CONF);
        $root = posix_geteuid() === 0;
        $user = $root ? 'user root;' : '';
        if ($root) {
            file_put_contents("$dir/fpm.conf", "\nuser = root\ngroup = root\n", FILE_APPEND);
        }
        file_put_contents("$dir/nginx.conf", <<<CONF
            daemon off;
            $user
            worker_processes 1;
            pid $dir/nginx.pid;
            error_log $dir/nginx.log;
            events { worker_connections 1024; }
            http {
              access_log off;
              client_body_temp_path $dir/body; fastcgi_temp_path $dir/fastcgi; proxy_temp_path $dir/proxy; uwsgi_temp_path $dir/uwsgi; scgi_temp_path $dir/scgi;
              client_max_body_size 0;
              keepalive_requests 10000000;
              tcp_nodelay on;
              upstream php { server unix:$dir/fpm.sock; $keep }
              server {
                listen 127.0.0.1:{$this->port} backlog=511;
                root {$this->public};
                location / { try_files \$uri /index.php\$is_args\$args; }
                location ~ \\.php\$ {
                  include /etc/nginx/fastcgi_params;
                  fastcgi_param SCRIPT_FILENAME \$document_root\$fastcgi_script_name;
                  fastcgi_keep_conn $keepConnection;
                  fastcgi_read_timeout 120s;
                  fastcgi_pass php;
                }
              }
            }
            CONF);
        $this->spawn(['php-fpm8.2', '-F', '-y', "$dir/fpm.conf", '-R', '-d', 'memory_limit=256M', '-d', 'max_execution_time=0',
            '-d', 'post_max_size=0', '-d', 'opcache.enable=1']);
        $this->spawn(['nginx', '-c', "$dir/nginx.conf", '-p', $dir]);
        $this->waitUntilServing($this->warmUp);
    }
}
