package dev.cetane;

import dev.cetane.log.EventLog;
import dev.cetane.log.LibraryLog;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * The command line: its grammar, and which command runs. The grammar is built by calls, not from annotations, which would cost every
 * start a walk by reflection. Used by the main thread.
 */
final class CommandLineInterface {

    private final PrintStream out;
    private final PrintStream err;
    private final Map<String, String> environment;
    private final Path workingDirectory;
    private final Path clientDirectory;

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
        CommandLine commandLine = grammar();
        try {
            ParseResult parsed = commandLine.parseArgs(args);
            Integer helped = CommandLine.executeHelpRequest(parsed);
            if (helped != null) {
                return helped;
            }
            if (!parsed.hasSubcommand()) {
                commandLine.usage(writer(err));
                return CommandException.WRONG_USE;
            }
            return run(parsed.subcommand());
        } catch (ParameterException e) {
            complain(e.getMessage() + ". See "
                    + e.getCommandLine().getCommandSpec().qualifiedName() + " --help");
            return CommandException.WRONG_USE;
        } catch (ConfigException e) {
            complain(e.getMessage());
            return CommandException.WRONG_USE;
        } catch (CommandException e) {
            complain(e.getMessage());
            return e.exitCode();
        }
    }

    /** The whole grammar, for parsing, help and the completion script. */
    CommandLine grammar() {
        CommandSpec cetane = CommandSpec.create().name("cetane").version("cetane " + Cetane.version());
        cetane.mixinStandardHelpOptions(true);
        cetane.usageMessage()
                .description("Keeps PHP applications loaded in memory and feeds them HTTP requests.")
                .footer(
                        "",
                        "Exit codes: 0 done, 1 failed, 2 wrong command line or configuration, 3 no instance runs.",
                        "All keys of the configuration: cetane check --print");
        cetane.addSubcommand("serve", serving("serve", "Serves an application until it is told to stop."));
        CommandSpec check = serving(
                "check", "Checks the configuration, PHP and the application, and boots one worker to prove it.");
        check.addOption(OptionSpec.builder("--print")
                .description("Only print every key of the configuration, with its value and where that came from.")
                .build());
        cetane.addSubcommand("check", check);
        cetane.addSubcommand("status", json(asking("status", "Shows how the running instance is.")));
        CommandSpec workers = json(asking("workers", "Lists the workers of the running instance."));
        workers.addOption(OptionSpec.builder("--recycle")
                .paramLabel("ID")
                .type(Integer.class)
                .description("Replace this worker, once it is idle.")
                .build());
        cetane.addSubcommand("workers", workers);
        cetane.addSubcommand(
                "reload",
                asking("reload", "Replaces all workers by new ones, one by one; waits, and tells if they fail."));
        CommandSpec stop = asking("stop", "Lets running requests finish, then stops the instance.");
        stop.addOption(OptionSpec.builder("--now")
                .description("Stop at once, running requests fail.")
                .build());
        cetane.addSubcommand("stop", stop);
        return new CommandLine(cetane).setOut(writer(out)).setErr(writer(err));
    }

    private static CommandSpec command(String name, String description) {
        CommandSpec spec = CommandSpec.create().name(name);
        spec.mixinStandardHelpOptions(true).version("cetane " + Cetane.version());
        spec.usageMessage().description(description);
        return spec;
    }

    private static CommandSpec serving(String name, String description) {
        CommandSpec spec = command(name, description);
        spec.addPositional(PositionalParamSpec.builder()
                .index("0")
                .arity("0..1")
                .paramLabel("APP")
                .type(String.class)
                .description("The application: a directory or a PHP file (default: the current directory).")
                .build());
        spec.addOption(
                list("--listen", "HOST:PORT", "Take HTTP requests here; unix:/path for a Unix socket. Repeatable."));
        spec.addOption(text("--ops", "HOST:PORT", "Serve health and metrics here, or off."));
        spec.addOption(text("--workers", "N", "How many PHP workers run, or auto."));
        spec.addOption(
                text("--config", "FILE", "The configuration (default: cetane.yaml in the application's directory)."));
        spec.addOption(list("--set", "KEY=VALUE", "Set any key of the configuration. Repeatable."));
        return spec;
    }

    private static CommandSpec asking(String name, String description) {
        CommandSpec spec = command(name, description);
        spec.addOption(OptionSpec.builder("--instance")
                .paramLabel("PID")
                .type(Long.class)
                .description("Process id of the instance, when several run.")
                .build());
        spec.addOption(text("--run-directory", "DIR", "The instance's run-directory, when it is not the default."));
        return spec;
    }

    private static CommandSpec json(CommandSpec spec) {
        return spec.addOption(OptionSpec.builder("--json")
                .description("Print JSON instead of a table.")
                .build());
    }

    private static OptionSpec text(String name, String label, String description) {
        return OptionSpec.builder(name)
                .paramLabel(label)
                .type(String.class)
                .description(description)
                .build();
    }

    private static OptionSpec list(String name, String label, String description) {
        return OptionSpec.builder(name)
                .paramLabel(label)
                .type(List.class)
                .auxiliaryTypes(String.class)
                .arity("1")
                .description(description)
                .build();
    }

    private int run(ParseResult command) {
        return switch (command.commandSpec().name()) {
            case "serve" -> serve(command);
            case "check" -> check(command);
            case "status", "workers" -> show(command);
            case "reload" -> reload(command);
            case "stop" -> stop(command);
            default -> throw new IllegalStateException("no such command");
        };
    }

    private int serve(ParseResult command) {
        CetaneConfig config = load(command);
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
            Supervisor supervisor = new Supervisor(config, found, directory, log);
            Signals.install(supervisor);
            supervisor.run();
        }
        return 0;
    }

    private int check(ParseResult command) {
        CetaneConfig config = load(command);
        if (command.hasMatchedOption("--print")) {
            for (CetaneConfig.Effective effective : config.effective()) {
                out.println(effective.key() + ": " + effective.text() + "  # " + effective.origin());
            }
            return 0;
        }
        EventLog log = StandardOutput.log(
                new CetaneConfig.Log(CetaneConfig.Log.Format.TEXT, EventLog.Level.WARN), environment);
        return new Check(out, log).run(config, finder(config));
    }

    private int show(ParseResult command) {
        ControlClient instance = instance(command);
        if (command.hasMatchedOption("--recycle")) {
            int id = command.matchedOptionValue("--recycle", 0);
            return print(instance.ask("POST", "/workers/" + id + "/recycle"));
        }
        String query = command.hasMatchedOption("--json") ? "?json" : "";
        return print(instance.ask("GET", "/" + command.commandSpec().name() + query));
    }

    private int reload(ParseResult command) {
        return print(instance(command).ask("POST", "/reload"));
    }

    private int stop(ParseResult command) {
        ControlClient instance = instance(command);
        int code = print(instance.ask("POST", command.hasMatchedOption("--now") ? "/stop?now" : "/stop"));
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

    private ControlClient instance(ParseResult command) {
        String directory = option(command, "--run-directory");
        if (directory == null) {
            directory = environment.get(Settings.RUN_DIRECTORY.variable());
        }
        List<Path> bases = directory == null
                ? RunDirectory.defaults(environment)
                : List.of(workingDirectory.resolve(directory).normalize());
        return ControlClient.find(bases, command.matchedOptionValue("--instance", (@Nullable Long) null));
    }

    private ApplicationFinder finder(CetaneConfig config) {
        return new ApplicationFinder(config.app(), environment, workingDirectory, clientDirectory);
    }

    private CetaneConfig load(ParseResult command) {
        ConfigLoader.Flags flags = new ConfigLoader.Flags(
                command.matchedPositionalValue(0, (@Nullable String) null),
                option(command, "--config"),
                command.matchedOptionValue("--set", List.of()),
                command.matchedOptionValue("--listen", List.of()),
                option(command, "--ops"),
                option(command, "--workers"));
        return new ConfigLoader(environment, workingDirectory, RunDirectory.pid()).load(flags);
    }

    private static @Nullable String option(ParseResult command, String name) {
        return command.matchedOptionValue(name, (@Nullable String) null);
    }

    private void complain(@Nullable String message) {
        err.println("cetane: " + message);
    }

    private static PrintWriter writer(PrintStream stream) {
        return new PrintWriter(stream, true, StandardCharsets.UTF_8);
    }
}
