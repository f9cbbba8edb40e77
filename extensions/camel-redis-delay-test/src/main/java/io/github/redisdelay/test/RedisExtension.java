// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.test;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;
import org.redisson.Redisson;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/**
 * Gives a test class the {@linkplain RedisServer#shared() shared Redis server}, a client, and names that no other test
 * uses. Afterwards the keys with its names are deleted, and the names from the registry of queues, and nothing else:
 * the server may hold other people's data.
 *
 * <pre>{@code
 * @RegisterExtension
 * static RedisExtension redis = new RedisExtension();
 * }</pre>
 *
 * <p>A name belongs to the test that asks for it: in its method, in a {@code @BeforeEach} method, or in a field of the
 * test object. Its keys are deleted after that test, when all {@code @AfterEach} methods have ended. A name that is
 * asked for earlier, in a static field or a {@code @BeforeAll} method (or by a class with one object for all of its
 * tests, before the first of them), belongs to the class, and its keys are deleted after the last test.
 *
 * <p>The methods can be called from any thread, and from the moment that the object exists. Tests that share one object
 * must run one after the other, as JUnit does by default; classes that run in parallel each need an object of their
 * own.
 */
public final class RedisExtension
        implements BeforeAllCallback,
                TestInstancePreConstructCallback,
                BeforeEachCallback,
                AfterEachCallback,
                AfterAllCallback {

    private RedissonClient client;
    /** The number of classes that have begun and not ended: a nested class begins and ends within the one around it. */
    private int openClasses;

    /** Begins all names of the class. */
    private String root;
    /** The number of {@link Names} that were made of it. */
    private int scopes;
    /** True once a name was given out. */
    private boolean used;

    private Names ofClass;
    /** Null between two tests. */
    private Names ofTest;

    public RedisExtension() {
        beginClass();
    }

    /**
     * The address of the shared server, as the component's option {@code address} takes it.
     *
     * @return {@code redis://host:port}
     * @throws RuntimeException if there is no server; its message says what is missing
     */
    public String address() {
        return server().address();
    }

    /**
     * The shared server.
     *
     * @throws RuntimeException if there is none; its message says what is missing
     */
    public RedisServer server() {
        return RedisServer.shared();
    }

    /**
     * A client for the shared server with Redisson's default settings: the same one for the whole test class, shut down
     * after it.
     *
     * @throws RuntimeException if there is no server; its message says what is missing
     */
    public synchronized RedissonClient client() {
        if (client == null) {
            Config config = new Config();
            config.useSingleServer().setAddress(address());
            client = Redisson.create(config);
        }
        return client;
    }

    /**
     * A name of this test's own, the same one for the whole test. As the component's option {@code keyPrefix} it gives
     * each test queues of its own under the names that the routes have.
     *
     * @return letters, digits and {@code -}, valid in every key and queue name
     */
    public synchronized String keyPrefix() {
        return current().prefix();
    }

    /**
     * A queue name of this test's own, another one with each call.
     *
     * @return {@link #keyPrefix()}, {@code -} and a number
     */
    public synchronized String uniqueQueue() {
        return current().next();
    }

    private Names current() {
        used = true;
        return ofTest != null ? ofTest : ofClass;
    }

    @Override
    public synchronized void beforeAll(ExtensionContext context) {
        openClasses++;
    }

    @Override
    public synchronized void preConstructTestInstance(
            TestInstanceFactoryContext factoryContext, ExtensionContext context) {
        if (context.getTestInstanceLifecycle().orElse(Lifecycle.PER_METHOD) == Lifecycle.PER_METHOD) {
            beginTest();
        }
    }

    @Override
    public synchronized void beforeEach(ExtensionContext context) {
        beginTest();
    }

    /** With the object, or where there is one object for all tests, with the test. */
    private void beginTest() {
        if (ofTest == null) {
            ofTest = newNames();
        }
    }

    @Override
    public synchronized void afterEach(ExtensionContext context) {
        if (ofTest != null) {
            if (ofTest.used) {
                // Later tests, whose numbers may begin with the same digits, have no keys yet.
                delete(ofTest.prefix);
            }
            ofTest = null;
        }
        if (openClasses == 0) {
            // In a field that is not static: JUnit tells such an extension nothing about classes.
            endClass();
        }
    }

    @Override
    public synchronized void afterAll(ExtensionContext context) {
        // None is open if an extension before this one failed.
        openClasses = Math.max(0, openClasses - 1);
        if (openClasses == 0) {
            endClass();
        }
    }

    private void beginClass() {
        root = "test-" + Long.toHexString(ThreadLocalRandom.current().nextLong());
        scopes = 0;
        used = false;
        ofClass = newNames();
    }

    private void endClass() {
        if (used) {
            // With the names of the class, and of tests that left something to be written after their end.
            delete(root);
        }
        if (client != null) {
            client.shutdown();
            client = null;
        }
        beginClass();
    }

    private Names newNames() {
        return new Names(root + "-" + scopes++);
    }

    /** By SCAN, a few keys at a time; and the names in the registry of queues of the default key prefix. */
    private void delete(String part) {
        client().getKeys().deleteByPattern("*" + part + "*");
        RScoredSortedSet<byte[]> registry = client().getScoredSortedSet("redis-delay:queues", ByteArrayCodec.INSTANCE);
        registry.readAll().stream()
                .filter(name -> new String(name, StandardCharsets.UTF_8).contains(part))
                .forEach(registry::remove);
    }

    /** The names of one test, or of the class outside of its tests. */
    private static final class Names {

        private final String prefix;
        private boolean used;
        private int queues;

        Names(String prefix) {
            this.prefix = prefix;
        }

        String prefix() {
            used = true;
            return prefix;
        }

        String next() {
            return prefix() + "-" + ++queues;
        }
    }
}
