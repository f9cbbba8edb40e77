// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.simulation;

import io.github.redisdelay.history.RareState.Where;
import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.queue.simulation.Simulation.Faults;
import io.github.redisdelay.testkit.RandomTests;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Many consumers of one queue on a virtual clock, with random schedules, handlers and faults: every message is delivered or given
 * up, none early, none later than the design allows, and with a bounded number of claims. So it is for a core of the fleet, too, if
 * the rest stays broken for ever.
 *
 * <p>A failure names its seed; {@code -Dsimulation.seed=...} runs that one again, {@code -Dsimulation.runs=...} decides
 * how many there are.
 */
class ConsumersSimulationTest {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.simulation");
    private static final String SEED = "simulation.seed";
    /** The rarest state is reached in one of 24 runs: with so many more all but one test of a million reaches it. */
    private static final int MORE = 300;

    @Test
    void should_deliver_at_once_while_nothing_fails() {
        run(Faults.NONE, Where.NOTHING_FAILS, 0);
    }

    @Test
    void should_deliver_soon_while_consumers_are_killed() {
        run(Faults.KILLS, Where.CONSUMERS_KILLED, MORE);
    }

    @Test
    void should_deliver_everything_within_the_safety_interval_whatever_fails() {
        run(Faults.ALL, Where.EVERYTHING_FAILS, MORE);
    }

    @Test
    void should_deliver_or_give_up_everything_soon_once_a_core_is_healed() {
        run(Faults.CORE, Where.CORE_HEALED, MORE);
    }

    private static void run(Faults faults, Where test, int most) {
        boolean again = Long.getLong(SEED) != null;
        int runs = again ? Integer.getInteger("simulation.runs", 1) : RandomTests.amount("simulation.runs", 40, 150);
        Totals totals = new Totals();
        RareStates.reachAll(test, SEED, done -> done < runs, most, (seed, reached) -> {
            Simulation simulation = new Simulation(seed, faults, reached);
            simulation.run();
            totals.add(simulation);
        });
        LOG.info("faults {}: {}", faults, totals);
    }

    /** Of all runs. */
    private static final class Totals {
        private long claims;
        private long leaves;
        private long wakeUps;
        private long messages;
        private long longest;

        void add(Simulation simulation) {
            claims += simulation.queue.claims;
            leaves += simulation.queue.leaves;
            wakeUps += simulation.queue.wakeUps;
            messages += simulation.deliveries;
            longest = Math.max(longest, simulation.longestNanos);
        }

        @Override
        public String toString() {
            return messages + " deliveries, " + claims + " claims, " + leaves + " leaves, " + wakeUps
                    + " wake-ups; a message waited for " + longest / 1_000_000
                    + " ms at the most while a consumer had room";
        }
    }
}
