package dev.cetane;

import dev.cetane.Grammar.Invocation;
import dev.cetane.lambda.LocalFront;
import dev.cetane.log.EventLog;
import dev.cetane.worker.Ticker;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code cetane lambda --local}: the runtime as on AWS Lambda, beside an emulator of its API in the same process, which takes HTTP requests and
 * invocations. Used by the main thread.
 */
final class LocalLambda {
    private static final String LISTEN = "127.0.0.1:8080";

    private final PrintStream err;
    private final Map<String, String> environment;
    private final Path workingDirectory;
    private final Path clientDirectory;

    LocalLambda(PrintStream err, Map<String, String> environment, Path workingDirectory, Path clientDirectory) {
        this.err = err;
        this.environment = environment;
        this.workingDirectory = workingDirectory;
        this.clientDirectory = clientDirectory;
    }

    /** Returns the exit code, when the runtime has ended. */
    int run(Invocation invocation) {
        String listen = invocation.value("--listen");
        InetSocketAddress address = address(listen == null ? LISTEN : listen);
        Ticker ticker = Ticker.system();
        ConfigLoader.Flags flags = new ConfigLoader.Flags(
                invocation.app(), invocation.value("--config"), invocation.all("--set"), List.of(), null, null);
        CetaneConfig config = new ConfigLoader(environment, workingDirectory, RunDirectory.pid()).load(flags);
        EventLog log = StandardOutput.log(config.log(), environment);
        try (LocalFront front = new LocalFront(address, ticker, log)) {
            return new LambdaCommand(err, sandbox(front.runtimeApi()), workingDirectory, clientDirectory)
                    .run(invocation);
        } catch (IOException e) {
            throw new CommandException(
                    CommandException.FAILED,
                    "nothing can be taken at " + address.getHostString() + ":" + address.getPort() + ": "
                            + e.getMessage() + "; see --listen",
                    e);
        }
    }

    /** What Lambda sets for a function, where it is not set. */
    private Map<String, String> sandbox(InetSocketAddress api) {
        Map<String, String> sandbox = new HashMap<>(Map.of(
                "AWS_LAMBDA_FUNCTION_NAME", "function",
                "AWS_LAMBDA_FUNCTION_VERSION", "$LATEST",
                "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1024",
                "AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand",
                "AWS_REGION", "us-east-1",
                "LAMBDA_TASK_ROOT", workingDirectory.toString()));
        sandbox.putAll(environment);
        sandbox.put("AWS_LAMBDA_RUNTIME_API", api.getAddress().getHostAddress() + ":" + api.getPort());
        return sandbox;
    }

    private static InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        String port = text.substring(colon + 1);
        if (colon <= 0 || !port.matches("[0-9]{1,5}") || Integer.parseInt(port) > 65_535) {
            throw new CommandException(CommandException.WRONG_USE, "--listen = \"" + text + "\" is no HOST:PORT");
        }
        return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(port));
    }
}
