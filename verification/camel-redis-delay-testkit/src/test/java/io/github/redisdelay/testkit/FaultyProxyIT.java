// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.testkit.FaultyProxy.Kind;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each fault of the proxy does what it says, and no more. */
class FaultyProxyIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private FaultyProxy proxy;
    private RedisSocket client;
    private String key;

    @BeforeEach
    void open() throws IOException {
        proxy = new FaultyProxy(redis.server().host(), redis.server().port());
        client = RedisSocket.open(proxy.address());
        key = redis.keyPrefix();
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        proxy.close();
    }

    private long count() throws IOException {
        try (RedisSocket direct = RedisSocket.open(redis.address())) {
            String answer = direct.call("INCRBY " + key + " 0");
            return Long.parseLong(answer.substring(1));
        }
    }

    private Duration timeOf(String command) throws IOException {
        long begin = System.nanoTime();
        client.call(command);
        return Duration.ofNanos(System.nanoTime() - begin);
    }

    @Test
    void should_pass_commands_and_answers() throws IOException {
        assertThat(client.call("PING")).isEqualTo("+PONG");
        assertThat(client.call("INCR " + key)).isEqualTo(":1");
        assertThat(proxy.connections(Kind.COMMANDS)).isEqualTo(1);
    }

    @Test
    void should_delay_in_each_direction() throws IOException {
        proxy.delay(Duration.ofMillis(150));
        assertThat(timeOf("PING")).isBetween(Duration.ofMillis(300), Duration.ofSeconds(3));
        proxy.heal();
        assertThat(client.call("PING")).isEqualTo("+PONG");
    }

    @Test
    void should_be_as_slow_as_its_limit() throws IOException {
        String command = "SET " + key + " " + "x".repeat(40_000);
        proxy.limit(100_000);
        assertThat(timeOf(command)).isBetween(Duration.ofMillis(380), Duration.ofSeconds(4));
    }

    @Test
    void should_close_connections_in_an_orderly_way() throws IOException {
        client.call("PING");
        proxy.closeConnections();
        assertThat(client.next()).as("what is read at the end").isNull();
        try (RedisSocket next = RedisSocket.open(proxy.address())) {
            assertThat(next.call("PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void should_reset_connections() throws IOException {
        client.call("PING");
        proxy.reset();
        assertThatThrownBy(() -> client.next()).isInstanceOf(SocketException.class);
        try (RedisSocket next = RedisSocket.open(proxy.address())) {
            assertThat(next.call("PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void should_let_nobody_in_while_it_is_cut() throws IOException {
        client.call("PING");
        proxy.cut();
        assertThatThrownBy(() -> client.next()).isInstanceOf(SocketException.class);
        assertThatThrownBy(() -> {
                    try (RedisSocket next = RedisSocket.open(proxy.address())) {
                        if (next.call("PING") == null) {
                            throw new IOException("closed");
                        }
                    }
                })
                .isInstanceOf(IOException.class);
        proxy.heal();
        try (RedisSocket next = RedisSocket.open(proxy.address())) {
            assertThat(next.call("PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void should_hold_everything_back_while_it_is_stalled() throws IOException {
        client.call("PING");
        proxy.stall();
        client.timeout(Duration.ofMillis(200));
        assertThatThrownBy(() -> client.call("INCR " + key)).isInstanceOf(SocketTimeoutException.class);
        assertThat(count()).isZero();
        proxy.heal();
        client.timeout(Duration.ofSeconds(10));
        assertThat(client.next()).isEqualTo(":1");
    }

    @Test
    void should_leave_a_half_open_connection_dead_for_ever() throws IOException {
        client.call("PING");
        proxy.swallow(Kind.COMMANDS, Kind.SUBSCRIPTION);
        client.timeout(Duration.ofMillis(200));
        assertThatThrownBy(() -> client.call("INCR " + key)).isInstanceOf(SocketTimeoutException.class);
        try (RedisSocket during = RedisSocket.open(proxy.address())) {
            during.timeout(Duration.ofMillis(200));
            assertThatThrownBy(() -> during.call("PING")).isInstanceOf(SocketTimeoutException.class);
        }
        proxy.heal();
        assertThatThrownBy(() -> client.call("INCR " + key)).isInstanceOf(SocketTimeoutException.class);
        assertThat(count()).isZero();
        try (RedisSocket next = RedisSocket.open(proxy.address())) {
            assertThat(next.call("PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void should_swallow_what_is_on_a_subscription_only() throws IOException {
        try (RedisSocket listener = RedisSocket.open(proxy.address())) {
            listener.call("SUBSCRIBE " + key);
            listener.skip(5); // the rest of the answer: channel, and how many
            await().until(() -> proxy.connections(Kind.SUBSCRIPTION) == 1);
            proxy.swallow(Kind.SUBSCRIPTION);
            proxy.heal();
            assertThat(client.call("PUBLISH " + key + " x")).isEqualTo(":1");
            listener.timeout(Duration.ofMillis(200));
            assertThatThrownBy(() -> listener.next()).isInstanceOf(SocketTimeoutException.class);
            assertThat(proxy.connections(Kind.SUBSCRIPTION)).isZero();
        }
    }

    @Test
    void should_lose_each_third_answer_after_the_command_was_executed() throws IOException {
        proxy.loseAnswers("INCR", 3);
        client.call("PING");
        client.call("INCR " + key);
        client.call("INCR " + key);
        assertThatThrownBy(() -> client.call("INCR " + key)).isInstanceOf(SocketException.class);
        assertThat(count()).isEqualTo(3);
        assertThat(proxy.lostAnswers()).isEqualTo(1);
        proxy.heal();
        try (RedisSocket next = RedisSocket.open(proxy.address())) {
            for (int i = 4; i < 10; i++) {
                assertThat(next.call("INCR " + key)).isEqualTo(":" + i);
            }
        }
    }
}
