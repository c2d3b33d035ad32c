package dev.cetane;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/**
 * The commands and their options, once: {@link #plain} reads a correct command line without any library, since loading one makes up a
 * good part of a start; {@link #full} knows help, mistakes and completion. Immutable.
 */
final class Grammar {

    /**
     * One option.
     *
     * @param label name of its value, null when it has none
     */
    record Option(String name, @Nullable String label, boolean repeatable, String description) {
        static Option flag(String name, String description) {
            return new Option(name, null, false, description);
        }

        static Option value(String name, String label, String description) {
            return new Option(name, label, false, description);
        }

        static Option list(String name, String label, String description) {
            return new Option(name, label, true, description);
        }
    }

    /**
     * One command.
     *
     * @param takesApp whether it takes an argument, APP or what {@link #argument} says
     */
    record Command(String name, String description, boolean takesApp, List<Option> options) {
        /** What its argument is called. */
        String argument() {
            return name.equals(MEASURE) ? "PATH" : "APP";
        }

        String argumentDescription() {
            return name.equals(MEASURE)
                    ? "What is asked for, as in /articles?page=2."
                    : "The application: a directory or a PHP file (default: the current directory).";
        }

        @Nullable
        Option option(String optionName) {
            return options.stream()
                    .filter(option -> option.name().equals(optionName))
                    .findFirst()
                    .orElse(null);
        }
    }

    /**
     * What was typed.
     *
     * @param values the values of each option that was given; none for one without a value
     */
    record Invocation(String command, @Nullable String app, Map<String, List<String>> values) {
        boolean has(String option) {
            return values.containsKey(option);
        }

        List<String> all(String option) {
            return values.getOrDefault(option, List.of());
        }

        /** The last value of the option, null when it was not given. */
        @Nullable
        String value(String option) {
            List<String> all = all(option);
            return all.isEmpty() ? null : all.get(all.size() - 1);
        }
    }

    private static final String MEASURE = "measure";

    private static final Option JSON = Option.flag("--json", "Print JSON instead of a table.");

    private static final List<Option> SERVING = List.of(
            Option.list("--listen", "HOST:PORT", "Take HTTP requests here; unix:/path for a Unix socket. Repeatable."),
            Option.value("--ops", "HOST:PORT", "Serve health and metrics here, or off."),
            Option.value("--workers", "N", "How many PHP workers run, or auto."),
            Option.value(
                    "--config", "FILE", "The configuration (default: cetane.yaml in the application's directory)."),
            Option.list("--set", "KEY=VALUE", "Set any key of the configuration. Repeatable."));

    private static final List<Option> ASKING = List.of(
            Option.value("--instance", "PID", "Process id of the instance, when several run."),
            Option.value("--run-directory", "DIR", "The instance's run-directory, when it is not the default."));

    static final List<Command> COMMANDS = List.of(
            new Command(
                    "serve",
                    "Serves an application until it is told to stop.",
                    true,
                    plus(SERVING, Option.flag("--watch", "Reload when source code changes; for development."))),
            new Command(
                    "check",
                    "Checks the configuration, PHP and the application, and boots one worker to prove it.",
                    true,
                    plus(
                            SERVING,
                            Option.flag(
                                    "--print",
                                    "Only print every key of the configuration, with its value and where that came from."))),
            new Command(
                    MEASURE,
                    "Sends requests through one worker, one after the other, and shows where their time goes.",
                    true,
                    List.of(
                            Option.value("-n", "N", "How many requests (default: 1000)."),
                            Option.value("--app", "APP", "The application (default: the current directory)."),
                            Option.value("--save", "FILE", "Keep the figures in this file."),
                            Option.value("--compare", "FILE", "Compare them with those in this file."),
                            Option.flag("--any-cpu", "Compare with figures of another CPU too."),
                            Option.value(
                                    "--config",
                                    "FILE",
                                    "The configuration (default: cetane.yaml in the application's directory)."),
                            Option.list("--set", "KEY=VALUE", "Set any key of the configuration. Repeatable."))),
            new Command(
                    "lambda",
                    "Runs an application as an AWS Lambda function; in its environment APP is what _HANDLER names.",
                    true,
                    List.of(
                            Option.flag(
                                    "--local",
                                    "Beside an emulator of Lambda's API, which takes HTTP requests and invocations; for development."),
                            Option.value(
                                    "--listen", "HOST:PORT", "Where the emulator listens (default: 127.0.0.1:8080)."),
                            Option.value("--config", "FILE", "The configuration (default: none)."),
                            Option.list("--set", "KEY=VALUE", "Set any key of the configuration. Repeatable."))),
            new Command(
                    "warm",
                    "Prepares an application for AWS Lambda: compiles its code ahead, makes Laravel's caches, and measures what each saves.",
                    true,
                    List.of(
                            Option.list(
                                    "--without",
                                    "STEP",
                                    "Leave this out: config, routes, events, views or opcache. Repeatable."),
                            Option.value(
                                    "-n",
                                    "N",
                                    "How many starts with and without each are measured (default: 7, 0: none)."),
                            Option.value(
                                    "--config",
                                    "FILE",
                                    "The configuration (default: cetane.yaml in the application's directory)."),
                            Option.list("--set", "KEY=VALUE", "Set any key of the configuration. Repeatable."))),
            new Command("status", "Shows how the running instance is.", false, plus(ASKING, JSON)),
            new Command(
                    "workers",
                    "Lists the workers of the running instance.",
                    false,
                    plus(
                            ASKING,
                            JSON,
                            Option.value("--recycle", "ID", "Replace this worker, once it is idle."),
                            Option.value("--trace", "ID", "Show which PHP functions this worker runs."))),
            new Command(
                    "top",
                    "Shows, every second, what the running instance does; once where its output is no terminal.",
                    false,
                    plus(
                            ASKING,
                            Option.value(
                                    "--sort", "ORDER", "Sort workers by busy (default), id, requests, memory or age."),
                            Option.value("--count", "N", "End after so many pages."))),
            new Command(
                    "reload",
                    "Replaces all workers by new ones, one by one; waits, and tells if they fail.",
                    false,
                    ASKING),
            new Command(
                    "stop",
                    "Lets running requests finish, then stops the instance; waits for its end.",
                    false,
                    plus(ASKING, Option.flag("--now", "Stop at once, running requests fail."))));

