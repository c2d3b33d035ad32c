#!/usr/bin/env python3
"""Writes the golden frames, see README.md, from PROTOCOL.md. With --check it compares instead and exits with 1 on a difference."""

import json
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

CODES = {
    "HELLO": 0x01, "REQUEST": 0x02, "CANCEL": 0x03, "STOP": 0x04,
    "EVENT": 0x05, "TASK": 0x06, "TICK": 0x07, "REPLY": 0x08, "PING": 0x09, "CHECKPOINT": 0x0A, "RESTORED": 0x0B,
    "READY": 0x41, "HEAD": 0x42, "DATA": 0x43, "FILE": 0x44, "END": 0x45, "DONE": 0x46, "ERROR": 0x47, "LOG": 0x48,
    "CALL": 0x49, "PONG": 0x4A, "METRICS": 0x4B,
}
KINDS = {"EXCEPTION": 1, "FATAL": 2, "BOOT": 3, "PROTOCOL": 4}
MEASURED = {"GIVEN_UP": 0, "COUNTER": 1, "GAUGE": 2, "HISTOGRAM": 3}
UNKNOWN = 2**64 - 1

files = {}


# --- bytes -----------------------------------------------------------------------------------------------------------


def u8(n):
    return struct.pack(">B", n)


def u16(n):
    return struct.pack(">H", n)


def u32(n):
    return struct.pack(">I", n)


def u64(n):
    return struct.pack(">Q", n)


def raw(text):
    """The bytes that a text stands for."""
    if isinstance(text, dict):
        return raw(text["repeat"]) * text["times"]
    return text.encode("latin-1")


def utf8(text):
    if isinstance(text, dict):
        return utf8(text["repeat"]) * text["times"]
    return text.encode("utf-8")


def header(kind, length, request=0, flags=0, magic=0xCE):
    """The five fields of a frame header; kind is a name or a code."""
    code = CODES[kind] if isinstance(kind, str) else kind
    return [u8(magic), u8(code), u16(flags), u32(length), u32(request)]


def framed(kind, fields, request=0, flags=0):
    return header(kind, sum(map(len, fields)), request, flags) + fields


def joined(texts):
    return b"\0".join(raw(text) for text in texts)


def pairs(pair_list):
    names = joined(name for name, _ in pair_list)
    values = joined(value for _, value in pair_list)
    return [u32(len(names)), u32(len(values)), names, values]


def measurement(kind, texts, bounds, values):
    text = b"\0".join(map(utf8, texts))
    return [u8(MEASURED[kind]), u8(len(bounds)), u16(len(values)), u16(len(text)),
            b"".join(struct.pack(">d", n) for n in bounds + values), text]


def encode(frame):
    """The fields of a frame as README.md describes it."""
    kind, request = frame["type"], frame["request"]
    if kind == "HELLO":
        versions = [u16(frame["lowest-version"]), u16(frame["highest-version"])]
        return framed(kind, versions + pairs(frame["settings"]) + pairs(frame["server"]), request)
    if kind == "REQUEST":
        names_length, values_length, names, values = pairs(frame["server"])
        if "form" in frame:
            form_fields, form_files = map(raw, frame["form"])
            body, flags = [u32(len(form_fields)), form_fields, form_files], 2
        elif "form-files" in frame:
            body, flags = [joined(frame["form-files"])], 3
        elif "body-file" in frame:
            body, flags = [raw(frame["body-file"])], 1
        else:
            body, flags = [raw(frame["body"])], 0
        fields = [struct.pack(">d", frame["received-at"]), u32(frame["timeout-millis"]),
                  names_length, values_length, u32(size(body)), names, values] + body
        return framed(kind, fields, request, flags)
    if kind == "EVENT":
        names_length, values_length, names, values = pairs(frame["context"])
        body, flags = (raw(frame["body-file"]), 1) if "body-file" in frame else (raw(frame["body"]), 0)
        fields = [struct.pack(">d", frame["received-at"]), u32(frame["timeout-millis"]),
                  names_length, values_length, u32(len(body)), names, values, body]
        return framed(kind, fields, request, flags)
    if kind == "TASK":
        return framed(kind, [u32(frame["timeout-millis"]), raw(frame["task"])], request, 1 if frame["more"] else 0)
    if kind in ("REPLY", "CALL"):
        return framed(kind, [raw(frame[kind.lower()])], request, 1 if frame["more"] else 0)
    if kind in ("CANCEL", "STOP", "END", "TICK", "CHECKPOINT", "RESTORED"):
        return framed(kind, [], request)
    if kind == "READY":
        return framed(kind, [u16(frame["version"])] + pairs(frame["facts"]), request)
    if kind == "HEAD":
        length = UNKNOWN if frame["body-length"] is None else frame["body-length"]
        lines = b"\0".join(raw(name) + b": " + raw(value) for name, value in frame["headers"])
        reason = raw(frame["reason"])
        return framed(kind, [u16(frame["status"]), u16(len(reason)), u64(length), reason, lines], request)
    if kind == "DATA":
        return framed(kind, [raw(frame["data"])], request)
    if kind == "FILE":
        fields = [u64(frame["offset"]), u64(frame["length"]), raw(frame["path"])]
        return framed(kind, fields, request, 1 if frame["delete"] else 0)
    if kind == "DONE":
        fields = [u32(frame["handler-micros"]), u32(frame["terminate-micros"]), u32(frame["cpu-micros"]), u64(frame["peak-memory"])]
        return framed(kind, fields, request, 1 if frame["last"] else 0)
    if kind == "METRICS":
        return framed(kind, sum((measurement(**measured) for measured in frame["measurements"]), []), request)
    if kind == "ERROR":
        return framed(kind, [u8(KINDS[frame["kind"]]), utf8(frame["message"])], request)
    if kind == "LOG":
        return framed(kind, [u8(frame["severity"]), utf8(frame["message"])], request)
    raise ValueError(kind)


