package dev.cetane;

import dev.cetane.Grammar.Invocation;
import dev.cetane.log.EventLog;
import dev.cetane.log.LibraryLog;
import dev.cetane.log.TextEventLog;
import dev.cetane.worker.Ticker;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Runs the commands. Used by the main thread. */
final class CommandLineInterface {

    private final PrintStream out;
    private final PrintStream err;
    private final Map<String, String> environment;
    private final Path workingDirectory;
    private final Path clientDirectory;

    /** Above all numbers of processes, workers and pages. */
    private static final int MOST = 999_999_999;

    /**
     * @param environment all variables of the process
     * @param workingDirectory absolute
     * @param clientDirectory directory of the PHP client
     */
    CommandLineInterface(
            PrintStream out,
            PrintStream err,
            Map<String, String> environment,
            Path workingDirectory,
            Path clientDirectory) {
        this.out = out;
        this.err = err;
        this.environment = environment;
        this.workingDirectory = workingDirectory;
        this.clientDirectory = clientDirectory;
    }

    /** Runs one command; returns the exit code. What goes wrong is printed, never thrown. */
    int run(String... args) {
        try {
            Invocation plain = Grammar.plain(args);
            return plain != null ? run(plain) : new Unusual().run(args);
        } catch (ConfigException e) {
            complain(e.getMessage());
            return CommandException.WRONG_USE;
        } catch (CommandException e) {
            complain(e.getMessage());
            return e.exitCode();
        }
    }

    /** Help, versions and mistakes. A class of its own, so that the library is only loaded for them. */
    private final class Unusual {
        int run(String... args) {
            CommandLine commandLine = Grammar.full(writer(out), writer(err));
            try {
                ParseResult parsed = commandLine.parseArgs(args);
                Integer helped = CommandLine.executeHelpRequest(parsed);
                if (helped != null) {
                    return helped;
                }
                if (parsed.hasSubcommand()) {
                    return CommandLineInterface.this.run(Grammar.of(parsed.subcommand()));
                }
                commandLine.usage(writer(err));
            } catch (ParameterException e) {
                complain(e.getMessage() + ". See "
                        + e.getCommandLine().getCommandSpec().qualifiedName() + " --help");
                UnmatchedArgumentException.printSuggestions(e, writer(err));
            }
            return CommandException.WRONG_USE;
        }
    }

    private int run(Invocation invocation) {
        return switch (invocation.command()) {
            case "serve" -> serve(invocation);
            case "lambda" ->
                invocation.has("--local")
                        ? new LocalLambda(err, environment, workingDirectory, clientDirectory).run(invocation)
                        : new LambdaCommand(err, environment, workingDirectory, clientDirectory).run(invocation);
            case "measure" -> measure(invocation);
            case "warm" -> warm(invocation);
            case "check" -> check(invocation);
            case "status", "workers" -> show(invocation);
            case "top" -> top(invocation);
            case "reload" -> print(instance(invocation).ask("POST", "/reload"));
            case "stop" -> stop(invocation);
            default -> throw new IllegalArgumentException(invocation.command() + " is no command");
        };
    }

