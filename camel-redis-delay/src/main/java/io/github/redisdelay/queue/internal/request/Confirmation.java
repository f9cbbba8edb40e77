// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.UnmetDurability;
import java.nio.charset.StandardCharsets;

/**
 * A further wait for a change that Redis has executed and that is not as safe as was asked for. It changes nothing. Its
 * result is the answer to the change.
 */
final class Confirmation<T> extends Request<T> {

    /** Names no master in particular. */
    private static final String ANY_HISTORY = "";

    private final String done;
    private final T result;
    private final UnmetDurability unmet;

    /**
     * @param done a clause that says what was done
     * @param unmet the outcome of the wait before
     */
    Confirmation(QueueAddress queue, String done, T result, UnmetDurability unmet) {
        super(queue, LuaScript.REPLICATION, "", 60, unmet.history().getBytes(StandardCharsets.US_ASCII));
        this.done = done;
        this.result = result;
        this.unmet = unmet;
    }

    /** A wait for all that the master has, whichever that is. */
    Confirmation(QueueAddress queue, String done, T result, Durability wanted) {
        this(queue, done, result, new UnmetDurability(wanted, 0, false, ANY_HISTORY, null));
    }

    @Override
    protected T read(long timeMicros, int outcome, long valueMicros) {
        if (outcome == 0) {
            throw unmet.perhapsUndone(queue().name(), done, result);
        }
        return result;
    }

    @Override
    String done() {
        return done;
    }

    @Override
    boolean isDone() {
        return true;
    }
}
