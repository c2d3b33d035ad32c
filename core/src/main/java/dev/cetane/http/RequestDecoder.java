package dev.cetane.http;

import dev.cetane.worker.Ticker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpConstants;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import java.util.List;

/**
 * Netty's request decoder made strict, with a gate behind which pipelined requests wait as bytes. On the connection's event loop.
 *
 * <p>On top of Netty's own checks it rejects folded fields, a request line whose parts are not separated by exactly one space, and a
 * version that is not literally HTTP/1.1 or HTTP/1.0, and any second Content-Length. While the gate is shut nothing is decoded, and as soon as bytes arrive
 * nothing more is read, so a connection holds what one read brought and no more.
 */
final class RequestDecoder extends HttpRequestDecoder {
    /** Room in the request line beside the target: the method, two spaces and the version. */
    private static final int LINE_OVERHEAD = 64;

    private static final int MAX_CONTENT_BYTES = 64 * 1024;

    private final Ticker ticker;
    private boolean shut;
    private boolean decoding;
    private boolean inHead = true;
    private boolean headStarted;
    private boolean broken;
    private long headStartNanos;
    private int lengths;
    private int firstWordEnd;
    private int secondWordEnd;

    RequestDecoder(int maxTargetBytes, int maxHeaderBytes, Ticker ticker) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(maxTargetBytes + LINE_OVERHEAD)
                .setMaxHeaderSize(maxHeaderBytes)
                .setMaxChunkSize(MAX_CONTENT_BYTES)
                .setInitialBufferSize(256)
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
        this.ticker = ticker;
    }

    /** Decodes nothing until {@link #open}. */
    void shut() {
        shut = true;
    }

    /** Decodes again, beginning with the bytes that have waited. */
    void open(ChannelHandlerContext ctx) {
        shut = false;
        if (!decoding && actualReadableBytes() > 0) {
            ctx.pipeline().fireChannelRead(Unpooled.EMPTY_BUFFER);
            ctx.pipeline().fireChannelReadComplete();
        }
        if (!ctx.channel().config().isAutoRead() && (!shut || actualReadableBytes() == 0)) {
            ctx.channel().config().setAutoRead(true);
        }
    }

    boolean isShut() {
        return shut;
    }

    /** Whether the first byte of a head has arrived and its last one has not. */
    boolean headPending() {
        return headStarted && inHead;
    }

    /** When the first byte of the current head was decoded. */
    long headStartNanos() {
        return headStartNanos;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object input) throws Exception {
        decoding = true;
        try {
            super.channelRead(ctx, input);
        } finally {
            decoding = false;
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
        if (shut) {
            // The superclass would read on, because nothing was decoded.
            discardSomeReadBytes();
            ctx.fireChannelReadComplete();
        } else {
            super.channelReadComplete(ctx);
        }
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        if (shut) {
            if (in.isReadable()) {
                ctx.channel().config().setAutoRead(false);
            }
            return;
        }
        if (broken) {
            in.skipBytes(in.readableBytes());
            return;
        }
        if (inHead && in.isReadable() && !beginsWell(in)) {
            broken = true;
            in.skipBytes(in.readableBytes());
            out.add(malformed("a line of the head begins with white space"));
            return;
        }
        int decoded = out.size();
        super.decode(ctx, in, out);
        for (int i = decoded; i < out.size(); i++) {
            Object message = out.get(i);
            if (message instanceof HttpRequest) {
                inHead = false;
            }
            if (message instanceof LastHttpContent) {
                inHead = true;
                headStarted = false;
            }
        }
    }

    /** Notes when a head begins; false if a line of it is folded or indented. The readable bytes begin with a line. */
    private boolean beginsWell(ByteBuf in) {
        byte first = in.getByte(in.readerIndex());
        if (isSpace(first)) {
            return false;
        }
        if (!headStarted && first != HttpConstants.CR && first != HttpConstants.LF) {
            headStarted = true;
            lengths = 0;
            headStartNanos = ticker.nanos();
        }
        int end = in.writerIndex();
        int lf = in.indexOf(in.readerIndex(), end, HttpConstants.LF);
        while (lf >= 0 && lf + 1 < end) {
            byte next = in.getByte(lf + 1);
            if (isSpace(next)) {
                return false;
            }
            if (next == HttpConstants.CR && headStarted) {
                break;
            }
            lf = in.indexOf(lf + 1, end, HttpConstants.LF);
        }
        return true;
    }

    @Override
    protected AsciiString splitHeaderName(byte[] line, int start, int length) {
        AsciiString name = super.splitHeaderName(line, start, length);
        // Of several lengths the superclass takes the first for HTTP/1.0, and forgets that there were more.
        if (HttpHeaderNames.CONTENT_LENGTH.contentEqualsIgnoreCase(name) && ++lengths > 1) {
            throw new IllegalArgumentException("more than one Content-Length");
        }
        return name;
    }

    @Override
    protected String splitFirstWordInitialLine(byte[] line, int start, int length) {
        firstWordEnd = separated(line, start + length);
        return super.splitFirstWordInitialLine(line, start, length);
    }

    @Override
    protected String splitSecondWordInitialLine(byte[] line, int start, int length) {
        if (start != firstWordEnd + 1) {
            throw new IllegalArgumentException("more than one space after the method");
        }
        secondWordEnd = separated(line, start + length);
        return super.splitSecondWordInitialLine(line, start, length);
    }

    @Override
    protected String splitThirdWordInitialLine(byte[] line, int start, int length) {
        if (start != secondWordEnd + 1) {
            throw new IllegalArgumentException("more than one space after the target");
        }
        String version = super.splitThirdWordInitialLine(line, start, length);
        if (!version.equals("HTTP/1.1") && !version.equals("HTTP/1.0")) {
            throw new UnsupportedVersionException(version);
        }
        return version;
    }

    private static int separated(byte[] line, int end) {
        if (end >= line.length || line[end] != HttpConstants.SP) {
            throw new IllegalArgumentException("the parts of the request line are not separated by a space");
        }
        return end;
    }

    private static boolean isSpace(byte b) {
        return b == HttpConstants.SP || b == HttpConstants.HT;
    }

    private static HttpRequest malformed(String what) {
        HttpRequest request =
                new DefaultFullHttpRequest(HttpVersion.HTTP_1_0, HttpMethod.GET, "/", Unpooled.EMPTY_BUFFER);
        request.setDecoderResult(DecoderResult.failure(new IllegalArgumentException(what)));
        return request;
    }

    /** The request line ends with something else than a version that is served. */
    static final class UnsupportedVersionException extends IllegalArgumentException {

        private static final long serialVersionUID = 1;

        private final boolean wellFormed;

        UnsupportedVersionException(String version) {
            super("the version is not HTTP/1.1 or HTTP/1.0");
            this.wellFormed = version.length() == 8
                    && version.startsWith("HTTP/")
                    && Character.isDigit(version.charAt(5))
                    && version.charAt(6) == '.'
                    && Character.isDigit(version.charAt(7));
        }

        /** Whether it is a version at all. */
        boolean wellFormed() {
            return wellFormed;
        }
    }
}
