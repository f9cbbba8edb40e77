// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.Request;

/** A call of {@code change.lua} that pauses or resumes a queue. Its result is whether it has changed something. {@code
 * claim.lua} obeys a pause. */
final class PauseCommand extends Request<Boolean> {

    private static final byte[] NO_ID = {};

    private final boolean pause;

    /** @param pause false to resume */
    PauseCommand(QueueAddress queue, boolean pause) {
        super(
                queue,
                LuaScript.CHANGE,
                "",
                20,
                NO_ID,
                (pause ? ChangeAction.PAUSE : ChangeAction.RESUME).word(),
                Digits.of(0));
        this.pause = pause;
    }

    /** The outcome is 1 if the queue was paused before, else 0. */
    @Override
    protected Boolean read(long timeMicros, int outcome, long valueMicros) {
        return outcome == (pause ? 0 : 1);
    }
}
