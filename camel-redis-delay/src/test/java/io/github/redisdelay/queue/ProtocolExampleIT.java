// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.test.RedisExtension;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The worked example of the page on the protocol, against what this client sends and Redis answers. */
class ProtocolExampleIT {

    private static final Path PAGE = Path.of("../docs/protocol.md");

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private record Call(List<Object> keys, Object[] arguments, byte[] reply) {}

    /** The value that the example has behind one of its words, such as {@code ARGV 2}; a text, or bytes in hexadecimal. */
    private static byte[] example(String page, String word) {
        Matcher line = Pattern.compile("(?m)^" + word + " +(\"([^\"]*)\"|[0-9a-f]{2}( [0-9a-f]{2})*)")
                .matcher(page);
        assertThat(line.find()).as(word).isTrue();
        return line.group(2) != null
                ? line.group(2).getBytes(StandardCharsets.US_ASCII)
                : HexFormat.ofDelimiter(" ").parseHex(line.group(1));
    }

    private Call scheduled(String queue, ScheduleRequest request) throws Exception {
        Call[] sent = new Call[1];
        ScriptExecutor real = new RedissonScriptExecutor(redis.client());
        ScriptExecutor noting = (script, keys, arguments, attempt) -> real.call(script, keys, arguments, attempt)
                .thenApply(reply -> {
                    if (script == LuaScript.SCHEDULE) {
                        sent[0] = new Call(keys, arguments, (byte[]) reply);
                    }
                    return reply;
                });
        try (DelayQueueClient client = ClientAccess.create(redis.client(), ClientOptions.DEFAULTS, noting)) {
            client.queue(queue).schedule(request).result().get(20, TimeUnit.SECONDS);
        }
        return sent[0];
    }

    @Test
    void should_send_and_answer_the_bytes_of_the_page() throws Exception {
        String queue = redis.uniqueQueue();
        String page = Files.readString(PAGE);
        page = page.substring(page.indexOf("### A call as bytes")).replace("{orders}", "{" + queue + "}");
        Instant due = Instant.parse("2023-11-14T22:13:20Z");
        assertThat(page).contains(due.toString());
        byte[] envelope = Envelope.of("hi").encode();
        assertThat(envelope).isEqualTo(example(page, "envelope"));

        Call call = scheduled(queue, ScheduleRequest.of("order-1", envelope, DueTime.at(due)));

        assertThat(String.join(
                        " ", call.keys.stream().limit(8).map(String::valueOf).toList()))
                .isEqualTo(page.substring(page.indexOf("8 keys  ") + 7, page.indexOf("ARGV 1"))
                        .trim()
                        .replaceAll("\\s+", " "));
        assertThat(call.arguments).hasSize(8);
        byte[] session = (byte[]) call.arguments[0];
        assertThat(page).contains("ARGV 1    <16 random bytes> 73 30 ");
        assertThat(Arrays.copyOfRange(session, 16, session.length)).containsExactly(0x73, 0x30);
        for (int i = 2; i <= 8; i++) {
            assertThat((byte[]) call.arguments[i - 1]).as("ARGV " + i).isEqualTo(example(page, "ARGV " + i));
        }
        assertThat(page).contains("reply     <8 bytes, time of the call> ");
        byte[] answer = HexFormat.of()
                .parseHex(page.substring(page.indexOf("reply  "))
                        .lines()
                        .skip(1)
                        .limit(2)
                        .map(line -> line.trim().replaceAll("   .*", "").replace(" ", ""))
                        .reduce("", String::concat));
        assertThat(Arrays.copyOfRange(call.reply, 8, call.reply.length)).isEqualTo(answer);
    }
}
