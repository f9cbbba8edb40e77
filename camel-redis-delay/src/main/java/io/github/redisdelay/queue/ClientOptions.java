// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Settings of a client, which its queues share. Immutable: begin with {@link #DEFAULTS}. */
public final class ClientOptions {

    public static final String DEFAULT_KEY_PREFIX = "redis-delay";

    /** The defaults: 5 s for an answer, nothing is waited for, no listener. */
    public static final ClientOptions DEFAULTS =
            new ClientOptions(DEFAULT_KEY_PREFIX, Duration.ofSeconds(5), Durability.NONE, null);

    private final String keyPrefix;
    private final Duration requestTimeout;
    private final Durability durability;
    private final CallListener listener;

    private ClientOptions(String keyPrefix, Duration requestTimeout, Durability durability, CallListener listener) {
        QueueNames.check("keyPrefix", keyPrefix);
        if (requestTimeout.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "requestTimeout is " + requestTimeout + ": it must be 1 millisecond or more");
        }
        this.keyPrefix = keyPrefix;
        this.requestTimeout = requestTimeout;
        this.durability = Objects.requireNonNull(durability, "durability");
        this.listener = listener;
    }

    /** The same options with another beginning of all keys. */
    public ClientOptions withKeyPrefix(String prefix) {
        return new ClientOptions(prefix, requestTimeout, durability, listener);
    }

    /** The same options with another time for which a caller waits for an answer, 1 ms or more. */
    public ClientOptions withRequestTimeout(Duration timeout) {
        return new ClientOptions(keyPrefix, timeout, durability, listener);
    }

    /**
     * The same options with what makes a change count as done. The timeout of durability must be shorter than the one of
     * requests, which is checked when a client is made.
     */
    public ClientOptions withDurability(Durability wanted) {
        return new ClientOptions(keyPrefix, requestTimeout, wanted, listener);
    }

    /** The same options with a listener to the calls to Redis; null for none. */
    public ClientOptions withListener(CallListener calls) {
        return new ClientOptions(keyPrefix, requestTimeout, durability, calls);
    }

    public String keyPrefix() {
        return keyPrefix;
    }

    public Duration requestTimeout() {
        return requestTimeout;
    }

    public Durability durability() {
        return durability;
    }

    public CallListener listener() {
        return listener;
    }

    private List<Object> values() {
        return Arrays.asList(keyPrefix, requestTimeout, durability, listener);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ClientOptions that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return values().toString();
    }
}
