// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * The steps of a server's clock in an experiment, and what they mean for the times that the server has given.
 *
 * <p>Steps are minutes, and what an experiment waits for is seconds: so each time of the server's tells by itself between
 * which steps it was read.
 */
public final class ServerClock {

    /** A call that is written down after a step may have been executed before it. */
    private static final long SLACK_MICROS = 1_000_000;

    private record Step(long micros, long by) {}

    private final List<Step> steps;
    /** How far it was ahead of the machine's clock: before the first step, and after each. */
    private final List<Long> ahead = new ArrayList<>();

    private ServerClock(List<Step> steps) {
        this.steps = steps;
        long sum = 0;
        ahead.add(sum);
        for (Step step : steps) {
            sum += step.by;
            ahead.add(sum);
        }
    }

    /** The clock whose steps are among these events, in any order. Without a step it is the machine's. */
    public static ServerClock of(Collection<Event> events) {
        return new ServerClock(events.stream()
                .filter(event -> event.what() == What.CLOCK_STEPS)
                .map(event -> new Step(event.micros(), event.due()))
                .sorted(Comparator.comparingLong(Step::micros))
                .toList());
    }

    /** The same events, with all times of the server's as if its clock had never stepped. */
    public List<Event> inMachineTime(Collection<Event> events) {
        return events.stream()
                .map(event -> switch (event.what()) {
                    case SCHEDULED, MOVED -> shifted(event, nearest(event.due(), event.micros()));
                    case DECLARED, DELIVERED -> shifted(event, nearest(event.claimed(), event.micros()));
                    default -> event;
                })
                .toList();
    }

    /** How far the server may have been ahead between two machine times: the least and the most. */
    public long[] ahead(long from, long to) {
        long least = Long.MAX_VALUE;
        long most = Long.MIN_VALUE;
        for (int i = 0; i < ahead.size(); i++) {
            boolean begun = i == 0 || steps.get(i - 1).micros <= to;
            boolean over = i < steps.size() && steps.get(i).micros < from - SLACK_MICROS;
            if (begun && !over) {
                least = Math.min(least, ahead.get(i));
                most = Math.max(most, ahead.get(i));
            }
        }
        return new long[] {least, most};
    }

    /** How far the clock was stepped forward between two machine times, in microseconds; back does not count. */
    public long forward(long from, long to) {
        return steps.stream()
                .filter(step -> step.by > 0 && from - SLACK_MICROS <= step.micros && step.micros <= to)
                .mapToLong(Step::by)
                .sum();
    }

    /** How far the server was ahead when it read a time that was seen at a machine time. */
    private long nearest(long server, long machine) {
        return ahead.stream()
                .min(Comparator.comparingLong(offset -> Math.abs(server - offset - machine)))
                .orElseThrow();
    }

    private static Event shifted(Event event, long ahead) {
        return new Event(
                event.micros(),
                event.source(),
                event.what(),
                event.id(),
                event.claim(),
                event.due() - ahead,
                event.claimed() == 0 ? 0 : event.claimed() - ahead,
                event.attempt(),
                event.reason(),
                event.detail());
    }
}
