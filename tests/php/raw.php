<?php

/*
 * The worker's side of the protocol in raw bytes, for workers that misbehave on purpose. It shares no code with the client library.
 */

declare(strict_types=1);

/** Opens the FIFOs and reads HELLO. */
function connect(): void
{
    $GLOBALS['in'] = fopen(getenv('CETANE_IN'), 'rbe');
    $GLOBALS['out'] = fopen(getenv('CETANE_OUT'), 'wbe');
    stream_set_read_buffer($GLOBALS['in'], 0);
    stream_set_write_buffer($GLOBALS['out'], 0);
    receive();
}

function connect_and_ready(): void
{
    connect();
    ready();
}

/** @return array{type: int, number: int, payload: string} the supervisor's next frame; exits at the end of the stream and on STOP */
function receive(): array
{
    $header = read_bytes(12);
    ['type' => $type, 'length' => $length, 'number' => $number] = unpack('Cmagic/Ctype/nflags/Nlength/Nnumber', $header);
    $payload = read_bytes($length);
    if ($type === 0x04) {
        exit(0);
    }

    return ['type' => $type, 'number' => $number, 'payload' => $payload];
}

/** @return array{number: int, server: array<string, string>, body: string} the next request; CANCEL is skipped */
function receive_request(): array
{
    do {
        $frame = receive();
    } while ($frame['type'] !== 0x02);
    ['names' => $names, 'values' => $values] = unpack('Eat/Ntimeout/Nnames/Nvalues/Nbody', $frame['payload']);

    return [
        'number' => $frame['number'],
        'server' => array_combine(
            explode("\0", substr($frame['payload'], 24, $names)),
            explode("\0", substr($frame['payload'], 24 + $names, $values)),
        ),
        'body' => substr($frame['payload'], 24 + $names + $values),
    ];
}

function read_bytes(int $length): string
{
    $bytes = '';
    while (strlen($bytes) < $length) {
        $chunk = fread($GLOBALS['in'], $length - strlen($bytes));
        if (($chunk === '' || $chunk === false) && feof($GLOBALS['in'])) {
            exit(0);
        }
        $bytes .= $chunk;
    }

    return $bytes;
}

function send(string $bytes): void
{
    fwrite($GLOBALS['out'], $bytes);
}

function frame(int $type, int $number, string $payload = '', int $flags = 0): string
{
    return pack('CCnNN', 0xCE, $type, $flags, strlen($payload), $number) . $payload;
}

function ready(string $capabilities = ''): void
{
    $names = "capabilities\0pid\0php\0sapi\0boot-micros\0client";
    $values = "$capabilities\0" . getmypid() . "\0" . PHP_VERSION . "\0" . PHP_SAPI . "\0" . "0\0raw";
    send(frame(0x41, 0, pack('nNN', 1, strlen($names), strlen($values)) . $names . $values));
}

/** @param list<string> $lines */
function head(int $number, int $length = -1, array $lines = ['Content-Type: text/plain'], int $status = 200): string
{
    return frame(0x42, $number, pack('nnJ', $status, 0, $length) . implode("\0", $lines));
}

function data(int $number, string $bytes): string
{
    return frame(0x43, $number, $bytes);
}

function end_and_done(int $number, bool $last = false): string
{
    return frame(0x45, $number) . done($number, $last);
}

function done(int $number, bool $last = false): string
{
    return frame(0x46, $number, pack('NNNJ', 0, 0, 0, memory_get_peak_usage(true)), $last ? 1 : 0);
}

/** A whole, correct answer. */
function answer(int $number, string $body, string $type = 'text/plain'): string
{
    return head($number, strlen($body), ["Content-Type: $type"]) . ($body === '' ? '' : data($number, $body)) . end_and_done($number);
}

/** @param array{server: array<string, string>} $request */
function query(array $request, string $name, string $default = ''): string
{
    parse_str($request['server']['QUERY_STRING'] ?? '', $query);

    return $query[$name] ?? $default;
}
