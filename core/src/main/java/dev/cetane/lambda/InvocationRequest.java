package dev.cetane.lambda;

import dev.cetane.cgi.CgiVariables;
import dev.cetane.protocol.RequestWriter;
import org.jspecify.annotations.Nullable;

/**
 * What a worker gets of an invocation: a request with Bref's names for the contexts, or the event as it came. Immutable.
 *
 * @param http the request, null when the worker gets the event
 */
record InvocationRequest(Invocation invocation, @Nullable HttpEvent http, EventBody body, CgiVariables variables) {

    String describe() {
        return http == null ? "an event" : http.describe();
    }

    void encode(RequestWriter out) {
        if (http == null) {
            writeContext(out);
        } else {
            writeVariables(http, out);
        }
        body.encode(out);
    }

    private void writeContext(RequestWriter out) {
        out.event();
        out.server("request-id", invocation.requestId());
        out.server("deadline-ms", Long.toString(invocation.deadlineMillis()));
        out.server("function-arn", invocation.functionArn());
        out.server("trace-id", invocation.traceId());
        out.server("client-context", invocation.clientContext());
        out.server("cognito-identity", invocation.cognitoIdentity());
        out.server("tenant-id", invocation.tenantId());
    }

    private void writeVariables(HttpEvent request, RequestWriter out) {
        variables.write(
                request.method(),
                request.target(),
                null,
                request.protocol(),
                request.client(),
                request.fields(),
                invocation.requestId(),
                request.bodyBytes(),
                out::server);
        out.server("LAMBDA_REQUEST_ID", invocation.requestId());
        out.server("LAMBDA_INVOCATION_CONTEXT", invocation.context());
        out.server("LAMBDA_REQUEST_CONTEXT", request.requestContext());
        out.server("_X_AMZN_TRACE_ID", invocation.traceId());
        if (request.pathParameters() != null) {
            out.server("LAMBDA_PATH_PARAMETERS", request.pathParameters());
        }
    }
}
