// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.time.Duration;
import java.util.SplittableRandom;

/** The bank's treatment of refunds, always the same for the same order. */
final class Bank {

    private final long seed;
    private final ShopTime time;

    Bank(long seed, ShopTime time) {
        this.seed = seed;
        this.time = time;
    }

    /** The duration of an order's refund: 10 minutes to 5 hours of the shop. */
    Duration takes(String order) {
        return time.real(Duration.ofMinutes(random(order).nextInt(10, 301)));
    }

    /** Tells whether the bank says by itself when the refund is done. About every other time it does not. */
    boolean tells(String order) {
        SplittableRandom random = random(order);
        random.nextInt();
        return random.nextBoolean();
    }

    private SplittableRandom random(String order) {
        return new SplittableRandom(seed + 31L * order.hashCode());
    }
}
