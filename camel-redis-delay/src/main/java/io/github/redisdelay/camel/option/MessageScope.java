// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

/** The messages of a queue that an operation or a consumer is about. */
public enum MessageScope {
    /** The messages that wait, due ones included. */
    DELAYED,
    /** The parked messages. */
    PARKED,
    /** The leased messages. */
    LEASED,
    /** The messages that were given up. */
    DEAD;

    /**
     * Reads the option {@code state}.
     *
     * @return null if it is not set
     * @throws IllegalArgumentException for anything else
     */
    public static MessageScope of(String state) {
        return state == null ? null : OptionValues.constant(MessageScope.class, "option 'state'", state);
    }
}
