// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.Objects;

/**
 * Settings of a {@link DelayQueueClient}.
 *
 * @param keyPrefix what all keys begin with; default {@value #DEFAULT_KEY_PREFIX}
 * @param requestTimeout how long a caller waits for an answer, 1 ms or more; default 5 s
 */
public record ClientOptions(String keyPrefix, Duration requestTimeout) {

    public static final String DEFAULT_KEY_PREFIX = "redis-delay";

    public static final ClientOptions DEFAULTS = new ClientOptions(DEFAULT_KEY_PREFIX, Duration.ofSeconds(5));

    public ClientOptions {
        QueueNames.check("keyPrefix", keyPrefix);
        Objects.requireNonNull(requestTimeout, "requestTimeout");
        if (requestTimeout.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "requestTimeout is " + requestTimeout + ": it must be 1 millisecond or more");
        }
    }
}
