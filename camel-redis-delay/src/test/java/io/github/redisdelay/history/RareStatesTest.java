// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.history.RareState.Where;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RareStatesTest {

    private static final String SEED = "rare.states.seed";

    private final List<Long> seeds = new ArrayList<>();

    @AfterEach
    void forgetSeed() {
        System.clearProperty(SEED);
    }

    /** @param last in which run the last state is reached that the test must reach */
    private void reachAll(int asked, int most, int last) {
        RareStates.reachAll(Where.BODIES_LOST, SEED, done -> done < asked, most, (seed, reached) -> {
            seeds.add(seed);
            reached.count(RareState.LATE_END);
            reached.countIf(seeds.size() == last, RareState.BODY_LOST_UNDER_LEASE);
        });
    }

    @Test
    void should_do_no_more_runs_than_it_is_asked_for_if_each_state_was_reached() {
        reachAll(4, 10, 2);
        assertThat(seeds).hasSize(4);
    }

    @Test
    void should_go_on_with_other_seeds_until_each_state_was_reached() {
        reachAll(2, 10, 5);
        assertThat(seeds).hasSize(5).doesNotHaveDuplicates();
    }

    @Test
    void should_fail_where_a_state_stays_at_0() {
        assertThatThrownBy(() -> reachAll(2, 10, 0))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("BODY_LOST_UNDER_LEASE (the body of a leased message was lost)")
                .hasMessageNotContaining("LATE_END");
        assertThat(seeds).hasSize(12);
    }

    @Test
    void should_name_the_seed_of_a_run_that_fails() {
        assertThatThrownBy(() -> RareStates.reachAll(Where.BODIES_LOST, SEED, done -> done < 3, 10, (seed, reached) -> {
                    seeds.add(seed);
                    assertThat(seeds).hasSizeLessThan(3);
                }))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("-D" + SEED + "=" + (seeds.get(0) + 2));
    }

    @Test
    void should_ask_a_run_that_is_repeated_for_no_state() {
        System.setProperty(SEED, "42");
        reachAll(1, 10, 0);
        assertThat(seeds).containsExactly(42L);
    }
}
