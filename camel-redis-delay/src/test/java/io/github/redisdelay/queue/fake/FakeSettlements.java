// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.fake;

import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.consume.DeliverySettler;
import io.github.redisdelay.queue.internal.format.SettleAction;
import io.github.redisdelay.queue.internal.request.SubmissionPromise;
import java.util.ArrayList;
import java.util.List;

/** Notes what deliveries send, and answers it at once. */
public final class FakeSettlements implements DeliverySettler {

    /** A call that finished a delivery. */
    public record Settled(String id, SettleAction action, long micros, long atNanos) {}

    /** An extension that was asked for. */
    public record Extended(String id, long micros, long atNanos, SubmissionPromise<Settlement> submission) {}

    private final Timers timers;
    public final List<Settled> settled = new ArrayList<>();
    public final List<Extended> extended = new ArrayList<>();
    /** The answer to extensions; null leaves them waiting. */
    public Settlement extensions = Settlement.DONE;

    public FakeSettlements(Timers timers) {
        this.timers = timers;
    }

    @Override
    public String name() {
        return "orders";
    }

    @Override
    public Submission<Settlement> settle(ClaimedDelivery delivery, SettleAction action, long micros, byte[] failure) {
        SubmissionPromise<Settlement> submission = new SubmissionPromise<>();
        if (action != SettleAction.EXTEND) {
            settled.add(new Settled(delivery.id(), action, micros, timers.nanoTime()));
            submission.succeed(Settlement.DONE);
            return submission;
        }
        extended.add(new Extended(delivery.id(), micros, timers.nanoTime(), submission));
        if (extensions != null) {
            submission.succeed(extensions);
        }
        return submission;
    }

    public List<String> ids(SettleAction action) {
        return settled.stream()
                .filter(s -> s.action() == action)
                .map(Settled::id)
                .toList();
    }
}
