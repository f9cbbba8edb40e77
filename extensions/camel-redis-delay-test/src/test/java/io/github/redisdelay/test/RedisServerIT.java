// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNode.InfoSection;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.api.redisnode.RedisSingle;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class RedisServerIT {

    private static final Logger LOG = LoggerFactory.getLogger(RedisServerIT.class);

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    @Test
    void theSharedServerAnswersAndIsNewEnough() {
        RedisSingle server = redis.client().getRedisNodes(RedisNodes.SINGLE);
        assertThat(server.getInstance().ping()).isTrue();

        Map<String, String> info = server.getInstance().info(InfoSection.SERVER);
        LOG.info(
                "The tests run against {} {} at {}",
                info.getOrDefault("server_name", "redis"),
                info.getOrDefault("valkey_version", info.get("redis_version")),
                redis.address());
        assertThat(info.get("redis_version")).matches("(6\\.[2-9]|[7-9]\\.|\\d\\d).*");
    }

    /** Or the component would warn of it in each test. A server of somebody else's is as it is. */
    @Test
    void theSharedServerHasItsAppendOnlyFileOn() {
        if (RedisServer.property(RedisServer.ADDRESS_PROPERTY) == null) {
            RedisSingle server = redis.client().getRedisNodes(RedisNodes.SINGLE);
            assertThat(server.getInstance().info(InfoSection.PERSISTENCE)).containsEntry("aof_enabled", "1");
        }
    }

    @Test
    void everyQueueNameIsNewAndBelongsToTheTest() {
        String first = redis.uniqueQueue();

        assertThat(redis.uniqueQueue()).isNotEqualTo(first).startsWith(redis.keyPrefix());
        assertThat(first).startsWith(redis.keyPrefix());
    }

    @Test
    void onlyTheKeysOfTheTestAreDeletedAfterIt() {
        String foreign = "foreign-" + redis.keyPrefix().replace("test-", "");
        String own = "redis-delay:{" + redis.uniqueQueue() + "}:messages";
        redis.client().getBucket(foreign, StringCodec.INSTANCE).set("x");
        redis.client().getBucket(own, StringCodec.INSTANCE).set("x");

        redis.afterEach(null);

        assertThat(redis.client().getKeys().countExists(own)).isZero();
        assertThat(redis.client().getKeys().delete(foreign)).isOne();
    }

    @Test
    void aBinaryThatIsNotThereIsAnErrorThatNamesTheProperty() {
        String before = System.getProperty(RedisServer.BINARY_PROPERTY);
        System.setProperty(RedisServer.BINARY_PROPERTY, "/no/such/redis-server");
        try {
            assertThatThrownBy(RedisServer::embedded)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(
                            "-Dredis.server=/no/such/redis-server is no file that can be executed: give the path of a"
                                    + " redis-server or valkey-server");
        } finally {
            if (before == null) {
                System.clearProperty(RedisServer.BINARY_PROPERTY);
            } else {
                System.setProperty(RedisServer.BINARY_PROPERTY, before);
            }
        }
    }

    @Test
    void aDedicatedServerComesBackOnItsPortWithWhatItWroteToDisk() {
        try (RedisServer server = RedisServer.dedicated("requirepass secret", "appendonly yes", "appendfsync always")) {
            String address = server.address();
            withClient(server, "secret", client -> client.getBucket("kept", StringCodec.INSTANCE)
                    .set("yes"));

            server.kill();
            assertThatThrownBy(() -> new Socket(server.host(), server.port()).close())
                    .isInstanceOf(ConnectException.class);
            server.start();

            assertThat(server.address()).isEqualTo(address);
            withClient(server, "secret", client -> assertThat(
                            client.getBucket("kept", StringCodec.INSTANCE).get())
                    .isEqualTo("yes"));
        }
    }

    /** Its number may be that of another process, as the JVM of a test. The shell says where there is none. */
    @Test
    void theEndOfAServerSignalsNoProcessThatHasEnded() throws IOException {
        try (RedisServer server = RedisServer.embedded("requirepass secret")) {
            AtomicReference<String> folder = new AtomicReference<>();
            withClient(
                    server,
                    "secret",
                    client -> folder.set(client.getRedisNodes(RedisNodes.SINGLE)
                            .getInstance()
                            .getConfig("dir")
                            .get("dir")));

            server.stop();

            assertThat(Path.of(folder.get(), "redis.log"))
                    .content()
                    .contains("SIGTERM")
                    .doesNotContain("No such process");
        }
    }

    @Test
    void aServerThatRefusesItsConfigurationSaysWhy() {
        assertThatThrownBy(() -> RedisServer.dedicated("no-such-setting 1")).hasMessageContaining("no-such-setting");
    }

    private static void withClient(
            RedisServer server, String password, java.util.function.Consumer<RedissonClient> action) {
        Config config = new Config();
        config.useSingleServer()
                .setAddress(server.address().replace("redis://", "redis://:" + password + "@"))
                .setConnectionMinimumIdleSize(1);
        RedissonClient client = Redisson.create(config);
        try {
            action.accept(client);
        } finally {
            client.shutdown();
        }
    }
}
