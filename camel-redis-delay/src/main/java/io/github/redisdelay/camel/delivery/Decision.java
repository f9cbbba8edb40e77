// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.message.FailureRecord;
import java.time.Duration;
import java.util.Locale;

/** The end of a delivery, as a {@link DeliveryPolicy} decides it. {@link DeliveryCompletion} carries it out. */
sealed interface Decision {

    /** The name of the decision in the log: the name of its class. */
    default String title() {
        return getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }

    /**
     * The message is finished.
     *
     * @param remember for how long its id stays a duplicate; zero for not at all
     */
    record Acknowledgement(Duration remember) implements Decision {}

    /**
     * The message is delivered again.
     *
     * @param delay the time until then
     * @param failure a {@link FailureRecord} as it is stored; empty for none
     */
    record Return(Duration delay, byte[] failure) implements Decision {}

    /** The message was not begun: it is free at once, and this delivery does not count. */
    record Release() implements Decision {}

    /**
     * The message is given up and kept among the dead letters.
     *
     * @param failure a {@link FailureRecord} as it is stored
     * @param remember for how long its id stays a duplicate; zero for not at all
     */
    record Burial(byte[] failure, Duration remember, Reason why) implements Decision {}

    /**
     * The message is given up and dropped.
     *
     * @param remember for how long its id stays a duplicate; zero for not at all
     * @param option the option that asks for it, with its value
     */
    record Discard(Duration remember, Reason why, String option) implements Decision {}

    /**
     * The reason for which a message is given up.
     *
     * @param text one of the constants of {@link FailureRecord}, or what its route said
     * @param detail the failure in words; null for none
     * @param trace the failure whose stack trace is still to be logged; null for none
     * @param expired whether the message was not delivered in its time to live
     */
    record Reason(String text, String detail, Throwable trace, boolean expired) {}
}
