// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.Settlement;
import java.time.Duration;

/**
 * The end of a delivery, as a {@link DeliveryPolicy} decides it. {@link DeliveryCompletion} carries it out.
 *
 * @param settlement has failures as {@link FailureRecord} stores them
 * @param pauseGroup for how long the message's group is paused with it; zero for not at all
 * @param why why the message is given up; null if it is not
 * @param option the option that asks for a given up message to be dropped, with its value; else null
 */
record Decision(Settlement settlement, Duration pauseGroup, Reason why, String option) {

    Decision(Settlement settlement) {
        this(settlement, null, null);
    }

    Decision(Settlement settlement, Reason why, String option) {
        this(settlement, Duration.ZERO, why, option);
    }

    /** What is sent for it. */
    Settlement sent() {
        return pauseGroup.isZero() ? settlement : new Settlement.PauseGroup(settlement, pauseGroup);
    }

    Decision pausing(Duration group) {
        return group.isZero() ? this : new Decision(settlement, group, why, option);
    }

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
