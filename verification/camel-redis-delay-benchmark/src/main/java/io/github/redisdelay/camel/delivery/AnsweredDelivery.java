// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.internal.request.SubmissionPromise;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A first delivery, 3 ms late, whose end Redis answers at once. */
final class AnsweredDelivery implements Delivery {

    private static final byte[] NOTHING = {};

    private final byte[] body;

    AnsweredDelivery(byte[] body) {
        this.body = body;
    }

    private static Submission<SettleResult> answered() {
        SubmissionPromise<SettleResult> answer = new SubmissionPromise<>();
        answer.succeed(SettleResult.DONE);
        return answer;
    }

    @Override
    public String queue() {
        return "jmh";
    }

    @Override
    public boolean isFrom(DelayQueue queue) {
        return false;
    }

    @Override
    public String id() {
        return "0123456789abcdef";
    }

    @Override
    public byte[] body() {
        return body;
    }

    @Override
    public ClaimId claimId() {
        return null;
    }

    @Override
    public int attempt() {
        return 1;
    }

    @Override
    public int lostLeases() {
        return 0;
    }

    @Override
    public RedeliveryReason redeliveryReason() {
        return RedeliveryReason.NONE;
    }

    @Override
    public int priority() {
        return 0;
    }

    @Override
    public long scheduledMicros() {
        return 1_700_000_000_000_000L;
    }

    @Override
    public long dueMicros() {
        return 1_700_000_001_000_000L;
    }

    @Override
    public long firstDueMicros() {
        return dueMicros();
    }

    @Override
    public long claimedMicros() {
        return dueMicros() + 1000;
    }

    @Override
    public Duration lateness() {
        return Duration.ofNanos(3_000_000);
    }

    @Override
    public byte[] lastFailure() {
        return NOTHING;
    }

    @Override
    public Submission<SettleResult> settle(Settlement how) {
        return answered();
    }

    @Override
    public DeadLetterId deadLetterId() {
        return null;
    }

    @Override
    public void superseded() {}

    @Override
    public CompletableFuture<Boolean> isReplaced() {
        return CompletableFuture.completedFuture(false);
    }

    @Override
    public boolean isLeaseLost() {
        return false;
    }
}
