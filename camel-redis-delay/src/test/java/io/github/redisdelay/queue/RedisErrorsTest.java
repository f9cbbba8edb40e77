// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.RedissonShutdownException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisResponseTimeoutException;
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
                "ERR Error running script (call to f_1): @user_script:31: REDISDELAY format: this queue has format 2"
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
}
