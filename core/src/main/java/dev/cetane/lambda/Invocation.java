package dev.cetane.lambda;

import dev.cetane.lambda.ApiConnection.Reply;
import java.nio.charset.StandardCharsets;

/**
 * One invocation as {@code /next} gave it. Immutable; fields that the API left out, or sent empty, are empty.
 *
 * @param requestId names it in every other call
 * @param deadlineMillis when its time is up, Unix milliseconds; 0 when the API did not say
 * @param functionArn the function that was invoked
 * @param traceId of X-Ray
 * @param clientContext JSON
 * @param cognitoIdentity JSON
 * @param tenantId in tenant isolation mode
 * @param contentType of the event
 * @param event the event, {@code length} bytes of it
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; a copy of an event costs more than all else
record Invocation(
        String requestId,
        long deadlineMillis,
        String functionArn,
        String traceId,
        String clientContext,
        String cognitoIdentity,
        String tenantId,
        String contentType,
        byte[] event,
        int length) {

    /** @throws RuntimeApiException when there is no request id: nobody could be answered */
    static Invocation of(Reply next) throws RuntimeApiException {
        String id = next.field("lambda-runtime-aws-request-id");
        if (!isId(id)) {
            throw new RuntimeApiException(
                    "the Runtime API gave an invocation without a usable Lambda-Runtime-Aws-Request-Id");
        }
        return new Invocation(
                id,
                millis(next.field("lambda-runtime-deadline-ms")),
                next.field("lambda-runtime-invoked-function-arn"),
                next.field("lambda-runtime-trace-id"),
                next.field("lambda-runtime-client-context"),
                next.field("lambda-runtime-cognito-identity"),
                next.field("lambda-runtime-aws-tenant-id"),
                next.field("content-type"),
                next.body(),
                next.length());
    }

    /** It becomes part of a path. */
    private static boolean isId(String id) {
        if (id.isEmpty() || id.length() > 128) {
            return false;
        }
        for (int i = 0; i < id.length(); i++) {
            char c = id.charAt(i);
            boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (!letter && c != '-' && c != '_') {
                return false;
            }
        }
        return true;
    }

    private static long millis(String text) {
        try {
            return text.isEmpty() ? 0 : Long.parseLong(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** What Bref's applications know as LAMBDA_INVOCATION_CONTEXT, one char per byte. */
    String context() {
        ByteWriter json = new ByteWriter();
        json.put("{\"awsRequestId\":").string(requestId);
        json.put(",\"deadlineMs\":").put(deadlineMillis);
        json.put(",\"invokedFunctionArn\":").string(functionArn);
        json.put(",\"traceId\":").string(traceId);
        if (!clientContext.isEmpty()) {
            json.put(",\"clientContext\":").string(clientContext);
        }
        if (!cognitoIdentity.isEmpty()) {
            json.put(",\"cognitoIdentity\":").string(cognitoIdentity);
        }
        if (!tenantId.isEmpty()) {
            json.put(",\"tenantId\":").string(tenantId);
        }
        json.put("}");
        return new String(json.array(), 0, json.length(), StandardCharsets.ISO_8859_1);
    }
}
