// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

/** An order that is placed with the id of another one. */
public class OrderExistsException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    OrderExistsException(String id) {
        super("order " + id + " is there already");
    }
}
