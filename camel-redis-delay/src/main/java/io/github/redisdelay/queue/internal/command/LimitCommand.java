// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.QueueLimits.Rate;
import io.github.redisdelay.queue.internal.format.ChangeAction;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.UnmetDurability;
import io.github.redisdelay.queue.internal.request.Request;
import io.github.redisdelay.queue.internal.request.RequestRouter;
import java.util.concurrent.CompletableFuture;

/** A call of {@code change.lua} that sets a limit of a queue. Its result is the one before. */
final class LimitCommand extends Request<LimitCommand.Before> {

    private static final byte[] NO_ID = {};
    private static final int BURSTS = 1024;

    /** A limit as it was: its number, and an outcome, which is 1 of relaxed groups, and 2 more if these may not be in line with it. */
    record Before(int outcome, long number) {

        Rate rate() {
            return number == 0 ? null : new Rate(number / BURSTS, (int) (number % BURSTS));
        }
    }

    private LimitCommand(QueueAddress queue, ChangeAction action, long number) {
        super(queue, LuaScript.CHANGE, "", 20, NO_ID, action.word(), Digits.of(number));
    }

    /** Sets it. Nobody needs to know whether replicas have it: a consumer sets it anew. */
    static CompletableFuture<Before> send(RequestRouter router, QueueAddress queue, ChangeAction action, long number) {
        return router.submit(new LimitCommand(queue, action, number)).result().exceptionally(UnmetDurability::answer);
    }

    /** A rate as a number; 0 for none. */
    static long number(Rate rate) {
        return rate == null ? 0 : rate.intervalMicros() * BURSTS + rate.burst();
    }

    @Override
    protected Before read(long timeMicros, int outcome, long value) {
        return new Before(outcome, value);
    }
}
