// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.TestSubmissions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A delivery that notes how it was finished. */
final class RecordingDelivery implements Delivery {

    final List<String> calls = new ArrayList<>();
    String failure = "";
    byte[] lastFailure = {};
    private final int attempt;

    RecordingDelivery(int attempt) {
        this.attempt = attempt;
    }

    private Submission<Settlement> note(String call, byte[] bytes) {
        calls.add(call);
        failure = new String(bytes, StandardCharsets.UTF_8);
        return TestSubmissions.answered(Settlement.DONE);
    }

    @Override
    public Submission<Settlement> acknowledge() {
        return note("acknowledge", new byte[0]);
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
    public Submission<Settlement> bury(byte[] bytes) {
        return note("bury", bytes);
    }

    @Override
    public Submission<Settlement> discard() {
        return note("discard", new byte[0]);
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
    public String id() {
        return "order-1";
    }

    @Override
    public byte[] body() {
        return new byte[0];
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
        return 0;
    }

    @Override
    public long claimedMicros() {
        return 0;
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
    public boolean isLeaseLost() {
        return false;
    }

    @Override
    public String toString() {
        return "message 'order-1' of queue 'orders', attempt " + attempt;
    }
}
