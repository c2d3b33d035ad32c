package dev.cetane;

import dev.cetane.protocol.MalformedCallException;
import dev.cetane.shared.SharedTables;
import dev.cetane.shared.TableCalls;
import dev.cetane.task.TaskCalls;
import dev.cetane.worker.CallHandler;
import dev.cetane.worker.Caller;
import dev.cetane.worker.TimeLimitCalls;
import java.nio.ByteBuffer;

/** Gives each call of a worker to the one whose operation it is. Stateless but for those. */
record WorkerCalls(SharedTables tables, TableCalls tableCalls, TaskCalls taskCalls, TimeLimitCalls limitCalls)
        implements CallHandler {

    @Override
    public void call(Caller caller, ByteBuffer call) {
        int operation = call.get(call.position()) & 0xFF;
        if (operation >= TableCalls.FIRST && operation <= TableCalls.LAST) {
            tableCalls.call(caller, call);
        } else if (operation >= TaskCalls.FIRST && operation <= TaskCalls.LAST) {
            taskCalls.call(caller, call);
        } else if (operation == TimeLimitCalls.RESTART) {
            limitCalls.call(caller, call);
        } else {
            throw new MalformedCallException("there is no operation " + operation);
        }
    }

    @Override
    public void left(Caller caller) {
        tables.left(caller);
    }
}
