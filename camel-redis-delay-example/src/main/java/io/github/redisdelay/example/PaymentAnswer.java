// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

/**
 * The answer to a customer who pays.
 *
 * @param order the order's id
 * @param result one word for programs
 * @param message the same for people
 */
public record PaymentAnswer(String order, Result result, String message) {

    /** The outcomes of a payment. */
    public enum Result {
        PAID(200),
        PAID_BEFORE(200),
        CLOSING_UNDER_WAY(409),
        CLOSED(409),
        UNKNOWN(404);

        private final int status;

        Result(int status) {
            this.status = status;
        }
    }

    /** True if the payment is to be refunded. */
    boolean refunded() {
        return result == Result.CLOSING_UNDER_WAY || result == Result.CLOSED;
    }

    /** The HTTP status. A method and not a field of the JSON. */
    public int status() {
        return result.status;
    }
}
