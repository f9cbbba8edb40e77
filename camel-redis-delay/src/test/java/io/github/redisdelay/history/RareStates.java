// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.testkit.RandomTests;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts how often {@link RareState}s were reached. For one thread. */
public final class RareStates {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.RareStates");

    private final Map<RareState, Integer> counts = new EnumMap<>(RareState.class);

    /** One of several runs of a test. */
    public interface Run {

        /** @param reached to be told of the states */
        void with(long seed, RareStates reached);
    }

    /** Those that the histories of clients tell of. */
    public static RareStates in(Collection<Event> events) {
        RareStates reached = new RareStates();
        for (Event event : events) {
            switch (event.what()) {
                case DELIVERED ->
                    reached.countIf(
                            event.reason().equals(RedeliveryReason.LEASE_EXPIRED.name()), RareState.EXPIRED_LEASE);
                case SETTLED -> reached.countIf(!event.detail().equals(SettleResult.DONE.name()), RareState.LATE_END);
                case CANCELLED ->
                    reached.countIf(event.detail().equals(MessageState.LEASED.name()), RareState.CANCELLED_UNDER_LEASE);
                default -> {
                    // It is not rare.
                }
            }
        }
        return reached;
    }

    public void count(RareState state) {
        counts.merge(state, 1, Integer::sum);
    }

    public void countIf(boolean isReached, RareState state) {
        if (isReached) {
            count(state);
        }
    }

    /** Returns whether each state was reached that a test must reach. */
    public boolean hasReached(RareState.Where test) {
        return counts.keySet().containsAll(RareState.of(test));
    }

    /** The states that were reached, and how often. */
    @Override
    public String toString() {
        return counts.toString();
    }

    /**
     * Does runs for a while with seeds that follow each other, and then more until each state was reached that the test must
     * reach.
     *
     * @param property the system property that gives a seed: then there is one run, and it need not reach any state
     * @param most how many runs may follow after that while
     */
    public static void reachAll(RareState.Where test, String property, int seconds, int most, Run run) {
        boolean given = Long.getLong(property) != null;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        reachAll(test, property, done -> done == 0 || (!given && end - System.nanoTime() > 0), most, run);
    }

    /**
     * The same for a number of runs.
     *
     * @param asksForMore told how many runs were done
     */
    public static void reachAll(RareState.Where test, String property, IntPredicate asksForMore, int most, Run run) {
        boolean given = Long.getLong(property) != null;
        long firstSeed = RandomTests.seed(property);
        LOG.info("{}: seeds from {}", test, firstSeed);
        RareStates all = new RareStates();
        Map<RareState, Integer> runs = new EnumMap<>(RareState.class);
        Set<RareState> missing = given ? EnumSet.noneOf(RareState.class) : RareState.of(test);
        int done = 0;
        int more = 0;
        boolean asked;
        while ((asked = asksForMore.test(done)) || (!missing.isEmpty() && more < most)) {
            long seed = firstSeed + done++;
            more += asked ? 0 : 1;
            RareStates reached = new RareStates();
            try {
                run.with(seed, reached);
            } catch (Throwable e) {
                throw new AssertionError(
                        test + ", run again with -D" + property + "=" + seed + ": " + e.getMessage(), e);
            }
            reached.counts.forEach((state, count) -> {
                all.counts.merge(state, count, Integer::sum);
                runs.merge(state, 1, Integer::sum);
            });
            missing.removeAll(reached.counts.keySet());
        }
        String which = test + ", " + done + " runs with seeds from " + firstSeed;
        LOG.info(
                "{}; rare states, how often and in how many runs: {}",
                which,
                all.counts.entrySet().stream()
                        .map(each -> each.getKey() + " " + each.getValue() + "/" + runs.get(each.getKey()))
                        .collect(Collectors.joining(", ")));
        if (!missing.isEmpty()) {
            throw new AssertionError(which + ", have not reached: "
                    + missing.stream().map(RareState::described).collect(Collectors.joining("; ")));
        }
    }
}
