// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.fake;

import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.consume.DeliverySettler;
import io.github.redisdelay.queue.internal.request.SubmissionPromise;
import java.util.ArrayList;
import java.util.List;

/** Notes what deliveries send, and answers it at once. */
public final class FakeSettlements implements DeliverySettler {

    /** A call that finished a delivery. */
    public record Settled(String id, Settlement how, long atNanos) {}

    /** An extension that was asked for. */
    public record Extended(String id, long micros, long atNanos, SubmissionPromise<SettleResult> submission) {}

    private final Timers timers;
    public final List<Settled> settled = new ArrayList<>();
    public final List<Extended> extended = new ArrayList<>();
    /** The answer to extensions; null leaves them waiting. */
    public SettleResult extensions = SettleResult.DONE;

    public FakeSettlements(Timers timers) {
        this.timers = timers;
    }

    @Override
    public String name() {
        return "orders";
    }

    @Override
    public Submission<SettleResult> settle(ClaimedDelivery delivery, Settlement how) {
        settled.add(new Settled(delivery.id(), how, timers.nanoTime()));
        SubmissionPromise<SettleResult> submission = new SubmissionPromise<>();
        submission.succeed(SettleResult.DONE);
        return submission;
    }

    @Override
    public Submission<SettleResult> extend(ClaimedDelivery delivery, long micros) {
        SubmissionPromise<SettleResult> submission = new SubmissionPromise<>();
        extended.add(new Extended(delivery.id(), micros, timers.nanoTime(), submission));
        if (extensions != null) {
            submission.succeed(extensions);
        }
        return submission;
    }

    /** The ids that were settled so. */
    public List<String> ids(Class<? extends Settlement> how) {
        return settled.stream()
                .filter(s -> how.isInstance(s.how()))
                .map(Settled::id)
                .toList();
    }
}
