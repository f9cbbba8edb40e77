// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.DelayQueue;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.redisson.api.RScript;
import org.redisson.client.codec.ByteArrayCodec;

/** Dead letters by cause. */
class FailuresIT extends ApiIT {

    private static final String PLANT = """
            for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
              local id = string.format('m%d@%.0f', i, tonumber(ARGV[3]) + i)
              redis.call('HSET', KEYS[1], id, struct.pack('<dd', 1, 1) .. 'x')
              redis.call('ZADD', KEYS[2], tonumber(ARGV[3]) + i, id)
              redis.call('HSET', KEYS[3], id,
                struct.pack('<BBBBI4c16dd', 1, 0, 1, 16, 0, string.rep('\\0', 16), 1, 1) .. ARGV[4 + i % (#ARGV - 3)])
            end
            return 'done'
            """;

    /** Dead letters in a queue's keys, a microsecond apart, with these failures by turns. */
    private void plant(String queue, int count, long fromMicros, FailureRecord... failures) {
        String keys = redis.keyPrefix() + ":{" + queue + "}:dead:";
        for (int i = 0; i < count; i += 1000) {
            List<Object> arguments =
                    new ArrayList<>(List.of(text(i), text(Math.min(count, i + 1000) - 1), text(fromMicros)));
            for (FailureRecord failure : failures) {
                arguments.add(failure.encode());
            }
            redis.client()
                    .getScript(ByteArrayCodec.INSTANCE)
                    .eval(
                            RScript.Mode.READ_WRITE,
                            PLANT,
                            RScript.ReturnType.VALUE,
                            List.of(keys + "messages", keys + "delayed", keys + "state"),
                            arguments.toArray());
        }
    }

    private static byte[] text(long number) {
        return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void should_group_dead_letters_by_what_has_caused_them() {
        DelayQueue queue = client.queue("mails");
        Map<String, FailureRecord> failures = new LinkedHashMap<>();
        failures.put("m1", failure("java.net.ConnectException", "send", "failed"));
        failures.put("m2", failure("java.net.ConnectException", "send", "failed"));
        failures.put("m3", failure("java.net.ConnectException", "other", "failed"));
        failures.put("m4", failure(null, null, "expired"));
        failures.put("m5", null);
        failures.put("m6", failure("java.net.ConnectException", "send", "failed"));
        bury(queue, failures);
        DeadLetters letters = api.failures("mails", null);
        assertThat(letters.lookedAt()).isEqualTo(6);
        assertThat(letters.complete()).isTrue();
        assertThat(letters.more()).isFalse();
        assertThat(letters.causes())
                .extracting(
                        DeadLetters.Cause::count,
                        DeadLetters.Cause::exception,
                        DeadLetters.Cause::route,
                        DeadLetters.Cause::reason)
                .containsExactlyInAnyOrder(
                        tuple(3, "java.net.ConnectException", "send", "failed"),
                        tuple(1, "java.net.ConnectException", "other", "failed"),
                        tuple(1, null, null, "expired"),
                        tuple(1, null, null, null));
        DeadLetters.Cause first = letters.causes().get(0);
        assertThat(first.message()).isEqualTo("it is java.net.ConnectException");
        assertThat(first.hosts()).containsExactly("app-1");
        assertThat(first.bars()).hasSize(12).satisfies(bars -> assertThat(
                        bars.stream().mapToLong(Long::longValue).sum())
                .isEqualTo(3));
        assertThat(first.newest()).hasSize(3).first().asString().startsWith("m6@");
        assertThat(first.first()).isBefore(first.last());
        DeadLetters since = api.failures("mails", first.last());
        assertThat(since.causes()).singleElement().satisfies(cause -> {
            assertThat(cause.cause()).isEqualTo(first.cause());
            assertThat(cause.count()).isEqualTo(1);
        });
        assertThat(since.complete()).isTrue();
    }

    @Test
    void should_look_at_the_newest_ones_only_and_say_so() {
        plant("many", 12_000, 1_700_000_000_000_000L, failure("x.A", "r", "failed"), failure("x.B", "r", "failed"));
        DeadLetters letters = api.failures("many", null);
        assertThat(letters.lookedAt()).isEqualTo(10_000);
        assertThat(letters.complete()).isFalse();
        assertThat(letters.causes()).extracting(DeadLetters.Cause::count).containsExactly(5_000, 5_000);
        assertThat(letters.causes().get(0).last()).isEqualTo(Times.of(1_700_000_000_011_999L));
        DeadLetters since = api.failures("many", Times.of(1_700_000_000_011_000L));
        assertThat(since.lookedAt()).isEqualTo(1_000);
        assertThat(since.complete()).isTrue();
    }

    @Test
    void should_hold_out_against_as_many_causes_as_letters() {
        FailureRecord[] failures = new FailureRecord[500];
        for (int i = 0; i < failures.length; i++) {
            failures[i] = failure("x.E" + i, "r".repeat(i), "failed");
        }
        plant("varied", 1_000, 1_700_000_000_000_000L, failures);
        DeadLetters letters = api.failures("varied", null);
        assertThat(letters.causes()).hasSize(200).allMatch(cause -> cause.count() == 2);
        assertThat(letters.more()).isTrue();
    }

    @Test
    void should_redrive_a_group_of_thousands_and_stop_when_asked() {
        plant("many", 20_000, 1_700_000_000_000_000L, failure("x.A", "r", "failed"), failure("x.B", "r", "failed"));
        DelayQueue queue = client.queue("many");
        String cause = api.failures("many", null).causes().get(0).cause();
        Jobs.View job = api.redriveAll("many", cause, null, null, 10_000L);
        assertThat(job.running()).isTrue();
        api.stop(job.id());
        await().until(() -> !api.job(ANYBODY, job.id()).running());
        Jobs.View stopped = api.job(ANYBODY, job.id());
        assertThat(stopped.stopped()).isTrue();
        assertThat(stopped.result()).endsWith("; then it was stopped.");
        assertThat(get(queue.admin().stats()).delayed())
                .isEqualTo(stopped.done())
                .isLessThan(10_000);
        assertThat(get(queue.admin().stats()).dead()).isEqualTo(20_000 - stopped.done());
        Jobs.View rest = api.redriveAll("many", cause, null, null, 10_000 - stopped.done());
        await().until(() -> !api.job(ANYBODY, rest.id()).running());
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(10_000);
        assertThat(api.failures("many", null).causes()).singleElement().satisfies(left -> assertThat(left.count())
                .isEqualTo(10_000));
    }
}