    private Grammar() {}

    /** Reads a command line that has nothing unusual; null when it has, be it a wish for help or a mistake. */
    static @Nullable Invocation plain(String... args) {
        Command command = args.length == 0 ? null : command(args[0]);
        if (command == null) {
            return null;
        }
        String app = null;
        Map<String, List<String>> values = new HashMap<>();
        for (int i = 1; i < args.length; i++) {
            String arg = args[i];
            if (!arg.startsWith("-")) {
                if (app != null || !command.takesApp()) {
                    return null;
                }
                app = arg;
                continue;
            }
            int equals = arg.indexOf('=');
            Option option = command.option(equals < 0 ? arg : arg.substring(0, equals));
            if (option == null || (!option.repeatable() && values.containsKey(option.name()))) {
                return null;
            }
            List<String> given = values.computeIfAbsent(option.name(), name -> new ArrayList<>());
            if (option.label() == null) {
                if (equals >= 0) {
                    return null;
                }
            } else if (equals >= 0) {
                given.add(arg.substring(equals + 1));
            } else if (i + 1 < args.length && !args[i + 1].startsWith("-")) {
                given.add(args[++i]);
            } else {
                return null;
            }
        }
        return new Invocation(command.name(), app, values);
    }

    /** The same for what {@link #full} has parsed. */
    static Invocation of(ParseResult parsed) {
        Command command = command(parsed.commandSpec().name());
        if (command == null) {
            throw new IllegalArgumentException(parsed.commandSpec().name() + " is no command");
        }
        Map<String, List<String>> values = new HashMap<>();
        for (Option option : command.options()) {
            if (parsed.hasMatchedOption(option.name())) {
                values.put(option.name(), valuesOf(parsed, option));
            }
        }
        String app = command.takesApp() ? parsed.matchedPositionalValue(0, (@Nullable String) null) : null;
        return new Invocation(command.name(), app, values);
    }

    /** The whole grammar. */
    static CommandLine full(PrintWriter out, PrintWriter err) {
        String version = "cetane " + Cetane.version();
        CommandSpec cetane =
                CommandSpec.create().name("cetane").version(version).mixinStandardHelpOptions(true);
        cetane.usageMessage()
                .description("Keeps PHP applications loaded in memory and feeds them HTTP requests.")
                .footer(
                        "",
                        "Exit codes: 0 done, 1 failed, 2 wrong command line or configuration, 3 no instance runs.",
                        "All keys of the configuration: cetane check --print");
        for (Command command : COMMANDS) {
            CommandSpec spec =
                    CommandSpec.create().name(command.name()).version(version).mixinStandardHelpOptions(true);
            spec.usageMessage().description(command.description());
            if (command.takesApp()) {
                spec.addPositional(PositionalParamSpec.builder()
                        .index("0")
                        .arity("0..1")
                        .paramLabel(command.argument())
                        .type(String.class)
                        .description(command.argumentDescription())
                        .build());
            }
            command.options().forEach(option -> spec.addOption(spec(option)));
            cetane.addSubcommand(command.name(), spec);
        }
        return new CommandLine(cetane).setOut(out).setErr(err);
    }

    private static List<String> valuesOf(ParseResult parsed, Option option) {
        if (option.label() == null) {
            return List.of();
        }
        return option.repeatable()
                ? parsed.matchedOptionValue(option.name(), List.of())
                : List.of(parsed.matchedOptionValue(option.name(), ""));
    }

    private static OptionSpec spec(Option option) {
        OptionSpec.Builder spec = OptionSpec.builder(option.name()).description(option.description());
        if (option.label() != null) {
            spec.paramLabel(option.label()).arity("1");
            if (option.repeatable()) {
                spec.type(List.class).auxiliaryTypes(String.class);
            } else {
                spec.type(String.class);
            }
        }
        return spec.build();
    }

    private static @Nullable Command command(String name) {
        return COMMANDS.stream()
                .filter(command -> command.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    private static List<Option> plus(List<Option> options, Option... more) {
        List<Option> all = new ArrayList<>(options);
        all.addAll(List.of(more));
        return List.copyOf(all);
    }
}
