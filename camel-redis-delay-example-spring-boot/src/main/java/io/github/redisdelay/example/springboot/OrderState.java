// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

/** The states of an order. The last two are final. */
public enum OrderState {
    OPEN,
    PAID,
    CLOSED
}
