package dev.cetane;

import dev.cetane.ControlClient.Pages;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code cetane top}: shows one page a second until it is interrupted. The main thread shows; where that is a terminal, {@code
 * cetane-keys} reads what is typed there, and makes the main thread ask anew. A line is read, and not a key, because that leaves the
 * terminal as it is.
 */
final class TopCommand {
    /** What is typed, and the order that it stands for. */
    private static final Map<String, String> ORDERS =
            Map.of("b", "busy", "i", "id", "r", "requests", "m", "memory", "a", "age");

    private static final String HELP =
            "Sort by b busy, r requests, m memory, a age, i id; q quits. Type the letter and Enter.";

    /** The cursor to the first column of the line with this number, from 1; or of the last one, where there are fewer. */
    private static final String AT_LINE = "\033[%d;1H";

    private static final String CLEAR_TO_LINE_END = "\033[K";
    private static final String CLEAR_BELOW = "\033[J";
    private static final String CUT_LINES = "\033[?7l";
    private static final String WRAP_LINES = "\033[?7h";

    private final PrintStream out;
    private final ControlClient instance;
    private final boolean terminal;
    private final long most;

    // What the threads share.
    private volatile String order;
    private volatile boolean quit;
    private volatile @Nullable Pages pages;

    /**
     * @param order how the workers are sorted
     * @param terminal whether pages are shown in place of each other
     * @param most pages after which it ends, 0 for no end
     */
    TopCommand(PrintStream out, ControlClient instance, String order, boolean terminal, long most) {
        this.out = out;
        this.instance = instance;
        this.order = order;
        this.terminal = terminal;
        this.most = most;
    }

    /** Runs until it is told to quit, or the instance has ended. */
    int run(InputStream keys) {
        if (terminal) {
            Thread reader = new Thread(() -> read(keys), "cetane-keys");
            reader.setDaemon(true);
            reader.start();
            out.print(String.format(Locale.ROOT, AT_LINE, 1) + CLEAR_BELOW);
        }
        long shown = 0;
        while (!quit) {
            String sorted = order;
            try (Pages open = instance.pages("/top?" + sorted)) {
                pages = open;
                // The first one says how things stand and nothing of what happens.
                String page = open.next();
                while (page != null && sorted.equals(order) && !quit) {
                    if (terminal) {
                        show(page);
                    }
                    page = open.next();
                    if (page != null && !terminal) {
                        out.print(page);
                        out.flush();
                    }
                    if (page != null && ++shown == most) {
                        return 0;
                    }
                }
                if (page == null && sorted.equals(order) && !quit) {
                    throw new CommandException(CommandException.FAILED, "the instance has ended");
                }
            }
        }
        return 0;
    }

    /**
     * Each line at its place over what was there, so that nothing flickers. Of a page that is larger than the terminal the lines' ends and the last
     * workers are missing: nothing wraps or scrolls, and the help is on the last line.
     */
    private void show(String page) {
        StringBuilder screen = new StringBuilder(CUT_LINES);
        int number = 0;
        for (String line : (page.stripTrailing() + "\n\n" + HELP).split("\n", -1)) {
            screen.append(String.format(Locale.ROOT, AT_LINE, ++number))
                    .append(CLEAR_TO_LINE_END)
                    .append(line);
        }
        out.print(screen.append(CLEAR_BELOW).append(WRAP_LINES));
        out.flush();
    }

    private void read(InputStream keys) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(keys, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null && !quit; line = lines.readLine()) {
                String key = line.strip();
                quit = key.equals("q");
                order = ORDERS.getOrDefault(key, order);
                Pages open = pages;
                if (open != null && (quit || ORDERS.containsKey(key))) {
                    open.close();
                }
            }
        } catch (IOException e) {
            // Nobody types any more; the pages go on.
            return;
        }
    }
}
