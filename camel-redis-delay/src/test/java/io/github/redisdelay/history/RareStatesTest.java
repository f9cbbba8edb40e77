// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
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

    private void reach(int last) {
        RareStates.reach(Where.CHANGED_RUNS, SEED, (seed, reached) -> {
            seeds.add(seed);
            reached.countIf(seeds.size() == last, RareState.RUN_BY_OTHER_RULE);
        });
    }

    @Test
    void should_do_one_run_more_with_the_next_seed_where_one_is_asked_for() {
        reach(1);
        assertThat(seeds).hasSize(1);
        reach(3);
        assertThat(seeds).hasSize(3);
        assertThat(seeds.get(2)).isEqualTo(seeds.get(1) + 1);
        seeds.clear();
        assertThatThrownBy(() -> reach(0)).isInstanceOf(AssertionError.class).hasMessageContaining("RUN_BY_OTHER_RULE");
        assertThat(seeds).hasSize(2);
    }

    private static Event event(long at, String source, What what, String id, String reason, String detail) {
        return new Event(at, source, what, id, "", at, at, 0, reason, detail);
    }

    private static RareStates reachedBy(Event... before) {
        List<Event> events = new ArrayList<>(List.of(
                event(1, "p", What.SCHEDULING, "a", "g", ""),
                event(2, "p", What.SCHEDULED, "a", "", ""),
                event(3, "c", What.DELIVERED, "a", "NONE", ""),
                event(9, "d", What.DELIVERED, "a", "LEASE_EXPIRED", "")));
        events.addAll(List.of(before));
        return RareStates.in(events);
    }

    @Test
    void should_tell_whose_lease_has_expired() {
        Event killed = event(5, "test", What.KILLED, "c", "", "");
        assertThat(reachedBy()).hasToString("{LEASE_OF_LIVING=1, EXPIRED_LEASE=1}");
        assertThat(reachedBy(killed)).hasToString("{LEASE_OF_DEAD=1, EXPIRED_LEASE=1}");
        Event settled = event(4, "c", What.SETTLED, "a", "", "DONE"); // and somebody claimed it again who is not known
        assertThat(reachedBy(killed, settled)).hasToString("{EXPIRED_LEASE=1}");
    }

    @Test
    void should_tell_that_a_group_has_waited_for_the_lease_of_a_dead_consumer() {
        Event killed = event(5, "test", What.KILLED, "c", "", "");
        Event other = event(5, "p", What.SCHEDULING, "b", "g", "");
        Event stored = event(6, "p", What.SCHEDULED, "b", "", "");
        assertThat(reachedBy(killed, other, stored)).hasToString("{LEASE_OF_DEAD=1, EXPIRED_LEASE=1, GROUP_OF_DEAD=1}");
        Event begun = event(7, "d", What.DELIVERED, "b", "NONE", "");
        assertThat(reachedBy(killed, other, stored, begun)).hasToString("{LEASE_OF_DEAD=1, EXPIRED_LEASE=1}");
        Event ofOther = event(5, "p", What.SCHEDULING, "b", "h", "");
        assertThat(reachedBy(killed, ofOther, stored)).hasToString("{LEASE_OF_DEAD=1, EXPIRED_LEASE=1}");
    }

    @Test
    void should_ask_a_run_that_is_repeated_for_no_state() {
        System.setProperty(SEED, "42");
        reachAll(1, 10, 0);
        assertThat(seeds).containsExactly(42L);
    }
}
