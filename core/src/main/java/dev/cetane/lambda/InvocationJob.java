package dev.cetane.lambda;

import dev.cetane.lambda.ApiConnection.Reply;
import dev.cetane.log.EventLog;
import dev.cetane.log.EventLog.Level;
import dev.cetane.log.FileReason;
import dev.cetane.protocol.RequestWriter;
import dev.cetane.protocol.ResponseHead;
import dev.cetane.worker.Job;
import dev.cetane.worker.JobReport;
import dev.cetane.worker.Ticker;
import dev.cetane.worker.TimeLimit;
import dev.cetane.worker.WorkerException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One invocation on its way through the pool, and the sink for its answer. The thread that brings the end of the answer posts it to the
 * Runtime API; whoever is first to {@link #claim} it does so, and nobody after: each invocation is answered exactly once. The loop's
 * thread leaves its connection alone from submit until {@link #await} says that the job has ended.
 */
final class InvocationJob implements Job {
    private static final int WARNED_HEADER_BYTES = 10_000;
    private static final int BALANCER_ANSWER_BYTES = 1024 * 1024;
    private static final int FILE_PIECE_BYTES = 64 * 1024;

    private final LambdaConfig config;
    private final InvocationRequest request;
    private final @Nullable HttpEvent http;
    private final TimeLimit limit;
    private final RuntimeApi api;
    private final Ticker ticker;
    private final EventLog log;
    private final InvocationFigures figures;
    private final ByteWriter collected;
    private final ByteWriter answer;
    private final AtomicBoolean claimed = new AtomicBoolean();
    private final CountDownLatch ended = new CountDownLatch(1);

    // Written by the thread that is in the sink.
    private @Nullable ResponseHead head;
    private @Nullable StreamedAnswer streamed;
    private boolean overflowed;

    // Written before ended.
    private @Nullable IOException apiFailure;

    /** @param buffers of the loop, which are this job's until it has ended */
    InvocationJob(
            LambdaConfig config,
            InvocationRequest request,
            TimeLimit limit,
            RuntimeApi api,
            Ticker ticker,
            EventLog log,
            InvocationFigures figures,
            Buffers buffers) {
        this.config = config;
        this.request = request;
        this.http = request.http();
        this.limit = limit;
        this.api = api;
        this.ticker = ticker;
        this.log = log;
        this.figures = figures;
        this.collected = buffers.body();
        this.answer = buffers.answer();
        collected.clear();
        answer.clear();
    }

    /** Room for the bodies and the answers of one loop, used again and again. */
    record Buffers(ByteWriter body, ByteWriter answer) {}

    @Override
    public String id() {
        return request.invocation().requestId();
    }

    @Override
    public String describe() {
        return request.describe();
    }

    @Override
    public TimeLimit timeLimit() {
        return limit;
    }

    @Override
    public void encode(RequestWriter out) {
        request.encode(out);
    }

    // ---- the answer; reader thread ----

    @Override
    public void head(ResponseHead given) {
        if (given.interim() || claimed.get()) {
            return;
        }
        String invalid = AnswerFormat.invalid(given.headers());
        if (invalid != null) {
            log.log(
                    Level.ERROR,
                    "request.invalid-answer",
                    id(),
                    "the answer to " + describe() + " cannot be sent: " + invalid);
            if (claim()) {
                answerFailure(502, HttpStatus.text(502));
            }
            return;
        }
        head = given;
        if (config.stream() && canStream(given) && claim()) {
            figures.sentAtNanos = ticker.nanos();
            try {
                streamed = StreamedAnswer.begin(config.runtimeApi(), ticker, id(), http, given);
            } catch (IOException e) {
                apiFailure = e;
            }
        }
    }

    private boolean canStream(ResponseHead given) {
        return http == null ? given.status() < 400 : http.format().streams();
    }

    @Override
    public void data(ByteBuffer bytes) {
        StreamedAnswer stream = streamed;
        if (stream != null) {
            stream(stream, bytes);
        } else if (!claimed.get() && hasBody()) {
            if (collected.length() + bytes.remaining() > RuntimeApi.MAX_ANSWER_BYTES) {
                overflowed = true;
            } else {
                collected.put(bytes);
            }
        }
    }

    private void stream(StreamedAnswer stream, ByteBuffer bytes) {
        if (apiFailure == null && hasBody()) {
            try {
                stream.data(bytes);
            } catch (IOException e) {
                apiFailure = e;
            }
        }
    }

    private boolean hasBody() {
        ResponseHead given = head;
        return given != null
                && (http == null || (!http.method().equals("HEAD") && given.status() != 204 && given.status() != 304));
    }

    @Override
    public void file(Path file, long offset, long length, boolean delete) {
        try (FileChannel channel = FileChannel.open(file)) {
            ByteBuffer piece = ByteBuffer.allocate((int) Math.min(Math.max(length, 1), FILE_PIECE_BYTES));
            long at = offset;
            while (at < offset + length && !overflowed) {
                piece.clear().limit((int) Math.min(piece.capacity(), offset + length - at));
                int read = channel.read(piece, at);
                if (read < 0) {
                    throw new IOException("it is shorter than the answer says");
                }
                at += read;
                data(piece.flip());
            }
        } catch (IOException e) {
            throw new IllegalStateException("the file " + file + " cannot be sent: " + FileReason.of(e), e);
        } finally {
            if (delete) {
                delete(file);
            }
        }
    }

    private void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            log.log(Level.WARN, "request.file-left", id(), file + " cannot be deleted: " + FileReason.of(e));
        }
    }

    @Override
    public void end() {
        StreamedAnswer stream = streamed;
        ResponseHead given = head;
        if (stream != null) {
            try {
                stream.end();
            } catch (IOException e) {
                apiFailure = e;
            }
        } else if (given != null && claim()) {
            if (http == null) {
                answerEvent(given);
            } else {
                answerHttp(http, given);
            }
        }
    }

    private void answerEvent(ResponseHead given) {
        if (overflowed) {
            tooLarge(collected.length(), RuntimeApi.MAX_ANSWER_BYTES);
            postError(
                    new InvocationError("Function.ResponseSizeTooLarge", "The function's answer is larger than 6 MB."));
        } else if (given.status() >= 400) {
            byte[] json = Arrays.copyOf(collected.array(), collected.length());
            postError(new InvocationError(errorType(given), "", json));
        } else {
            post(collected);
        }
    }

    private static String errorType(ResponseHead given) {
        List<String> headers = given.headers();
        for (int i = 0; i < headers.size(); i += 2) {
            if (headers.get(i).equalsIgnoreCase("error-type")
                    && headers.get(i + 1).matches("[A-Z][A-Za-z0-9]{0,99}")) {
                return "Function." + headers.get(i + 1);
            }
        }
        return "Function.Unhandled";
    }

    private void answerHttp(HttpEvent event, ResponseHead given) {
        int most = event.format() == AnswerFormat.BALANCER || event.format() == AnswerFormat.BALANCER_MULTI
                ? BALANCER_ANSWER_BYTES
                : RuntimeApi.MAX_ANSWER_BYTES;
        if (!overflowed) {
            long begunNanos = ticker.nanos();
            event.format()
                    .write(
                            given.status(),
                            given.reason().isEmpty() ? HttpStatus.reason(given.status()) : given.reason(),
                            given.headers(),
                            collected.array(),
                            collected.length(),
                            answer);
            figures.encodeNanos = ticker.nanos() - begunNanos;
        }
        if (overflowed || answer.length() > most) {
            tooLarge(Math.max(collected.length(), answer.length()), most);
            answerFailure(500, "The answer is larger than this function can send.");
            return;
        }
        int headerBytes = 0;
        for (String text : given.headers()) {
            headerBytes += text.length();
        }
        if (headerBytes > WARNED_HEADER_BYTES) {
            log.log(
                    Level.WARN,
                    "request.large-headers",
                    id(),
                    "the header fields of the answer to " + describe() + " have " + headerBytes
                            + " bytes; API Gateway takes about 10 KB and answers 502 or drops fields above that");
        }
        post(answer);
    }

    private void tooLarge(int bytes, int most) {
        log.log(
                Level.ERROR,
                "request.answer-too-large",
                id(),
                "the answer to " + describe() + " has " + bytes + " bytes or more as JSON, Lambda takes " + most
                        + "; send large bodies as a stream (lambda.stream) or by a URL of S3");
    }

    // ---- the end ----

    @Override
    public void done(JobReport given) {
        figures.report = given;
        ended.countDown();
    }

    @Override
    public void failed(WorkerException problem) {
        StreamedAnswer stream = streamed;
        if (claim()) {
            if (http == null) {
                postError(InvocationError.of(problem));
            } else {
                int status = HttpStatus.of(problem.kind());
                String detail = problem.publicDetail();
                answerFailure(status, config.debug() && detail != null ? detail : HttpStatus.text(status));
            }
        } else if (stream != null && apiFailure == null) {
            try {
                InvocationError error = InvocationError.of(problem);
                figures.failure = error.type();
                stream.fail(error);
            } catch (IOException e) {
                apiFailure = e;
            }
        }
        ended.countDown();
    }

    private void answerFailure(int status, String text) {
        if (http == null) {
            postError(new InvocationError("Runtime.InvalidAnswer", text));
            return;
        }
        figures.failure = Integer.toString(status);
        answer.clear();
        http.format().writeFailure(status, text, answer);
        post(answer);
    }

    private boolean claim() {
        return claimed.compareAndSet(false, true);
    }

    private void post(ByteWriter bytes) {
        figures.sentAtNanos = ticker.nanos();
        try {
            api.post(id(), "application/json", bytes.array(), bytes.length());
        } catch (IOException e) {
            apiFailure = e;
        }
    }

    private void postError(InvocationError error) {
        figures.failure = error.type();
        figures.sentAtNanos = ticker.nanos();
        try {
            api.postError(id(), error);
        } catch (IOException e) {
            apiFailure = e;
        }
    }

    // ---- the loop's thread ----

    /** Waits until the job has ended; false when it has not within that time. */
    boolean await(long millis) throws InterruptedException {
        return ended.await(millis, TimeUnit.MILLISECONDS);
    }

    /**
     * Once the job has ended: waits for what the API says of the answer.
     *
     * @param millis what is left of the invocation's time, which a streamed answer has to arrive
     * @throws IOException when it could not be sent
     */
    @Nullable
    Reply confirm(long millis) throws IOException {
        IOException problem = apiFailure;
        if (problem != null) {
            throw problem;
        }
        StreamedAnswer stream = streamed;
        return stream == null ? api.confirm() : stream.confirm(Math.max(RuntimeApi.CONFIRM_MILLIS, millis));
    }

    @Override
    public String toString() {
        return "invocation " + id().toLowerCase(Locale.ROOT);
    }
}
