// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** An embedded Redis of a test class's own, emptied after each test, and a client for it. */
final class RedisForTests implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

    private Path folder;
    private EmbeddedRedis redis;
    private RedissonClient client;

    RedissonClient client() {
        return client;
    }

    String address() {
        return redis.address();
    }

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        folder = Files.createTempDirectory("redis-for-tests");
        redis = EmbeddedRedis.start(folder);
        Config config = new Config();
        config.useSingleServer().setAddress(redis.address());
        client = Redisson.create(config);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        client.getKeys().flushdb();
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        client.shutdown();
        redis.close();
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        }
    }
}
