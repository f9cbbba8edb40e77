// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/**
 * Schedules messages at a fixed rate, each with a random delay of 1 to 3 seconds, whatever becomes of the ones before:
 * the time at which a message is due does not depend on how fast anything is, so that no slow moment hides the messages
 * that it made late (coordinated omission).
 */
public final class OpenLoop {

    /** The most messages that are on their way to Redis. */
    public static final int UNDER_WAY = 2_000;

    private static final long SHORTEST = TimeUnit.SECONDS.toMicros(1);
    private static final long LONGEST = TimeUnit.SECONDS.toMicros(3);
    private static final long LEAD = TimeUnit.MILLISECONDS.toMicros(100);

    private final double perSecond;
    private final long windowMicros;
    private final RandomGenerator random;

    /** The numbers of scheduled messages: all, and those due within the window. */
    public record Sent(long messages, long measured) {}

    /** Takes a message. It may block while too many are under way. */
    @FunctionalInterface
    public interface Sender {
        void send(long number, long dueMicros, byte[] body) throws Exception;
    }

    /** @param windowMicros for how long due times come at the full rate, whole milliseconds; only those count */
    public OpenLoop(double perSecond, long windowMicros, RandomGenerator random) {
        this.perSecond = perSecond;
        this.windowMicros = windowMicros;
        this.random = random;
    }

    /** Schedules all of them, and says to the recorder which ones count. */
    public Sent run(LatenessRecorder recorder, Sender sender) throws Exception {
        // A whole millisecond, so that one who knows only these sees the same window.
        long start = Math.floorDiv(Stamp.nowMicros() + LEAD, 1000) * 1000;
        long sending = windowMicros + LONGEST - SHORTEST;
        // From here on messages of all delays are due, and until there.
        recorder.begin(start + LONGEST, start + SHORTEST + sending);
        long messages = Math.max(1, Math.round(perSecond * sending / 1e6));
        long measured = 0;
        for (long number = 0; number < messages; number++) {
            long intended = start + Math.round(number * 1e6 / perSecond);
            long due = intended + random.nextLong(SHORTEST, LONGEST);
            for (long wait = intended - Stamp.nowMicros(); wait > 0; wait = intended - Stamp.nowMicros()) {
                // Several at a time at high rates: a wake-up for each message would cost more than the message.
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(Math.max(wait, 500)));
            }
            measured += recorder.isMeasured(due) ? 1 : 0;
            sender.send(number, due, Stamp.body(due));
        }
        return new Sent(messages, measured);
    }
}
