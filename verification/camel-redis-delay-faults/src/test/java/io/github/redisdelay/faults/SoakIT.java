// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.history.RareState.Where;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A mixed load through real Camel contexts under random faults: nothing is lost, early, or twice without a cause, and
 * nothing grows.
 *
 * <p>{@code -Dsoak.minutes=} says for how long, {@code -Dsoak.rate=} how many messages each of the two contexts
 * schedules in a second, {@code -Dfaults.seed=} repeats the random choices. Figures, a picture and the histories of a
 * run that failed are left in {@code target/soak}.
 */
@Tag("faults")
class SoakIT {

    @Test
    void should_lose_nothing_and_grow_nowhere_under_random_faults() throws Exception {
        if (Soak.STEADY) {
            Experiment.reach(Where.SOAKED, seed -> new Soak(seed).judged());
        } else {
            // One child is killed, and may have worked on nothing.
            new Soak(Experiment.newSeed()).judged();
        }
    }
}
