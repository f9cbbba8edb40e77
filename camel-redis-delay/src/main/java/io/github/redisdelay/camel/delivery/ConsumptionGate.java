// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.queue.DelayQueueConsumer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * A gate before a consumer's claims. The consumer claims as long as the route is not suspended and the batches have
 * capacity. A paused queue is not its business: there {@code claim.lua} gives nothing. The gate holds no lock while it tells
 * the consumer, which may have to wait for Redis.
 */
final class ConsumptionGate {

    private final DelayQueueConsumer claims;
    private final BooleanSupplier wanted;

    /** The number of changes not looked at yet. The thread that makes it leave 0 looks at all of them. */
    private final AtomicInteger changes = new AtomicInteger();

    private boolean claiming = true; // used only by the thread that looks at the changes

    /**
     * @param claims a consumer that claims
     * @param wanted whether it should; asked after each change
     */
    ConsumptionGate(DelayQueueConsumer claims, BooleanSupplier wanted) {
        this.claims = claims;
        this.wanted = wanted;
    }

    /** Looks again whether messages should be claimed. */
    void changed() {
        if (changes.getAndIncrement() != 0) {
            return;
        }
        int seen = 1;
        do {
            boolean now = wanted.getAsBoolean();
            if (now != claiming) {
                claiming = now;
                if (now) {
                    claims.resume();
                } else {
                    claims.suspend();
                }
            }
            seen = changes.addAndGet(-seen);
        } while (seen != 0);
    }
}
