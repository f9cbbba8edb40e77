// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * A delayed queue of Redisson's ({@code RDelayedQueue}) from which messages are moved.
 *
 * @param name the name of the queue that it was made with, as {@code getBlockingQueue} was given it; 1 to
 *     {@value #MAX_BYTES} bytes of UTF-8. Braces are taken as they are
 */
public record ImportSource(String name) {

    /** The longest name, in bytes of UTF-8. */
    public static final int MAX_BYTES = 512;

    public ImportSource {
        Objects.requireNonNull(name, "name");
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (name.isBlank() || bytes > MAX_BYTES) {
            throw new IllegalArgumentException("the name of the Redisson queue has " + bytes
                    + " bytes: it must have 1 to " + MAX_BYTES + ", and be the one that getBlockingQueue was given");
        }
    }
}
