// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import com.fasterxml.jackson.annotation.JsonIgnore;

/**
 * A notification of a partner about an order.
 *
 * @param event {@code paid} or {@code closed}
 * @param url the address to send it to
 */
public record Notification(
        String order, String event, @JsonIgnore String url) {

    static final String PAID = "paid";
    static final String CLOSED = "closed";
}
