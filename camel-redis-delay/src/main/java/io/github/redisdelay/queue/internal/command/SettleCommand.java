// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.format.SettleAction;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.Request;

/** A call of {@code acknowledge.lua} or {@code settle.lua} for one delivery. */
public final class SettleCommand extends Request<Settlement> {

    private final ClaimedDelivery delivery;
    private final boolean buries;

    private SettleCommand(
            QueueAddress queue,
            LuaScript script,
            ClaimedDelivery delivery,
            boolean buries,
            int bytes,
            Object... arguments) {
        super(queue, script, delivery.id(), delivery.idBytes().length + bytes, arguments);
        this.delivery = delivery;
        this.buries = buries;
    }

    public static SettleCommand of(
            QueueAddress queue, ClaimedDelivery delivery, SettleAction action, long micros, byte[] failure) {
        byte[] id = delivery.idBytes();
        byte[] claim = delivery.claimId().bytes();
        return action == SettleAction.ACKNOWLEDGE && micros == 0 && !queue.isDeadLetters()
                ? new SettleCommand(queue, LuaScript.ACKNOWLEDGE, delivery, false, 20, id, claim)
                : new SettleCommand(
                        queue,
                        LuaScript.SETTLE,
                        delivery,
                        action == SettleAction.BURY,
                        failure.length + 40,
                        id,
                        claim,
                        action.word(),
                        Digits.of(micros),
                        failure);
    }

    @Override
    protected Settlement read(long timeMicros, int outcome, long valueMicros) {
        if (buries && valueMicros > 0) {
            delivery.buried(DeadLetterId.of(delivery.id(), valueMicros));
        }
        return switch (outcome) {
            case 1 -> Settlement.DONE;
            case 2 -> Settlement.STALE_GONE;
            case 3 -> Settlement.STALE_HELD;
            default -> throw unknown(outcome);
        };
    }
}
