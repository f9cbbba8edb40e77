// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.exception.DurabilityUnavailableException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.redisson.RedissonKeys;
import org.redisson.RedissonScript;
import org.redisson.api.BatchOptions;
import org.redisson.api.RKeys;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.Codec;
import org.redisson.client.protocol.RedisCommand;
import org.redisson.command.CommandAsyncExecutor;
import org.redisson.command.CommandBatchService;
import org.redisson.connection.NodeSource;

/** The seam to Redisson's inside, by its names: a release that changes them fails here, and not only in a cluster. */
class DurableScriptExecutorTest {

    @Test
    void should_find_in_Redisson_what_it_is_built_on() throws Exception {
        assertThat(RKeys.class).isAssignableFrom(RedissonKeys.class);
        assertThat(RedissonKeys.class.getMethod("getCommandExecutor").getReturnType())
                .isEqualTo(CommandAsyncExecutor.class);
        assertThat(CommandBatchService.class.getConstructor(CommandAsyncExecutor.class, BatchOptions.class))
                .isNotNull();
        assertThat(RedissonScript.class.getConstructor(CommandAsyncExecutor.class, Codec.class))
                .isNotNull();
    }

    /** All commands of a batch go through one method, which tells the node that a script is sent to. */
    @Test
    void should_override_the_method_that_takes_the_commands_of_a_batch() throws Exception {
        Method async = CommandBatchService.class.getMethod(
                "async",
                boolean.class,
                NodeSource.class,
                Codec.class,
                RedisCommand.class,
                Object[].class,
                boolean.class,
                boolean.class);
        assertThat(Modifier.isFinal(async.getModifiers())).isFalse();
        Class<?> batch = Class.forName(DurableScriptExecutor.class.getName() + "$Batch");
        assertThat(batch.getMethod("async", async.getParameterTypes()).getDeclaringClass())
                .isEqualTo(batch);
    }

    @Test
    void should_refuse_a_client_that_Redisson_has_not_made_and_send_nothing() {
        RKeys foreignKeys = proxy(RKeys.class, null);
        DurableScriptExecutor caller = new DurableScriptExecutor(
                proxy(RedissonClient.class, foreignKeys), (script, keys, arguments, attempt) -> {
                    throw new AssertionError("nothing is sent");
                });
        DurableScriptExecutor.ScriptCall marker =
                new DurableScriptExecutor.ScriptCall(LuaScript.REPLICATION, List.of("calls"), new Object[0]);
        CompletableFuture<DurableReply> reply = caller.call(List.of(marker, marker), 1, Durability.replicas(1));
        assertThatThrownBy(reply::join)
                .hasCauseInstanceOf(DurabilityUnavailableException.class)
                .hasMessageContaining("cannot be made to wait for replicas or the disk, nothing was changed: give one"
                        + " that Redisson has made");
    }

    /** An object that answers {@code getKeys} and can do nothing else. */
    private static <T> T proxy(Class<T> type, RKeys keys) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    if (method.getName().equals("getKeys")) {
                        return keys;
                    }
                    throw new AssertionError(method + " is called");
                }));
    }
}
