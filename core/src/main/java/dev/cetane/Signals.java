package dev.cetane;

import dev.cetane.log.EventLog;
import dev.cetane.ops.Operator;
import java.lang.reflect.Proxy;

/**
 * What signals do: TERM and INT stop the instance, the second one at once; HUP reloads it, and so does USR2, as with php-fpm. USR1, by which
 * others open their logs anew, would end the process. Handlers run on threads of the JVM's.
 *
 * <p>USR2 is the JVM's own signal, and kills it when it comes from elsewhere, unless {@code _JAVA_SR_SIGNUM} names another: {@code bin/cetane} does.
 *
 * <p>The JDK has no other way to hear SIGHUP, or to drain before it shuts down, than {@code sun.misc.Signal}, whose use javac warns of
 * in a way that cannot be silenced: it is found by name.
 */
final class Signals {
    private Signals() {}

    /** @throws IllegalStateException when this JVM does not let a program handle that signal */
    @SuppressWarnings("FutureReturnValueIgnored") // the pool logs how a reload ends
    static void install(Operator operator, EventLog log) {
        handle("TERM", () -> operator.stop(false));
        handle("INT", () -> operator.stop(false));
        handle("HUP", operator::reload);
        handle("USR2", operator::reload);
        handle(
                "USR1",
                () -> log.log(
                        EventLog.Level.INFO,
                        "signal.ignored",
                        null,
                        "SIGUSR1 has no effect: the log goes to standard output, and there is no file to open anew"));
    }

    private static void handle(String name, Runnable action) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object proxy = Proxy.newProxyInstance(
                    handler.getClassLoader(), new Class<?>[] {handler}, (self, method, arguments) -> {
                        if (method.getName().equals("handle")) {
                            action.run();
                        }
                        return null;
                    });
            signal.getMethod("handle", signal, handler)
                    .invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this JVM does not let Cetane handle SIG" + name, e);
        }
    }
}