def shown(fields):
    """Fields as JSON: hex, long runs of one byte shortened."""
    items, text = [], []
    for field in fields:
        if not field:
            continue
        # A field that is long is a run of one or two bytes, or a head and a run.
        start = len(field)
        if len(field) > 256:
            start = len(field.rstrip(field[-1:]))
        if len(field) > 256 and field == field[:2] * (len(field) // 2) and field[0] != field[1]:
            items += [" ".join(text), {"repeat": field[:2].hex(), "times": len(field) // 2}]
            text = []
        elif len(field) - start > 64:
            if field[:start]:
                text.append(field[:start].hex())
            if text:
                items.append(" ".join(text))
                text = []
            items.append({"repeat": field[-1:].hex(), "times": len(field) - start})
        else:
            text.append(field.hex())
    if text:
        items.append(" ".join(text))
    return items


def size(fields):
    return sum(map(len, fields))


# --- meanings --------------------------------------------------------------------------------------------------------


def hello(settings=(("capabilities", ""),), server=(), lowest=1, highest=1):
    return {"type": "HELLO", "request": 0, "lowest-version": lowest, "highest-version": highest,
            "settings": [list(p) for p in settings], "server": [list(p) for p in server]}


def request(n=1, server=(("REQUEST_METHOD", "GET"), ("REQUEST_URI", "/")), body="", received_at=1700000000.5, timeout=30000, body_file=None,
            form=None, form_files=None):
    frame = {"type": "REQUEST", "request": n, "received-at": received_at, "timeout-millis": timeout,
             "server": [list(p) for p in server]}
    if form is not None:
        frame["form"] = list(form)
    elif form_files is not None:
        frame["form-files"] = list(form_files)
    elif body_file is not None:
        frame["body-file"] = body_file
    else:
        frame["body"] = body
    return frame


def event(n=1, context=(("request-id", "8476a536"),), body="{}", received_at=1700000000.5, timeout=30000, body_file=None):
    frame = {"type": "EVENT", "request": n, "received-at": received_at, "timeout-millis": timeout, "context": [list(p) for p in context]}
    if body_file is not None:
        frame["body-file"] = body_file
    else:
        frame["body"] = body
    return frame


def plain(kind, n=0):
    return {"type": kind, "request": n}


def task(text, n=1, timeout=0, more=False):
    return {"type": "TASK", "request": n, "timeout-millis": timeout, "task": text, "more": more}


def call(text, n=1, more=False):
    return {"type": "CALL", "request": n, "call": text, "more": more}


def reply(text, n=1, more=False):
    return {"type": "REPLY", "request": n, "reply": text, "more": more}


def ready(facts=(), version=1):
    return {"type": "READY", "request": 0, "version": version, "facts": [list(p) for p in facts]}


def head(n=1, status=200, reason="", length=None, headers=()):
    return {"type": "HEAD", "request": n, "status": status, "reason": reason, "body-length": length,
            "headers": [list(p) for p in headers]}


def data(text, n=1):
    return {"type": "DATA", "request": n, "data": text}


def file(path, offset, length, delete=False, n=1):
    return {"type": "FILE", "request": n, "offset": offset, "length": length, "path": path, "delete": delete}


def done(n=1, handler=0, terminate=0, cpu=0, memory=0, last=False):
    return {"type": "DONE", "request": n, "handler-micros": handler, "terminate-micros": terminate, "cpu-micros": cpu,
            "peak-memory": memory, "last": last}


def measured(kind, *texts, values=(1.0,), bounds=()):
    return {"kind": kind, "texts": list(texts), "bounds": list(bounds), "values": list(values)}


def metrics(*measurements, n=1):
    return {"type": "METRICS", "request": n, "measurements": list(measurements)}


def error(kind, message, n=1):
    return {"type": "ERROR", "request": n, "kind": kind, "message": message}


def log(severity, message, n=0):
    return {"type": "LOG", "request": n, "severity": severity, "message": message}


def times(text, count):
    return {"repeat": text, "times": count}


# --- one frame each --------------------------------------------------------------------------------------------------


def emit(folder, name, content):
    path = f"{folder}/{name}.json"
    assert path not in files, path
    files[path] = content


def single(name, description, frame, fields=None):
    sender = "supervisor" if CODES[frame["type"]] < 0x40 else "worker"
    content = {"description": description, "sender": sender, "frame": frame, "bytes": shown(fields or encode(frame))}
    if fields:
        assert b"".join(fields) != b"".join(encode(frame)), name
        content["decode-only"] = True
    emit("frames", name, content)


def frames():
    single("hello-minimal", "HELLO with two empty pair lists", hello(settings=()))
    single("hello-typical", "HELLO for a worker script", hello(
        (("capabilities", "file"), ("kind", "worker"), ("script", "/srv/app/worker.php"), ("document-root", "/srv/app/public"), ("debug", "0")),
        (("SERVER_SOFTWARE", "Cetane"), ("GATEWAY_INTERFACE", "CGI/1.1"), ("DOCUMENT_ROOT", "/srv/app/public"))))
    single("hello-one-empty-value", "One name with an empty value: values length 0, names length not", hello((("capabilities", ""),)))
    single("hello-empty-values", "Two empty values are one NUL", hello((("capabilities", ""), ("document-root", ""))))
    single("hello-empty-first-value", "An empty value in front of another", hello((("capabilities", ""), ("debug", "1"))))
    single("hello-version-range", "A range of versions up to the highest number", hello(lowest=1, highest=65535))
    single("hello-high-bytes", "A path whose bytes are no ASCII", hello((("script", "/srv/caf\u00c3\u00a9/\u00ff.php"),)))
    # 20 fixed bytes, one name of 4.
    single("hello-largest", "The largest HELLO, 61 428 payload bytes", hello((), (("PATH", times("p", 61428 - 20 - 4)),)))

    single("request-minimal", "REQUEST without entries, body and time-out", request(server=(), received_at=0.0, timeout=0))
    single("request-typical", "A GET request as a browser sends it", request(7, (
        ("REQUEST_METHOD", "GET"), ("REQUEST_URI", "/search?q=a%20b"), ("QUERY_STRING", "q=a%20b"), ("SERVER_PROTOCOL", "HTTP/1.1"),
        ("REMOTE_ADDR", "192.0.2.7"), ("REMOTE_PORT", "40404"), ("HTTP_HOST", "example.org"), ("HTTP_ACCEPT", "text/html"),
        ("HTTP_COOKIE", "session=0123456789abcdef; theme=dark"))))
    single("request-body", "A body with every byte there is, NUL too", request(
        2, (("REQUEST_METHOD", "POST"), ("CONTENT_LENGTH", "256")), "".join(map(chr, range(256)))))
    single("request-body-in-file", "The body is in a file", request(
        3, (("REQUEST_METHOD", "PUT"),), body_file="/run/cetane/spool/body-3"))
    posted = (("REQUEST_METHOD", "POST"), ("CONTENT_TYPE", "multipart/form-data; boundary=B"))
    single("request-form", "A form with two fields, a file and a file field without one", request(
        4, posted, form=("a=1&b%5Bx%5D=%26+%00\u00ff", "f[]\0x.txt\0dir/x.txt\0text/plain\0/run/cetane/spool/upload-7\x000\x00100000\0"
                         "g\0\0\0\0\x004\x000\0")))
    single("request-form-fields", "A form without a file", request(5, posted, form=("a=1", "")))
    single("request-form-empty", "A form of which nothing was taken", request(6, posted, form=("", "")))
    single("request-form-in-files", "A form whose texts are in files", request(
        7, posted, form_files=("/run/cetane/spool/body-8", "/run/cetane/spool/body-9")))
    single("request-form-fields-in-file", "A large form without a file", request(8, posted, form_files=("/run/cetane/spool/body-8", "")))
    single("request-form-files-in-file", "A form with many files and no field", request(9, posted, form_files=("", "/run/cetane/spool/body-9")))
    single("request-one-empty-value", "One name with an empty value", request(server=(("QUERY_STRING", ""),)))
    single("request-empty-values", "Three empty values are two NULs", request(
        server=(("QUERY_STRING", ""), ("CONTENT_TYPE", ""), ("HTTP_X_EMPTY", ""))))
    single("request-high-bytes", "Bytes above 0x7F in a value, and every control character but NUL", request(
        server=(("HTTP_X_LATIN", "".join(map(chr, range(0x80, 0x100)))), ("HTTP_X_CONTROL", "".join(map(chr, range(1, 0x20)))))))
    single("request-highest-number", "The number before 1 comes again", request(0xFFFFFFFF))
    single("request-longest-timeout", "The longest time-out", request(timeout=0xFFFFFFFF))
    single("request-exact-time", "A time that is no decimal fraction", request(received_at=1700000000.1))
    # 24 fixed bytes, one name of 4.
    single("request-largest-head", "The largest REQUEST, 57 332 payload bytes, all of them head", request(
        server=(("NAME", times("v", 57332 - 24 - 4)),)))
    single("request-largest-body", "The largest REQUEST, 57 332 payload bytes, nearly all of them body", request(
        server=(("NAME", "value"),), body=times("b", 57332 - 24 - 9)))

    single("cancel", "CANCEL", plain("CANCEL", 5))
    single("stop", "STOP", plain("STOP"))

    single("ready-minimal", "READY without facts", ready())
    single("ready-typical", "READY as the PHP client sends it", ready((
        ("capabilities", "file"), ("pid", "4242"), ("php", "8.2.36"), ("sapi", "cli"), ("boot-micros", "183204"), ("client", "cetane/worker 0.1.0"))))
    single("ready-form", "READY with the limits for forms", ready((
        ("capabilities", "file form"), ("pid", "4242"), ("post-max-size", "8388608"), ("upload-max-filesize", "2097152"), ("max-file-uploads", "20"),
        ("max-input-vars", "1000"), ("max-multipart-body-parts", "1020"), ("file-uploads", "1"))))
    single("ready-unknown-fact", "An unknown fact is no violation", ready((("pid", "1"), ("weather", "fine"))))
    # 10 fixed bytes, one name of 6.
    single("ready-largest", "The largest READY, 65 524 payload bytes", ready((("client", times("c", 65524 - 10 - 6)),)))

    single("head-minimal", "HEAD without reason and header lines, body length not known", head())
    single("head-typical", "HEAD as an application sends it", head(7, 200, "OK", 1234, (
        ("Content-Type", "text/html; charset=UTF-8"), ("Cache-Control", "no-cache, private"), ("Date", "Tue, 14 Nov 2023 22:13:20 GMT"),
        ("Set-Cookie", "session=0123456789abcdef; path=/; httponly"), ("Set-Cookie", "theme=dark"))))
    single("head-no-body", "Body length 0 is a known length", head(1, 204, "No Content", 0))
    single("head-interim", "An interim head with a header line", head(1, 103, "Early Hints", 0, (("Link", "</app.css>; rel=preload; as=style"),)))
    single("head-lowest-status", "The lowest status", head(1, 100, "", 0))
    single("head-highest-status", "The highest status", head(1, 999, "Whatever", 0))
    single("head-reason-only", "A reason and no header line", head(1, 418, "I'm a teapot"))
    single("head-empty-value", "A header field with an empty value", head(headers=(("X-Empty", ""), ("X-Full", "1"))))
    single("head-spaces", "Only one space after the colon is left out", head(headers=(("X-Spaces", "  a: b "),)))
    single("head-high-bytes", "Bytes above 0x7F in reason and value", head(1, 200, "\u00dcber", None, (("X-Latin", "caf\u00e9 \u00ff"),)))
    single("head-line-break", "A line break in a value is no violation of framing", head(headers=(("X-Break", "a\r\nX-Evil: b"),)))
    single("head-longest-body", "The largest body length", head(length=2**63 - 1))
    # 12 fixed bytes, "N: " is 3.
    single("head-largest", "The largest HEAD, 65 524 payload bytes", head(headers=(("N", times("v", 65524 - 12 - 3)),)))
    single("head-longest-reason", "The longest reason, 65 512 bytes, fills the payload", head(reason=times("r", 65524 - 12)))
    single("head-without-space", "The space after the colon is optional", head(headers=(("A", "b"), ("C", ""))),
           framed("HEAD", [u16(200), u16(0), u64(UNKNOWN), b"A:b\0C:"], 1))
    single("head-without-colon", "A line without a colon has the empty name", head(headers=(("", "nonsense"), ("A", "b"))),
           framed("HEAD", [u16(200), u16(0), u64(UNKNOWN), b"nonsense\0A: b"], 1))
    single("head-without-colon-but-space", "Without a colon there is no space to leave out", head(headers=(("", " x"),)),
           framed("HEAD", [u16(200), u16(0), u64(UNKNOWN), b" x"], 1))
    single("head-empty-name", "A line that begins with a colon has the empty name too", head(headers=(("", "b"),)))

    single("data-one-byte", "The smallest DATA", data("\0"))
    single("data-all-bytes", "DATA with every byte there is", data("".join(map(chr, range(256))), 9))
    single("data-largest", "The largest DATA, 16 777 216 bytes", data(times("a", 16777216)))

    single("file-plain", "A part of a file", file("/srv/app/storage/video.mp4", 4096, 1048576))
    single("file-delete", "A whole file that the supervisor deletes", file("/tmp/report.pdf", 0, 17, True))
    single("file-empty", "An empty part of a file", file("/f", 0, 0))
    single("file-high-bytes", "A path that is UTF-8 and one that is not", file("/srv/caf\u00c3\u00a9/\u00e9 %41", 0, 1))
    single("file-largest-range", "offset + length is 2^63 - 1", file("/f", 2**63 - 2, 1))
    single("file-longest-path", "The largest FILE, 65 524 payload bytes", file({"repeat": "/f", "times": (65524 - 16) // 2}, 0, 1))

    single("end", "END", plain("END", 3))

    single("done-zero", "DONE of a worker that measured nothing", done())
    single("done-typical", "DONE with figures", done(7, 551, 1204, 498, 23068672))
    single("done-last", "DONE of a worker that is about to exit", done(8, 1, 2, 3, 4, True))
    single("done-largest", "The largest figures", done(1, 2**32 - 1, 2**32 - 1, 2**32 - 1, 2**63 - 1))

    single("metrics-counter", "A counter without labels", metrics(measured("COUNTER", "orders")))
    single("metrics-typical", "Several measurements with labels", metrics(
        measured("COUNTER", "orders", "country", "de", "paid", "", values=[3.0]),
        measured("GAUGE", "stock", "article", "na\u00efve \u20ac", values=[-12.5]),
        measured("HISTOGRAM", "basket", values=[0.25, 7.0, 1e300], bounds=[1.0, 10.0]),
        measured("HISTOGRAM", "wait_seconds", "queue", "mail", values=[0.125]), n=7))
    single("metrics-given-up", "Measurements that the worker had no room for", metrics(measured("GIVEN_UP", "", values=[17.0])))
    # 6 fixed bytes and a value of 8.
    single("metrics-largest", "The largest METRICS, 65 524 payload bytes", metrics(measured("COUNTER", times("n", 65524 - 6 - 8))))

    single("error-exception", "An exception left the handler", error("EXCEPTION", "RuntimeException: no such user in /srv/app/User.php:12"))
    single("error-fatal", "Out of memory", error("FATAL", "Allowed memory size of 134217728 bytes exhausted", 2))
    single("error-boot", "The application could not be booted", error("BOOT", "Class \"App\" not found", 0))
    single("error-protocol", "The supervisor broke the rules", error("PROTOCOL", "LENGTH in REQUEST at byte 120", 6))
    single("error-protocol-no-request", "The supervisor broke the rules outside a request", error("PROTOCOL", "MAGIC at byte 0", 0))
    single("error-no-message", "An empty message", error("EXCEPTION", ""))
    single("error-utf8", "A message beyond ASCII", error("EXCEPTION", "Gr\u00fc\u00dfe, \u4e16\u754c \U0001f600"))
    single("error-largest", "The largest ERROR, 65 524 payload bytes", error("EXCEPTION", times("m", 65523)))

    single("log-lowest-severity", "The highest urgency", log(0, "the building is on fire"))
    single("log-highest-severity", "The lowest urgency, with a request", log(7, "3 queries", 1))
    single("log-no-message", "An empty message", log(6, ""))
    single("log-utf8", "A message beyond ASCII", log(4, "na\u00efve \u20ac \U0001f600"))
    single("log-largest", "The largest LOG, 65 524 payload bytes", log(3, times("m", 65523)))
    single("log-bad-utf8", "A malformed UTF-8 sequence is replaced", log(3, "a\ufffdb"), framed("LOG", [u8(3), b"a\xffb"]))

    single("task-empty", "A task of no byte and without a time limit", task(""))
    single("task-typical", "A task", task("O:8:\"stdClass\":0:{}\0\u00ff", 7, 3000))
    single("task-more", "The first piece of a task: the worker asks for the rest", task(times("t", 57328), 2, 4294967295, True))
    single("tick", "A tick", plain("TICK", 9))
    single("checkpoint", "The worker becomes part of a snapshot", plain("CHECKPOINT", 2))
    single("restored", "The worker was restored from a snapshot", plain("RESTORED", 3))
    single("event-minimal", "EVENT without context, body and time-out", event(context=(), body="", received_at=0.0, timeout=0))
    single("event-typical", "EVENT as the Lambda runtime writes it", event(7, (
        ("request-id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd"), ("deadline-ms", "1700000003000"),
        ("function-arn", "arn:aws:lambda:eu-west-1:123456789012:function:shop"),
        ("trace-id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=1"),
        ("client-context", ""), ("cognito-identity", ""), ("tenant-id", "")),
        '{"Records":[{"eventSource":"aws:sqs","body":"caf\u00c3\u00a9"}]}'))
    single("event-in-file", "A large event is in a file", event(3, body_file="/run/cetane/body-8476a536-whole-0"))
    # 24 fixed bytes, a name of 10 and a value of 8.
    single("event-largest", "The largest EVENT, 57 332 payload bytes", event(body=times("e", 57332 - 24 - 18)))
    single("reply-smallest", "The smallest REPLY: an operation without a result has succeeded", reply("\0", 3))
    single("reply-booting", "A REPLY before READY", reply("\0\0\x01", 0))
    single("reply-largest", "The largest REPLY, 57 332 payload bytes, and not the end", reply(times("r", 57332), 4, True))
    single("call-smallest", "The smallest CALL: the rest of a REPLY is asked for", call("\0"))
    single("call-typical", "A CALL: GET of a row", call("\x11\0\x01visits", 7))
    single("call-booting", "A CALL before READY", call("\x11\0\x01visits", 0))
    single("call-more", "The largest CALL frame, 65 524 payload bytes, and not the end", call(times("c", 65524), 1, True))


# --- conversations ---------------------------------------------------------------------------------------------------


class Conversation:
    def __init__(self, name, description):
        self.steps = []
        self.sent = {"supervisor": 0, "worker": 0}
        emit("conversations", name, {"description": description, "steps": self.steps})

    def says(self, *sent):
        """Whole frames; neighbours of one sender become one step."""
        for frame in sent:
            sender = "supervisor" if CODES[frame["type"]] < 0x40 else "worker"
            fields = encode(frame)
            if not self.steps or self.steps[-1]["sender"] != sender:
                self.steps.append({"sender": sender, "bytes": [], "frames": []})
            self.steps[-1]["bytes"] += shown(fields)
            self.steps[-1]["frames"].append(frame)
            self.sent[sender] += size(fields)
        return self

    def breaks(self, sender, violation, frame, fields, end_of_stream=False):
        """Bytes that break the rules, in a step of their own."""
        step = {"sender": sender, "bytes": shown(fields), "frames": []}
        if end_of_stream:
            step["end-of-stream"] = True
        step["violation"] = {"name": violation, "frame": frame, "offset": self.sent[sender]}
        self.steps.append(step)

    def cut(self, sender, frame, fields):
        self.breaks(sender, "CUT", frame, fields, True)


OFFER = hello((("capabilities", "file"), ("kind", "worker"), ("script", "/srv/app/worker.php"), ("document-root", ""), ("debug", "0")))
ANSWER = ready((("capabilities", "file"), ("pid", "4242")))

FORM_OFFER = hello((("capabilities", "file form"), ("kind", "worker")))
FORM_ANSWER = ready((("capabilities", "file form"), ("post-max-size", "8388608")))

CALL_OFFER = hello((("capabilities", "file call task tick"), ("kind", "worker")))
LAMBDA_OFFER = hello((("capabilities", "file form event snapshot call"), ("kind", "worker")))
LAMBDA_ANSWER = ready((("capabilities", "event snapshot"), ("events", "other")))
CALL_ANSWER = ready((("capabilities", "call task tick"),))

METRICS_OFFER = hello((("capabilities", "file metrics"), ("kind", "worker")))
METRICS_ANSWER = ready((("capabilities", "metrics"),))


def talk(name, description):
    return Conversation(name, description)


def booted(name, description):
    return talk(name, description).says(OFFER, ANSWER)


def serving(name, description):
    return booted(name, description).says(request(1))


def answering(name, description, length=None):
    return serving(name, description).says(head(length=length))


def conversations():
    talk("boot", "The worker boots").says(OFFER, ANSWER)
    talk("boot-failure", "The application cannot be booted").says(OFFER, log(3, "no database"), error("BOOT", "no database", 0))
    talk("boot-without-capabilities", "The worker takes up nothing that was offered").says(OFFER, ready())
    talk("boot-version-range", "The worker chooses its highest version out of a range").says(hello(lowest=1, highest=3), ready(version=1))
    talk("boot-no-version", "The worker speaks none of the versions").says(
        hello(lowest=2, highest=3), error("PROTOCOL", "NEGOTIATION: the supervisor speaks versions 2 to 3, this worker 1 to 1", 0))
    talk("log-before-ready", "LOG is allowed before READY").says(OFFER, log(6, "booting"), ANSWER)
    serving("one-request", "A request and its answer in one piece").says(
        head(1, 200, "OK", 5, (("Content-Type", "text/plain"),)), data("hello"), plain("END", 1), done(1, 120, 0, 100, 2097152))
    booted("two-requests", "A worker serves one request after another").says(
        request(1), head(length=0), plain("END", 1), done(1),
        request(2), head(2, length=1), data("2", 2), plain("END", 2), done(2))
    serving("streamed", "A streamed answer of unknown length").says(
        head(), data("a"), data("bc"), data(times("d", 300)), plain("END", 1), done())
    serving("empty-streamed", "An answer of unknown length that has no byte").says(head(), plain("END", 1), done())
    serving("interim-heads", "Interim heads before the final one").says(
        head(1, 100, "", 0), head(1, 103, "", 0, (("Link", "</a>"),)), head(1, 103, "", 0), head(), plain("END", 1), done())
    serving("file-answer", "DATA and FILE make up the promised length together").says(
        head(length=10), data("abc"), file("/srv/app/f", 5, 6), data("z"), plain("END", 1), done())
    serving("exception", "An exception before the head").says(error("EXCEPTION", "boom"), done())
    serving("exception-after-interim", "An exception after an interim head").says(head(1, 103, "", 0), error("EXCEPTION", "boom"), done())
    answering("exception-in-body", "An exception while the body is sent: the promised length counts no longer", 10).says(
        data("abc"), error("EXCEPTION", "boom"), done())
    answering("fatal-in-body", "A fatal error while the body is sent").says(data("abc"), error("FATAL", "memory"), done(last=True))
    serving("fatal", "A fatal error before the head").says(error("FATAL", "memory"), log(2, "bye", 1), done(last=True))
    serving("exit", "exit() in the application: a complete answer, and the worker leaves").says(
        head(length=2), data("ok"), plain("END", 1), done(last=True), log(6, "leaving"))
    serving("exception-and-exit", "A worker may leave after an exception").says(error("EXCEPTION", "boom"), done(last=True))
    serving("log-everywhere", "LOG in every place of an answer").says(
        log(7, "a", 1), head(), log(7, "b"), data("x"), log(7, "c", 1), plain("END", 1), log(7, "d", 1), done(), log(7, "e", 1), log(7, "f")
    ).says(request(2), log(7, "g", 2), head(2), plain("END", 2), done(2))
    talk("form", "A form, with a worker that takes forms").says(
        FORM_OFFER, FORM_ANSWER, request(1, form=("a=1", "f\0n\0n\0\0/u\x000\x001\0")), head(length=0), plain("END", 1), done(1))
    answering("cancel", "The client leaves while the answer is sent").says(plain("CANCEL", 1), data("x"), plain("END", 1), done())
    answering("cancel-crosses-done", "CANCEL arrives after DONE and is ignored").says(
        plain("END", 1), done(), plain("CANCEL", 1), request(2), head(2), plain("END", 2), done(2))
    booted("stop-idle", "STOP of an idle worker").says(plain("STOP"), log(6, "bye"))
    talk("stop-booting", "STOP before READY").says(OFFER, plain("STOP"), ANSWER)
    answering("stop-serving", "STOP while a request runs: it is finished").says(plain("STOP"), data("x"), plain("END", 1), done())
    serving("protocol-error-serving", "The worker finds a violation while a request runs").says(
        error("PROTOCOL", "PAYLOAD in REQUEST", 1), log(6, "bye"))
    booted("protocol-error-idle", "The worker finds a violation while it is idle").says(error("PROTOCOL", "MAGIC", 0))
    answering("protocol-error-in-body", "The worker finds a violation in its answer, for a number it was never given").says(
        error("PROTOCOL", "REQUEST_NUMBER in CANCEL", 77))

    calls = lambda name, description: talk(name, description).says(CALL_OFFER, CALL_ANSWER)
    calls("call", "A request asks for something twice, the second time after its answer").says(
        request(1), call("\x14\0\0a"), reply("\1"), head(length=0), plain("END", 1), call("\x14\0\0a"), reply("\0"), done())
    talk("call-booting", "An application asks for something while it boots").says(CALL_OFFER, call("\x10", 0), reply("\0", 0), CALL_ANSWER)
    calls("call-in-body", "CALL between two pieces of a body").says(
        request(1), head(), data("a"), call("\x14\0\0a"), reply("\1"), data("b"), plain("END", 1), done())
    calls("call-in-pieces", "CALL and REPLY are longer than a frame").says(
        request(1), call(times("c", 65524), more=True), call("d"), reply(times("r", 57332), more=True), call("\0"),
        reply(times("r", 57332), more=True), call("\0"), reply("s"), head(length=0), plain("END", 1), done())
    calls("call-cancel", "The client leaves while a CALL waits").says(
        request(1), call("\x20"), plain("CANCEL", 1), reply("\0"), head(length=0), plain("END", 1), done())
    calls("call-stop", "STOP while a CALL waits").says(
        request(1), call("\x20"), plain("STOP"), reply("\0"), head(length=0), plain("END", 1), done())
    calls("call-dying", "CALL in a shutdown function after a fatal error").says(
        request(1), error("FATAL", "memory"), call("\x14\0\0a"), reply("\1"), done(last=True))
    calls("call-protocol-error", "The worker finds a violation in a REPLY").says(
        request(1), call("\x14\0\0a"), reply("\x63"), error("PROTOCOL", "PAYLOAD in REPLY", 1))
    calls("task", "A task between two requests").says(
        request(1), head(length=0), plain("END", 1), done(1), task("t", 2), head(2, 200, "", 1), data("r", 2), plain("END", 2), done(2),
        request(3), head(3, length=0), plain("END", 3), done(3))
    calls("task-in-pieces", "A task that is longer than a frame").says(
        task(times("t", 57328), more=True), call("\0"), reply("u"), head(1, 200, "", 1), data("r"), plain("END", 1), done())
    calls("task-failed", "A task throws an exception").says(
        task("t"), head(1, 500, "", 1), data("e"), plain("END", 1), done())
    talk("metrics", "METRICS between END and DONE, and behind an error").says(
        METRICS_OFFER, METRICS_ANSWER,
        request(1), head(length=0), plain("END", 1), metrics(measured("COUNTER", "orders")), metrics(measured("GAUGE", "stock")), done(1),
        request(2), error("EXCEPTION", "boom", 2), metrics(measured("COUNTER", "orders"), n=2), done(2),
        request(3), error("FATAL", "memory", 3), metrics(measured("COUNTER", "orders"), n=3), done(3, last=True))
    calls("tick", "A tick").says(plain("TICK", 1), head(1, 204, "", 0), plain("END", 1), done())
    lambdas = lambda name, description: talk(name, description).says(LAMBDA_OFFER, LAMBDA_ANSWER)
    lambdas("event", "An event between two requests, which has failed").says(
        request(1), head(length=0), plain("END", 1), done(1),
        event(2), head(2, 500, "", 2, (("Error-Type", "DomainException"),)), data("{}", 2), plain("END", 2), done(2),
        request(3), head(3, length=0), plain("END", 3), done(3))
    lambdas("snapshot", "A worker becomes part of a snapshot, is restored from it, and serves").says(
        plain("CHECKPOINT", 1), head(1, 204, "", 0), plain("END", 1), done(1),
        plain("RESTORED", 2), head(2, 204, "", 0), plain("END", 2), done(2),
        event(3), head(3, 200, "", 2), data("{}", 3), plain("END", 3), done(3))
    lambdas("snapshot-failed", "What the application does before a snapshot fails").says(
        plain("CHECKPOINT", 1), error("EXCEPTION", "no"), done(1))


def worker_violations():
    """What a worker may do wrong, as the supervisor must see it."""
    w = "worker"
    booted("magic", "A frame that begins with another byte").breaks(w, "MAGIC", None, header("LOG", 1, magic=0xCD))
    talk("magic-first-byte", "Garbage instead of the first frame shows with its first byte").says(OFFER).breaks(w, "MAGIC", None, [b"P"])
    answering("magic-in-answer", "Text of the application between frames").says(data("abc")).breaks(w, "MAGIC", None, [b"Warning: "])
    for code in (0x00, 0x0C, 0x40, 0x4C, 0xC2, 0xFF):
        booted(f"type-unknown-{code:02x}", f"No type has the code 0x{code:02X}").breaks(w, "TYPE", None, header(code, 0))
    for kind in ("CALL", "PONG"):
        booted(f"type-reserved-{kind.lower()}", f"{kind} without its capability").breaks(w, "TYPE", kind, header(kind, 0))
    talk("type-file-not-agreed", "FILE where the capability was not agreed on").says(
        OFFER, ready(), request(1), head()).breaks(w, "TYPE", "FILE", header("FILE", 17, 1))
    talk("type-file-not-offered", "FILE where the capability was not offered").says(
        hello(), ready(), request(1), head()).breaks(w, "TYPE", "FILE", header("FILE", 17, 1))
    for kind, length in (("HELLO", 20), ("REQUEST", 24), ("CANCEL", 0), ("STOP", 0)):
        booted(f"direction-{kind.lower()}-from-worker", f"{kind} from the worker").breaks(w, "DIRECTION", kind, header(kind, length))

    def calling(name, description):
        return talk(name, description).says(CALL_OFFER, CALL_ANSWER, request(1))

    talk("type-call-declined", "CALL by a worker that has declined the capability").says(CALL_OFFER, ready(), request(1)).breaks(
        w, "TYPE", "CALL", header("CALL", 1, 1))
    talk("type-call-booting-not-offered", "CALL before READY where it was not offered").says(OFFER).breaks(w, "TYPE", "CALL", header("CALL", 1))
    for kind, length in (("TASK", 4), ("TICK", 0), ("REPLY", 1)):
        talk(f"direction-{kind.lower()}-from-worker", f"{kind} from the worker").says(CALL_OFFER, CALL_ANSWER).breaks(
            w, "DIRECTION", kind, header(kind, length))
    talk("turn-call-idle", "CALL while no request runs").says(CALL_OFFER, CALL_ANSWER).breaks(w, "TURN", "CALL", header("CALL", 1))
    calling("turn-call-after-done", "CALL behind DONE").says(head(length=0), plain("END", 1), done()).breaks(
        w, "TURN", "CALL", header("CALL", 1, 1))
    calling("turn-call-after-last", "CALL behind DONE with LAST").says(head(length=0), plain("END", 1), done(last=True)).breaks(
        w, "TURN", "CALL", header("CALL", 1, 1))
    for kind, length in (("CALL", 1), ("HEAD", 12), ("LOG", 1)):
        calling(f"turn-{kind.lower()}-while-calling", f"{kind} while a CALL waits for its REPLY").says(call("\x14\0\0a")).breaks(
            w, "TURN", kind, header(kind, length, 1))
    calling("turn-exception-while-calling", "ERROR(EXCEPTION) while a CALL waits for its REPLY").says(call("\x14\0\0a")).breaks(
        w, "TURN", "ERROR", encode(error("EXCEPTION", "x")))
    talk("turn-ready-while-calling", "READY while a CALL waits for its REPLY").says(CALL_OFFER, call("\x10", 0)).breaks(
        w, "TURN", "READY", header("READY", 10))
    calling("turn-head-in-call", "HEAD where the rest of a CALL is due").says(call("a", more=True)).breaks(
        w, "TURN", "HEAD", header("HEAD", 12, 1))
    calling("number-call", "CALL with the number of another request").breaks(w, "REQUEST_NUMBER", "CALL", header("CALL", 1, 2))
    talk("number-call-booting", "CALL before READY with a number").says(CALL_OFFER).breaks(w, "REQUEST_NUMBER", "CALL", header("CALL", 1, 1))

    def measuring(name, description):
        return talk(name, description).says(METRICS_OFFER, METRICS_ANSWER, request(1), head(length=0))

    def ended(name, description):
        return measuring(name, description).says(plain("END", 1))

    answering("type-metrics-not-agreed", "METRICS where the capability was not agreed on").says(plain("END", 1)).breaks(
        w, "TYPE", "METRICS", header("METRICS", 6, 1))
    measuring("turn-metrics-before-end", "METRICS before the answer has ended").breaks(w, "TURN", "METRICS", header("METRICS", 6, 1))
    ended("turn-metrics-after-done", "METRICS behind DONE").says(done()).breaks(w, "TURN", "METRICS", header("METRICS", 6, 1))
    ended("turn-end-after-metrics", "END behind METRICS").says(metrics(measured("COUNTER", "n"))).breaks(w, "TURN", "END", header("END", 0, 1))
    ended("number-metrics", "METRICS for another request").breaks(w, "REQUEST_NUMBER", "METRICS", header("METRICS", 6, 2))

    # Each type where it is allowed, with one flag too many and a length out of range.
    at = {
        "CALL": (calling, 1, 65524, 1),
        "READY": (lambda *a: talk(*a).says(OFFER), 10, 65524, 0),
        "HEAD": (serving, 12, 65524, 1),
        "DATA": (answering, 1, 16777216, 1),
        "FILE": (answering, 17, 65524, 1),
        "END": (answering, 0, 0, 1),
        "DONE": (lambda *a: answering(*a).says(plain("END", 1)), 20, 20, 1),
        "METRICS": (ended, 6, 65524, 1),
        "ERROR": (serving, 1, 65524, 1),
        "LOG": (serving, 1, 65524, 1),
    }
    for kind, (place, lowest, highest, n) in at.items():
        named = kind.lower()
        bad = 2 if kind in ("FILE", "DONE", "CALL") else 1
        place(f"flags-{named}", f"A flag that {kind} does not have").breaks(w, "FLAGS", kind, header(kind, lowest, n, bad))
        place(f"flags-{named}-highest", f"The highest flag bit in {kind}").breaks(w, "FLAGS", kind, header(kind, lowest, n, 0x8000))
        if lowest > 0:
            place(f"length-{named}-below", f"{kind} shorter than its fixed part").breaks(w, "LENGTH", kind, header(kind, lowest - 1, n))
        place(f"length-{named}-above", f"{kind} one byte above its limit").breaks(w, "LENGTH", kind, header(kind, highest + 1, n))
        place(f"length-{named}-4gib", f"{kind} with the largest length there is").breaks(w, "LENGTH", kind, header(kind, 2**32 - 1, n))
        place(f"length-{named}-negative", f"{kind} with a length that is negative in 32 bits").breaks(w, "LENGTH", kind, header(kind, 2**31, n))

    sizes = {"READY": 10, "HEAD": 12, "DATA": 1, "FILE": 17, "END": 0, "DONE": 20, "ERROR": 1, "LOG": 1}

    def out_of_turn(place, where, kinds, n, *before):
        for kind in kinds:
            place(f"turn-{kind.lower()}-{where}", f"{kind} {where.replace('-', ' ')}").says(*before).breaks(
                w, "TURN", kind, header(kind, sizes[kind], 0 if kind == "READY" else n))

    out_of_turn(lambda *a: talk(*a).says(OFFER), "before-ready", ("HEAD", "DATA", "END", "DONE"), 0)
    out_of_turn(booted, "while-idle", ("READY", "HEAD", "DATA", "FILE", "END", "DONE"), 1)
    out_of_turn(serving, "before-head", ("READY", "DATA", "FILE", "END", "DONE"), 1)
    out_of_turn(serving, "after-interim-head", ("READY", "DATA", "FILE", "END", "DONE"), 1, head(1, 103, "", 0))
    out_of_turn(answering, "after-head", ("READY", "HEAD", "DONE"), 1)
    out_of_turn(answering, "after-end", ("READY", "HEAD", "DATA", "FILE", "END"), 1, plain("END", 1))
    out_of_turn(answering, "after-done", ("READY", "HEAD", "DATA", "FILE", "END", "DONE"), 1, plain("END", 1), done())
    out_of_turn(serving, "after-exception", ("READY", "HEAD", "DATA", "FILE", "END"), 1, error("EXCEPTION", "boom"))
    out_of_turn(serving, "without-last-after-fatal", ("DONE",), 1, error("FATAL", "memory"))
    out_of_turn(answering, "after-last", ("READY", "HEAD", "DATA", "END", "DONE", "ERROR"), 1, plain("END", 1), done(last=True))
    out_of_turn(booted, "after-protocol-error", ("READY", "HEAD", "ERROR"), 1, error("PROTOCOL", "MAGIC", 0))

    def wrong_kind(place, where, kind, n, *before):
        place(f"turn-error-{kind.lower()}-{where}", f"ERROR({kind}) {where.replace('-', ' ')}").says(*before).breaks(
            w, "TURN", "ERROR", encode(error(kind, "x", n)))

    for kind in ("EXCEPTION", "FATAL"):
        wrong_kind(lambda *a: talk(*a).says(OFFER), "before-ready", kind, 0)
        wrong_kind(booted, "while-idle", kind, 1)
        wrong_kind(answering, "after-end", kind, 1, plain("END", 1))
        wrong_kind(serving, "after-error", kind, 1, error("EXCEPTION", "boom"))
    wrong_kind(booted, "while-idle", "BOOT", 0)
    wrong_kind(serving, "while-serving", "BOOT", 0)

    def wrong_number(place, name, fields, frame, *before):
        place(f"number-{name}", f"{frame} for another request").says(*before).breaks(w, "REQUEST_NUMBER", frame, fields)

    wrong_number(lambda *a: talk(*a).says(OFFER), "ready", header("READY", 10, 1), "READY")
    wrong_number(serving, "head", header("HEAD", 12, 2), "HEAD")
    wrong_number(serving, "head-zero", header("HEAD", 12, 0), "HEAD")
    wrong_number(answering, "data", header("DATA", 1, 2), "DATA")
    wrong_number(answering, "file", header("FILE", 17, 2), "FILE")
    wrong_number(answering, "end", header("END", 0, 2), "END")
    wrong_number(answering, "done", header("DONE", 20, 2), "DONE", plain("END", 1))
    wrong_number(serving, "log", header("LOG", 1, 2), "LOG")
    wrong_number(lambda *a: talk(*a).says(OFFER), "log-booting", header("LOG", 1, 1), "LOG")
    wrong_number(serving, "error", encode(error("EXCEPTION", "x", 2)), "ERROR")
    wrong_number(serving, "error-zero", encode(error("FATAL", "x", 0)), "ERROR")
    wrong_number(lambda *a: talk(*a).says(OFFER), "error-boot", encode(error("BOOT", "x", 1)), "ERROR")
    booted("number-of-the-last-request", "HEAD for the request before").says(
        request(1), head(length=0), plain("END", 1), done(), request(2)).breaks(w, "REQUEST_NUMBER", "HEAD", header("HEAD", 12, 1))

    def wrong_sum(name, description, length, frame, fields, *before):
        answering(f"body-{name}", description, length).says(*before).breaks(w, "BODY_LENGTH", frame, fields)

    wrong_sum("data-above", "One DATA goes beyond the promise, seen before its first byte", 3, "DATA", header("DATA", 4, 1))
    wrong_sum("data-sum-above", "The last of several DATA goes beyond the promise", 3, "DATA", header("DATA", 2, 1), data("ab"))
    wrong_sum("data-none-promised", "DATA where 0 was promised", 0, "DATA", header("DATA", 1, 1))
    wrong_sum("file-above", "FILE goes beyond the promise", 3, "FILE", encode(file("/f", 0, 4)))
    wrong_sum("file-sum-above", "DATA and FILE together go beyond the promise", 3, "FILE", encode(file("/f", 0, 2)), data("ab"))
    wrong_sum("file-overflow", "The sum of an unknown length overflows", None, "FILE", encode(file("/f", 0, 1)), file("/f", 0, 2**63 - 1))
    wrong_sum("short", "END one byte too soon", 3, "END", header("END", 0, 1), data("ab"))
    wrong_sum("missing", "END without any of the promised bytes", 1, "END", header("END", 0, 1))

    def unfit(place, name, description, frame, fields, flags=0, n=1):
        place(f"payload-{name}", description).breaks(w, "PAYLOAD", frame, framed(frame, fields, n, flags))

    def facts(name, description, names_length, values_length, rest):
        unfit(lambda *a: talk(*a).says(OFFER), f"ready-{name}", description, "READY",
              [u16(1), u32(names_length), u32(values_length), rest], n=0)

    facts("lists-too-long", "The lists are longer than the payload", 3, 2, b"pid1")
    facts("lists-too-short", "Bytes are left behind the lists", 3, 1, b"pid12")
    facts("names-length-4gib", "A names length that overflows", 2**32 - 1, 5, b"pid1")
    facts("fewer-values", "Two names and one value", 7, 1, b"pid\0php" + b"1")
    facts("fewer-names", "One name and two values", 3, 3, b"pid" + b"1\0" + b"2")
    facts("value-without-name", "A value and no name", 0, 1, b"1")
    facts("empty-name", "An empty name between others", 4, 5, b"a\0\0b" + b"1\x002\x003")
    facts("empty-first-name", "An empty name in front", 2, 3, b"\0b" + b"1\x002")
    facts("empty-last-name", "An empty name at the end", 2, 3, b"b\0" + b"1\x002")
    facts("name-twice", "A name that comes twice", 7, 3, b"php\0php" + b"8\x008")
    facts("pid-no-number", "A pid that is no decimal number", 3, 3, b"pid" + b"-12")
    facts("boot-micros-no-number", "A boot time that is no decimal number", 11, 3, b"boot-micros" + b"1.5")

    def bad_head(name, description, status=200, reason_length=0, length=UNKNOWN, rest=b""):
        unfit(serving, f"head-{name}", description, "HEAD", [u16(status), u16(reason_length), u64(length), rest])

    bad_head("status-99", "A status below 100", 99)
    bad_head("status-1000", "A status above 999", 1000)
    bad_head("status-101", "Switching protocols is not possible", 101, length=0)
    bad_head("reason-too-long", "A reason longer than the payload", 200, 3, rest=b"OK")
    bad_head("reason-65535", "The longest reason length", 200, 65535, rest=b"OK")
    bad_head("body-length-2-63", "A body length above 2^63 - 1", length=2**63)
    bad_head("body-length-2-64", "A body length just below not known", length=2**64 - 2)
    bad_head("interim-with-length", "An interim head with a body length", 103, length=1)
    bad_head("interim-unknown-length", "An interim head whose body length is not known", 103)
    bad_head("empty-line", "Two NULs side by side", rest=b"A: b\0\0C: d")
    bad_head("empty-first-line", "A NUL in front of the lines", rest=b"\0A: b")
    bad_head("empty-last-line", "A NUL behind the lines", rest=b"A: b\0")

    def bad_file(name, description, offset, length, path):
        unfit(answering, f"file-{name}", description, "FILE", [u64(offset), u64(length), path])

    bad_file("relative", "A relative path", 0, 1, b"srv/f")
    bad_file("nul", "A path with NUL", 0, 1, b"/srv\0/f")
    bad_file("offset-2-63", "An offset above 2^63 - 1", 2**63, 1, b"/f")
    bad_file("length-2-63", "A length above 2^63 - 1", 0, 2**63, b"/f")
    bad_file("sum-2-63", "offset + length above 2^63 - 1", 2**63 - 1, 1, b"/f")

    unfit(lambda *a: answering(*a).says(plain("END", 1)), "done-memory-2-63", "A peak memory above 2^63 - 1", "DONE",
          [u32(0), u32(0), u32(0), u64(2**63)])
    def bad_metrics(name, description, *fields):
        unfit(ended, f"metrics-{name}", description, "METRICS", list(fields))

    one = struct.pack(">d", 1.0)
    bad_metrics("kind-4", "A measurement of an unknown kind", u8(4), u8(0), u16(1), u16(1), one, b"n")
    bad_metrics("cut", "A second measurement that is cut", u8(1), u8(0), u16(1), u16(1), one, b"n", b"\1\0\0\1\0")
    bad_metrics("value-cut", "A measurement whose value is cut", u8(1), u8(0), u16(1), u16(0), one[:7])
    bad_metrics("text-too-long", "A name that is longer than the payload", u8(1), u8(0), u16(1), u16(2), one, b"n")
    bad_metrics("text-65535", "The longest name there is, and none", u8(1), u8(0), u16(1), u16(65535), one)
    bad_metrics("values-65535", "As many values as there can be, and one", u8(3), u8(0), u16(65535), u16(1), one, b"n")
    bad_metrics("two-values", "A counter with two values", u8(1), u8(0), u16(2), u16(1), one, one, b"n")
    bad_metrics("no-value", "A histogram without a value", u8(3), u8(0), u16(0), u16(1), b"n")
    bad_metrics("bounds", "A gauge with a bound", u8(2), u8(1), u16(1), u16(1), one, one, b"n")
    bad_metrics("label-without-value", "A label without a value", u8(1), u8(0), u16(1), u16(3), one, b"n\0l")
    for kind in (0, 5, 255):
        unfit(serving, f"error-kind-{kind}", f"ERROR of the unknown kind {kind}", "ERROR", [u8(kind), b"x"])
    for severity in (8, 255):
        unfit(serving, f"log-severity-{severity}", f"LOG of the unknown severity {severity}", "LOG", [u8(severity), b"x"])

    def bad_answer(name, description, answer, offer=OFFER):
        talk(f"negotiation-{name}", description).says(offer).breaks(w, "NEGOTIATION", "READY", encode(answer))

    bad_answer("version-0", "READY with a version below the range", ready(version=0))
    bad_answer("version-2", "READY with a version above the range", ready(version=2))
    bad_answer("capability-not-offered", "READY with a capability that was not offered", ready((("capabilities", "file"),)), hello())
    bad_answer("capability-unknown", "READY with a capability that nobody knows", ready((("capabilities", "file flight"),)))

    serving("cut-header", "The stream ends inside a header").cut(w, None, [b"".join(header("HEAD", 12, 1))[:11]])
    serving("cut-first-byte", "The stream ends after the magic byte").cut(w, None, [b"\xce"])
    serving("cut-payload", "The stream ends inside a payload").cut(w, "HEAD", [b"".join(encode(head()))[:-1]])
    serving("cut-after-header", "The stream ends between header and payload").cut(w, "HEAD", header("HEAD", 12, 1))
    answering("cut-data", "The stream ends inside DATA").cut(w, "DATA", header("DATA", 100, 1) + [b"abc"])


def supervisor_violations():
    """What a supervisor may do wrong, as the worker must see it."""
    s = "supervisor"

    def before_hello(name, description):
        return talk(f"supervisor-{name}", description)

    def idle(name, description):
        return booted(f"supervisor-{name}", description)

    def busy(name, description):
        return serving(f"supervisor-{name}", description)

    before_hello("magic", "The first byte is wrong").breaks(s, "MAGIC", None, [b"\x00"])
    idle("magic-after-hello", "Garbage after HELLO").breaks(s, "MAGIC", None, header("REQUEST", 24, 1, magic=0x02))
    for code in (0x00, 0x0C, 0x4C, 0xFF):
        idle(f"type-unknown-{code:02x}", f"No type has the code 0x{code:02X}").breaks(s, "TYPE", None, header(code, 0))
    for kind in ("EVENT", "TASK", "TICK", "REPLY", "PING", "CHECKPOINT", "RESTORED"):
        idle(f"type-reserved-{kind.lower()}", f"{kind} without its capability").breaks(s, "TYPE", kind, header(kind, 0))
    for kind, length in (("READY", 10), ("HEAD", 12), ("DATA", 1), ("END", 0), ("DONE", 20), ("ERROR", 1), ("LOG", 1)):
        idle(f"direction-{kind.lower()}", f"{kind} from the supervisor").breaks(s, "DIRECTION", kind, header(kind, length, 1))

    def able(name, description):
        return talk(f"supervisor-{name}", description).says(CALL_OFFER, CALL_ANSWER)

    def asked(name, description):
        return able(name, description).says(request(1), call("\x14\0\0a"))

    able("direction-call", "CALL from the supervisor").breaks(s, "DIRECTION", "CALL", header("CALL", 1, 1))
    able("flags-task", "A flag that TASK does not have").breaks(s, "FLAGS", "TASK", header("TASK", 4, 1, 2))
    def ready_for_events(name, description):
        return talk(f"supervisor-{name}", description).says(LAMBDA_OFFER, LAMBDA_ANSWER)

    ready_for_events("flags-event-form", "An event is no form").breaks(s, "FLAGS", "EVENT", header("EVENT", 24, 1, 2))
    for length in (23, 57333, 2**32 - 1):
        ready_for_events(f"length-event-{length}", f"EVENT with {length} payload bytes").breaks(s, "LENGTH", "EVENT", header("EVENT", length, 1))
    ready_for_events("number-event", "The first EVENT has the number 2").breaks(s, "REQUEST_NUMBER", "EVENT", header("EVENT", 24, 2))
    ready_for_events("turn-event-while-serving", "EVENT while a request runs").says(request(1)).breaks(s, "TURN", "EVENT", header("EVENT", 24, 2))
    for kind in ("CHECKPOINT", "RESTORED"):
        ready_for_events(f"flags-{kind.lower()}", f"A flag in {kind}").breaks(s, "FLAGS", kind, header(kind, 0, 1, 1))
        ready_for_events(f"length-{kind.lower()}", f"{kind} with a payload").breaks(s, "LENGTH", kind, header(kind, 1, 1))
        ready_for_events(f"number-{kind.lower()}", f"{kind} with the number 0").breaks(s, "REQUEST_NUMBER", kind, header(kind, 0, 0))
        ready_for_events(f"turn-{kind.lower()}-while-serving", f"{kind} while a request runs").says(request(1)).breaks(
            s, "TURN", kind, header(kind, 0, 2))
    able("flags-tick", "A flag in TICK").breaks(s, "FLAGS", "TICK", header("TICK", 0, 1, 1))
    asked("flags-reply", "A flag that REPLY does not have").breaks(s, "FLAGS", "REPLY", header("REPLY", 1, 1, 2))
    for length in (3, 57333, 2**31, 2**32 - 1):
        able(f"length-task-{length}", f"TASK with {length} payload bytes").breaks(s, "LENGTH", "TASK", header("TASK", length, 1))
    able("length-tick", "TICK with a payload").breaks(s, "LENGTH", "TICK", header("TICK", 1, 1))
    for length in (0, 57333, 2**32 - 1):
        asked(f"length-reply-{length}", f"REPLY with {length} payload bytes").breaks(s, "LENGTH", "REPLY", header("REPLY", length, 1))
    able("turn-reply-idle", "REPLY while no request runs").breaks(s, "TURN", "REPLY", header("REPLY", 1, 1))
    able("turn-reply-unasked", "REPLY to a worker that has not asked").says(request(1)).breaks(s, "TURN", "REPLY", header("REPLY", 1, 1))
    able("turn-task-while-serving", "TASK while a request runs").says(request(1)).breaks(s, "TURN", "TASK", header("TASK", 4, 2))
    asked("turn-request-while-calling", "REQUEST instead of REPLY").breaks(s, "TURN", "REQUEST", header("REQUEST", 24, 2))
    asked("number-reply", "REPLY with another number").breaks(s, "REQUEST_NUMBER", "REPLY", header("REPLY", 1, 2))
    able("number-task", "The first TASK has the number 2").breaks(s, "REQUEST_NUMBER", "TASK", header("TASK", 4, 2))
    able("number-tick", "TICK with the number 0").breaks(s, "REQUEST_NUMBER", "TICK", header("TICK", 0, 0))
    asked("cut-reply", "The stream ends inside REPLY").cut(s, "REPLY", [b"".join(encode(reply("ab")))[:-1]])

    before_hello("flags-hello", "A flag in HELLO").breaks(s, "FLAGS", "HELLO", header("HELLO", 20, flags=1))
    idle("flags-request", "A flag that REQUEST does not have").breaks(s, "FLAGS", "REQUEST", header("REQUEST", 24, 1, 4))
    idle("flags-request-form", "FORM though it was not agreed on").breaks(s, "FLAGS", "REQUEST", header("REQUEST", 24, 1, 2))
    talk("supervisor-flags-request-form-declined", "FORM to a worker that has declined it").says(FORM_OFFER, ANSWER).breaks(
        s, "FLAGS", "REQUEST", header("REQUEST", 24, 1, 2))
    idle("flags-request-highest", "The highest flag bit in REQUEST").breaks(s, "FLAGS", "REQUEST", header("REQUEST", 24, 1, 0x8001))
    busy("flags-cancel", "A flag in CANCEL").breaks(s, "FLAGS", "CANCEL", header("CANCEL", 0, 1, 1))
    idle("flags-stop", "A flag in STOP").breaks(s, "FLAGS", "STOP", header("STOP", 0, 0, 1))

    for length in (19, 61429, 2**31, 2**32 - 1):
        before_hello(f"length-hello-{length}", f"HELLO with {length} payload bytes").breaks(s, "LENGTH", "HELLO", header("HELLO", length))
    for length in (23, 57333, 2**31, 2**32 - 1):
        idle(f"length-request-{length}", f"REQUEST with {length} payload bytes").breaks(s, "LENGTH", "REQUEST", header("REQUEST", length, 1))
    busy("length-cancel", "CANCEL with a payload").breaks(s, "LENGTH", "CANCEL", header("CANCEL", 1, 1))
    idle("length-stop", "STOP with a payload").breaks(s, "LENGTH", "STOP", header("STOP", 1))

    before_hello("turn-request-first", "REQUEST before HELLO").breaks(s, "TURN", "REQUEST", header("REQUEST", 24, 1))
    before_hello("turn-stop-first", "STOP before HELLO").breaks(s, "TURN", "STOP", header("STOP", 0))
    before_hello("turn-cancel-first", "CANCEL before HELLO").breaks(s, "TURN", "CANCEL", header("CANCEL", 0, 1))
    idle("turn-hello-twice", "A second HELLO").breaks(s, "TURN", "HELLO", header("HELLO", 20))
    busy("turn-request-while-serving", "REQUEST while another runs").breaks(s, "TURN", "REQUEST", header("REQUEST", 24, 2))
    idle("turn-cancel-before-request", "CANCEL before the first request").breaks(s, "TURN", "CANCEL", header("CANCEL", 0, 1))

    before_hello("number-hello", "HELLO with a request number").breaks(s, "REQUEST_NUMBER", "HELLO", header("HELLO", 20, 1))
    idle("number-request-zero", "REQUEST with the number 0").breaks(s, "REQUEST_NUMBER", "REQUEST", header("REQUEST", 24, 0))
    idle("number-request-skipped", "The first REQUEST has the number 2").breaks(s, "REQUEST_NUMBER", "REQUEST", header("REQUEST", 24, 2))
    busy("number-request-again", "The second REQUEST has the number of the first").says(
        head(length=0), plain("END", 1), done()).breaks(s, "REQUEST_NUMBER", "REQUEST", header("REQUEST", 24, 1))
    busy("number-cancel", "CANCEL for a request that was never sent").breaks(s, "REQUEST_NUMBER", "CANCEL", header("CANCEL", 0, 2))
    idle("number-stop", "STOP with a request number").breaks(s, "REQUEST_NUMBER", "STOP", header("STOP", 0, 1))

    def bad_request(name, description, names_length, values_length, body_length, rest, flags=0):
        fields = [struct.pack(">d", 0.0), u32(0), u32(names_length), u32(values_length), u32(body_length), rest]
        idle(f"payload-request-{name}", description).breaks(s, "PAYLOAD", "REQUEST", framed("REQUEST", fields, 1, flags))

    bad_request("too-long", "The three lengths are more than the payload", 1, 1, 2, b"a1x")
    bad_request("too-short", "Bytes are left behind the body", 1, 1, 0, b"a1x")
    bad_request("names-length-4gib", "A names length beyond everything", 2**32 - 1, 1, 1, b"a1x")
    bad_request("body-length-4gib", "A body length beyond everything", 1, 1, 2**32 - 1, b"a1x")
    bad_request("fewer-values", "Two names and one value", 3, 1, 0, b"a\0b" + b"1")
    bad_request("fewer-names", "One name and two values", 1, 3, 0, b"a" + b"1\0" + b"2")
    bad_request("value-without-name", "A value and no name", 0, 1, 0, b"1")
    bad_request("empty-name", "An empty name between others", 4, 5, 0, b"a\0\0b" + b"1\x002\x003")
    bad_request("name-twice", "A name that comes twice", 3, 3, 0, b"a\0a" + b"1\x002")
    bad_request("file-no-path", "BODY_IN_FILE without a path", 1, 1, 0, b"a1", 1)
    bad_request("file-relative", "BODY_IN_FILE with a relative path", 1, 1, 3, b"a1" + b"f/g", 1)
    bad_request("file-nul", "BODY_IN_FILE with NUL in the path", 1, 1, 4, b"a1" + b"/f\0g", 1)

    def bad_form(name, description, body, flags=2):
        fields = [struct.pack(">d", 0.0), u32(0), u32(1), u32(1), u32(len(body)), b"a1", body]
        talk(f"supervisor-payload-form-{name}", description).says(FORM_OFFER, FORM_ANSWER).breaks(
            s, "PAYLOAD", "REQUEST", framed("REQUEST", fields, 1, flags))

    bad_form("no-length", "A form without the length of its fields", b"\0\0\0")
    bad_form("fields-too-long", "Fields that are longer than the form", u32(4) + b"a=1")
    bad_form("fields-4gib", "Fields longer than everything", u32(2**32 - 1) + b"a=1")
    bad_form("one-path", "A form in files with one path", b"/a", 3)
    bad_form("three-paths", "A form in files with three paths", b"/a\0/b\0/c", 3)
    bad_form("relative-path", "A form in files with a relative path", b"/a\0b", 3)
    bad_form("no-path", "A form in files that names none", b"\0", 3)

    def bad_hello(name, description, fields):
        before_hello(f"payload-hello-{name}", description).breaks(s, "PAYLOAD", "HELLO", framed("HELLO", fields))

    bad_hello("first-list-too-long", "The settings are longer than the payload", [u16(1), u16(1), u32(9), u32(0), u32(0), u32(0)])
    bad_hello("second-list-too-long", "The constant part is longer than the payload", [u16(1), u16(1), u32(0), u32(0), u32(1), u32(1), b"a"])
    bad_hello("trailing", "A byte is left behind the lists", [u16(1), u16(1), u32(0), u32(0), u32(0), u32(0), b"a"])
    bad_hello("fewer-values", "Two settings and one value", [u16(1), u16(1), u32(3), u32(1), b"a\0b", b"1", u32(0), u32(0)])
    bad_hello("name-twice", "A name that comes twice", [u16(1), u16(1), u32(0), u32(0), u32(3), u32(1), b"a\0a", b"\0"])

    for lowest, highest in ((2, 3), (0, 0), (2, 1)):
        before_hello(f"negotiation-{lowest}-{highest}", f"Versions {lowest} to {highest} are not spoken by a worker of version 1").breaks(
            s, "NEGOTIATION", "HELLO", encode(hello(lowest=lowest, highest=highest)))

    before_hello("cut-header", "The stream ends inside a header").cut(s, None, [b"".join(header("HELLO", 20))[:5]])
    before_hello("cut-payload", "The stream ends inside HELLO").cut(s, "HELLO", [b"".join(encode(OFFER))[:-1]])
    idle("cut-request", "The stream ends inside REQUEST").cut(s, "REQUEST", [b"".join(encode(request(1)))[:-1]])


def document(content):
    """JSON with one frame or one run of bytes a line."""

    def line(value):
        return json.dumps(value, ensure_ascii=True)

    def members(values, indent):
        return ",\n".join(f"{indent}{line(key)}: {text}" for key, text in values)

    if "steps" not in content:
        return "{\n" + members(((key, line(value)) for key, value in content.items()), "  ") + "\n}\n"
    steps = []
    for step in content["steps"]:
        values = []
        for key, value in step.items():
            text = line(value)
            if key == "frames" and value:
                text = "[\n" + ",\n".join("        " + line(frame) for frame in value) + "\n      ]"
            values.append((key, text))
        steps.append("    {\n" + members(values, "      ") + "\n    }")
    return ("{\n" + members([("description", line(content["description"]))], "  ")
            + ',\n  "steps": [\n' + ",\n".join(steps) + "\n  ]\n}\n")


def main():
    frames()
    conversations()
    worker_violations()
    supervisor_violations()
    written = {HERE / path: document(content) for path, content in files.items()}
    present = set(HERE.glob("frames/*.json")) | set(HERE.glob("conversations/*.json"))
    stale = [p for p in present if p not in written] + [
        p for p, text in written.items() if not p.exists() or p.read_text() != text]
    if "--check" in sys.argv:
        for path in sorted(stale):
            print(f"differs: {path.relative_to(HERE)}")
        return 1 if stale else 0
    for path in present - set(written):
        path.unlink()
    for path, text in written.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    print(f"{len(written)} files")
    return 0


sys.exit(main())
