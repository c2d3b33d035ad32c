package dev.cetane.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cetane.log.RecordingLog;
import dev.cetane.worker.Ticker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.SortedSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Changes of real files, as editors and version control make them. */
final class SourceWatcherTest {
    private static final WatchConfig CONFIG = new WatchConfig(
            true,
            List.of("app", "bootstrap", "config/**/*.php", "public/**/*.php", "composer.lock", ".env"),
            List.of("/storage", "/vendor", "/bootstrap/cache", "node_modules", ".git", "*.swp", "*~", "4913"),
            Duration.ofMillis(100));

    @TempDir
    private Path top;

    private final BlockingQueue<SortedSet<String>> changes = new LinkedBlockingQueue<>();
    private final RecordingLog log = new RecordingLog();
    private SourceWatcher watcher;

    @BeforeEach
    void start() throws IOException {
        write("app/Http/Kernel.php");
        write("config/app.php");
        write("public/index.php");
        write(".env");
        write("composer.lock");
        write("bootstrap/cache/services.php");
        write("storage/logs/laravel.log");
        write("vendor/autoload.php");
        watcher = new SourceWatcher(() -> top, CONFIG, Ticker.system(), log, changes::add);
        watcher.start();
    }

    @AfterEach
    void stop() {
        watcher.close();
    }

    private void write(String name) throws IOException {
        Path file = top.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, name);
    }

    private SortedSet<String> change() throws InterruptedException {
        SortedSet<String> change = changes.poll(20, TimeUnit.SECONDS);
        assertThat(change).as("a change").isNotNull();
        return change;
    }

    @Test
    void writesOfWatchedFilesAreTold() throws Exception {
        write("app/Http/Kernel.php");
        assertThat(change()).containsExactly("app/Http/Kernel.php");
        write("config/app.php");
        assertThat(change()).containsExactly("config/app.php");
        write(".env");
        assertThat(change()).containsExactly(".env");
    }

    @Test
    void whatComesTogetherIsToldTogether() throws Exception {
        write("app/A.php");
        write("app/B.php");
        Files.delete(top.resolve("app/Http/Kernel.php"));
        assertThat(change()).containsExactly("app/A.php", "app/B.php", "app/Http/Kernel.php");
    }

    @Test
    void whatIsIgnoredOrNotWatchedIsNot() throws Exception {
        write("storage/logs/laravel.log");
        write("vendor/autoload.php");
        write("bootstrap/cache/services.php");
        write("app/.Kernel.php.swp");
        write("app/Kernel.php~");
        write("app/4913");
        write("app/node_modules/x.php");
        write("config/notes.txt");
        write("public/build/app.js");
        write("README.md");
        write("new/thing.php");
        write("app/Last.php");
        assertThat(change()).containsExactly("app/Last.php");
    }

    @Test
    void aFileThatAnEditorPutsInPlaceOfAnotherIsSeen() throws Exception {
        write("app/Http/.Kernel.tmp~");
        Files.move(
                top.resolve("app/Http/.Kernel.tmp~"),
                top.resolve("app/Http/Kernel.php"),
                StandardCopyOption.ATOMIC_MOVE);
        assertThat(change()).containsExactly("app/Http/Kernel.php");
    }

    @Test
    void newDirectoriesAreWatchedWithWhatIsInThem() throws Exception {
        // Made elsewhere and moved in: no file in it is ever written where it is watched.
        Path made = Files.createDirectories(top.resolve("storage/Models/Deep"));
        Files.writeString(made.resolve("User.php"), "x");
        Files.move(top.resolve("storage/Models"), top.resolve("app/Models"));
        assertThat(change()).containsExactly("app/Models/Deep/User.php");
        write("app/Models/Deep/User.php");
        assertThat(change()).containsExactly("app/Models/Deep/User.php");
        write("config/packages/one.php");
        assertThat(change()).containsExactly("config/packages/one.php");
    }

    @Test
    void aDirectoryThatGoesAndComesBackIsWatchedAgain() throws Exception {
        Files.move(top.resolve("app"), top.resolve("storage/app-away"));
        write("app/Fresh.php");
        SortedSet<String> seen = change();
        while (!seen.contains("app/Fresh.php")) {
            seen = change();
        }
        write("app/Fresh.php");
        assertThat(change()).containsExactly("app/Fresh.php");
    }

    @Test
    void moreChangesThanCanBeFollowedAreOne() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        watcher.close();
        watcher = new SourceWatcher(() -> top, CONFIG, Ticker.system(), log, names -> {
            told.countDown();
            try {
                go.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            changes.add(names);
        });
        watcher.start();
        write("app/First.php");
        assertThat(told.await(20, TimeUnit.SECONDS)).isTrue();
        // Nobody reads meanwhile, so more than what is kept for a directory gets lost.
        for (int i = 0; i < 2000; i++) {
            write("app/Many" + i + ".php");
        }
        go.countDown();
        assertThat(change()).containsExactly("app/First.php");
        change();
        assertThat(log.await("watch.overflow").message()).contains("More files changed");
        while (changes.poll(1, TimeUnit.SECONDS) != null) {
            assertThat(changes.size()).isLessThan(100);
        }
        write("app/After.php");
        assertThat(change()).contains("app/After.php");
    }

    @Test
    void aMovedDeploymentIsFollowedAfterAChange() throws Exception {
        watcher.close();
        Path second = Files.createDirectories(top.resolve("storage/second/app"));
        Path[] where = {top};
        watcher = new SourceWatcher(() -> where[0], CONFIG, Ticker.system(), log, changes::add);
        watcher.start();
        where[0] = top.resolve("storage/second");
        write("app/A.php");
        assertThat(change()).containsExactly("app/A.php");
        // It is watched a moment after the change was told.
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        SortedSet<String> seen = null;
        while (seen == null) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Files.writeString(second.resolve("B.php"), "x");
            seen = changes.poll(300, TimeUnit.MILLISECONDS);
        }
        assertThat(seen).containsExactly("app/B.php");
    }
}
