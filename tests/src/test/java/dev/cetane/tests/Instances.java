package dev.cetane.tests;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * The instances of one test class: those started before all tests are shared and stopped after the last one, those started in a test
 * are stopped after it. The output of each is attached to what makes a test fail. Register it as a static field.
 */
final class Instances
        implements BeforeEachCallback, AfterEachCallback, AfterAllCallback, TestExecutionExceptionHandler {
    private final Deque<RunningCetane> shared = new ArrayDeque<>();
    private final Deque<RunningCetane> ownOfTest = new ArrayDeque<>();
    private boolean inTest;

    /** A worker script that misbehaves, from {@code tests/php}. */
    RunningCetane.Starter worker(String name) {
        return application(RunningCetane.TESTS.resolve("php").resolve(name));
    }

    /**
     * One of the Laravel applications in {@code tests/apps}, which writes into {@code storage} alone. The environment variables OCTANE_SOURCE, the src directory
     * of laravel/octane, and LARAVEL_SOURCE, a directory with Illuminate/autoload.php, put the real Octane and another Laravel under it.
     */
    RunningCetane.Starter laravel(Path application, Path storage) {
        RunningCetane.Starter starter = application(application).set("app.environment.DEMO_STORAGE", storage);
        for (String name : List.of("OCTANE_SOURCE", "LARAVEL_SOURCE")) {
            String source = System.getenv(name);
            if (source != null) {
                starter.set("app.environment." + name, source);
            }
        }
        return starter;
    }

    RunningCetane.Starter application(Path path) {
        return new RunningCetane.Starter(path) {
            @Override
            RunningCetane launch() {
                RunningCetane launched = super.launch();
                (inTest ? ownOfTest : shared).push(launched);
                return launched;
            }
        };
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        inTest = true;
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        ownOfTest.forEach(instance -> failure.addSuppressed(new Output(instance)));
        shared.forEach(instance -> failure.addSuppressed(new Output(instance)));
        throw failure;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        inTest = false;
        closeAll(ownOfTest);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        closeAll(shared);
    }

    private static void closeAll(Deque<RunningCetane> instances) {
        AssertionError failure = null;
        while (!instances.isEmpty()) {
            RunningCetane instance = instances.pop();
            try {
                instance.close();
            } catch (AssertionError e) {
                e.addSuppressed(new Output(instance));
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** What an instance has printed. */
    private static final class Output extends Exception {
        private static final long serialVersionUID = 1;

        Output(RunningCetane instance) {
            super(
                    "instance " + instance.pid() + " has printed:"
                            + instance.log().shown(),
                    null,
                    false,
                    false);
        }
    }
}
