// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.test;

import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Gives a test class the shared Redis server, a client, and names that no other test uses. After each test, the keys
 * with its names are deleted, and nothing else: the server may hold other people's data.
 *
 * <pre>{@code
 * @RegisterExtension
 * static RedisExtension redis = new RedisExtension();
 * }</pre>
 */
public final class RedisExtension implements BeforeEachCallback, AfterEachCallback, AfterAllCallback {

    private RedissonClient client;
    private String testName;
    private boolean named;
    private int queues;

    /** {@code redis://host:port} of the shared server. */
    public String address() {
        return server().address();
    }

    /** The shared server. */
    public RedisServer server() {
        return RedisServer.shared();
    }

    /** A client for the shared server with default settings, closed after the test class. */
    public synchronized RedissonClient client() {
        if (client == null) {
            Config config = new Config();
            config.useSingleServer().setAddress(address());
            client = Redisson.create(config);
        }
        return client;
    }

    /** A key prefix of this test's own; the same one for the whole test. */
    public synchronized String keyPrefix() {
        named = true;
        return testName;
    }

    /** A queue name of this test's own; another one with each call. */
    public synchronized String uniqueQueue() {
        return keyPrefix() + "-" + ++queues;
    }

    @Override
    public synchronized void beforeEach(ExtensionContext context) {
        testName = "test-" + Long.toHexString(ThreadLocalRandom.current().nextLong());
        named = false;
        queues = 0;
    }

    @Override
    public synchronized void afterEach(ExtensionContext context) {
        if (named) {
            // By SCAN, a few keys at a time.
            client().getKeys().deleteByPattern("*" + testName + "*");
        }
    }

    @Override
    public synchronized void afterAll(ExtensionContext context) {
        if (client != null) {
            client.shutdown();
            client = null;
        }
    }
}
