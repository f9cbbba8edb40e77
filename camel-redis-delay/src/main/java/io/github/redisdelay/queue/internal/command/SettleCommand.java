// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.format.RunTimes;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** A call of {@code acknowledge.lua} or {@code settle.lua} for one delivery. */
public final class SettleCommand extends Request<SettleResult> {

    /** The word of {@code settle.lua} for an extension of a lease. */
    public static final String EXTEND = "extend";

    /** The word for a run that is given up. */
    private static final String GIVEN_UP = "run-dead-letter";

    private static final byte[] NOTHING = {};

    private final ClaimedDelivery delivery;
    private final boolean deadLetter;

    private SettleCommand(
            QueueAddress queue,
            LuaScript script,
            ClaimedDelivery delivery,
            boolean deadLetter,
            int bytes,
            Object... arguments) {
        super(queue, script, delivery.id(), delivery.idBytes().length + bytes, arguments);
        this.delivery = delivery;
        this.deadLetter = deadLetter;
    }

    public static SettleCommand of(QueueAddress queue, ClaimedDelivery delivery, Settlement settlement) {
        Duration pause = settlement instanceof Settlement.PauseGroup both ? both.pause() : Duration.ZERO;
        Settlement how = settlement.first();
        if (delivery.isRun() && !(how instanceof Settlement.Release)) {
            return run(queue, delivery, how, pause);
        }
        if (how instanceof Settlement.Retry retry) {
            return settle(queue, delivery, how.word(), pause, retry.delay(), retry.failure());
        }
        if (how instanceof Settlement.DeadLetter given) {
            return settle(queue, delivery, how.word(), pause, given.remember(), given.failure());
        }
        if (how instanceof Settlement.Drop drop) {
            return settle(queue, delivery, how.word(), pause, drop.remember(), NOTHING);
        }
        Duration remember = how instanceof Settlement.Acknowledge done ? done.remember() : Duration.ZERO;
        if (how instanceof Settlement.Release
                || !remember.isZero()
                || queue.isDeadLetters()
                || delivery.group() != null
                || delivery.isLimited()) {
            return settle(queue, delivery, how.word(), pause, remember, NOTHING);
        }
        byte[] id = delivery.idBytes();
        byte[] claim = delivery.claimId().bytes();
        return new SettleCommand(queue, LuaScript.ACKNOWLEDGE, delivery, false, 20, id, claim);
    }

    private static SettleCommand run(QueueAddress queue, ClaimedDelivery delivery, Settlement how, Duration pause) {
        RunTimes times = delivery.following();
        if (how instanceof Settlement.Retry retry) {
            boolean inTime = delivery.nowMicros() + Math.max(DueTime.toMicros(retry.delay()), DueTime.toMicros(pause))
                    < times.first();
            return inTime
                    ? settle(queue, delivery, how.word(), pause, retry.delay(), retry.failure())
                    : settle(queue, delivery, GIVEN_UP, pause, Duration.ZERO, times.before(retry.failure()));
        }
        return how instanceof Settlement.DeadLetter given
                ? settle(queue, delivery, GIVEN_UP, pause, Duration.ZERO, times.before(given.failure()))
                : settle(queue, delivery, "run-done", pause, Duration.ZERO, times.before(NOTHING));
    }

    public static SettleCommand extension(QueueAddress queue, ClaimedDelivery delivery, long micros) {
        return settle(queue, delivery, EXTEND, Duration.ZERO, Duration.of(micros, ChronoUnit.MICROS), NOTHING);
    }

    private static SettleCommand settle(
            QueueAddress queue, ClaimedDelivery delivery, String word, Duration pause, Duration time, byte[] failure) {
        String action = pause.isZero() ? word : word + " pause=" + DueTime.toMicros(pause);
        return new SettleCommand(
                queue,
                LuaScript.SETTLE,
                delivery,
                word.endsWith("dead-letter"),
                failure.length + 60,
                delivery.idBytes(),
                delivery.claimId().bytes(),
                action.getBytes(StandardCharsets.US_ASCII),
                Digits.padded(DueTime.toMicros(time)),
                failure);
    }

    @Override
    protected SettleResult read(long timeMicros, int outcome, long valueMicros) {
        if (deadLetter && valueMicros > 0) {
            delivery.deadLettered(DeadLetterId.of(delivery.id(), valueMicros));
        }
        return switch (outcome) {
            case 1 -> SettleResult.DONE;
            case 2 -> SettleResult.STALE_GONE;
            case 3 -> SettleResult.STALE_HELD;
            default -> throw unknown(outcome);
        };
    }
}
