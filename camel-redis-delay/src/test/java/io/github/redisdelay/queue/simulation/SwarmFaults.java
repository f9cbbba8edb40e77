// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.simulation;

import io.github.redisdelay.queue.model.Swarm;
import java.util.Random;

/** How often things go wrong between a consumer and Redis: rates of a {@link Swarm}. */
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
    public static final SwarmFaults NONE = new SwarmFaults(Swarm.none(Kind.class));

    private final Swarm<Kind> rates;

    private SwarmFaults(Swarm<Kind> rates) {
        this.rates = rates;
    }

    /** Of such rates that a consumer gets through within the bounds of the design. */
    static SwarmFaults usual(Random random) {
        return new SwarmFaults(Swarm.around(random, Kind.class, kind -> kind.usual));
    }

    /** Of any rates up to a half, most of them low. */
    static SwarmFaults wild(Random random) {
        return new SwarmFaults(Swarm.some(random, Kind.class, kind -> 0.5 * Math.pow(random.nextDouble(), 2)));
    }

    /** A third of all kinds always, the others never. */
    static SwarmFaults forEver(Random random) {
        return new SwarmFaults(Swarm.some(random, Kind.class, kind -> random.nextInt(2)));
    }

    boolean happens(Kind kind) {
        return rates.happens(kind);
    }

    @Override
    public String toString() {
        return rates.toString();
    }
}
