// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import io.github.redisdelay.camel.connection.ConnectionSettings;
import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.console.api.ApiException;
import io.github.redisdelay.console.api.ApiException.Kind;
import io.github.redisdelay.console.api.QueueSource;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/** A Redis to which the console connects by itself, at its first use. */
final class AddressSources implements ConsoleSources {

    private static final Duration TRY_AGAIN = Duration.ofSeconds(5);

    private final String address;
    private final String shown;
    private RedissonClient redisson; // guarded by this; null while there is no connection
    private DelayQueueClient client; // guarded by this
    private boolean closed; // guarded by this
    /** The {@link System#nanoTime} before which nobody tries again to connect; null if nobody has failed. */
    private Long again; // guarded by this

    AddressSources(String address) {
        shown = ConnectionSettings.withoutCredentials(address);
        if (!address.matches("rediss?://.+")) {
            throw new IllegalArgumentException(
                    "address is '" + shown + "': write redis://host:6379, or rediss://host:6379 for TLS");
        }
        this.address = address;
    }

    @Override
    public synchronized List<QueueSource> get(List<String> named) {
        if (closed) {
            return List.of();
        }
        if (client == null) {
            if (again != null && again - System.nanoTime() > 0) {
                throw unreachable();
            }
            connect();
        }
        Map<String, Integer> partitions = new LinkedHashMap<>();
        named.forEach(name -> partitions.put(name, 0));
        return List.of(new QueueSource(client, shown, partitions));
    }

    /** Without the cause, which may quote the password. */
    private ApiException unreachable() {
        return new ApiException(Kind.UNREACHABLE, "Redis at " + shown + " cannot be reached.");
    }

    private void connect() {
        Config config = new Config();
        // It makes no object of what it reads, and looks for none in what it sends.
        config.setCodec(ByteArrayCodec.INSTANCE);
        config.setReferenceEnabled(false);
        config.setThreads(2);
        config.setNettyThreads(2);
        config.useSingleServer()
                .setAddress(address)
                .setConnectionPoolSize(8)
                .setConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionMinimumIdleSize(1);
        try {
            redisson = Redisson.create(config);
        } catch (RuntimeException e) {
            again = System.nanoTime() + TRY_AGAIN.toNanos();
            throw unreachable();
        }
        client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS, shown);
    }

    @Override
    public List<ImportModule.Run> imports() {
        return List.of();
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (client != null) {
            client.close(Duration.ofSeconds(1));
            redisson.shutdown();
            client = null;
        }
    }
}
