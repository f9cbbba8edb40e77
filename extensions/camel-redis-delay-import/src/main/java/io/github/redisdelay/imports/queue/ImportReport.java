// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import io.github.redisdelay.queue.DueTime;
import java.util.List;
import java.util.Map;

/**
 * The result of an import. What was found is moved, gone or left; a dry run moves nothing, and what it could have moved
 * is neither. If nobody else is at work, all that remains behind an import of everything is what it left.
 *
 * @param found what it looked at
 * @param moved how many messages it moved into the queue
 * @param gone how many were taken by somebody else in the moment between
 * @param renamed how many of those moved had an id that was in use, and got another one
 * @param left what it left where it is, by the reason; reasons that did not occur are missing
 * @param remaining how many messages Redisson's queue had at the end, pending or ready
 * @param nextDueMicros in how many microseconds the next message is due behind those that it had to look at; -1 if
 *     there is none, 0 if it ended before it had looked at all
 */
public record ImportReport(
        Found found, long moved, long gone, long renamed, Map<Reason, Left> left, long remaining, long nextDueMicros) {

    public ImportReport {
        left = Map.copyOf(left);
    }

    /**
     * The messages that an import looked at.
     *
     * @param pending how many waited for their time in Redisson's queue
     * @param ready how many were due, and handed over to the list from which consumers take
     * @param overdue how many of the pending ones were due
     * @param oldFormat how many of the pending ones were written by Redisson 3.20.1 or older
     * @param newFormat how many of them were written by Redisson 3.21.1 or newer
     */
    public record Found(long pending, long ready, long overdue, long oldFormat, long newFormat) {

        /** All of them. */
        public long all() {
            return pending + ready;
        }
    }

    /**
     * The messages that were left for one reason.
     *
     * @param count how many
     * @param samples the first three of them, in words
     */
    public record Left(long count, List<String> samples) {

        public Left {
            samples = List.copyOf(samples);
        }
    }

    /** The reason why a message was left where it is. */
    public enum Reason {
        /** Its element has none of the formats of Redisson. */
        UNREADABLE,
        /** Its time is negative, no whole number of milliseconds, or beyond the exact range of {@link DueTime}. */
        OUT_OF_RANGE,
        /** The converter refused it, and there was none besides or that refused it as well. */
        NOT_CONVERTIBLE,
        /** The queue holds as many messages as it may. The import ends then. */
        QUEUE_FULL
    }

    /** How many were left for any reason. */
    public long leftInAll() {
        return left.values().stream().mapToLong(Left::count).sum();
    }
}
