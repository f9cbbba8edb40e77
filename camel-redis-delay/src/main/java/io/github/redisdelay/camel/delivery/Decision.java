// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.Settlement;

/**
 * The end of a delivery, as a {@link DeliveryPolicy} decides it. {@link DeliveryCompletion} carries it out.
 *
 * @param settlement has failures as {@link FailureRecord} stores them
 * @param why why the message is given up; null if it is not
 * @param option the option that asks for a given up message to be dropped, with its value; else null
 */
record Decision(Settlement settlement, Reason why, String option) {

    Decision(Settlement settlement) {
        this(settlement, null, null);
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
