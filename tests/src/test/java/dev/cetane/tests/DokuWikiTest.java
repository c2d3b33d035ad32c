package dev.cetane.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Debian's DokuWiki, unmodified, as a classic application: what a person does there with a browser. Its pages and users are the test's own. */
@Timeout(180)
final class DokuWikiTest {
    @RegisterExtension
    static final Instances INSTANCES = new Instances();

    private static final Path WIKI = Path.of("/usr/share/dokuwiki");
    private static final Path SETTINGS = Path.of("/etc/dokuwiki");
    private static final String PASSWORD = "a password & more";

    @TempDir
    static Path directory;

    private static RunningCetane cetane;

    private HttpClient browser;

    @BeforeAll
    static void start() throws IOException {
        Path conf = Files.createDirectory(directory.resolve("conf"));
        try (Stream<Path> files = Files.list(SETTINGS)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, conf.resolve(file.getFileName()));
            }
        }
        Path data = Files.createDirectory(directory.resolve("data"));
        for (String name : List.of(
                "attic",
                "cache",
                "index",
                "locks",
                "log",
                "media",
                "media_attic",
                "media_meta",
                "meta",
                "pages",
                "tmp")) {
            Files.createDirectory(data.resolve(name));
        }
        Files.writeString(
                conf.resolve("local.php"),
                "<?php $conf['title'] = 'Wiki under test'; $conf['useacl'] = 1; $conf['superuser'] = '@admin'; $conf['savedir'] = '"
                        + data + "'; $conf['passcrypt'] = 'sha1'; $conf['disableactions'] = 'register';");
        Files.writeString(conf.resolve("acl.auth.php"), "*\t@ALL\t1\n*\t@user\t8\n");
        Files.writeString(
                conf.resolve("users.auth.php"), "writer:" + sha1(PASSWORD) + ":A Writer:writer@wiki.test:user\n");
        // The place of the settings is the packager's or the administrator's to say; nothing of the wiki itself is
        // touched.
        Path settings =
                Files.writeString(directory.resolve("settings.php"), "<?php define('DOKU_CONF', '" + conf + "/');");
        cetane = INSTANCES
                .application(WIKI)
                .workers(2)
                .set("app.kind", "classic")
                .set("app.ini.auto_prepend_file", settings)
                .set("app.ini.session.save_path", Files.createDirectory(directory.resolve("sessions")))
                .set("http.static-links", "/var/lib/dokuwiki/lib, /usr/share/javascript")
                .start();
    }

    @BeforeEach
    void openBrowser() {
        browser = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .cookieHandler(new CookieManager())
                .followRedirects(HttpClient.Redirect.NORMAL)
                .connectTimeout(RunningCetane.PATIENCE)
                .build();
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return browser.send(request.build(), BodyHandlers.ofString(StandardCharsets.UTF_8));
    }

    private HttpResponse<String> get(String target) throws IOException, InterruptedException {
        return send(cetane.request(target));
    }

    private HttpResponse<String> submit(String target, Map<String, String> fields)
            throws IOException, InterruptedException {
        String form = fields.entrySet().stream()
                .map(field -> encode(field.getKey()) + "=" + encode(field.getValue()))
                .collect(Collectors.joining("&"));
        return send(cetane.request(target)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString(form)));
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    /** The fields of a form that the browser sends back as they are. */
    private static Map<String, String> hidden(String page) {
        Map<String, String> fields = new LinkedHashMap<>();
        Matcher inputs = Pattern.compile("<input type=\"hidden\" name=\"([^\"]+)\" value=\"([^\"]*)\"")
                .matcher(page);
        while (inputs.find()) {
            fields.putIfAbsent(inputs.group(1), inputs.group(2).replace("&amp;", "&"));
        }
        return fields;
    }

    private void logIn() throws IOException, InterruptedException {
        Map<String, String> form = hidden(get("/doku.php?id=start&do=login").body());
        assertThat(form).containsKeys("sectok", "do");
        form.put("do", "login");
        form.put("u", "writer");
        form.put("p", PASSWORD);
        HttpResponse<String> in = submit("/doku.php?id=start&do=login", form);
        assertThat(in.statusCode()).isEqualTo(200);
        assertThat(in.body()).contains("A Writer", "do=logout");
    }

    @Test
    void a_visitor_sees_the_wiki_with_its_styles_scripts_and_pictures() throws Exception {
        HttpResponse<String> home = get("/");
        assertThat(home.statusCode()).isEqualTo(200);
        assertThat(home.uri().getPath()).as("index.php leads there").isEqualTo("/doku.php");
        assertThat(home.body()).contains("Wiki under test").doesNotContain("do=logout");

        Matcher links = Pattern.compile("(?:href|src)=\"(/lib/[^\"#]+)\"").matcher(home.body());
        int files = 0;
        int scripts = 0;
        while (links.find()) {
            String target = links.group(1).replace("&amp;", "&");
            HttpResponse<String> answer = get(target);
            assertThat(answer.statusCode()).as(target).isEqualTo(200);
            assertThat(answer.body()).as(target).isNotEmpty();
            if (target.contains(".php")) {
                scripts++;
            } else {
                files++;
                assertThat(answer.headers().firstValue("Last-Modified"))
                        .as(target)
                        .isPresent();
            }
        }
        assertThat(scripts).as("css.php, js.php and others").isGreaterThanOrEqualTo(3);
        assertThat(files)
                .as("sent without PHP, of lib/tpl, which is a symbolic link")
                .isGreaterThanOrEqualTo(2);
    }

    @Test
    void a_writer_logs_in_edits_a_page_and_logs_out() throws Exception {
        logIn();
        String target = "/doku.php?id=notes:first&do=edit";
        Map<String, String> form = hidden(get(target).body());
        assertThat(form).containsKeys("sectok", "changecheck", "target");
        String text = "====== Überschrift ======\n\nSome **bold** text & <markup>. " + "long ".repeat(20_000);
        form.put("wikitext", text);
        form.put("summary", "written by a test");
        form.put("do[save]", "1");
        HttpResponse<String> saved = submit("/doku.php?id=notes:first", form);
        assertThat(saved.statusCode()).isEqualTo(200);
        assertThat(saved.body()).contains("Überschrift</h1>", "<strong>bold</strong>", "&lt;markup&gt;");
        assertThat(directory.resolve("data/pages/notes/first.txt")).hasContent(text);

        HttpResponse<String> raw = get("/doku.php?id=notes:first&do=export_raw");
        assertThat(raw.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("text/plain"));
        assertThat(raw.body()).isEqualTo(text);

        Map<String, String> page = hidden(get("/doku.php?id=notes:first").body());
        HttpResponse<String> out = get("/doku.php?id=notes:first&do=logout&sectok=" + page.get("sectok"));
        assertThat(out.body()).doesNotContain("do=logout");
    }

    @Test
    void a_writer_uploads_a_picture_in_the_media_manager_and_everybody_sees_it() throws Exception {
        logIn();
        String manager = get("/lib/exe/mediamanager.php?ns=pictures").body();
        Map<String, String> form = hidden(manager);
        assertThat(form).containsKey("sectok");
        byte[] picture = picture();
        String boundary = "--------------------------test";
        StringBuilder parts = new StringBuilder();
        Map<String, String> fields = new LinkedHashMap<>(Map.of("sectok", form.get("sectok"), "ns", "pictures"));
        fields.put("mediaid", "dot.png");
        fields.forEach((name, value) -> parts.append("--" + boundary + "\r\nContent-Disposition: form-data; name=\""
                + name + "\"\r\n\r\n" + value + "\r\n"));
        parts.append(
                "--" + boundary
                        + "\r\nContent-Disposition: form-data; name=\"upload\"; filename=\"dot.png\"\r\nContent-Type: image/png\r\n\r\n");
        byte[] head = parts.toString().getBytes(StandardCharsets.UTF_8);
        byte[] tail = ("\r\n--" + boundary + "--\r\n").getBytes(StandardCharsets.UTF_8);
        HttpResponse<String> uploaded = send(cetane.request("/lib/exe/mediamanager.php?ns=pictures")
                .header("Content-Type", "multipart/form-data; boundary=" + boundary)
                .POST(BodyPublishers.concat(
                        BodyPublishers.ofByteArray(head),
                        BodyPublishers.ofByteArray(picture),
                        BodyPublishers.ofByteArray(tail))));
        assertThat(uploaded.statusCode()).isEqualTo(200);
        assertThat(directory.resolve("data/media/pictures/dot.png")).hasBinaryContent(picture);

        openBrowser();
        HttpResponse<byte[]> fetched = browser.send(
                cetane.request("/lib/exe/fetch.php?media=pictures:dot.png").build(), BodyHandlers.ofByteArray());
        assertThat(fetched.statusCode()).isEqualTo(200);
        assertThat(fetched.headers().firstValue("Content-Type")).hasValue("image/png");
        assertThat(fetched.body()).isEqualTo(picture);
        HttpResponse<byte[]> again = browser.send(
                HttpRequest.newBuilder(URI.create(fetched.uri().toString()))
                        .header(
                                "If-None-Match",
                                fetched.headers().firstValue("ETag").orElseThrow())
                        .build(),
                BodyHandlers.ofByteArray());
        assertThat(again.statusCode()).isEqualTo(304);
    }

    @Test
    void what_no_visitor_is_to_see_is_not_sent() throws Exception {
        for (String target : List.of(
                "/.htaccess", "/conf/local.php", "/inc/none.php", "/bin/render.php/../none.php", "/VERSION/x.php")) {
            assertThat(get(target).statusCode()).as(target).isEqualTo(404);
        }
    }

    private static String sha1(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    /** One red dot. */
    private static byte[] picture() {
        return Base64.getDecoder()
                .decode(
                        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==");
    }
}
