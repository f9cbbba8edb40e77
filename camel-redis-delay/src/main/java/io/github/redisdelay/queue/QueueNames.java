// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.charset.StandardCharsets;

/** Checks queue names and key prefixes, which become parts of Redis keys and of their hash tags. */
public final class QueueNames {

    /** The longest name or prefix, in bytes of UTF-8. */
    public static final int MAX_BYTES = 200;

    private QueueNames() {}

    /**
     * Checks a queue name or key prefix.
     *
     * @param what what it is called in the error message, for example {@code queueName}
     * @return the value
     * @throws IllegalArgumentException if it is empty, has a brace, a control character or half of a surrogate pair, or is
     *     longer than {@value #MAX_BYTES} bytes
     */
    public static String check(String what, String value) {
        if (value == null || value.isBlank()) {
            throw new IllegalArgumentException(what + " is empty: give it a name such as 'orders'");
        }
        String shown = value.replaceAll("\\p{Cc}", "?");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '{' || c == '}') {
                throw new IllegalArgumentException(
                        what + " '" + shown + "' has a '" + c
                                + "': braces are reserved for Redis Cluster's hash tags; use letters, digits, ':', '.', '-', '_' or '/'");
            }
            if (Character.isISOControl(c)) {
                throw new IllegalArgumentException(
                        what + " '" + shown + "' has a control character at position " + i + ": remove it");
            }
        }
        // Each would become a question mark, and so the name of another queue.
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(value)) {
            throw new IllegalArgumentException(
                    what + " '" + value + "' has half of a surrogate pair: it cannot be written as UTF-8");
        }
        int bytes = value.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_BYTES) {
            throw new IllegalArgumentException(what + " '" + value.substring(0, 40) + "…' has " + bytes
                    + " bytes: at most " + MAX_BYTES + " are allowed");
        }
        return value;
    }
}
