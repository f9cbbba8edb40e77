// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.testkit.Fuzz;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RScript;
import org.redisson.client.RedisException;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;

/** {@code plain.lua} stores what the rest of {@code schedule.lua} would have stored. */
class PlainScheduleIT {

    private static final List<String> WORDS = List.of(
            "after reject",
            "after ignore",
            "after replace",
            "at reject",
            "at ignore",
            "at replace",
            "at reject limit=9",
            "after reject priority=2");

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private final AtomicInteger numbers = new AtomicInteger();

    /** The script without plain.lua. */
    private static String oneByOne() {
        String source = LuaScript.SCHEDULE.source();
        String other = source.replace("\nlocal plain_no = ", "\nlocal plain_no = true or ");
        assertThat(other).isNotEqualTo(source);
        return other;
    }

    /** A queue, and whether plain.lua may store its messages. */
    private final class Side {

        private final QueueKeys keys = QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, redis.uniqueQueue());
        private final String source;

        Side(boolean plain) {
            source = plain ? LuaScript.SCHEDULE.source() : oneByOne();
        }

        private Object eval(Object[] arguments) {
            return redis.client()
                    .getScript(ByteArrayCodec.INSTANCE)
                    .eval(
                            RScript.Mode.READ_WRITE,
                            source,
                            RScript.ReturnType.VALUE,
                            keys.of(LuaScript.SCHEDULE),
                            arguments);
        }

        /** The outcome and due time of each item, by the time of the call where the item has a delay; or the error. */
        List<String> call(int number, List<Object[]> items) {
            Object[] head = bytes("session", number, "base");
            Object[] all = Stream.concat(Arrays.stream(head), items.stream().flatMap(Arrays::stream))
                    .toArray();
            ByteBuffer reply;
            try {
                reply = ByteBuffer.wrap((byte[]) eval(number % 2 == 0 ? LuaScript.SCHEDULE.sent(all) : all))
                        .order(ByteOrder.LITTLE_ENDIAN);
            } catch (RedisException e) {
                return List.of(e.getMessage().replaceAll("(?s).*(REDISDELAY [^.]*?)( script:.*|\\. .*)", "$1"));
            }
            double now = reply.getDouble();
            List<String> answers = new ArrayList<>();
            for (Object[] item : items) {
                int outcome = reply.get();
                answers.add(outcome + " " + relative(item, outcome, reply.getDouble(), now));
            }
            assertThat(reply.hasRemaining()).isFalse();
            return answers;
        }

        private String relative(Object[] item, int outcome, double due, double now) {
            boolean ofThisCall =
                    outcome <= 3 && new String((byte[]) item[1], StandardCharsets.US_ASCII).startsWith("af");
            return ofThisCall ? "+" + (long) (due - now) : outcome >= 4 && outcome <= 6 ? "" : "" + (long) due;
        }

        /** The stored bodies with their due times, by the time of their scheduling where that was a delay. */
        Map<String, String> stored() {
            Map<String, Double> scores = new HashMap<>();
            for (String set : List.of("delayed", "delayed:2")) {
                redis.client()
                        .<byte[]>getScoredSortedSet(keys.key(set), ByteArrayCodec.INSTANCE)
                        .entryRange(0, -1)
                        .forEach(entry -> scores.put(
                                new String(entry.getValue(), StandardCharsets.ISO_8859_1), entry.getScore()));
            }
            Map<String, String> stored = new TreeMap<>();
            Map<byte[], byte[]> bodies = redis.client()
                    .<byte[], byte[]>getMap(keys.key("messages"), ByteArrayCodec.INSTANCE)
                    .readAllMap();
            bodies.forEach((idBytes, bytes) -> {
                String id = new String(idBytes, StandardCharsets.ISO_8859_1);
                ByteBuffer body = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
                double scheduled = body.getDouble();
                double due = body.getDouble();
                Double score = scores.get(id);
                assertThat(score).as(id).isEqualTo(due);
                String rest = new String(bytes, 16, bytes.length - 16, StandardCharsets.ISO_8859_1);
                stored.put(id, (rest.startsWith("after") ? "+" + (long) (due - scheduled) : "" + (long) due) + rest);
            });
            assertThat(redis.client().getMap(keys.key("state"), StringCodec.INSTANCE))
                    .isEmpty();
            return stored;
        }

        /** As the queue of a recurring schedule. */
        void needSchedules() {
            redis.client().getMap(keys.key("config"), StringCodec.INSTANCE).put("needs", "schedules=0.1");
        }

