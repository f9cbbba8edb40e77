// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import io.github.redisdelay.imports.ImportCodec;
import io.github.redisdelay.imports.queue.ConvertedPayload;
import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.imports.queue.RedissonImport;
import io.github.redisdelay.queue.DelayQueue;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Many messages that wait in a delayed queue of Redisson's, in the form of 3.21.1 and newer: written faster than it
 * would.
 */
final class Backlog {

    private static final int SLICE = 5_000;

    /** The writes of Redisson's queue for each offer, without its publishing. */
    private static final String OFFER = """
            for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
                local text = string.format('%09d', i) .. string.rep('x', tonumber(ARGV[3]) - 9)
                local element = struct.pack('<Bc0Lc0', 8, struct.pack('<d', i), #text, text)
                redis.call('ZADD', KEYS[1], tonumber(ARGV[4]) - math.random(3600000), element)
                redis.call('RPUSH', KEYS[2], element)
            end""";

    private Backlog() {}

    /**
     * Adds messages, each due in random order within the hour before a time.
     *
     * @param length of each text, which begins with its number in nine digits
     * @param lastDue in milliseconds since the epoch
     */
    static void add(RedissonClient redisson, String queue, int count, int length, long lastDue) {
        for (int from = 0; from < count; from += SLICE) {
            redisson.getScript(StringCodec.INSTANCE)
                    .eval(
                            RScript.Mode.READ_WRITE,
                            OFFER,
                            RScript.ReturnType.VALUE,
                            List.of(pendingKey(queue), "redisson_delay_queue:{" + queue + "}"),
                            Integer.toString(from),
                            Integer.toString(Math.min(from + SLICE, count) - 1),
                            Integer.toString(length),
                            Long.toString(lastDue));
        }
    }

    /** Takes over texts from the queue of the same name. The ids are generated: nothing hides what was moved twice. */
    static ImportReport takeOver(DelayQueue queue, ImportCodec codec) throws Exception {
        return RedissonImport.into(queue)
                .run(
                        new ImportSource(queue.name()),
                        payload -> ConvertedPayload.of(
                                ((String) codec.convert(payload).body()).getBytes(StandardCharsets.UTF_8)),
                        ImportOptions.EVERYTHING)
                .get(5, TimeUnit.MINUTES);
    }

    /** The key of what waits for its time. */
    static String pendingKey(String queue) {
        return "redisson_delay_queue_timeout:{" + queue + "}";
    }
}
