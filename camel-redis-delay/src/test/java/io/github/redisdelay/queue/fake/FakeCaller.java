// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.fake;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** Sends nothing; keeps what was to be sent, for a test to answer. */
public final class FakeCaller implements ScriptExecutor {

    public static final long TIME = 1_700_000_000_000_000L;

    public final List<Sent> sent = new CopyOnWriteArrayList<>();
    public RuntimeException failure;

    /** A call that was sent, with a copy of its bytes. */
    public record Sent(LuaScript script, List<byte[]> arguments, int attempt, CompletableFuture<Object> answer) {

        public String argument(int index) {
            return new String(arguments.get(index), StandardCharsets.ISO_8859_1);
        }

        public long sequence() {
            return Long.parseLong(argument(1));
        }

        public boolean sameBytes(Sent other) {
            if (arguments.size() != other.arguments.size()) {
                return false;
            }
            for (int i = 0; i < arguments.size(); i++) {
                if (!Arrays.equals(arguments.get(i), other.arguments.get(i))) {
                    return false;
                }
            }
            return script == other.script;
        }
    }

    @Override
    public CompletableFuture<Object> call(LuaScript script, List<Object> keys, Object[] arguments, int attempt) {
        CompletableFuture<Object> answer = new CompletableFuture<>();
        sent.add(new Sent(
                script, Arrays.stream(arguments).map(a -> ((byte[]) a).clone()).toList(), attempt, answer));
        if (failure != null) {
            throw failure;
        }
        return answer;
    }

    public int count() {
        return sent.size();
    }

    public Sent last() {
        return sent.get(sent.size() - 1);
    }

    public void answer(Object reply) {
        assertThat(last().answer().complete(reply)).as("a call is under way").isTrue();
    }

    public void fail(Throwable error) {
        assertThat(last().answer().completeExceptionally(error))
                .as("a call is under way")
                .isTrue();
    }

    /** The reply of a script: one outcome and value for each request. */
    public static byte[] reply(long... outcomesAndValues) {
        int count = outcomesAndValues.length / 2;
        ByteBuffer bytes = ByteBuffer.allocate(8 + 9 * count).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putDouble(TIME);
        for (int i = 0; i < count; i++) {
            bytes.put((byte) outcomesAndValues[2 * i]).putDouble(outcomesAndValues[2 * i + 1]);
        }
        return bytes.array();
    }

    /** The reply of a script that answers all its requests alike. */
    public static byte[] replyToAll(int count, int outcome) {
        long[] all = new long[2 * count];
        for (int i = 0; i < count; i++) {
            all[2 * i] = outcome;
            all[2 * i + 1] = i;
        }
        return reply(all);
    }
}
