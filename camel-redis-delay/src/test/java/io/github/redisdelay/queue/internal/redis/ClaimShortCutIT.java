// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.testkit.Fuzz;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RBatch;
import org.redisson.api.RScript;
import org.redisson.client.codec.ByteArrayCodec;

/** The short cut of a claim for plain deliveries gives, and leaves behind, what the way for all messages does. */
class ClaimShortCutIT {

    private static final String SHORT_CUT = "        give_plain()\n";
    private static final byte[] CLAIM = "the claim's name".getBytes(StandardCharsets.US_ASCII);

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    /** A queue, and the script that claims its messages. */
    private static final class Side {

        private final QueueKeys keys = QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, redis.uniqueQueue());
        private final String source;

        Side(String source) {
            this.source = source;
        }

        private Map<byte[], byte[]> hash(String part) {
            return redis.client().getMap(keys.key(part), ByteArrayCodec.INSTANCE);
        }

        void fill(List<Message> messages) {
            RBatch batch = redis.client().createBatch();
            messages.forEach(message -> {
                byte[] id = message.id.getBytes(StandardCharsets.US_ASCII);
                if (message.body != null) {
                    batch.getMap(keys.key("messages"), ByteArrayCodec.INSTANCE).fastPutAsync(id, message.body);
                }
                if (message.record != null) {
                    batch.getMap(keys.key("state"), ByteArrayCodec.INSTANCE).fastPutAsync(id, message.record);
                }
                batch.getScoredSortedSet(keys.key(message.leased ? "leased" : "delayed"), ByteArrayCodec.INSTANCE)
                        .addAsync(message.time, id);
            });
            batch.execute();
        }

        /** The reply without the time of the call, and what is in Redis then. */
        List<String> claim(int number, int wanted, int expired, int bytes) {
            List<?> reply = redis.client()
                    .getScript(ByteArrayCodec.INSTANCE)
                    .eval(
                            RScript.Mode.READ_WRITE,
                            source,
                            RedissonScriptExecutor.LIST,
                            keys.of(LuaScript.CLAIM),
                            List.of(
                                            "session",
                                            number,
                                            CLAIM,
                                            DueTime.MAX_MICROS,
                                            wanted,
                                            expired,
                                            bytes,
                                            "base",
                                            "",
                                            0,
                                            1)
                                    .stream()
                                    .map(a -> a instanceof byte[]
                                            ? a
                                            : a.toString().getBytes(StandardCharsets.US_ASCII))
                                    .toArray());
            List<String> found = new ArrayList<>();
            for (Object element : reply) {
                found.add(HexFormat.of().formatHex((byte[]) element));
            }
            found.set(0, found.get(0).substring(2 * 4 * 8)); // the times of the call and of the next events
            found.add(all(hash("messages")).toString());
            found.add(all(hash("state")).toString());
            for (String set : List.of("delayed", "leased")) {
                redis.client()
                        .<byte[]>getScoredSortedSet(keys.key(set), ByteArrayCodec.INSTANCE)
                        .entryRange(0, -1)
                        .forEach(entry -> found.add(
                                set + " " + HexFormat.of().formatHex(entry.getValue()) + " " + entry.getScore()));
            }
            return found;
        }

        private static Map<String, String> all(Map<byte[], byte[]> hash) {
            Map<String, String> all = new TreeMap<>();
            hash.forEach((id, bytes) ->
                    all.put(HexFormat.of().formatHex(id), HexFormat.of().formatHex(bytes)));
            return all;
        }
    }

    private record Message(String id, double time, byte[] body, byte[] record, boolean leased) {}

    /** Mostly plain ones. Among them large ones, ones without a body or an id, and ones that came before. */
    private static List<Message> messages(RandomGenerator random) {
        int[] sizes = {16, 40, 200, 1024, 1025, 40_000};
        boolean plain = random.nextInt(4) == 0;
        List<Message> messages = new ArrayList<>();
        int count = random.nextInt(plain ? 300 : 40);
        for (int i = 0; i < count; i++) {
            boolean leased = !plain && random.nextInt(12) == 0;
            boolean special = !plain && random.nextInt(8) == 0;
            byte[] body = new byte[sizes[special ? random.nextInt(sizes.length) : random.nextInt(3)]];
            random.nextBytes(body);
            ByteBuffer.wrap(body)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putDouble(random.nextInt(1_000))
                    .putDouble(i);
            if (special && random.nextInt(3) == 0) {
                body = random.nextBoolean() ? null : new byte[0];
            }
            boolean before = leased || (special && random.nextBoolean());
            String id = special && random.nextInt(20) == 0 ? "" : "id-" + (plain ? 100 + i : i);
            messages.add(new Message(id, 1_000 + random.nextInt(100), body, before ? record(random) : null, leased));
        }
        return messages;
    }

    private static byte[] record(RandomGenerator random) {
        ByteBuffer record = ByteBuffer.allocate(random.nextInt(5) == 0 ? 24 : 40 + random.nextInt(3))
                .order(ByteOrder.LITTLE_ENDIAN);
        record.put((byte) 1).put((byte) random.nextInt(4));
        if (record.remaining() > 30) {
            record.putShort((short) 0)
                    .putInt(random.nextInt(5))
                    .position(24)
                    .putDouble(7)
                    .putDouble(9);
        }
        return record.array();
    }

    @Test
    void should_give_by_the_short_cut_what_the_way_for_all_messages_gives() {
        String source = LuaScript.CLAIM.source();
        String without = source.replace(SHORT_CUT, "");
        assertThat(source.length() - without.length()).isEqualTo(SHORT_CUT.length());
        int[] given = {0};
        Fuzz.run("claims", 300, random -> {
            Side shortCut = new Side(source);
            Side other = new Side(without);
            List<Message> messages = messages(random);
            shortCut.fill(messages);
            other.fill(messages);
            for (int number = 1; number <= 3; number++) {
                int wanted = random.nextInt(3) == 0 ? 256 : 1 + random.nextInt(20);
                int expired = random.nextBoolean() ? 0 : random.nextInt(wanted + 1);
                int bytes = random.nextInt(3) == 0 ? 1 + random.nextInt(5_000) : 1 << 20;
                List<String> claimed = shortCut.claim(number, wanted, expired, bytes);
                assertThat(claimed)
                        .as("claim %d of %d, %d of them expired, %d bytes", number, wanted, expired, bytes)
                        .isEqualTo(other.claim(number, wanted, expired, bytes));
                given[0] += claimed.size() > 8 ? 1 : 0;
            }
        });
        assertThat(given[0]).isPositive();
    }
}
