// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import com.fasterxml.jackson.annotation.JsonIgnore;

/**
 * What a partner is told about an order.
 *
 * @param event {@code paid} or {@code closed}
 * @param url where to
 */
public record Notification(
        String order, String event, @JsonIgnore String url) {

    static final String PAID = "paid";
    static final String CLOSED = "closed";
}
