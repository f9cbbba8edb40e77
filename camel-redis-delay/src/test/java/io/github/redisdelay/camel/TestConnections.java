// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ConnectionSettings;
import io.github.redisdelay.camel.connection.RedisConnection;
import org.redisson.api.RedissonClient;

/** For tests outside of this package: Redisson clients with the component's own settings. */
public final class TestConnections {

    private TestConnections() {}

    /**
     * A client as the component makes it where it is given no more than an address. The caller shuts it down.
     *
     * @param address {@code redis://host:port}
     */
    public static RedissonClient open(String address) {
        try {
            return RedisConnection.open(null, new ConnectionSettings(null, null, address, null, null, 0, null))
                    .redisson();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
