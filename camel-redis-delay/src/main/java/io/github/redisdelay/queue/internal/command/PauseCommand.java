// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.Request;
import java.nio.charset.StandardCharsets;

/**
 * A call of {@code change.lua} that pauses or resumes a queue or a group. Its result is whether it has changed that: a pause that
 * becomes longer says no. {@code claim.lua} obeys the pause of a queue, {@code gate.lua} that of a group.
 */
final class PauseCommand extends Request<Boolean> {

    private final boolean resumes;

    /**
     * @param group the name of the group; empty for the queue
     * @param action the pause, or its end
     * @param micros for how long, or until when, a group is paused; else 0
     */
    PauseCommand(QueueAddress queue, String group, ChangeAction action, long micros) {
        super(
                queue,
                LuaScript.CHANGE,
                "",
                20 + group.length(),
                group.getBytes(StandardCharsets.UTF_8),
                action.word(),
                Digits.of(micros));
        resumes = action == ChangeAction.RESUME || action == ChangeAction.RESUME_GROUP;
    }

    /** The outcome is 1 if it was paused before, else 0. */
    @Override
    protected Boolean read(long timeMicros, int outcome, long valueMicros) {
        return (outcome == 1) == resumes;
    }
}
