// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.test;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** The resources of a test go with it, and those of the class stay until its end. */
class RedisExtensionIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private static final String OF_STATIC_FIELD = redis.uniqueQueue();
    private static String ofBeforeAll;
    private static String ofFormerTest;

    private final String ofField = redis.uniqueQueue();

    @BeforeAll
    static void beforeAll() {
        ofBeforeAll = redis.uniqueQueue();
        write(redis, OF_STATIC_FIELD);
        write(redis, ofBeforeAll);
    }

    @AfterEach
    void keysAreThereUntilTheTestHasEnded() {
        assertThat(exists(redis, ofField)).isTrue();
    }

    @RepeatedTest(2)
    void aNameInAFieldOfTheTestIsTheTests(RepetitionInfo info) {
        assertThat(ofField).startsWith(redis.keyPrefix());
        write(redis, ofField);

        if (info.getCurrentRepetition() == 1) {
            ofFormerTest = ofField;
        } else {
            assertThat(ofFormerTest).isNotEqualTo(ofField);
            assertThat(exists(redis, ofFormerTest)).isFalse();
            assertThat(exists(redis, OF_STATIC_FIELD)).isTrue();
            assertThat(exists(redis, ofBeforeAll)).isTrue();
        }
    }

    @Nested
    class Inner {

        private static RedissonClient client;

        @RepeatedTest(2)
        void theClientIsThatOfTheClassAround(RepetitionInfo info) {
            write(redis, ofField);
            if (info.getCurrentRepetition() == 1) {
                client = redis.client();
            }
            assertThat(redis.client()).isSameAs(client);
            assertThat(client.isShutdown()).isFalse();
        }
    }

    @Nested
    @TestInstance(Lifecycle.PER_CLASS)
    class OneObjectForAllTests {

        @RegisterExtension
        static RedisExtension own = new RedisExtension();

        private final String ofObject = own.uniqueQueue();

        @RepeatedTest(2)
        void aNameInItsFieldIsTheClasss(RepetitionInfo info) {
            write(redis, ofField);
            assertThat(ofObject).doesNotStartWith(own.keyPrefix());
            if (info.getCurrentRepetition() == 1) {
                write(own, ofObject);
            } else {
                assertThat(exists(own, ofObject)).isTrue();
            }
        }
    }

    @Test
    void theEndOfTheClassDeletesItsKeysAndShutsTheClientDown() {
        write(redis, ofField);
        RedisExtension other = new RedisExtension();
        other.beforeAll(null);
        other.beforeAll(null); // a nested class
        String queue = other.uniqueQueue();
        write(other, queue);
        RedissonClient client = other.client();

        other.afterAll(null);
        assertThat(client.isShutdown()).isFalse();
        assertThat(exists(redis, queue)).isTrue();

        other.afterAll(null);
        assertThat(client.isShutdown()).isTrue();
        assertThat(exists(redis, queue)).isFalse();
    }

    @Test
    void anExtensionInAFieldThatIsNotStaticEndsWithTheTest() {
        write(redis, ofField);
        RedisExtension other = new RedisExtension();
        String ofTheField = other.uniqueQueue();
        other.beforeEach(null);
        write(other, ofTheField);
        RedissonClient client = other.client();

        other.afterEach(null);

        assertThat(client.isShutdown()).isTrue();
        assertThat(exists(redis, ofTheField)).isFalse();
    }

    private static void write(RedisExtension extension, String queue) {
        extension.client().getBucket(key(queue), StringCodec.INSTANCE).set("x");
    }

    private static boolean exists(RedisExtension extension, String queue) {
        return extension.client().getBucket(key(queue), StringCodec.INSTANCE).isExists();
    }

    private static String key(String queue) {
        return "redis-delay:{" + queue + "}:messages";
    }
}
