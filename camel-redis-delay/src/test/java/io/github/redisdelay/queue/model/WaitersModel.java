// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.model;

import io.github.redisdelay.queue.internal.format.ClaimIntent;
import io.github.redisdelay.queue.internal.format.WakeupDuty;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The rule of idle consumers in plain Java: what {@code wakeup.lua} and the promise in {@code claim.lua} should do. */
public final class WaitersModel {

    public static final long SECOND = 10_000;
    public static final long OVERDUE = 25_000;
    /** How many are looked at in one call, if nobody hears those before. */
    public static final int MOST = 66;
    /** All look again within this time, unless there are many. */
    public static final long FAR = 30_000_000;
    /** With more than this many among them the safety interval grows, up to so many times. */
    public static final int MANY = 10;

    public static final int LONGEST = 3;

    private static final long NEVER = Long.MAX_VALUE;
    /** A promise of nobody. */
    private static final long DEAD = 0;

    /** Calls a consumer: something will be due in so many microseconds. Whether that may have been heard. */
    public interface Line {
        boolean call(String member, long micros);
    }

    private record Promise(long at, String member) {}

    private final TreeSet<Promise> order =
            new TreeSet<>(Comparator.comparingLong(Promise::at).thenComparing(Promise::member));
    private final Map<String, Long> promises = new HashMap<>();
    private final Line line;

    public WaitersModel(Line line) {
        this.line = line;
    }

    /** The consumers among the waiters, and when each has promised to come. */
    public Map<String, Long> promises() {
        return new TreeMap<>(promises);
    }

    public boolean isEmpty() {
        return promises.isEmpty();
    }

    /** The consumer that has promised to come first; null if nobody waits. */
    public String first() {
        return order.isEmpty() ? null : order.first().member;
    }

    /** When a consumer has promised to come; null if it is not among them. */
    public Long promise(String member) {
        return promises.get(member);
    }

    public void put(String member, long at) {
        remove(member);
        promises.put(member, at);
        order.add(new Promise(at, member));
    }

    public void remove(String member) {
        Long at = promises.remove(member);
        if (at != null) {
            order.remove(new Promise(at, member));
        }
    }

    /** Lets time pass. */
    public void shift(long micros) {
        Map<String, Long> before = promises();
        before.forEach((member, at) -> put(member, Math.max(0, at - micros)));
    }

    private List<Promise> from(long at, int count) {
        List<Promise> found = new ArrayList<>(count);
        for (Promise promise : order.tailSet(new Promise(at, ""), true)) {
            if (found.size() == count) {
                break;
            }
            found.add(promise);
        }
        return found;
    }

    /**
     * Tells whether a promise counts for an event: not that of one who would come before it only because its safety interval
     * ends, as nobody knows whether it still lives; unless the event is so far away that all who live look before it.
     */
    public static boolean counts(long at, long event, long now) {
        return at <= now + OVERDUE || at >= event - OVERDUE || event - now > FAR;
    }

    /** The promises that count for an event, without one's own: two at the most. */
    private List<Long> counted(long event, long now, String member) {
        return order.stream()
                .filter(promise -> promise.at >= now - OVERDUE && !promise.member.equals(member))
                .map(Promise::at)
                .filter(at -> counts(at, event, now))
                .limit(2)
                .toList();
    }

    /** Calls those who are missing for an event that comes before all others. */
    public void cover(long nextEvent, long now) {
        long event = Math.max(nextEvent, now);
        Deque<Long> missing = new ArrayDeque<>(List.of(event, event + SECOND));
        List<Long> counted = counted(event, now, "");
        if (!counted.isEmpty() && counted.get(0) <= event) {
            missing.remove(event);
            counted = counted.subList(1, counted.size());
        }
        if (!counted.isEmpty() && counted.get(0) <= event + SECOND) {
            missing.remove(event + SECOND);
        }
        Map<String, Long> given = new LinkedHashMap<>();
        // The scripts look at two, and only then at more, sixteen at a time.
        for (Promise promise : from(now - OVERDUE, MOST)) {
            if (missing.isEmpty()) {
                break;
            }
            if (promise.at > event + SECOND || !counts(promise.at, event, now)) {
                boolean heard = line.call(promise.member, missing.peek() - now);
                given.put(promise.member, heard ? missing.poll() : DEAD);
            }
        }
        given.forEach(this::put);
    }

    /**
     * The same for what a script makes due, if nothing is due before it or what is waits for too long.
     *
     * @param first when the first message is due, without it; null if there is none
     */
    public void coverEarlier(long event, Long first, long now) {
        if (first == null || event < first || first < now - OVERDUE) {
            cover(first == null ? event : Math.min(event, first), now);
        }
    }

    /** When a consumer is expected after a claim, and what its safety interval is until then. */
    public record Answer(WakeupDuty duty, long safetyMicros) {}

    /**
     * A claim.
     *
     * @param event when the next message is due or lease ends after it; null if nothing comes
     * @param given how many messages it gave
     * @param wanted how many were asked for
     * @param intent the word of {@link ClaimIntent}
     */
    public Answer claim(String member, long now, Long event, int given, int wanted, String intent, long safetyMicros) {
        while (!order.isEmpty() && order.first().at < now - OVERDUE) {
            remove(order.first().member);
        }
        if (member.isEmpty()) {
            return new Answer(WakeupDuty.LEFT, safetyMicros);
        }
        List<Long> others = from(now - OVERDUE, 3).stream()
                .filter(promise -> !promise.member.equals(member))
                .map(Promise::at)
                .toList();
        boolean alone = others.isEmpty();
        if (wanted == 0 || intent.equals("leave") || (intent.equals("fill") && given == wanted)) {
            remove(member);
            if (event != null) {
                cover(event, now);
            }
            return new Answer(WakeupDuty.LEFT, safetyMicros);
        }
        boolean moreDue = event != null && event <= now;
        long next = event == null ? NEVER : Math.max(event, now);
        boolean twoOthers = others.size() > 1;
        List<Long> counted = event == null ? List.of() : counted(next, now, member);
        long first = counted.isEmpty() ? NEVER : counted.get(0);
        long second = counted.size() < 2 ? NEVER : counted.get(1);
        WakeupDuty expected = WakeupDuty.NONE;
        long mine = NEVER;
        if (event != null) {
            boolean itself = given == 0 || intent.equals("quick");
            if (moreDue || alone || (itself && first > next)) {
                expected = WakeupDuty.FIRST;
                mine = next;
            } else if (!twoOthers || (itself && second > next + SECOND)) {
                expected = WakeupDuty.BACKUP;
                mine = next + SECOND;
            }
        }
        long safety = safetyMicros;
        if (expected == WakeupDuty.NONE && twoOthers) {
            double times = Math.max(1, Math.min(promises.size() / (double) MANY, LONGEST));
            safety = (long) Math.floor(safetyMicros * times);
        }
        mine = Math.min(mine, now + safety);
        put(member, mine);
        if (moreDue) {
            coverBacklog(now);
        } else if (event != null && !alone) {
            long[] all = {mine, first, second};
            Arrays.sort(all);
            if (all[0] > next || all[1] > next + SECOND) {
                cover(next, now);
            }
        }
        return new Answer(expected, safety);
    }

    private void coverBacklog(long now) {
        List<Promise> next = from(now + 1, 1);
        if (!next.isEmpty() && next.get(0).at > now + SECOND) {
            String member = next.get(0).member;
            put(member, line.call(member, SECOND) ? now + SECOND : DEAD);
        }
    }
}
