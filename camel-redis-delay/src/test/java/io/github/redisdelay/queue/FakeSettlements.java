// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.ArrayList;
import java.util.List;

/** Notes what deliveries send, and answers it at once. */
final class FakeSettlements implements Settlements {

    /** What finished a delivery. */
    record Settled(String id, char action, long micros, long atNanos) {}

    /** An extension that was asked for. */
    record Extended(String id, long micros, long atNanos, Submission<Settlement> submission) {}

    private final Timers timers;
    final List<Settled> settled = new ArrayList<>();
    final List<Extended> extended = new ArrayList<>();
    /** What extensions are answered with; null leaves them waiting. */
    Settlement extensions = Settlement.DONE;

    FakeSettlements(Timers timers) {
        this.timers = timers;
    }

    @Override
    public String name() {
        return "orders";
    }

    @Override
    public Submission<Settlement> settle(ClaimedDelivery delivery, char action, long micros, byte[] failure) {
        settled.add(new Settled(delivery.id(), action, micros, timers.nanoTime()));
        Submission<Settlement> submission = new Submission<>();
        submission.succeed(Settlement.DONE);
        return submission;
    }

    @Override
    public Submission<Settlement> extend(ClaimedDelivery delivery, long leaseMicros) {
        Submission<Settlement> submission = new Submission<>();
        extended.add(new Extended(delivery.id(), leaseMicros, timers.nanoTime(), submission));
        if (extensions != null) {
            submission.succeed(extensions);
        }
        return submission;
    }

    List<String> ids(char action) {
        return settled.stream()
                .filter(s -> s.action() == action)
                .map(Settled::id)
                .toList();
    }
}
