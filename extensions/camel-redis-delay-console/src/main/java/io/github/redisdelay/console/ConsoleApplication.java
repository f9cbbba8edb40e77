// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import io.github.redisdelay.camel.connection.RedisConnection;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/**
 * A console on its own, for any Redis. System properties say which, and what may be done:
 *
 * <pre>
 * address        such as redis://localhost:6379, or rediss://user:password@host:6380
 * configuration  in its place: a configuration file of Redisson, for a cluster, Sentinel or certificates
 * keyPrefix      default redis-delay
 * port           default 8400
 * actions        true to allow changes; default false
 * bodies         false to show no bodies; default true
 * environment    a word in the page's head, such as PRODUCTION
 * queues         queues to show besides those that are found, with commas between them
 * </pre>
 *
 * <p>It listens on 127.0.0.1 only, and ends with the process. With slf4j-simple on its class path it logs each change,
 * with its time; settings of slf4j-simple go before this.
 */
public final class ConsoleApplication {

    private static final int CONNECTIONS = 16;
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(3);

    /** Maven's option -q is the default level of all that runs in its process. */
    private static final Map<String, String> LOG = Map.of(
            "log.io.github.redisdelay", "info", "showDateTime", "true", "dateTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSZ");

    private ConsoleApplication() {}

    public static void main(String[] args) throws Exception {
        LOG.forEach((name, value) -> System.getProperties().putIfAbsent("org.slf4j.simpleLogger." + name, value));
        Config config = config();
        RedissonClient redisson = Redisson.create(config);
        ClientOptions options = ClientOptions.DEFAULTS
                .withKeyPrefix(System.getProperty("keyPrefix", ClientOptions.DEFAULT_KEY_PREFIX))
                .withRequestTimeout(REQUEST_TIMEOUT);
        DelayQueueClient client = DelayQueueClient.create(redisson, options, RedisConnection.describe(config));
        RedisDelayConsole console = RedisDelayConsole.on(client)
                .port(Integer.getInteger("port", ConsoleOptions.DEFAULT_PORT))
                .actions(Boolean.getBoolean("actions"))
                .bodies(Boolean.parseBoolean(System.getProperty("bodies", "true")))
                .environment(System.getProperty("environment"));
        String queues = System.getProperty("queues", "");
        if (!queues.isBlank()) {
            console.queues(queues.strip().split("\\s*,\\s*"));
        }
        console.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            console.close();
            client.close();
            redisson.shutdown();
        }));
        System.out.println("The console of " + RedisConnection.describe(config) + " is at " + console.url()
                + (Boolean.getBoolean("actions") ? "" : " (read-only: -Dactions=true allows changes)")
                + ". Press Ctrl-C to end it.");
        Thread.currentThread().join();
    }

    private static Config config() throws IOException {
        String file = System.getProperty("configuration");
        String address = System.getProperty("address");
        if ((file == null) == (address == null)) {
            throw new IllegalArgumentException("Say which Redis by one of -Daddress=redis://host:6379 and"
                    + " -Dconfiguration=<a configuration file of Redisson>");
        }
        Config config;
        if (file != null) {
            config = Config.fromYAML(new File(file));
        } else {
            config = new Config();
            config.useSingleServer()
                    .setAddress(address)
                    .setConnectionPoolSize(CONNECTIONS)
                    .setConnectionMinimumIdleSize(1)
                    .setSubscriptionConnectionMinimumIdleSize(0);
        }
        // As the component's own connections: nothing that is read becomes an object.
        config.setCodec(ByteArrayCodec.INSTANCE);
        config.setReferenceEnabled(false);
        return config;
    }
}
