// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.testkit.RandomTests;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
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
        void with(long seed, RareStates reached) throws Exception;
    }

    /** Those that the histories of clients tell of. */
    public static RareStates in(Collection<Event> events) {
        RareStates reached = new RareStates();
        List<Event> ordered = new ArrayList<>(events);
        ordered.sort(Comparator.comparingLong(Event::micros));
        Set<String> dead = new HashSet<>();
        Map<String, Event> under = new HashMap<>();
        GroupsOfTheDead groups = new GroupsOfTheDead();
        for (Event event : ordered) {
            switch (event.what()) {
                case KILLED -> dead.add(event.id());
                case SCHEDULING -> groups.scheduling(event);
                case SCHEDULED -> groups.scheduled(event);
                case DELIVERED -> {
                    Event before = under.put(event.id(), event);
                    if (event.reason().equals(RedeliveryReason.LEASE_EXPIRED.name())) {
                        reached.count(RareState.EXPIRED_LEASE);
                        boolean ofDead = before != null && dead.contains(before.source());
                        reached.countIf(ofDead, RareState.LEASE_OF_DEAD);
                        reached.countIf(before != null && !ofDead, RareState.LEASE_OF_LIVING);
                        reached.countIf(ofDead && groups.waits(event), RareState.GROUP_OF_DEAD);
                    }
                    groups.delivered(event);
                }
                case SETTLED -> {
                    boolean done = event.detail().equals(SettleResult.DONE.name());
                    reached.countIf(!done, RareState.LATE_END);
                    if (done) {
                        under.remove(event.id()); // what comes next is another delivery's lease
                    }
                }
                case CANCELLED ->
                    reached.countIf(event.detail().equals(MessageState.LEASED.name()), RareState.CANCELLED_UNDER_LEASE);
                default -> {
                    // It is not rare.
                }
            }
        }
        return reached;
    }

    /** The messages of groups that were never begun. */
    private static final class GroupsOfTheDead {
        private final Map<String, String> groups = new HashMap<>();
        private final Map<String, Event> waiting = new HashMap<>();

        void scheduling(Event event) {
            groups.put(event.id(), event.reason());
        }

        void scheduled(Event event) {
            if (!groups.getOrDefault(event.id(), "").isEmpty()) {
                waiting.put(event.id(), event);
            }
        }

        void delivered(Event event) {
            waiting.remove(event.id());
        }

        /** Tells whether another message of its group was due before a delivery was claimed. */
        boolean waits(Event delivery) {
            String group = groups.get(delivery.id());
            return waiting.values().stream()
                    .anyMatch(other -> other.due() < delivery.claimed()
                            && groups.get(other.id()).equals(group));
        }
    }

    public void count(RareState state) {
        counts.merge(state, 1, Integer::sum);
    }

    public void countIf(boolean isReached, RareState state) {
        if (isReached) {
            count(state);
        }
    }

    /** Counts what others have. */
    public void add(RareStates others) {
        others.counts.forEach((state, count) -> counts.merge(state, count, Integer::sum));
    }

    public boolean hasReached(RareState state) {
        return counts.containsKey(state);
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

    /** Does one run with a random seed, and another one with the next seed if it has not reached each state that the test must reach. */
    public static void reach(RareState.Where test, String property, Run run) {
        reachAll(test, property, Long.getLong(property, System.nanoTime()), done -> done == 0, 1, run);
    }

    /**
     * The same for a number of runs.
     *
     * @param asksForMore told how many runs were done
     */
    public static void reachAll(RareState.Where test, String property, IntPredicate asksForMore, int most, Run run) {
        reachAll(test, property, RandomTests.seed(property), asksForMore, most, run);
    }

    /** @param firstSeed the one that the property gives, if it does */
    private static void reachAll(
            RareState.Where test, String property, long firstSeed, IntPredicate asksForMore, int most, Run run) {
        boolean given = Long.getLong(property) != null;
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
            all.add(reached);
            reached.counts.keySet().forEach(state -> runs.merge(state, 1, Integer::sum));
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
