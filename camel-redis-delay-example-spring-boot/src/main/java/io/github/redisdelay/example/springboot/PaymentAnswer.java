// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import org.springframework.http.HttpStatus;

/**
 * The answer to who pays an order.
 *
 * @param order the order's id
 * @param result one word for programs
 * @param message the same for people
 */
public record PaymentAnswer(String order, Result result, String message) {

    /** The outcomes of a payment. */
    public enum Result {
        PAID("paid in time, its closing is cancelled", HttpStatus.OK),
        PAID_BEFORE("was paid before", HttpStatus.OK),
        CLOSED("is closed already, the payment is returned", HttpStatus.CONFLICT),
        UNKNOWN("no such order", HttpStatus.NOT_FOUND);

        private final String message;
        private final HttpStatus status;

        Result(String message, HttpStatus status) {
            this.message = message;
            this.status = status;
        }
    }

    PaymentAnswer(String order, Result result) {
        this(order, result, result.message);
    }

    /** A method and not a field of the JSON. */
    HttpStatus status() {
        return result.status;
    }
}
