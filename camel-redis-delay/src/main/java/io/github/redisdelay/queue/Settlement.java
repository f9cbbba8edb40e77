// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;

/**
 * The end of a delivery, for {@link Delivery#settle}. A run of a recurring schedule leaves the schedule in its queue however it
 * ends, until the next time of the rule: {@link Acknowledge} and {@link Drop} without more, {@link DeadLetter} with a dead letter
 * that takes the place of an older one that waits, and periods for which the id stays a duplicate do not count. Times are those of {@link DueTime#toMicros}, and a time that is out of
 * its range is an {@code IllegalArgumentException}.
 */
public sealed interface Settlement {

    /** The most bytes that are kept of a failure; the rest is cut off. */
    int MAX_FAILURE_BYTES = 4096;

    /** Finished successfully: removes the message, and its id is free. */
    Settlement ACKNOWLEDGE = new Acknowledge(Duration.ZERO);

    /** Not begun: the message is due again at its old due time, and this attempt does not count. */
    Settlement RELEASE = new Release();

    /** Its word in logs and scripts: the name of its class in lower case, such as {@code dead-letter}. */
    default String word() {
        return first() != this
                ? first().word()
                : this instanceof DeadLetter
                        ? "dead-letter"
                        : getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }

    /** Returns whether the message stays in its queue. */
    default boolean keepsMessage() {
        return first() instanceof Retry || first() instanceof Release;
    }

    /** The end of the message alone, without a pause of its group. */
    default Settlement first() {
        return this;
    }

    /**
     * Finished successfully: removes the message.
     *
     * @param remember for how long the id stays a duplicate; zero for not at all
     */
    record Acknowledge(Duration remember) implements Settlement {
        public Acknowledge {
            DueTime.toMicros(remember);
        }
    }

    /**
     * Failed: the message is due again after a delay. A run of a recurring schedule that would be due at the next time of its rule
     * or later is given up instead, as by {@link DeadLetter}: {@link Delivery#deadLetterId()} is known then.
     *
     * @param failure what to keep about the failure, for {@link Delivery#lastFailure()}
     */
    record Retry(Duration delay, byte[] failure) implements Settlement {
        public Retry {
            DueTime.toMicros(delay);
            failure = cut(failure);
        }
    }

    /** See {@link #RELEASE}. */
    record Release() implements Settlement {}

    /**
     * Given up: moves the message to the dead letters. A dead letter cannot be given up again: to settle one so is an {@code
     * IllegalStateException}.
     *
     * @param failure what to keep about the failure
     * @param remember for how long the id stays a duplicate; zero for not at all
     */
    record DeadLetter(byte[] failure, Duration remember) implements Settlement {
        public DeadLetter {
            DueTime.toMicros(remember);
            failure = cut(failure);
        }

        public DeadLetter(byte[] failure) {
            this(failure, Duration.ZERO);
        }
    }

    /**
     * Given up, and not kept: removes the message. Not for a dead letter, as {@link DeadLetter}.
     *
     * @param remember for how long the id stays a duplicate; zero for not at all
     */
    record Drop(Duration remember) implements Settlement {
        public Drop {
            DueTime.toMicros(remember);
        }
    }

    /**
     * Ends the delivery, and pauses the group of its message in the same step, as {@link MessageGroup#pause}. If the delivery is
     * stale, nothing is paused. A message without a group, or a dead letter, is an {@code IllegalArgumentException}.
     *
     * @param first the end of the delivery
     * @param pause for how long, from that step on
     */
    record PauseGroup(Settlement first, Duration pause) implements Settlement {
        public PauseGroup {
            first = first.first();
            DueTime.toMicros(pause);
        }
    }

    private static byte[] cut(byte[] failure) {
        return failure.length <= MAX_FAILURE_BYTES ? failure : Arrays.copyOf(failure, MAX_FAILURE_BYTES);
    }
}
