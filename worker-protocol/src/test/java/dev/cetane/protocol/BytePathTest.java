package dev.cetane.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BytePathTest {

    @Test
    void an_ASCII_path_is_its_text() {
        assertThat(BytePath.toText(Path.of("/srv/app/index.php"))).isEqualTo("/srv/app/index.php");
        assertThat(BytePath.of("/srv/app/index.php")).isEqualTo(Path.of("/srv/app/index.php"));
    }

    @Test
    void every_byte_but_NUL_survives_the_way_there_and_back() {
        StringBuilder text = new StringBuilder("/");
        for (char c = 1; c <= 0xFF; c++) {
            text.append(c == '/' ? 'x' : c);
        }
        assertThat(BytePath.toText(BytePath.of(text.toString()))).isEqualTo(text.toString());
    }

    @Test
    void the_bytes_name_the_file_that_the_system_knows(@TempDir Path directory) throws IOException {
        String text = BytePath.toText(directory) + "/caf\u00c3\u00a9 \u00ff%41";
        Files.writeString(BytePath.of(text), "x");
        try (var files = Files.list(directory)) {
            assertThat(files.map(BytePath::toText)).containsExactly(text);
        }
    }

    @Test
    void a_directory_has_no_slash_at_its_end(@TempDir Path directory) throws IOException {
        String text = BytePath.toText(directory) + "/\u00e9";
        Files.createDirectory(BytePath.of(text));
        assertThat(BytePath.toText(BytePath.of(text))).isEqualTo(text);
    }

    @Test
    void relative_empty_and_NUL_are_refused() {
        assertThatIllegalArgumentException().isThrownBy(() -> BytePath.of("srv/app"));
        assertThatIllegalArgumentException().isThrownBy(() -> BytePath.of(""));
        assertThatIllegalArgumentException().isThrownBy(() -> BytePath.of("/srv\0/app"));
        assertThatIllegalArgumentException().isThrownBy(() -> BytePath.of("/\u00e9\0"));
    }
}
