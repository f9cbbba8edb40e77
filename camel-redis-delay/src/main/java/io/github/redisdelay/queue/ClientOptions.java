// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.Objects;

/**
 * Settings of a client, which its queues share.
 *
 * @param keyPrefix what all keys begin with; default {@value #DEFAULT_KEY_PREFIX}
 * @param requestTimeout how long a caller waits for an answer, 1 ms or more; default 5 s
 * @param durability how safe a change has to be before it counts as done; by default nothing is waited for. Its timeout must be
 *     shorter than the one of requests
 * @param listener is told of each call to Redis; null, the default, for none
 */
public record ClientOptions(String keyPrefix, Duration requestTimeout, Durability durability, CallListener listener) {

    public static final String DEFAULT_KEY_PREFIX = "redis-delay";

    public static final ClientOptions DEFAULTS = new ClientOptions(DEFAULT_KEY_PREFIX, Duration.ofSeconds(5));

    public ClientOptions {
        QueueNames.check("keyPrefix", keyPrefix);
        Objects.requireNonNull(requestTimeout, "requestTimeout");
        if (requestTimeout.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "requestTimeout is " + requestTimeout + ": it must be 1 millisecond or more");
        }
        Objects.requireNonNull(durability, "durability");
        if (durability.waits() && durability.timeout().compareTo(requestTimeout) >= 0) {
            throw new IllegalArgumentException("the timeout of durability is " + durability.timeout()
                    + ": it must be shorter than requestTimeout, which is " + requestTimeout);
        }
    }

    /** Options of a client whose calls nobody is told of. */
    public ClientOptions(String keyPrefix, Duration requestTimeout, Durability durability) {
        this(keyPrefix, requestTimeout, durability, null);
    }

    /** Options of a client that waits neither for replicas nor for the disk. */
    public ClientOptions(String keyPrefix, Duration requestTimeout) {
        this(keyPrefix, requestTimeout, Durability.NONE);
    }

    /** The same options with a listener; null for none. */
    public ClientOptions withListener(CallListener listener) {
        return new ClientOptions(keyPrefix, requestTimeout, durability, listener);
    }
}
