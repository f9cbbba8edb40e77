// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.fake;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.TestSubmissions;
import io.github.redisdelay.queue.envelope.Envelope;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A delivery that notes how it was finished. */
public final class RecordingDelivery implements Delivery {

    public final List<String> calls = new ArrayList<>();
    public String failure = "";
    public byte[] lastFailure = {};
    public byte[] body = Envelope.of("x").encode();
    public String id = "order-1";
    public String group;
    public long nextRunMicros = Long.MAX_VALUE;
    public int lostLeases;
    public long firstDueMicros;
    public long claimedMicros;
    public volatile boolean leaseLost;
    /** The answer of Redis to the end of the delivery. */
    public Submission<SettleResult> answer = TestSubmissions.answered(SettleResult.DONE);

    private final int attempt;

    public RecordingDelivery(int attempt) {
        this.attempt = attempt;
    }

    @Override
    public Submission<SettleResult> settle(Settlement how) {
        String call = how.word();
        Duration remember = Duration.ZERO;
        failure = "";
        if (how instanceof Settlement.Retry retry) {
            call = "retry in " + retry.delay();
            failure = new String(retry.failure(), StandardCharsets.UTF_8);
        } else if (how instanceof Settlement.DeadLetter given) {
            remember = given.remember();
            failure = new String(given.failure(), StandardCharsets.UTF_8);
        } else if (how instanceof Settlement.Drop drop) {
            remember = drop.remember();
        } else if (how instanceof Settlement.Acknowledge done) {
            remember = done.remember();
        }
        calls.add(call + (remember.isZero() ? "" : ", remember " + remember));
        return answer;
    }

    @Override
    public DeadLetterId deadLetterId() {
        return null;
    }

    @Override
    public void superseded() {
        calls.add("superseded");
    }

    @Override
    public String queue() {
        return "orders";
    }

    @Override
    public boolean isFrom(DelayQueue queue) {
        return queue().equals(queue.name());
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public byte[] body() {
        return body;
    }

    @Override
    public ClaimId claimId() {
        throw new UnsupportedOperationException();
    }

    @Override
    public int attempt() {
        return attempt;
    }

    @Override
    public int lostLeases() {
        return lostLeases;
    }

    @Override
    public RedeliveryReason redeliveryReason() {
        return attempt > 1 ? RedeliveryReason.FAILED : RedeliveryReason.NONE;
    }

    @Override
    public int priority() {
        return 0;
    }

    @Override
    public String group() {
        return group;
    }

    @Override
    public long nextRunMicros() {
        return nextRunMicros;
    }

    @Override
    public long scheduledMicros() {
        return 0;
    }

    @Override
    public long dueMicros() {
        return 0;
    }

    @Override
    public long firstDueMicros() {
        return firstDueMicros;
    }

    @Override
    public long claimedMicros() {
        return claimedMicros;
    }

    @Override
    public Duration lateness() {
        return Duration.ZERO;
    }

    @Override
    public byte[] lastFailure() {
        return lastFailure;
    }

    @Override
    public java.util.concurrent.CompletableFuture<Boolean> isReplaced() {
        return java.util.concurrent.CompletableFuture.completedFuture(false);
    }

    @Override
    public boolean isLeaseLost() {
        return leaseLost;
    }

    @Override
    public String toString() {
        return "message '" + id + "' of queue 'orders', attempt " + attempt;
    }
}
