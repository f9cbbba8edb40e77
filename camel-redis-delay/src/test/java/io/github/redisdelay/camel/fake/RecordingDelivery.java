// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.fake;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.RedeliveryReason;
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
    public int lostLeases;
    public long firstDueMicros;
    public long claimedMicros;
    public volatile boolean leaseLost;
    /** The answer of Redis to the end of the delivery. */
    public Submission<Settlement> answer = TestSubmissions.answered(Settlement.DONE);

    private final int attempt;

    public RecordingDelivery(int attempt) {
        this.attempt = attempt;
    }

    private Submission<Settlement> note(String call, byte[] bytes) {
        calls.add(call);
        failure = new String(bytes, StandardCharsets.UTF_8);
        return answer;
    }

    @Override
    public Submission<Settlement> acknowledge(Duration remember) {
        return note("acknowledge" + (remember.isZero() ? "" : ", remember " + remember), new byte[0]);
    }

    @Override
    public Submission<Settlement> negativeAcknowledge(Duration delay, byte[] bytes) {
        return note("again in " + delay, bytes);
    }

    @Override
    public Submission<Settlement> release() {
        return note("release", new byte[0]);
    }

    @Override
    public Submission<Settlement> bury(byte[] bytes, Duration remember) {
        return note("bury" + (remember.isZero() ? "" : ", remember " + remember), bytes);
    }

    @Override
    public DeadLetterId deadLetterId() {
        return null;
    }

    @Override
    public Submission<Settlement> discard(Duration remember) {
        return note("discard" + (remember.isZero() ? "" : ", remember " + remember), new byte[0]);
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
