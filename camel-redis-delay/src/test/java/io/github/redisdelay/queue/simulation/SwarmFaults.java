// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.simulation;

import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.function.ToDoubleFunction;

/**
 * How often things go wrong between a consumer and Redis. The rates are drawn for each run, and some are 0: what a fault that is
 * always there would hide is found by runs without it.
 */
public final class SwarmFaults {

    /** The kinds of faults. */
    public enum Kind {
        /** Redis refuses a claim. */
        REFUSED(0.02),
        /** A call never arrives. */
        REQUEST_LOST(0.02),
        /** A call is executed, and its answer never arrives. */
        ANSWER_LOST(0.02),
        /** The call by which a consumer leaves the waiters never arrives. */
        LEAVE_LOST(0.05),
        /** A wake-up never arrives. */
        WAKE_UP_LOST(0.1),
        /** The connection of a dead consumer stands, so that Redis takes a wake-up for heard. */
        DEAD_STILL_HEARD(0.3);

        private final double usual;

        Kind(double usual) {
            this.usual = usual;
        }
    }

    /** Nothing goes wrong. */
    public static final SwarmFaults NONE = new SwarmFaults(new Random(0), kind -> 0);

    private final Random random;
    private final Map<Kind, Double> rates = new EnumMap<>(Kind.class);

    private SwarmFaults(Random random, ToDoubleFunction<Kind> rate) {
        this.random = random;
        for (Kind kind : Kind.values()) {
            rates.put(kind, rate.applyAsDouble(kind));
        }
    }

    /** Of such rates that a consumer gets through within the bounds of the design; a third of them are 0. */
    static SwarmFaults usual(Random random) {
        return new SwarmFaults(random, kind -> random.nextInt(3) == 0 ? 0 : 2 * kind.usual * random.nextDouble());
    }

    /** Of any rates up to a half, most of them low; a third of them are 0. */
    static SwarmFaults wild(Random random) {
        return new SwarmFaults(random, kind -> random.nextInt(3) == 0 ? 0 : 0.5 * Math.pow(random.nextDouble(), 2));
    }

    /** A third of all kinds always, the others never. */
    static SwarmFaults forEver(Random random) {
        return new SwarmFaults(random, kind -> random.nextInt(3) == 0 ? 1 : 0);
    }

    boolean happens(Kind kind) {
        double rate = rates.get(kind);
        return rate > 0 && random.nextDouble() < rate;
    }

    @Override
    public String toString() {
        return rates.toString();
    }
}
