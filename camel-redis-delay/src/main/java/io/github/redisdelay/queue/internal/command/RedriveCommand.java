// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.RedriveOutcome;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.exception.StaleDeliveryException;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.Request;
import io.github.redisdelay.queue.internal.request.RequestBatcher;

/** A call of {@code redrive.lua} for one dead letter. */
final class RedriveCommand extends Request<RedriveOutcome> {

    private static final byte[] NO_CLAIM = {};

    /** The bytes that a redriven body counts for, so that at most 16 of them, whatever their sizes, are moved in one call. */
    private static final int BODY_BYTES = RequestBatcher.MAX_BYTES_PER_CALL / 16;

    private final String messageId;
    private final boolean held;

    /** @param held the claim id of the caller's delivery of the dead letter; null if it has none */
    RedriveCommand(QueueAddress queue, String deadLetterId, byte[] idBytes, ClaimId held) {
        super(queue, LuaScript.REDRIVE, deadLetterId, BODY_BYTES, idBytes, held == null ? NO_CLAIM : held.bytes());
        this.messageId = DeadLetterId.messageIdOf(deadLetterId);
        this.held = held != null;
    }

    @Override
    protected String messageId() {
        return messageId;
    }

    /** A caller that holds the delivery must not take the dead letter for moved: anything else is an error. */
    @Override
    protected RedriveOutcome read(long timeMicros, int outcome, long valueMicros) {
        RedriveOutcome found =
                switch (outcome) {
                    case 0 -> RedriveOutcome.NONE;
                    case 1 -> RedriveOutcome.REDRIVEN;
                    case 2 -> RedriveOutcome.DUPLICATE;
                    case 3 -> RedriveOutcome.LEASED;
                    default -> throw unknown(outcome);
                };
        if (held && found == RedriveOutcome.DUPLICATE) {
            throw DuplicateMessageException.ofDeadLetter(queue().name(), id());
        }
        if (held && found != RedriveOutcome.REDRIVEN) {
            throw StaleDeliveryException.ofDeadLetter(queue().name(), id());
        }
        return found;
    }
}
