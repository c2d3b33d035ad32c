package dev.cetane.multipart;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Forms as browsers, libraries and attackers send them. No expected value stands here: PHP says what each is. */
final class FormCases {
    static final String TYPE = "multipart/form-data; boundary=B";
    static final Path PHP_CLIENT = Path.of("../php-client").toAbsolutePath().normalize();

    private static final String PLAIN = "Content-Disposition: form-data; ";

    /** Settings of a PHP and the limits that a worker with them reports. */
    enum Settings {
        DEFAULT(FormLimits.PHP_DEFAULTS),
        FEW(
                new FormLimits(8 << 20, 6000, 3, 5, 8, true),
                "upload_max_filesize=6000",
                "max_file_uploads=3",
                "max_input_vars=5"),
        PARTS(new FormLimits(8 << 20, 2 << 20, 20, 1000, 3, true), "max_multipart_body_parts=3"),
        OFF(new FormLimits(8 << 20, 2 << 20, 20, 1000, 1020, false), "file_uploads=0"),
        NONE(new FormLimits(8 << 20, 2 << 20, 0, 1000, 1000, true), "max_file_uploads=0"),
        ONE_BYTE(new FormLimits(8 << 20, 1, 20, 1000, 1020, true), "upload_max_filesize=1"),
        UNBOUNDED(
                new FormLimits(0, 0, 5000, 5000, 10_000, true),
                "post_max_size=0",
                "upload_max_filesize=0",
                "max_file_uploads=5000",
                "max_input_vars=5000"),
        NESTING(FormLimits.PHP_DEFAULTS, "max_input_nesting_level=2"),
        SEPARATOR(FormLimits.PHP_DEFAULTS, "arg_separator.input=;|"),
        SEPARATORS(FormLimits.PHP_DEFAULTS, "arg_separator.input=&;,");

        final FormLimits limits;
        final List<String> ini;

        Settings(FormLimits limits, String... ini) {
            this.limits = limits;
            this.ini = List.of(ini);
        }
    }

