// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import org.apache.camel.Message;

/**
 * Values of headers that ask for something. A header that is there and null is an error: it comes from an expression
 * that found nothing, and must not mean "now", "all", or whatever holds without the header.
 */
public final class HeaderValues {

    private HeaderValues() {}

    /**
     * The value of a header; null if it is not there.
     *
     * @throws IllegalArgumentException if it is there and null
     */
    public static Object of(Message message, String name) {
        Object value = message.getHeader(name);
        // Few headers are null: to find that none is costs less than to look for a name once more.
        if (value == null
                && message.getHeaders().containsValue(null)
                && message.getHeaders().containsKey(name)) {
            throw new IllegalArgumentException(
                    "header '" + name + "' is null: give it a value, or remove it for the default");
        }
        return value;
    }
}
