package dev.cetane;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.Writer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class GrammarTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "serve",
                "serve app",
                "serve app --listen 127.0.0.1:80 --listen=unix:/a --ops off --workers=4 --config f --set a=b --set=c=d=e",
                "serve --set pool.workers=2 app",
                "check app --print --set a=b",
                "status --json --instance 4 --run-directory=/run/x",
                "workers --recycle 3",
                "reload",
                "stop --now",
                "serve --set a="
            })
    void bothReadersUnderstandACorrectCommandLineAlike(String line) {
        String[] args = line.split(" ");

        Grammar.Invocation plain = Grammar.plain(args);

        assertThat(plain).isNotNull().isEqualTo(Grammar.of(full(args)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "-V",
                "serve --help",
                "serve -h",
                "srve",
                "serve a b",
                "serve --listen",
                "serve --listen --ops",
                "serve --workers 1 --workers 2",
                "serve --port 80",
                "status app",
                "stop --now=yes",
                "status --js"
            })
    void whatIsUnusualIsLeftToTheFullReader(String line) {
        assertThat(Grammar.plain(line.split(" "))).isNull();
    }

    @Test
    void nothingIsUnusualToo() {
        assertThat(Grammar.plain()).isNull();
    }

    @Test
    void theLastOfSeveralValuesCounts() {
        Grammar.Invocation invocation = Grammar.plain("serve", "--set", "a=1", "--set", "b=2");

        assertThat(invocation.all("--set")).containsExactly("a=1", "b=2");
        assertThat(invocation.value("--set")).isEqualTo("b=2");
        assertThat(invocation.value("--ops")).isNull();
        assertThat(invocation.has("--ops")).isFalse();
    }

    private static picocli.CommandLine.ParseResult full(String... args) {
        PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        return Grammar.full(nowhere, nowhere).parseArgs(args).subcommand();
    }
}
