// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The rule of idle consumers in plain Java: what {@code wakeup.lua} and the end of {@code claim.lua} should do. */
public final class WaitersModel {

    /** So much later comes one more, while more is due than claims give. */
    public static final long HELP = 10_000;

    public static final long OVERDUE = 25_000;
    /** How many are looked at in one call, if nobody hears those before. */
    public static final int MOST = 65;
    /** So many turns follow each other. */
    public static final int TURNS = 24;

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

    WaitersModel(WaitersModel other) {
        this(other.line);
        other.promises.forEach(this::put);
    }

    /** The consumers among the waiters, and when each comes. */
    public Map<String, Long> promises() {
        return new TreeMap<>(promises);
    }

    public boolean isEmpty() {
        return promises.isEmpty();
    }

    /** The consumer that comes first; null if nobody waits. */
    public String first() {
        return order.isEmpty() ? null : order.first().member;
    }

    /** When a consumer comes; null if it is not among them. */
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

    /** Calls one if nobody comes by an event that comes before all others. Whether somebody comes. */
    public boolean cover(long nextEvent, long now) {
        long event = Math.max(nextEvent, now);
        for (Promise promise : from(now - OVERDUE, MOST)) {
            if (promise.at <= event) {
                return true;
            }
            boolean heard = line.call(promise.member, event - now);
            put(promise.member, heard ? event : DEAD);
            if (heard) {
                return true;
            }
        }
        return false;
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

    /**
     * A claim.
     *
     * @param event when the next message is due or lease ends after it; null if nothing comes
     * @param given how many messages it gave
     * @param wanted how many were asked for
     * @param interval how far apart turns are
     * @return in how many microseconds the consumer comes again; -1 if it does not wait
     */
    public long claim(String member, long now, Long event, int given, int wanted, boolean quick, long interval) {
        while (!order.isEmpty() && order.first().at < now - OVERDUE) {
            remove(order.first().member);
        }
        if (member.isEmpty()) {
            return -1;
        }
        boolean waited = promises.containsKey(member);
        remove(member);
        if (wanted == 0 || (given == wanted && !quick)) {
            if (event != null) {
                cover(event, now);
            }
            if (wanted > 0 || waited) {
                closeGap(now, interval);
            }
            return -1;
        }
        boolean more = event != null && event <= now;
        boolean itself = event != null;
        if (event != null && !order.isEmpty()) {
            long target = more ? now + HELP : event;
            boolean covered = order.first().at <= target;
            if (!covered && (more || (given > 0 && !quick))) {
                covered = cover(target, now);
            }
            itself = more || !covered;
        }
        long mine = itself && event <= now + interval ? Math.max(event, now) : turn(now, interval);
        if (itself) {
            mine = Math.min(mine, Math.max(event, now));
        }
        put(member, mine);
        return mine - now;
    }

    /** Whoever would come last comes at the first turn that is free. */
    private void closeGap(long now, long interval) {
        long at = turn(now, interval);
        if (!order.isEmpty() && order.last().at > at + 0.05 * interval) {
            String last = order.last().member;
            put(last, line.call(last, at - now) ? at : DEAD);
        }
    }

    /** The first turn that is free. */
    private long turn(long now, long interval) {
        long last = now;
        for (int i = 0; i < TURNS; i++) {
            // The script has fractions of microseconds.
            long end = last + (long) Math.floor(1.05 * interval);
            Promise next = order.lower(new Promise(end + 1, ""));
            if (next == null || next.at <= last) {
                break;
            }
            last = next.at;
        }
        return last + interval;
    }
}
