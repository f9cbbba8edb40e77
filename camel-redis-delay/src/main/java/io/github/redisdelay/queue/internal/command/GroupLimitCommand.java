// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.GroupLimit;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.Request;

/** A call of {@code change.lua} that limits the groups of a queue. Its result is the limit before. */
final class GroupLimitCommand extends Request<GroupLimit> {

    private static final byte[] NO_ID = {};

    GroupLimitCommand(QueueAddress queue, GroupLimit limit) {
        super(
                queue,
                LuaScript.CHANGE,
                "",
                20,
                NO_ID,
                (limit.strict() ? ChangeAction.LIMIT_STRICT : ChangeAction.LIMIT_RELAXED).word(),
                Digits.of(limit.concurrency()));
    }

    /** The outcome is 1 if it was relaxed, else 0. */
    @Override
    protected GroupLimit read(long timeMicros, int outcome, long value) {
        return new GroupLimit((int) value, outcome == 0);
    }
}