    private int serve(Invocation invocation) {
        CetaneConfig config = load(invocation);
        EventLog log = StandardOutput.log(config.log(), environment);
        LibraryLog.routeTo(log);
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> log.log(
                EventLog.Level.ERROR,
                "thread.died",
                null,
                "Thread " + thread.getName() + " has died: " + failure,
                "trace",
                StandardOutput.trace(failure)));
        ApplicationFinder.Found found = finder(config).find();
        log.log(
                EventLog.Level.INFO,
                "application.found",
                null,
                found.application().path() + " is a "
                        + found.application().kind().key() + " application: " + found.why(),
                "kind",
                found.application().kind().key(),
                "php",
                found.application().php());
        if (config.http().spoolDirectory().equals(RunDirectory.defaultSpool(environment))) {
            RunDirectory.makePrivate(config.http().spoolDirectory());
        }
        try (RunDirectory directory = RunDirectory.create(config.runDirectory(), RunDirectory.pid())) {
            Supervisor supervisor = new Supervisor(config, found, directory.directory(), log);
            Signals.install(supervisor, log);
            supervisor.run();
        }
        return 0;
    }

    private int measure(Invocation invocation) {
        String target = invocation.app();
        if (target == null || !target.matches("/[!-~]{0,8000}")) {
            throw new CommandException(
                    CommandException.WRONG_USE, "measure needs the path of a request, as in: cetane measure / -n 1000");
        }
        String count = invocation.value("-n");
        long requests = count == null ? 1000 : number("-n", count, 10, 1_000_000);
        String compare = invocation.value("--compare");
        Measurements before = compare == null ? null : Measurements.load(workingDirectory.resolve(compare));
        String save = invocation.value("--save");
        if (save != null) {
            Measurements.checkFile(workingDirectory.resolve(save));
        }
        CetaneConfig config = new ConfigLoader(environment, workingDirectory, RunDirectory.pid())
                .load(new ConfigLoader.Flags(
                        invocation.value("--app"),
                        invocation.value("--config"),
                        invocation.all("--set"),
                        List.of("127.0.0.1:0"),
                        "off",
                        "1"));
        EventLog log = new TextEventLog(err, EventLog.Level.WARN, Ticker.system()::now, false);
        LibraryLog.routeTo(log);
        ApplicationFinder.Found found = finder(config).find();
        if (config.http().spoolDirectory().equals(RunDirectory.defaultSpool(environment))) {
            RunDirectory.makePrivate(config.http().spoolDirectory());
        }
        MeasureCommand measure = new MeasureCommand(out, found.application(), target, (int) requests);
        try (RunDirectory directory = RunDirectory.create(config.runDirectory(), RunDirectory.pid())) {
            Supervisor supervisor = new Supervisor(config, found, directory.directory(), log, measure::observing);
            Signals.install(supervisor, log);
            measure.startWith(supervisor);
            supervisor.run();
        }
        return measure.finish(
                save == null ? null : workingDirectory.resolve(save), before, invocation.has("--any-cpu"));
    }

    /** With the environment that workers have on Lambda. */
    private int warm(Invocation invocation) {
        String count = invocation.value("-n");
        long runs = count == null ? 7 : number("-n", count, 0, 1000);
        List<String> sets = new ArrayList<>();
        if (!environment.containsKey(Settings.APP_PASS_ENVIRONMENT.variable())) {
            sets.add(Settings.APP_PASS_ENVIRONMENT.key() + "=*");
        }
        sets.addAll(invocation.all("--set"));
        CetaneConfig config = new ConfigLoader(environment, workingDirectory, RunDirectory.pid())
                .load(new ConfigLoader.Flags(
                        invocation.app(), invocation.value("--config"), sets, List.of(), null, null));
        Map<String, String> onLambda = LambdaCommand.workersEnvironment(environment);
        // By this variable the client, and others, know where they are; nobody but the supervisor talks to what it
        // names.
        onLambda.putIfAbsent(LambdaCommand.RUNTIME_API, "127.0.0.1:9001");
        ApplicationFinder finder = new ApplicationFinder(config.app(), onLambda, workingDirectory, clientDirectory);
        return new WarmCommand(
                        out,
                        LambdaCommand.taskRoot(environment),
                        config,
                        finder.find().application(),
                        Set.copyOf(invocation.all("--without")),
                        (int) runs)
                .run();
    }

    private int check(Invocation invocation) {
        CetaneConfig config = load(invocation);
        if (invocation.has("--print")) {
            for (CetaneConfig.Effective effective : config.effective()) {
                out.println(effective.key() + ": " + effective.text() + "  # " + effective.origin());
            }
            return 0;
        }
        // What the pool logs of a boot is said again, better, by the check itself.
        EventLog nowhere =
                new TextEventLog(OutputStream.nullOutputStream(), EventLog.Level.ERROR, Ticker.system()::now, false);
        return new Check(out, nowhere).run(config, finder(config));
    }

    private int show(Invocation invocation) {
        ControlClient instance = instance(invocation);
        String worker = invocation.value("--recycle");
        if (worker != null) {
            return print(instance.ask("POST", "/workers/" + number("--recycle", worker, 1, MOST) + "/recycle"));
        }
        String traced = invocation.value("--trace");
        if (traced != null) {
            return print(instance.ask("GET", "/workers/" + number("--trace", traced, 1, MOST) + "/trace"));
        }
        return print(instance.ask("GET", "/" + invocation.command() + (invocation.has("--json") ? "?json" : "")));
    }

    private int top(Invocation invocation) {
        String order = invocation.value("--sort");
        if (order != null && !order.matches("[a-z]{1,20}")) {
            throw new CommandException(
                    CommandException.WRONG_USE, "--sort = \"" + order + "\" is no order; see cetane top --help");
        }
        boolean terminal = StandardOutput.isTerminal();
        String count = invocation.value("--count");
        long most = count != null ? number("--count", count, 1, MOST) : terminal ? 0 : 1;
        return new TopCommand(out, instance(invocation), order == null ? "busy" : order, terminal, most).run(System.in);
    }

    private int stop(Invocation invocation) {
        ControlClient instance = instance(invocation);
        int code = print(instance.ask("POST", invocation.has("--now") ? "/stop?now" : "/stop"));
        if (code == 0) {
            instance.awaitEnd();
            out.println("Stopped.");
        }
        return code;
    }

    private int print(ControlClient.Answer answer) {
        if (answer.isSuccess()) {
            out.print(answer.body());
            out.flush();
            return 0;
        }
        complain(answer.body().strip());
        return CommandException.FAILED;
    }

    private ControlClient instance(Invocation invocation) {
        String directory = invocation.value("--run-directory");
        if (directory == null) {
            directory = environment.get(Settings.RUN_DIRECTORY.variable());
        }
        List<Path> bases = directory == null
                ? RunDirectory.defaults(environment)
                : List.of(workingDirectory.resolve(directory).normalize());
        String pid = invocation.value("--instance");
        return ControlClient.find(bases, pid == null ? null : number("--instance", pid, 1, MOST));
    }

    private static long number(String option, String text, int least, int most) {
        long number = text.matches("[0-9]{1,9}") ? Long.parseLong(text) : -1;
        if (number < least || number > most) {
            throw new CommandException(
                    CommandException.WRONG_USE,
                    option + " = \"" + text + "\" is no whole number in " + least + " … " + most);
        }
        return number;
    }

    private ApplicationFinder finder(CetaneConfig config) {
        return new ApplicationFinder(config.app(), environment, workingDirectory, clientDirectory);
    }

    private CetaneConfig load(Invocation invocation) {
        List<String> sets = new ArrayList<>(invocation.all("--set"));
        if (invocation.has("--watch")) {
            sets.add(Settings.WATCH_ENABLED.key() + "=true");
        }
        ConfigLoader.Flags flags = new ConfigLoader.Flags(
                invocation.app(),
                invocation.value("--config"),
                sets,
                invocation.all("--listen"),
                invocation.value("--ops"),
                invocation.value("--workers"));
        return new ConfigLoader(environment, workingDirectory, RunDirectory.pid()).load(flags);
    }

    private void complain(@Nullable String message) {
        err.println("cetane: " + message);
    }

    private static PrintWriter writer(PrintStream stream) {
        return new PrintWriter(stream, true, StandardCharsets.UTF_8);
    }
}
