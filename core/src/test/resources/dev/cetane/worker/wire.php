<?php

// The worker's side of the protocol with nothing around it, for workers that misbehave on purpose.

declare(strict_types=1);

final class Wire
{
    /** @var resource */
    private $in;
    /** @var resource */
    private $out;
    public int $request = 0;

    public function __construct()
    {
        $this->in = fopen(getenv('CETANE_IN'), 'rbe');
        $this->out = fopen(getenv('CETANE_OUT'), 'wbe');
        stream_set_read_buffer($this->in, 0);
        stream_set_write_buffer($this->out, 0);
    }

    /** @return array{int, string} type and payload of the next frame; exits at the end of the stream */
    public function read(): array
    {
        $header = $this->exactly(12);
        $fields = unpack('Cmagic/Ctype/nflags/Nlength/Nrequest', $header);
        if ($fields['type'] === 0x02) {
            $this->request = $fields['request'];
        }
        return [$fields['type'], $this->exactly($fields['length'])];
    }

    private function exactly(int $length): string
    {
        $bytes = '';
        while (strlen($bytes) < $length) {
            $more = fread($this->in, $length - strlen($bytes));
            if ($more === '' || $more === false) {
                exit(0);
            }
            $bytes .= $more;
        }
        return $bytes;
    }

    /** @return array<string, string>|null the request's part of $_SERVER, null to stop */
    public function request(): ?array
    {
        while (true) {
            [$type, $payload] = $this->read();
            if ($type === 0x04) {
                return null;
            }
            if ($type === 0x02) {
                $head = unpack('Ereceived/Ntimeout/Nnames/Nvalues/Nbody', $payload);
                $names = explode("\0", substr($payload, 24, $head['names']));
                $values = explode("\0", substr($payload, 24 + $head['names'], $head['values']));
                return array_combine($names, $values);
            }
        }
    }

    public function send(int $type, string $payload = '', int $flags = 0, ?int $request = null): void
    {
        $this->raw(pack('CCnNN', 0xCE, $type, $flags, strlen($payload), $request ?? $this->request) . $payload);
    }

    public function raw(string $bytes): void
    {
        while ($bytes !== '') {
            $written = fwrite($this->out, $bytes);
            if ($written === false || $written === 0) {
                exit(1);
            }
            $bytes = substr($bytes, $written);
        }
    }

    public function ready(): void
    {
        $names = implode("\0", ['pid', 'php', 'sapi', 'boot-micros', 'client']);
        $values = implode("\0", [getmypid(), PHP_VERSION, PHP_SAPI, '1000', 'test']);
        $this->send(0x41, pack('nNN', 1, strlen($names), strlen($values)) . $names . $values, 0, 0);
    }

    public function head(int $status = 200, int $length = -1): void
    {
        $this->send(0x42, pack('nnJ', $status, 0, $length) . 'Content-Type: text/plain');
    }

    public function data(string $bytes): void
    {
        $this->send(0x43, $bytes);
    }

    public function end(): void
    {
        $this->send(0x45);
    }

    public function done(bool $last = false): void
    {
        $this->send(0x46, pack('NNNJ', 100, 10, 50, memory_get_peak_usage()), $last ? 1 : 0);
    }

    public function close(): void
    {
        fclose($this->out);
        fclose($this->in);
    }

    public function answer(string $body): void
    {
        $this->head(200, strlen($body));
        if ($body !== '') {
            $this->data($body);
        }
        $this->end();
        $this->done();
    }
}