        /** As eviction leaves it behind. */
        void leaveRecord(byte[] id) {
            redis.client()
                    .<byte[], byte[]>getMap(keys.key("state"), ByteArrayCodec.INSTANCE)
                    .put(id, id);
        }
    }

    private static Object[] bytes(Object... arguments) {
        return Arrays.stream(arguments)
                .map(a -> a instanceof byte[] ? a : String.valueOf(a).getBytes(StandardCharsets.ISO_8859_1))
                .toArray();
    }

    /** @param strange false for those that plain.lua takes, all with new ids */
    private List<Object[]> items(RandomGenerator random, boolean strange) {
        int count = random.nextInt(10) == 0 ? 256 : 1 + random.nextInt(6);
        boolean mixed = strange && random.nextBoolean();
        String words = WORDS.get(random.nextInt(mixed ? WORDS.size() : 6));
        boolean far = strange && random.nextInt(4) == 0;
        long time = far ? (1L << 53) - 1 - random.nextInt(2) : random.nextLong(1L << 50);
        boolean same = random.nextBoolean();
        Object claim = mixed && random.nextInt(4) == 0 ? new byte[16] : "";
        List<Object[]> items = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = strange && random.nextInt(4) == 0
                    ? Math.max(1, numbers.get() - random.nextInt(40))
                    : numbers.incrementAndGet();
            String id = random.nextInt(8) == 0 ? "long-id-" + number : String.format("id-%06d", number);
            String word = mixed && random.nextInt(8) == 0 ? WORDS.get(random.nextInt(WORDS.size())) : words;
            Object micros = same ? time : random.nextLong(1L << 50);
            if (mixed && random.nextInt(30) == 0) {
                micros = List.of("-1", "1.5", "x", 1L << 53, "", "inf", "nan", "0x1p70")
                        .get(random.nextInt(8));
            }
            Object padded =
                    micros instanceof Long digits && random.nextInt(20) > 0 ? String.format("%016d", digits) : micros;
            items.add(bytes(id, word, padded, claim, word + " " + "b".repeat(random.nextInt(60))));
        }
        if (strange && random.nextInt(4) == 0) {
            items.get(count - 1)[0] = items.get(0)[0];
        }
        return items;
    }

    @Test
    void should_store_plain_messages_as_if_they_came_one_after_the_other() {
        Fuzz.run("histories of calls", 60, random -> {
            Side plain = new Side(true);
            Side other = new Side(false);
            if (random.nextBoolean()) {
                plain.needSchedules();
                other.needSchedules();
            }
            for (int number = 1; number <= 12; number++) {
                boolean strange = random.nextInt(3) == 0;
                List<Object[]> items = items(random, strange);
                if (!strange && random.nextBoolean()) {
                    byte[] id = (byte[]) items.get(random.nextInt(items.size()))[0];
                    plain.leaveRecord(id);
                    other.leaveRecord(id);
                }
                List<String> answers = plain.call(number, items);
                assertThat(answers).as("call %d", number).isEqualTo(other.call(number, items));
                assertThat(plain.stored()).isEqualTo(other.stored());
            }
        });
    }

    @Test
    void should_know_an_id_that_waits_with_a_priority() {
        Side side = new Side(true);
        assertThat(side.call(1, List.<Object[]>of(bytes("id-1", "at reject priority=2", 5, "", "body"))))
                .containsExactly("1 5");

        List<Object[]> items =
                List.of(bytes("id-1", "at reject", 7, "", "body"), bytes("id-2", "at reject", 7, "", "body"));
        assertThat(side.call(2, items)).containsExactly("4 ", "1 7");

        assertThat(side.stored()).containsOnlyKeys("id-1", "id-2").containsEntry("id-1", "5body");
    }

    @Test
    void should_refuse_more_messages_than_a_call_may_have() {
        Side side = new Side(true);
        List<Object[]> items = new ArrayList<>();
        for (int i = 0; i < 257; i++) {
            items.add(bytes(String.format("id-%06d", i), "at reject", "0000000000000007", "", "body"));
        }
        assertThat(side.call(1, items.subList(0, 1))).containsExactly("1 7");

        assertThat(side.call(2, items.subList(1, 257))).hasSize(256).containsOnly("1 7");
        items.replaceAll(item -> bytes(
                "new" + new String((byte[]) item[0], StandardCharsets.US_ASCII), item[1], item[2], item[3], item[4]));
        assertThat(side.call(3, items)).containsExactly("REDISDELAY argument: number of items");

        assertThat(side.stored()).hasSize(257);
    }
}
