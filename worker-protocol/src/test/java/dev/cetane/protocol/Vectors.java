package dev.cetane.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.cetane.protocol.RecordedCalls.Asked;
import dev.cetane.protocol.RecordedCalls.Call;
import dev.cetane.protocol.RecordedCalls.LogMessage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** Reads the golden frames, vectors/README.md. */
final class Vectors {

    private static final ObjectMapper JSON = new ObjectMapper();

    private Vectors() {}

    /** All files of a folder of vectors/ by their names without the extension, at least one. */
    static Map<String, JsonNode> load(String folder) {
        Map<String, JsonNode> vectors = new LinkedHashMap<>();
        try {
            Path directory = Path.of(Objects.requireNonNull(Vectors.class.getResource("/vectors/" + folder))
                    .toURI());
            try (Stream<Path> files = Files.list(directory)) {
                for (Path file : files.sorted().toList()) {
                    vectors.put(file.getFileName().toString().replace(".json", ""), JSON.readTree(file.toFile()));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
        if (vectors.isEmpty()) {
            throw new IllegalStateException("no vectors in " + folder);
        }
        return vectors;
    }

    static byte[] bytes(JsonNode items) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (JsonNode item : items) {
            String hex =
                    item.isTextual() ? item.textValue() : item.get("repeat").textValue();
            byte[] part = HexFormat.of().parseHex(hex.replace(" ", ""));
            for (int i = item.isTextual() ? 1 : item.get("times").intValue(); i > 0; i--) {
                bytes.writeBytes(part);
            }
        }
        return bytes.toByteArray();
    }

    static FrameType type(JsonNode frame) {
        return FrameType.valueOf(frame.get("type").textValue());
    }

    static int request(JsonNode frame) {
        return (int) frame.get("request").longValue();
    }

    /** The frame as the codec encodes it. */
    static ByteBuffer encode(JsonNode frame) {
        int request = request(frame);
        return switch (type(frame)) {
            case HELLO -> ControlFrames.hello(hello(frame));
            case REQUEST -> encodeRequest(frame);
            case CANCEL -> ControlFrames.cancel(request);
            case STOP -> ControlFrames.stop();
            case EVENT -> encodeEvent(frame);
            case TASK, TICK, CHECKPOINT, RESTORED -> encodeJob(frame);
            case REPLY -> {
                ReplyEncoder encoder = new ReplyEncoder();
                encoder.begin().put(textBytes(frame.get("reply")));
                yield encoder.finish(request, frame.get("more").booleanValue());
            }
            case CALL ->
                WorkerFrameEncoder.call(
                        request,
                        textBytes(frame.get("call")).array(),
                        frame.get("more").booleanValue());
            case READY -> WorkerFrameEncoder.ready((Ready) content(frame));
            case HEAD -> WorkerFrameEncoder.head(request, (ResponseHead) content(frame));
            case DATA ->
                WorkerFrameEncoder.data(request, ((String) content(frame)).getBytes(StandardCharsets.ISO_8859_1));
            case FILE -> WorkerFrameEncoder.file(request, (FileRange) content(frame));
            case END -> WorkerFrameEncoder.end(request);
            case DONE -> WorkerFrameEncoder.done(request, (Done) content(frame));
            case METRICS -> WorkerFrameEncoder.metrics(request, measurements(frame));
            case ERROR -> WorkerFrameEncoder.error(request, (ErrorReport) content(frame));
            case LOG -> {
                LogMessage log = (LogMessage) content(frame);
                yield WorkerFrameEncoder.log(request, log.severity(), log.message());
            }
            default -> throw new IllegalArgumentException(frame.toString());
        };
    }

    static Hello hello(JsonNode frame) {
        return new Hello(
                frame.get("lowest-version").intValue(),
                frame.get("highest-version").intValue(),
                map(frame.get("settings")),
                map(frame.get("server")));
    }

    private static ByteBuffer encodeRequest(JsonNode frame) {
        RequestEncoder encoder = new RequestEncoder();
        encoder.begin(
                request(frame),
                frame.get("received-at").doubleValue(),
                frame.get("timeout-millis").longValue());
        map(frame.get("server")).forEach(encoder::server);
        encoder.allowForms(true);
        if (frame.has("form")) {
            encoder.form(
                    textBytes(frame.get("form").get(0)),
                    textBytes(frame.get("form").get(1)));
        } else if (frame.has("form-files")) {
            encoder.formFiles(
                    text(frame.get("form-files").get(0)),
                    text(frame.get("form-files").get(1)));
        } else if (frame.has("body-file")) {
            encoder.bodyFile(Path.of(text(frame.get("body-file"))));
        } else {
            byte[] body = text(frame.get("body")).getBytes(StandardCharsets.ISO_8859_1);
            encoder.body(body, 0, body.length);
        }
        return encoder.finish();
    }

    private static ByteBuffer encodeEvent(JsonNode frame) {
        RequestEncoder encoder = new RequestEncoder();
        encoder.allowEvents(true);
        encoder.begin(
                request(frame),
                frame.get("received-at").doubleValue(),
                frame.get("timeout-millis").longValue());
        encoder.event();
        map(frame.get("context")).forEach(encoder::server);
        if (frame.has("body-file")) {
            encoder.bodyFile(Path.of(text(frame.get("body-file"))));
        } else {
            encoder.body(textBytes(frame.get("body")));
        }
        return encoder.finish();
    }

    private static ByteBuffer encodeJob(JsonNode frame) {
        RequestEncoder encoder = new RequestEncoder();
        encoder.allowTasks(true, true);
        encoder.begin(request(frame), 0, frame.path("timeout-millis").longValue());
        encoder.allowSnapshots(true);
        switch (type(frame)) {
            case TICK -> encoder.tick();
            case CHECKPOINT -> encoder.checkpoint();
            case RESTORED -> encoder.restored();
            default ->
                encoder.task(textBytes(frame.get("task")), frame.get("more").booleanValue());
        }
        return encoder.finish();
    }

    private static ByteBuffer textBytes(JsonNode text) {
        return ByteBuffer.wrap(text(text).getBytes(StandardCharsets.ISO_8859_1));
    }

    /** The call that the decoder must make for a worker's frame. */
    static Call call(JsonNode frame) {
        return new Call(type(frame), request(frame), content(frame));
    }

    private static Object content(JsonNode frame) {
        return switch (type(frame)) {
            case READY -> new Ready(frame.get("version").intValue(), map(frame.get("facts")));
            case HEAD -> {
                List<String> headers = new ArrayList<>();
                frame.get("headers").forEach(pair -> pair.forEach(text -> headers.add(text(text))));
                JsonNode length = frame.get("body-length");
                yield new ResponseHead(
                        frame.get("status").intValue(),
                        text(frame.get("reason")),
                        length.isNull() ? ResponseHead.UNKNOWN_LENGTH : length.longValue(),
                        headers);
            }
            case DATA -> text(frame.get("data"));
            case FILE ->
                new FileRange(
                        BytePath.of(text(frame.get("path"))),
                        frame.get("offset").longValue(),
                        frame.get("length").longValue(),
                        frame.get("delete").booleanValue());
            case END -> "";
            case DONE ->
                new Done(
                        frame.get("handler-micros").longValue(),
                        frame.get("terminate-micros").longValue(),
                        frame.get("cpu-micros").longValue(),
                        frame.get("peak-memory").longValue(),
                        frame.get("last").booleanValue());
            case METRICS -> measurements(frame);
            case ERROR ->
                new ErrorReport(ErrorReport.Kind.valueOf(frame.get("kind").textValue()), text(frame.get("message")));
            case CALL -> new Asked(text(frame.get("call")), frame.get("more").booleanValue());
            case LOG -> new LogMessage(frame.get("severity").intValue(), text(frame.get("message")));
            default -> throw new IllegalArgumentException(frame.toString());
        };
    }

    private static List<Measurement> measurements(JsonNode frame) {
        List<Measurement> all = new ArrayList<>();
        for (JsonNode measured : frame.get("measurements")) {
            List<String> texts = new ArrayList<>();
            measured.get("texts").forEach(text -> texts.add(text(text)));
            all.add(new Measurement(
                    Measurement.Kind.valueOf(measured.get("kind").textValue()),
                    texts,
                    doubles(measured.get("bounds")),
                    doubles(measured.get("values"))));
        }
        return all;
    }

    private static List<Double> doubles(JsonNode numbers) {
        List<Double> doubles = new ArrayList<>();
        numbers.forEach(number -> doubles.add(number.doubleValue()));
        return doubles;
    }

    private static Map<String, String> map(JsonNode pairs) {
        Map<String, String> map = new LinkedHashMap<>();
        pairs.forEach(pair -> map.put(text(pair.get(0)), text(pair.get(1))));
        return map;
    }

    private static String text(JsonNode text) {
        return text.isTextual()
                ? text.textValue()
                : text.get("repeat").textValue().repeat(text.get("times").intValue());
    }
}