    /** One request; its body holds one char per byte. */
    record Case(String name, Settings settings, String contentType, String body) {
        byte[] bytes() {
            return body.getBytes(StandardCharsets.ISO_8859_1);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private final List<Case> cases = new ArrayList<>();

    private FormCases() {}

    static List<Case> all() {
        FormCases forms = new FormCases();
        forms.boundaries();
        forms.frames();
        forms.heads();
        forms.quoting();
        forms.fields();
        forms.files();
        forms.fileNames();
        forms.sizes();
        forms.counts();
        forms.edges();
        forms.cuts();
        return forms.cases;
    }

    // ---- how a body is written ----

    /** The parts between their delimiters, and the closing one. */
    static String form(String... parts) {
        StringBuilder body = new StringBuilder();
        for (String part : parts) {
            body.append("--B\r\n").append(part).append("\r\n");
        }
        return body.append("--B--\r\n").toString();
    }

    static String field(String name, String value) {
        return PLAIN + "name=\"" + name + "\"\r\n\r\n" + value;
    }

    static String file(String name, String fileName, String content) {
        return PLAIN + "name=\"" + name + "\"; filename=\"" + fileName + "\"\r\nContent-Type: text/plain\r\n\r\n"
                + content;
    }

    private static String part(String head, String content) {
        return head + "\r\n\r\n" + content;
    }

    private void add(String name, String... parts) {
        add(Settings.DEFAULT, name, parts);
    }

    private void add(Settings settings, String name, String... parts) {
        cases.add(new Case(name, settings, TYPE, form(parts)));
    }

    private void raw(String name, String body) {
        cases.add(new Case(name, Settings.DEFAULT, TYPE, body));
    }

    // ---- the cases ----

    private void boundaries() {
        String one = form(field("a", "1"), file("f", "x.txt", "content"));
        List<String> types = List.of(
                "multipart/form-data; boundary=B",
                "multipart/form-data;boundary=B",
                "multipart/form-data; boundary=\"B\"",
                "multipart/form-data; boundary=\"B\"; charset=utf-8",
                "multipart/form-data; boundary=B; charset=utf-8",
                "multipart/form-data; boundary=B, charset=utf-8",
                "multipart/form-data; charset=utf-8; boundary=B",
                "Multipart/Form-Data; Boundary=B",
                "MULTIPART/FORM-DATA; BOUNDARY=B",
                "multipart/form-data; BOUNDARY=X; boundary=B",
                "multipart/form-data; xboundaryx =B",
                "multipart/form-data; boundary; x=B",
                "multipart/form-data; boundary",
                "multipart/form-data; boundary=",
                "multipart/form-data; boundary=\"\"",
                "multipart/form-data; boundary=\"B",
                "multipart/form-data; boundary=B\"",
                "multipart/form-data; boundary=b",
                "multipart/form-data; boundary= B",
                "multipart/form-data; boundary=B ",
                "multipart/form-data; boundary==B",
                "multipart/form-data",
                "multipart/form-data;",
                "multipart/form-data, boundary=B",
                "multipart/form-data boundary=B",
                "multipart/form-data\t; boundary=B",
                "multipart/form-datax; boundary=B",
                "multipart/mixed; boundary=B",
                " multipart/form-data; boundary=B");
        for (String type : types) {
            cases.add(new Case("type <" + type + ">", Settings.DEFAULT, type, one));
        }
        for (String boundary : List.of(
                "\"a;b,c\"",
                "----WebKitFormBoundary7MA4YWxkTrZu0gW",
                "'q'",
                "\\\"x",
                "\u00e4\u00ff",
                "a b",
                "=",
                "x".repeat(70),
                "x".repeat(1000),
                "-".repeat(300),
                "x".repeat(5115),
                "x".repeat(5116),
                "x".repeat(5117))) {
            String bare = boundary.startsWith("\"") ? boundary.substring(1, boundary.length() - 1) : boundary;
            cases.add(new Case(
                    "boundary <" + (boundary.length() > 80 ? boundary.length() + " bytes" : boundary) + ">",
                    Settings.DEFAULT,
                    "multipart/form-data; boundary=" + boundary,
                    one.replace("--B", "--" + bare)));
        }
        String near = form(field("a", "\r\n--" + "x".repeat(5115)), file("f", "n", "\n--" + "x".repeat(5114) + "y"));
        cases.add(new Case(
                "a long boundary and what nearly is one",
                Settings.DEFAULT,
                "multipart/form-data; boundary=" + "x".repeat(5116),
                near.replace("--B", "--" + "x".repeat(5116))));
    }

    private void frames() {
        String a = field("a", "1");
        String b = field("b", "2");
        raw("nothing", "");
        raw("no delimiter", "abc\r\ndef\r\n");
        raw("only the closing delimiter", "--B--\r\n");
        raw("a preamble", "This is a message.\r\n\r\n" + form(a));
        raw("a preamble in the delimiter's line", "x--B\r\n" + a + "\r\n" + form(b));
        raw("a line end first", "\r\n" + form(a));
        raw("a longer delimiter first", "--Bx\r\n" + a + "\r\n" + form(b));
        raw("a space behind a delimiter", "--B \r\n" + a + "\r\n" + form(b));
        raw("two delimiters", "--B\r\n--B\r\n" + a + "\r\n--B--\r\n");
        raw("no closing delimiter", "--B\r\n" + a + "\r\n--B\r\n" + b + "\r\n");
        raw("the closing delimiter without a line end", "--B\r\n" + a + "\r\n--B--");
        raw("an epilogue with a part", form(a) + form(b));
        raw("an epilogue in the closing line", "--B\r\n" + a + "\r\n--B-- the end\r\n--B\r\n" + b + "\r\n--B--");
        raw("line feeds alone", form(a, b).replace("\r\n", "\n"));
        raw("carriage returns alone", form(a, b).replace("\r\n", "\r"));
        raw("a carriage return more", form(a, b).replace("\r\n", "\r\r\n"));
        raw("line feed, carriage return", form(a, b).replace("\r\n", "\n\r"));
        raw("a NUL behind the delimiter", "--B\0zz\r\n" + a + "\r\n--B--\r\n");
        raw("a NUL before the delimiter", "\0--B\r\n" + a + "\r\n--B--\r\n");
        raw("a delimiter with more behind it ends a part", form(field("a", "1\r\n--Bx\r\nmore"), b));
        raw("the same in a file", form(file("f", "n", "1\r\n--Bx\r\nmore"), b));
        raw("the same with a NUL", form(field("a", "1\r\n--B\0x\r\n" + field("c", "3")), b));
        raw("a delimiter at once", form(field("a", "\r\n--Bx"), b));
        raw("an empty line for a head", form("\r\nvalue", b));
        raw(
                "a delimiter in the head",
                "--B\r\nContent-Disposition: form-data; name=a\r\n--B\r\n" + a + "\r\n--B--\r\n");
    }

    private void heads() {
        String other = field("after", "x");
        for (String head : List.of(
                PLAIN + "name=a",
                "content-disposition: form-data; name=a",
                "CONTENT-DISPOSITION: FORM-DATA; NAME=a",
                "Content-Disposition:form-data;name=a",
                "Content-Disposition:  \tform-data;  name=a",
                "Content-Disposition : form-data; name=a",
                " Content-Disposition: form-data; name=a",
                "Content-Disposition: name=a",
                "Content-Disposition: attachment; name=a",
                "Content-Disposition: ; name=a",
                "Content-Disposition: form-data name=a",
                "Content-Disposition: form-data, name=a",
                "Content-Disposition: form-data;;; name=a;;",
                "Content-Disposition: form-data; name=a; name=b",
                "Content-Disposition: form-data; name = a",
                "Content-Disposition: form-data; name= a b",
                "Content-Disposition: form-data; name==a=b",
                "Content-Disposition: form-data; name*=utf-8''a",
                "Content-Disposition: form-data; name",
                "Content-Disposition: form-data; name=",
                "Content-Disposition: form-data; name=; x=y",
                "Content-Disposition: form-data; \"name=q\"; name=a",
                "Content-Disposition: form-data; x=\"; name=q\"; name=a",
                "Content-Disposition: form-data; x='; name=q'; name=a",
                "Content-Disposition: form-data; x=\"; name=a",
                "Content-Disposition: form-data; x=it's; name=a",
                "Content-Disposition: form-data",
                "Content-Disposition:",
                "Content-Disposition: form-data\r\nContent-Disposition: form-data; name=a",
                "Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b",
                "Content-Disposition: form-data;\r\n name=a",
                "Content-Disposition: form-data;\r\n\tname=\"a\r\n b\"",
                "Content-Disposition: form-data;\r\nname=a",
                "Content-Disposition: form-data; name=a\r\nb",
                "Content-Disposition: form-data; na\r\nme=a",
                "Content-Disposition: form-data\r\n ; name=a: b",
                "no colon\r\nContent-Disposition: form-data; name=a",
                ": empty key\r\nContent-Disposition: form-data; name=a",
                "\u000bContent-Disposition: form-data; name=q\r\nContent-Disposition: form-data; name=a",
                "Content-Disposition: form-data; name=a\0b; filename=x",
                "Content-Disposition\0: form-data; name=a",
                "Content-Disposition: form-data; name=a\r\nContent-Type: text/plain; charset=utf-8",
                "Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64",
                "Content-Length: 1\r\nContent-Disposition: form-data; name=a",
                "X-Padding: " + "p".repeat(5200) + "\r\nContent-Disposition: form-data; name=a",
                "X-Padding: " + "p".repeat(5109) + "\r\nContent-Disposition: form-data; name=a",
                "X-Padding: " + "p".repeat(5108) + "\r\nContent-Disposition: form-data; name=a",
                "X-Padding: " + "p".repeat(5107) + "\r\nContent-Disposition: form-data; name=a",
                "Content-Disposition: form-data; x=" + "p".repeat(5080) + "; name=a",
                "Content-Disposition: form-data; x=" + "p".repeat(12_000) + "; name=a",
                "Content-Disposition: form-data; name=" + "n".repeat(6000),
                "Content-Disposition: form-data; name=\u00e4\u00ff\u0080")) {
            add(
                    "head <" + (head.length() > 100 ? head.length() + head.substring(0, 30) : head) + ">",
                    part(head, "value"),
                    other);
        }
        add("no head", "value", other);
        add("a head without disposition", part("Content-Type: text/plain", "value"), other);
        add("a file without a name", part("Content-Disposition: form-data; filename=a.txt", "1"), other);
        add(
                "files without names",
                part("Content-Disposition: form-data; filename=a", "1"),
                part("Content-Disposition: form-data; filename=\"\"", ""),
                file("0", "c", "3"),
                part("Content-Disposition: form-data; filename=b", "2"));
        for (String type : List.of(
                "text/plain;",
                "text/plain; charset=utf-8",
                "text/plain ; x",
                ";",
                "",
                "  text/html  ",
                "a\tb",
                "text/plain\r\n more",
                "text/plain\r\nContent-Type: text/html",
                "\"text;plain\"")) {
            add("type of a file <" + type + ">", part(PLAIN + "name=f; filename=n\r\nContent-type: " + type, "x"));
        }
    }

    private void quoting() {
        for (String value : List.of(
                "a",
                "\"a\"",
                "'a'",
                "\"a b\"",
                "'a b'",
                "a b",
                "\"a'b\"",
                "'a\"b'",
                "\"a\\\"b\"",
                "'a\\'b'",
                "\"a\\'b\"",
                "'a\\\"b'",
                "\"a\\\\b\"",
                "\"a\\\\\"",
                "\"a\\\\\\\"b\"",
                "\"a\\b\"",
                "\"a\\",
                "a\\b",
                "a\\\\b",
                "a\\",
                "a\\\\",
                "a\\\"b",
                "\"a\"b",
                "\"a\" b",
                "\"a",
                "'a",
                "\"a\";b\"",
                "a\"b;c\"d",
                "\"\"",
                "''",
                "\"",
                "\"a;b\"",
                "\"a=b\"",
                "\" a \"",
                "\"%22a%0d%0a\"",
                "\"a\tb\"",
                "\"\u00c3\u00a4\"",
                "\"\\\u00e4\"")) {
            add(
                    "name=" + value,
                    part(PLAIN + "name=" + value, "v"),
                    part(PLAIN + "name=" + value + "; filename=f", "v"));
            add("filename=" + value, part(PLAIN + "name=f; filename=" + value, "v"), field("after", "1"));
            add("name after it, filename=" + value, part(PLAIN + "filename=" + value + "; name=f", "v"));
        }
    }

    private static final List<String> NAMES = List.of(
            "a",
            "a.b",
            "a b",
            " a",
            "a ",
            "a[]",
            "a[b]",
            "a[b][c]",
            "a[][]",
            "a[b.c d]",
            "a.b[c]",
            "a[ b]",
            "a[b ]",
            "a[ ]",
            "a[\tb]",
            "a[\u000b]",
            "a[\u000bb]",
            "a[0]",
            "a[00]",
            "a[-5]",
            "a[9223372036854775807]",
            "a[9223372036854775808]",
            "[a]",
            "[]",
            "a[",
            "a[b",
            "a]",
            "a[]b",
            "a[b]c",
            "a[b]c[d]",
            "a[[b]",
            "a[[b]]",
            "a[b]]",
            "a[b][",
            "a[b][c",
            "a[]]",
            "]a[",
            "a[b] [c]",
            "[",
            " ",
            "",
            ".",
            "a&b",
            "a=b",
            "a+b",
            "a%5Bb%5D",
            "a;b",
            "a|b",
            "0",
            "-1",
            "GLOBALS",
            "_POST",
            "this",
            "a[GLOBALS]",
            "\u00ff[\u00fe]",
            "a[name]",
            "a[tmp_name]",
            "a[error][0]",
            "MAX_FILE_SIZE",
            "max_file_size");

    private void fields() {
        for (String name : NAMES) {
            add("field <" + name + ">", field(name, "1"), field(name, "2"), field("after", "3"));
            add(Settings.NESTING, "nesting, field <" + name + ">", field(name, "1"), field("a[x][y][z]", "2"));
        }
        for (String value : List.of(
                "",
                "\r\n",
                "\r",
                "\n",
                "\r\n\r\n",
                "a\r",
                "a\n",
                "a\r\n",
                "a\r\r\n",
                "-",
                "--",
                "--B",
                "\r\n--",
                "\r\n-B",
                "\r\n--b",
                "\n--A",
                "a\0b",
                "&a=b&c",
                "%41+%",
                ";|=",
                "\u00ff\u00fe\u0080",
                "x".repeat(5118),
                "x".repeat(5119) + "\r",
                "x".repeat(20_000))) {
            String named = value.length() > 50 ? value.length() + " bytes" : value;
            add("value <" + named + ">", field("a", value), file("f", "n", value), field("z", "1"));
            add(Settings.SEPARATOR, "separator, value <" + named + ">", field("a;b&c|d", value), field("z", "1"));
            add(Settings.SEPARATORS, "separators, value <" + named + ">", field("a;b&c|d", value), field("z", "1"));
        }
        StringBuilder every = new StringBuilder();
        for (char c = 0; c < 256; c++) {
            every.append(c);
        }
        add("every byte", field("a", every.toString()), file("f", "n", every.toString()));
        add("a variable, then a part of it", field("a", "1"), field("a[b]", "2"));
        add("a part of a variable, then all of it", field("a[b]", "1"), field("a", "2"));
        add("a field named like a file", file("a", "n", "x"), field("a", "1"), field("a[tmp_name]", "2"));
        add("a file named like a field", field("a", "1"), file("a", "n", "x"));
        add("fields with a type", part(PLAIN + "name=a\r\nContent-Type: application/json", "{\"a\": [1, 2]}"));
        add("charset", field("_charset_", "utf-8"), field("a", "\u00e4"));
    }

    private void files() {
        for (String name : NAMES) {
            add("file <" + name + ">", file(name, "n1", "1"), file(name, "n2", "22"), file("after", "n3", "333"));
            add(Settings.NESTING, "nesting, file <" + name + ">", file("a[x]", "n0", "0"), file(name, "n1", "1"));
        }
        add("array of files", file("f[]", "a", "1"), file("f[2]", "b", "22"), file("f[]", "c", "333"));
        add("nested files", file("f[a][b][]", "a", "1"), file("f[a][c]", "b", "2"), file("f[a][b][]", "c", "3"));
        add("a file, then an array", file("f", "a", "1"), file("f[x]", "b", "2"), file("f[x][y]", "c", "3"));
        add("an array, then a file", file("f[x][y]", "c", "3"), file("f[x]", "b", "2"), file("f", "a", "1"));
        add("no next key", file("f[9223372036854775807]", "a", "1"), file("f[]", "b", "2"));
        for (String column : List.of("name", "full_path", "type", "tmp_name", "error", "size")) {
            add("column <" + column + "> first", file("f[" + column + "]", "a", "1"), file("f", "b", "22"));
            add("column <" + column + "> last", file("f", "b", "22"), file("f[" + column + "]", "a", "1"));
            add(
                    "column <" + column + "> between",
                    file("f[" + column + "][]", "a", "1"),
                    file("f[]", "b", "22"),
                    file("f[" + column + "][0]", "c", "333"),
                    file("f[0]", "d", "4444"));
        }
        add("a file without content", file("f", "empty.txt", ""));
        add("no file", file("f", "", ""), field("a", "1"));
        add("no file, with content", file("f", "", "content\r\n--Bx\r\nmore"), field("a", "1"));
        add("no file among files", file("f[]", "a", "1"), file("f[]", "", ""), file("f[]", "c", "333"));
        add("a binary file", file("f", "a.bin", "\0\1\2\r\n\377\r\n--\r\n-\r\n--C\n--\r"));
        add("a file name twice", part(PLAIN + "name=f; filename=a; filename=b", "1"));
        add("filename without a value", part(PLAIN + "name=f; filename", "1"));
        add("filename=", part(PLAIN + "name=f; filename=", "1"));
        add("filename*", part(PLAIN + "name=f; filename*=utf-8''a%20b.txt", "1"));
        add("filename and filename*", part(PLAIN + "name=f; filename=a.txt; filename*=utf-8''b.txt", "1"));
        add("malicious, then good", file("a[]b", "x", "1"), file("good", "y", "2"), field("c", "3"));
        add(Settings.OFF, "uploads off", field("a", "1"), file("f", "x", "1"), field("b", "2"));
        add(Settings.NONE, "no uploads", field("a", "1"), file("f", "x", "1"), file("g", "", ""), field("b", "2"));
    }

    private void fileNames() {
        for (String name : List.of(
                "C:\\foo\\bar.txt",
                "C:\\foo/bar\\x.txt",
                "/etc/passwd",
                "../../x.php",
                "dir/",
                "dir\\",
                "/",
                "\\",
                "a/b/c.txt",
                "a\\\\b.txt",
                "..",
                ".",
                " a.txt ",
                "a\tb.txt",
                "\u00c3\u00a4.txt",
                "\u00e4\u00ff.txt",
                "a%00.txt",
                "x".repeat(300))) {
            add("file name <" + name + ">", file("f", name, "x"), file("g[]", name, "y"));
        }
    }

    private void sizes() {
        for (int size : new int[] {0, 1, 2, 5118, 5119, 5120, 5121, 5999, 6000, 6001, 10_237, 10_238, 10_239, 20_000}) {
            add(Settings.FEW, "file of " + size, file("f", "n", "x".repeat(size)), field("a", "1"));
            add(Settings.ONE_BYTE, "one byte, file of " + size, file("f", "n", "x".repeat(size)), field("a", "1"));
            for (String limit : new String[] {"1", "100", "5119", "5120", "6000", "9000", "-1"}) {
                add(
                        Settings.FEW,
                        "file of " + size + ", MAX_FILE_SIZE " + limit,
                        field("MAX_FILE_SIZE", limit),
                        file("f", "n", "x".repeat(size)));
            }
        }
        for (String limit : List.of(
                "0", "", " 2", "+2", "-2", "2x", "x", "0x10", "2.9", "\n2", "99999999999999999999", "2\0", "\u000b2")) {
            add("MAX_FILE_SIZE <" + limit + ">", field("MAX_FILE_SIZE", limit), file("f", "n", "abc"));
        }
        add("MAX_FILE_SIZE behind the file", file("f", "n", "abc"), field("MAX_FILE_SIZE", "1"));
        add("MAX_FILE_SIZE twice", field("max_file_size", "1"), field("MAX_FILE_SIZE", "9"), file("f", "n", "abc"));
        add(
                "each file has its own",
                field("MAX_FILE_SIZE", "1"),
                file("f", "n", "abc"),
                field("MAX_FILE_SIZE", "9"),
                file("g", "n", "abc"));
        add(
                Settings.FEW,
                "what follows a file that is too long",
                file("f", "n", "x".repeat(7000) + "\r\n--Bx\r\n" + "y".repeat(7000)),
                field("a", "1"),
                file("g", "m", "z"));
    }

    private void counts() {
        String[] fields = new String[7];
        String[] files = new String[6];
        for (int i = 0; i < fields.length; i++) {
            fields[i] = field("a" + i, "1");
        }
        for (int i = 0; i < files.length; i++) {
            files[i] = file("f" + i, "n", "1");
        }
        add(Settings.FEW, "too many fields", fields);
        add(Settings.FEW, "too many files", files);
        add(Settings.PARTS, "too many parts", fields);
        add(
                Settings.FEW,
                "empty files do not count",
                file("e[]", "", ""),
                file("e[]", "", ""),
                file("e[]", "", ""),
                file("e[]", "", ""),
                files[0],
                files[1]);
        add(
                Settings.FEW,
                "unnamed fields count",
                field("", "1"),
                field("", "1"),
                field("", "1"),
                field("a", "1"),
                field("b", "1"),
                field("c", "1"));
        add(
                Settings.FEW,
                "MAX_FILE_SIZE counts though it is one too many",
                fields[0],
                fields[1],
                fields[2],
                fields[3],
                fields[4],
                field("MAX_FILE_SIZE", "2"),
                file("f", "n", "abc"));
        add(
                Settings.PARTS,
                "parts without disposition do not count",
                "x",
                "y",
                "z",
                fields[0],
                fields[1],
                fields[2],
                fields[3]);
        add(
                Settings.FEW,
                "all at once",
                files[0],
                fields[0],
                files[1],
                fields[1],
                files[2],
                fields[2],
                files[3],
                fields[3],
                files[4],
                fields[4],
                fields[5]);
        String[] many = new String[3000];
        for (int i = 0; i < many.length; i++) {
            many[i] = i % 3 == 0 ? file("f[]", "n" + i, "content " + i) : field("a[" + i + "]", "value " + i);
        }
        add(Settings.UNBOUNDED, "three thousand parts", many);
        add("three thousand parts, by default limits", many);
    }

    /** What nearly is a delimiter, at every place where PHP's buffer of 5 KiB may end. */
    private void edges() {
        String before = "--B\r\n" + field("a", "");
        for (int size = 5000; size < 5140; size += 3) {
            String content = "x".repeat(size - before.length()) + "\r\n--A\r\n--\r\n" + "y".repeat(40);
            add("edge in a field at " + size, field("a", content), field("b", "1"));
            add("edge in a file at " + size, file("a", "n", content), field("b", "1"));
            add("edge at the end at " + size, field("a", "x".repeat(size - before.length())), field("b", "1"));
        }
        for (int size = 5108; size < 5124; size++) {
            add("file ends at " + size, file("a", "n", "x".repeat(size)), file("b", "n", "x".repeat(size) + "\r"));
        }
    }

    private void cuts() {
        String body =
                form(field("a", "1"), file("f", "name.txt", "content\r\n--Bx"), field("b", "2"), file("g", "n", "x"));
        for (int length = 0; length < body.length(); length++) {
            raw("cut at " + length, body.substring(0, length));
        }
        raw("cut in a large file", form(file("f", "n", "x".repeat(20_000))).substring(0, 15_000));
        raw("cut in a large field", form(field("a", "x".repeat(20_000))).substring(0, 15_000));
    }

    // ---- files of the tests ----

    static Path resource(String name) {
        return Path.of("src/test/resources/dev/cetane/multipart").resolve(name).toAbsolutePath();
    }

    static void deleteAll(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
