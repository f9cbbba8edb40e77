// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleRequest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The next times of a recurring schedule, as {@code run.lua} reads them. A client knows the rule, and only Redis its clock: so a
 * call brings the times around the client's idea of now, and the script takes the first that is later than its own.
 */
public record RunTimes(String rule, List<Long> times) {

    /** The time by which the clocks of a client and of Redis may differ, in microseconds. */
    private static final long SLACK = 60_000_000;

    private static final int MOST = 128;

    /**
     * Those of a call that declares a schedule.
     *
     * @param nowMicros the time by the client's clock
     */
    public static RunTimes declared(ScheduleRequest message, long nowMicros) {
        Schedule schedule = message.schedule();
        DueTime first = message.due();
        long at = first.relative() ? nowMicros + first.micros() : first.micros();
        if (schedule.isGrid() && at == nowMicros) {
            at = schedule.next(at, at);
        }
        boolean begins = schedule.isGrid() || at > nowMicros;
        List<Long> times =
                times(schedule, at, Math.max(nowMicros - SLACK, begins ? at - 1 : 0), Math.max(at, nowMicros) + SLACK);
        if (schedule.isGrid()) {
            // A promoted run has moved the grid: the next one is due within an interval.
            long last = times.get(times.size() - 1);
            times.add(schedule.next(last, last));
        }
        return new RunTimes(schedule.encode(), times);
    }

    /**
     * Those of a call that ends a run.
     *
     * @param rule the rule as it was claimed
     * @param nominalMicros the time of the run
     * @param newDueMicros the first time of the rule, if it was stored during the run; else 0
     * @param nowMicros Redis' time, at least
     */
    public static RunTimes following(String rule, long nominalMicros, long newDueMicros, long nowMicros) {
        try {
            long nominal = Math.max(nominalMicros, newDueMicros);
            long after = Math.max(Math.max(nominalMicros, newDueMicros - 1), nowMicros);
            return new RunTimes(rule, times(Schedule.parse(rule), nominal, after, nowMicros + SLACK / 6));
        } catch (RuntimeException e) {
            // Of a later version, or of another version of the time zones. A schedule never ends by a failure: it comes
            // again.
            return new RunTimes(rule, List.of(nowMicros + SLACK));
        }
    }

    /** The times behind one, at least one, until one is behind the last. */
    private static List<Long> times(Schedule schedule, long nominal, long after, long last) {
        List<Long> times = new ArrayList<>();
        long time = after;
        do {
            time = schedule.next(nominal, time);
            times.add(time);
        } while (time <= last && times.size() < MOST);
        return times;
    }

    /** The first of them. */
    public long first() {
        return times.get(0);
    }

    /** They and the rule, before other bytes. */
    public byte[] before(byte[] rest) {
        String lines = times.toString().replaceAll("[^\\d ]", "") + '\n' + rule + '\n';
        byte[] text = lines.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(text.length + rest.length)
                .put(text)
                .put(rest)
                .array();
    }
}
