// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

/** The states of an order in the order book. */
enum OrderState {
    /** Its closing is scheduled. */
    WAITING,
    /** A payment has arrived, and whether it came in time is not yet written down. */
    PAYING,
    /** Paid in time. */
    PAID,
    /** Not paid in time. */
    CLOSED
}
