package dev.cetane;

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
            case "check" -> check(command);
            default -> throw new CommandException(CommandException.FAILED, "not there yet");
        };
    }

    private int check(ParseResult command) {
        CetaneConfig config = load(command);
        if (command.hasMatchedOption("--print")) {
            for (CetaneConfig.Effective effective : config.effective()) {
                out.println(effective.key() + ": " + effective.text() + "  # " + effective.origin());
            }
            return 0;
        }
        ApplicationFinder.Found found =
                new ApplicationFinder(config.app(), environment, workingDirectory, clientDirectory).find();
        out.println("application: " + found.application().path() + ", "
                + found.application().kind().key() + ": " + found.why());
        out.println("php: " + found.application().php());
        return 0;
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
