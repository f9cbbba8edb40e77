// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/**
 * Testcontainers is optional: without it the embedded binary works, and whoever needs a container is told what to add.
 */
class WithoutTestcontainersIT {

    @Test
    void theEmbeddedBinaryIsEnough() throws Exception {
        if (EmbeddedRedisServer.isAvailable()) {
            assertThat(run(StartsAServer.class)).isEqualTo("redis://127.0.0.1");
        } else {
            // Such as on Windows.
            assertThatThrownBy(() -> run(StartsAServer.class))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Testcontainers is not on the class path");
        }
    }

    @Test
    void anImageIsAnErrorThatSaysWhatToAdd() {
        assertThatThrownBy(() -> run(NamesAnImage.class))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("No Redis for the tests: ")
                .hasMessageEndingWith(", and Testcontainers is not on the class path."
                        + " Name a running server with -Dredis.address=redis://host:port, or add"
                        + " org.testcontainers:testcontainers with scope test (a container engine has to run)");
    }

    @Test
    void theExtensionAndItsServersAreLoaded() throws Exception {
        assertThat(run(MakesAnExtension.class)).startsWith("test-");
    }

    private static String run(Class<? extends Callable<String>> action) throws Exception {
        return (String) ((Callable<?>) new Loader()
                        .loadClass(action.getName())
                        .getDeclaredConstructor()
                        .newInstance())
                .call();
    }

    /** Starts what {@code new RedisExtension()} starts if no property is set. */
    public static final class StartsAServer implements Callable<String> {
        @Override
        public String call() {
            try (RedisServer server = RedisServer.startable(null, List.of())) {
                server.start();
                return server.address().replaceFirst(":\\d+$", "");
            }
        }
    }

    /** As with {@code -Dredis.image=redis:8}. */
    public static final class NamesAnImage implements Callable<String> {
        @Override
        public String call() {
            return RedisServer.startable("redis:8", List.of()).address();
        }
    }

    /** As in a user's test class. */
    public static final class MakesAnExtension implements Callable<String> {
        @Override
        public String call() {
            return new RedisExtension().uniqueQueue();
        }
    }

    /** Finds what the tests find, without Testcontainers. */
    private static final class Loader extends ClassLoader {

        private static final String OURS = WithoutTestcontainersIT.class.getPackageName() + ".";

        Loader() {
            super(WithoutTestcontainersIT.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("org.testcontainers.") || name.startsWith("com.github.dockerjava.")) {
                throw new ClassNotFoundException(name);
            }
            if (!name.startsWith(OURS)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : define(name);
            }
        }

        /** Anew, so that its references go through this loader. */
        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
