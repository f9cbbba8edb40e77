// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.Request;

/** A call of {@code change.lua} for one message. */
final class ChangeCommand extends Request<ChangeResult> {

    /** The outcome of a dead message is this number plus the number of its dead letters. */
    private static final int DEAD_AND = 20;

    private final ChangeAction action;
    private final long micros;

    /** @param micros the time or the delay that goes with the action */
    ChangeCommand(QueueAddress queue, String id, byte[] idBytes, ChangeAction action, long micros) {
        super(queue, LuaScript.CHANGE, id, idBytes.length + 20, idBytes, action.word(), Digits.padded(micros));
        this.action = action;
        this.micros = micros;
    }

    @Override
    protected ChangeResult read(long timeMicros, int outcome, long valueMicros) {
        if (outcome > DEAD_AND) {
            DeadLetterId newest = DeadLetterId.of(id(), valueMicros);
            return new ChangeResult(id(), MessageState.DEAD, 0, newest, outcome - DEAD_AND);
        }
        return switch (outcome) {
            case 0 -> new ChangeResult(id(), MessageState.NONE, valueMicros);
            case 1 -> new ChangeResult(id(), MessageState.DELAYED, valueMicros);
            case 2 -> new ChangeResult(id(), MessageState.LEASED, valueMicros);
            case 3 -> throw beyondRange(new DueTime(action == ChangeAction.RESCHEDULE_AFTER, micros));
            case 4 -> new ChangeResult(id(), MessageState.FINISHED, valueMicros);
            default -> throw unknown(outcome);
        };
    }
}
