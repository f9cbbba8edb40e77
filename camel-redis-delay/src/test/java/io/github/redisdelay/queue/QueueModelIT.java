// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.history.RareState.Where;
import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.queue.model.QueueModel;
import io.github.redisdelay.queue.model.RandomHistory;
import io.github.redisdelay.queue.model.RandomHistory.Groups;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.testkit.RandomTests;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Random sequences of all operations by several clients on a real Redis, compared after each step with a plain model:
 * every answer, and every byte that the queue holds.
 *
 * <p>Nothing waits: due times and leases are multiples of ten minutes, and time passes by moving the scores of the sorted
 * sets into the past ({@code shift.lua}).
 *
 * <p>{@code -Dseed=} replays one history; {@code -Dmodel.seconds=} says for how long each test runs.
 */
class QueueModelIT {

    private static final int STEPS = 150;
    /** Each state is reached in one of 25 histories or more: all but one test of a hundred thousand reaches it. */
    private static final int MORE = 300;

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    @Test
    void should_do_what_the_model_does() {
        forRandomSeeds(Where.OPERATIONS, Loss.NOTHING);
    }

    @Test
    void should_go_on_as_the_model_does_where_bodies_get_lost() {
        forRandomSeeds(Where.BODIES_LOST, Loss.BODIES);
    }

    @Test
    void should_go_on_as_the_model_does_where_ids_and_records_get_lost_and_are_checked() {
        forRandomSeeds(Where.IDS_LOST, Loss.IDS);
    }

    /** No model knows how each of these losses is mended: see {@code DamagedGroups}. */
    @Test
    void should_deliver_all_that_is_left_in_its_groups_where_what_these_have_gets_lost() {
        forRandomSeeds(Where.GROUPS_LOST, Loss.GROUPS);
    }

    /** What eviction takes. */
    private enum Loss {
        NOTHING,
        BODIES,
        IDS,
        GROUPS
    }

    private static void forRandomSeeds(Where test, Loss loss) {
        int seconds = RandomTests.amount("model.seconds", 1, 5);
        RareStates.reachAll(test, "seed", seconds, MORE, (seed, reached) -> run(seed, loss, reached));
    }

    private static void run(long seed, Loss loss, RareStates reached) {
        Groups groups =
                switch (loss) {
                    case NOTHING -> Groups.SOMETIMES;
                    case BODIES, IDS -> Groups.NEVER;
                    case GROUPS -> Groups.ALWAYS;
                };
        RandomHistory history = new RandomHistory(redis.client(), redis.uniqueQueue(), seed, 3, 6, groups, reached);
        double losses = loss == Loss.NOTHING ? 0 : 0.1 * history.random.nextDouble();
        for (int step = 0; step < STEPS; step++) {
            int what = history.random.nextInt(20);
            if (history.random.nextDouble() < losses) {
                lose(history, loss);
            } else if (what == 0) {
                history.letTimePass();
            } else if (what == 1) {
                // Asked for at once: what follows the first goes in shared calls.
                int burst = 1 + history.random.nextInt(12);
                for (int i = 0; i < burst; i++) {
                    history.doSomething();
                }
            } else if (what == 2 && loss != Loss.GROUPS) {
                assertPages(history);
            } else if (what == 3 && loss == Loss.NOTHING) {
                history.changeGroup();
            } else {
                history.doSomething();
            }
            history.network.deliverAll();
        }
        if (loss == Loss.IDS) {
            history.checkAll();
        } else if (loss == Loss.GROUPS) {
            history.checkDamage();
        }
        history.drain();
        assertThat(history.requests)
                .allSatisfy(request -> assertThat(request.submission().result()).isDone());
        assertThat(history.calls).allSatisfy(call -> assertThat(call).isCompleted());
        history.network.delete();
    }

    private static void lose(RandomHistory history, Loss loss) {
        switch (loss) {
            case NOTHING -> throw new IllegalArgumentException();
            case BODIES -> history.loseBody();
            case IDS -> history.loseSomething();
            case GROUPS -> history.damage();
        }
    }

    /** Pages of whatever size, one after the other, are the whole list in order. */
    private static void assertPages(RandomHistory history) {
        boolean dead = history.random.nextBoolean();
        boolean leased = history.random.nextBoolean();
        boolean newest = history.random.nextBoolean();
        QueueModel model = dead ? history.network.model.dead : history.network.model;
        assertThat(history.browse(dead, leased ? MessageState.LEASED : MessageState.DELAYED, newest))
                .isEqualTo(model.browse(leased, newest));
    }
}
