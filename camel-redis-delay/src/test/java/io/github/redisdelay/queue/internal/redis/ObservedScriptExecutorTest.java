// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.fake.FakeCaller;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ObservedScriptExecutorTest {

    private final FakeCaller redis = new FakeCaller();
    private final AtomicLong nanoTime = new AtomicLong(-5);
    private final List<String> told = new ArrayList<>();
    private final ScriptExecutor observed = new ObservedScriptExecutor(
            redis,
            (script, nanos, failed) -> told.add(script + " " + nanos + (failed ? " failed" : "")),
            nanoTime::get);

    private CompletableFuture<Object> call() {
        return observed.call(LuaScript.DEAD_LETTERS, List.of(), new Object[0], 1);
    }

    @Test
    void should_tell_how_long_a_call_took() {
        CompletableFuture<Object> answer = call();
        nanoTime.addAndGet(7);
        assertThat(told).isEmpty();
        redis.answer("reply");
        assertThat(answer).isCompletedWithValue("reply");
        assertThat(told).containsExactly("dead_letters 7");
    }

    @Test
    void should_tell_of_a_failure_and_pass_it_on_as_it_is() {
        CompletableFuture<Object> answer = call();
        Throwable failure = new IllegalStateException();
        redis.fail(failure);
        assertThat(answer.handle((reply, error) -> error).join()).isSameAs(failure);
        assertThat(told).containsExactly("dead_letters 0 failed");
    }
}
