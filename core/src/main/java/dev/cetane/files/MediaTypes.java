package dev.cetane.files;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The {@code Content-Type} of a file by the extension of its name. Immutable, callable from any thread. */
final class MediaTypes {
    private static final String UNKNOWN = "application/octet-stream";

    /** Type, whether it is text that compresses well (+) or not (-), extensions. Text types say their charset. */
    private static final String TABLE = """
            text/html;charset=utf-8 + html htm
            text/css;charset=utf-8 + css
            text/javascript;charset=utf-8 + js mjs
            text/plain;charset=utf-8 + txt text log conf
            text/csv;charset=utf-8 + csv
            text/markdown;charset=utf-8 + md markdown
            text/calendar;charset=utf-8 + ics
            text/vcard;charset=utf-8 + vcf
            text/vtt;charset=utf-8 + vtt
            text/x-component;charset=utf-8 + htc
            application/json + json map
            application/ld+json + jsonld
            application/geo+json + geojson
            application/manifest+json + webmanifest
            application/xml + xml xsd
            application/xslt+xml + xsl xslt
            application/xhtml+xml + xhtml
            application/atom+xml + atom
            application/rss+xml + rss
            application/yaml + yaml yml
            application/wasm + wasm
            application/pdf - pdf
            application/zip - zip
            application/gzip - gz tgz
            application/x-brotli - br
            application/zstd - zst
            application/x-bzip2 - bz2
            application/x-xz - xz
            application/x-tar - tar
            application/x-7z-compressed - 7z
            application/vnd.rar - rar
            application/java-archive - jar war
            application/rtf + rtf
            application/postscript + ps eps
            application/msword - doc
            application/vnd.ms-excel - xls
            application/vnd.ms-powerpoint - ppt
            application/vnd.openxmlformats-officedocument.wordprocessingml.document - docx
            application/vnd.openxmlformats-officedocument.spreadsheetml.sheet - xlsx
            application/vnd.openxmlformats-officedocument.presentationml.presentation - pptx
            application/vnd.oasis.opendocument.text - odt
            application/vnd.oasis.opendocument.spreadsheet - ods
            application/vnd.oasis.opendocument.presentation - odp
            application/epub+zip - epub
            application/vnd.apple.mpegurl + m3u8
            application/dash+xml + mpd
            application/vnd.android.package-archive - apk
            application/x-shockwave-flash - swf
            image/svg+xml + svg
            image/png - png
            image/apng - apng
            image/jpeg - jpg jpeg
            image/gif - gif
            image/webp - webp
            image/avif - avif
            image/heic - heic
            image/jxl - jxl
            image/tiff - tif tiff
            image/bmp + bmp
            image/vnd.microsoft.icon + ico cur
            font/woff - woff
            font/woff2 - woff2
            font/ttf + ttf
            font/otf + otf
            font/collection + ttc
            application/vnd.ms-fontobject + eot
            audio/mpeg - mp3
            audio/mp4 - m4a
            audio/aac - aac
            audio/ogg - ogg oga opus
            audio/wav - wav
            audio/flac - flac
            audio/webm - weba
            audio/midi - mid midi
            video/mp4 - mp4 m4v
            video/webm - webm
            video/ogg - ogv
            video/quicktime - mov
            video/mpeg - mpeg mpg
            video/mp2t - ts
            video/x-msvideo - avi
            video/3gpp - 3gp
            model/gltf+json + gltf
            model/gltf-binary - glb
            """;

    private static final Map<String, MediaTypes.Type> BY_EXTENSION = new HashMap<>();

    static {
        TABLE.lines().forEach(line -> {
            String[] words = line.split(" ", -1);
            Type type = new Type(words[0].replace(";", "; "), words[1].equals("+"));
            for (int i = 2; i < words.length; i++) {
                BY_EXTENSION.put(words[i], type);
            }
        });
    }

    private static final Type OTHER = new Type(UNKNOWN, false);

    /** Apple's clients ask for this name and want JSON. */
    private static final String APPLE_ASSOCIATION = "/apple-app-site-association";

    /**
     * One type.
     *
     * @param text the field's value
     * @param compressible whether a build would have compressed such a file beforehand
     */
    record Type(String text, boolean compressible) {}

    private MediaTypes() {}

    /** The type for a path; {@code application/octet-stream} when its extension is not known. */
    static Type of(String path) {
        int dot = path.lastIndexOf('.');
        if (dot <= path.lastIndexOf('/') + 1) {
            return path.endsWith(APPLE_ASSOCIATION) ? new Type("application/json", true) : OTHER;
        }
        return BY_EXTENSION.getOrDefault(path.substring(dot + 1).toLowerCase(Locale.ROOT), OTHER);
    }
}
