// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.RedissonShutdownException;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisResponseTimeoutException;
import org.redisson.client.RedisTimeoutException;
import org.redisson.client.WriteRedisConnectionException;

class RedisErrorsTest {

    /** Redisson's time-outs quote the call, and a key may be called anything. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Redis server response timeout (3000 ms) occurred, params: [REDISDELAY argument:{q}:messages]",
                "Redis server response timeout (3000 ms) occurred, params: [WRONGTYPE Operation against:{q}:messages]",
                "ERR is what this queue is called"
            })
    void should_repeat_a_call_without_an_answer_whatever_its_keys_are_called(String text) {
        assertThat(RedisErrors.isRefusal(new RedisResponseTimeoutException(text)))
                .isFalse();
        assertThat(RedisErrors.isPermanent(new RedisResponseTimeoutException(text)))
                .isFalse();
        assertThat(RedisErrors.isRefusal(new WriteRedisConnectionException(text, new RuntimeException())))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "READONLY You can't write against a read only replica.",
                "ERR Error running script (call to f_1): @user_script:72: -READONLY You can't write against a read only replica.",
                "NOREPLICAS Not enough good replicas to write.",
                "ERR Error running script (call to f_1): @user_script:72: -NOREPLICAS Not enough good replicas to write.",
                "LOADING Redis is loading the dataset in memory",
                "MASTERDOWN Link with MASTER is down",
                "BUSY Redis is busy running a script",
                "CLUSTERDOWN The cluster is down",
                "CLUSTERDOWN Hash slot not served",
                "TRYAGAIN Multiple keys request during rehashing of slot",
                "MOVED 2174 127.0.0.1:6379",
                "ASK 2174 127.0.0.1:6379",
                "MOVED redirection loop detected. Node redis://127.0.0.1:6379 has further redirect to redis://127.0.0.1:6380",
                "Node for slot: 2174 hasn't been discovered yet. Increase 'retryAttempts' setting."
            })
    void should_repeat_a_call_that_can_work_soon(String text) {
        assertThat(RedisErrors.isRefusal(new RedisException(text))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NOPERM User app has no permissions to run the 'evalsha' command",
                "ERR unknown command",
                "NOAUTH Authentication required.",
                "CROSSSLOT Keys in request don't hash to the same slot",
                "MISCONF Redis is configured to save RDB snapshots"
            })
    void should_report_a_refusal_and_go_on_trying_to_acknowledge(String text) {
        assertThat(RedisErrors.isRefusal(new RedisException(text))).isTrue();
        assertThat(RedisErrors.isPermanent(new RedisException(text))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "WRONGTYPE Operation against a key holding the wrong kind of value",
                "ERR user_script:31: REDISDELAY argument: sequence",
                "ERR Error running script (call to f_1): @user_script:31: REDISDELAY needs: groups=0.2"
            })
    void should_give_up_what_can_never_work(String text) {
        assertThat(RedisErrors.isRefusal(new RedisException(text))).isTrue();
        assertThat(RedisErrors.isPermanent(new RedisException(text))).isTrue();
    }

    @Test
    void should_know_a_full_memory_and_a_closed_client() {
        assertThat(RedisErrors.isRefusal(new RedisOutOfMemoryException("command not allowed")))
                .isTrue();
        assertThat(RedisErrors.isPermanent(new RedissonShutdownException("closed")))
                .isTrue();
    }

    private static RedisException unexpected(Throwable cause) {
        return new RedisException("Unexpected exception while processing command", cause);
    }

    @Test
    void should_show_the_root_cause_and_where_it_was() {
        ConnectException refused = new ConnectException("Connection refused: localhost/127.0.0.1:31003");
        refused.initCause(new ConnectException("Connection refused"));
        assertThat(ErrorText.of(unexpected(
                        new RedisConnectionException("Unable to connect to Redis server: localhost", refused))))
                .isEqualTo("Connection refused: localhost:31003");
        assertThat(ErrorText.of(new CompletionException(unexpected(new ClosedChannelException()))))
                .isEqualTo("ClosedChannelException");
        assertThat(ErrorText.of(unexpected(null))).isEqualTo("Unexpected exception while processing command");
        assertThat(ErrorText.of(new IllegalStateException((String) null))).isEqualTo("IllegalStateException");
    }

    @Test
    void should_show_what_redis_said_without_what_redisson_adds() {
        String added =
                ". channel: [id: 0x30f52365, L:/127.0.0.1:46556 - R:127.0.0.1/127.0.0.1:6379] data: CommandData [x]";
        assertThat(ErrorText.of(new RedisConnectionException(
                        "Unable to connect to Redis server: 127.0.0.1/127.0.0.1:6379",
                        new CompletionException(
                                new RedisException("WRONGPASS invalid username-password pair" + added)))))
                .isEqualTo("WRONGPASS invalid username-password pair");
    }

    @Test
    void should_show_no_call_that_was_not_answered() {
        assertThat(ErrorText.of(new RedisResponseTimeoutException("Redis server response timeout (3000 ms) occurred"
                        + " after 0 retry attempts, is non-idempotent command: false Check connection with Redis node:"
                        + " 127.0.0.1/127.0.0.1:6379 for TCP packet drops. Try to increase nettyThreads and/or timeout"
                        + " settings. Command: (EVALSHA), params: [secret], channel: [id: 0x1]")))
                .isEqualTo("Redis server response timeout (3000 ms)");
        assertThat(ErrorText.of(new WriteRedisConnectionException(
                        "Unable to write command into connection! Check CPU usage of the JVM. Command: (EVALSHA), params:"
                                + " [secret]",
                        new ClosedChannelException())))
                .isEqualTo("Unable to write command into connection");
        assertThat(ErrorText.of(new RedisTimeoutException(
                        "Command still hasn't been written into connection! Check CPU usage of the JVM. Command: (EVALSHA),"
                                + " params: [secret]")))
                .isEqualTo("Command still hasn't been written into connection");
        assertThat(ErrorText.of(new RedisTimeoutException(
                        "Command execution timeout for command: (PING), params: [], Redis client:"
                                + " [addr=redis://localhost:7999,localhost/127.0.0.1:7999]")))
                .isEqualTo("Command execution timeout");
    }

    @Test
    void should_show_our_own_errors_as_they_are() {
        assertThat(ErrorText.of(new DelayQueueException("queue 'q': it is so", new RedisException("ERR why"))))
                .isEqualTo("queue 'q': it is so");
        String address = "queue 'q': Redis at redis://127.0.0.1:6379,rediss://h:1 did not answer";
        assertThat(ErrorText.of(new DelayQueueException(address))).isEqualTo(address);
    }
}
