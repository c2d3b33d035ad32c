package dev.cetane.http;

import dev.cetane.protocol.Ready;
import dev.cetane.protocol.RequestEncoder;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.worker.Dispatcher;
import dev.cetane.worker.Job;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.WorkerException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Stands for the pool of workers: each submitted job is run by a script on a thread of its own, as a worker's reader thread would; or,
 * without a script, waits until the test takes it.
 */
final class ScriptedDispatcher implements Dispatcher, AutoCloseable {
    private final ExecutorService readers = Executors.newCachedThreadPool();
    private final BlockingQueue<Running> waiting = new LinkedBlockingQueue<>();
    private final BlockingQueue<Job> cancelled = new LinkedBlockingQueue<>();
    private volatile @Nullable Consumer<Running> script;
    private volatile @Nullable Ready ready;

    /** How every job is answered from now on. */
    ScriptedDispatcher answer(Consumer<Running> newScript) {
        script = newScript;
        return this;
    }

    /** The next job that was submitted; waits for it. */
    Running take() throws InterruptedException {
        Running job = waiting.poll(10, TimeUnit.SECONDS);
        if (job == null) {
            throw new AssertionError("no job was submitted");
        }
        return job;
    }

    /** Whether no job waits to be taken. */
    boolean idle() {
        return waiting.isEmpty();
    }

    /** Waits until a job was cancelled. */
    Job takeCancelled() throws InterruptedException {
        Job job = cancelled.poll(10, TimeUnit.SECONDS);
        if (job == null) {
            throw new AssertionError("no job was cancelled");
        }
        return job;
    }

    @Override
    public void submit(Job job) {
        Running running = new Running(job);
        Consumer<Running> now = script;
        if (now == null) {
            waiting.add(running);
        } else {
            readers.execute(() -> now.accept(running));
        }
    }

    @Override
    public void cancel(Job job) {
        cancelled.add(job);
    }

    /** What workers say of themselves from now on. */
    ScriptedDispatcher ready(Map<String, String> facts) {
        ready = new Ready(1, facts);
        return this;
    }

    @Override
    public @Nullable Ready lastReady() {
        return ready;
    }

    @Override
    public void close() {
        readers.shutdownNow();
    }

    /** A request as its frame says it. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Request(
            Map<String, String> server,
            byte[] body,
            @Nullable Path bodyFile) {
        String text() {
            return new String(body, StandardCharsets.ISO_8859_1);
        }
    }

    /** A form as its frame says it, texts in files read. */
    record Form(String fields, List<List<String>> files, boolean inFiles) {
        static Form of(String fields, String files, boolean inFiles) {
            List<List<String>> entries = new ArrayList<>();
            String[] columns = files.split("\0", -1);
            for (int i = 0; i + 7 < columns.length; i += 7) {
                entries.add(List.of(columns).subList(i, i + 7));
            }
            return new Form(fields, entries, inFiles);
        }
    }

    /** One job and what a worker would do with it; every method may be chained. */
    static final class Running {
        final Job job;

        Running(Job job) {
            this.job = job;
        }

        private ByteBuffer frame() {
            RequestEncoder encoder = new RequestEncoder();
            encoder.allowForms(true);
            encoder.begin(1, 0, 0);
            job.encode(encoder);
            return encoder.finish();
        }

        /** The form that the frame holds. */
        Form form() {
            ByteBuffer frame = frame();
            int flags = frame.getShort(2);
            if ((flags & 2) == 0) {
                throw new AssertionError("no form");
            }
            int body = frame.getInt(32);
            frame.position(frame.limit() - body);
            if ((flags & 1) != 0) {
                String[] paths = text(frame, body).split("\0", -1);
                return Form.of(content(paths[0]), content(paths[1]), true);
            }
            int fields = frame.getInt();
            return Form.of(text(frame, fields), text(frame, frame.remaining()), false);
        }

        private static String content(String path) {
            return path.isEmpty() ? "" : new String(read(Path.of(path)), StandardCharsets.ISO_8859_1);
        }

        /** Writes and reads the frame; the body is read even if it is in a file. */
        Request request() {
            ByteBuffer frame = frame();
            boolean inFile = (frame.getShort(2) & 1) != 0;
            frame.position(12 + 12);
            int names = frame.getInt();
            int values = frame.getInt();
            int body = frame.getInt();
            String[] nameList = text(frame, names).split("\0", -1);
            String[] valueList = text(frame, values).split("\0", -1);
            Map<String, String> server = new LinkedHashMap<>();
            for (int i = 0; i < nameList.length; i++) {
                if (server.put(nameList[i], valueList[i]) != null) {
                    throw new AssertionError(nameList[i] + " comes twice");
                }
            }
            byte[] bytes = new byte[body];
            frame.get(bytes);
            if (!inFile) {
                return new Request(server, bytes, null);
            }
            Path file = Path.of(new String(bytes, StandardCharsets.UTF_8));
            return new Request(server, new byte[0], file);
        }

        Running head(int status, String... fields) {
            return headOfLength(status, ResponseHead.UNKNOWN_LENGTH, fields);
        }

        Running headOfLength(int status, long length, String... fields) {
            job.head(new ResponseHead(status, "", length, List.of(fields)));
            return this;
        }

        Running data(String text) {
            return data(text.getBytes(StandardCharsets.ISO_8859_1));
        }

        Running data(byte[] bytes) {
            job.data(ByteBuffer.wrap(bytes));
            return this;
        }

        Running end() {
            job.end();
            return this;
        }

        void done() {
            job.done(new JobReport(1, 0, 0, 0, 0, 0, 0, 0, 0, 0));
        }

        void failed(WorkerException.Kind kind) {
            job.failed(new WorkerException(kind, "scripted " + kind, "public detail", null));
        }

        /** A complete answer of known length. */
        void respond(int status, String text, String... fields) {
            headOfLength(status, text.length(), fields).data(text).end().done();
        }

        private static String text(ByteBuffer frame, int length) {
            byte[] bytes = new byte[length];
            frame.get(bytes);
            return new String(bytes, StandardCharsets.ISO_8859_1);
        }
    }

    static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
