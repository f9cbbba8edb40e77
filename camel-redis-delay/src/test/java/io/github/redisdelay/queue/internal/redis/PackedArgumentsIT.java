// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.testkit.Fuzz;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RScript;
import org.redisson.client.codec.ByteArrayCodec;

/** Items as Java packs them and Lua reads them. */
class PackedArgumentsIT {

    private static final int HEAD = 3;
    private static final byte[][] HEAD_ARGUMENTS = {{'s'}, {'7'}, {}};

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private static String reader;

    @BeforeAll
    static void readLua() throws IOException {
        // Replies with the items one after the other, as they were before.
        reader = "local ITEMS_HEAD, ITEMS_WIDTH = 3, tonumber(ARGV[1])\n" + include("packed") + include("items") + """
                local reply = {}
                for c = 1, ITEMS_WIDTH do
                  assert(#items_columns[c] == items_count)
                  for i = 1, items_count do
                    reply[(i - 1) * ITEMS_WIDTH + c] = items_columns[c][i]
                  end
                end
                return reply
                """;
    }

    private static String include(String name) throws IOException {
        try (var in = LuaScript.class.getResourceAsStream("/io/github/redisdelay/queue/lua/include/" + name + ".lua")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static List<byte[]> read(Object... arguments) {
        return redis.client()
                .getScript(ByteArrayCodec.INSTANCE)
                .eval(RScript.Mode.READ_WRITE, reader, RedissonScriptExecutor.LIST, List.of("{any}"), arguments);
    }

    private static Object[] call(int width, List<byte[]> items) {
        List<Object> arguments = new ArrayList<>(Arrays.asList(HEAD_ARGUMENTS));
        arguments.set(0, String.valueOf(width).getBytes(StandardCharsets.US_ASCII));
        arguments.addAll(items);
        return arguments.toArray();
    }

    /** An argument of each item: the same, of one length, short or long ones. The first one is never empty. */
    private static byte[][] column(RandomGenerator random, int count, boolean first) {
        int kind = random.nextInt(4);
        int longest = kind == 3 ? 300 : 48;
        byte[] same = random(random, 1 + random.nextInt(longest));
        byte[][] values = new byte[count][];
        for (int i = 0; i < count; i++) {
            values[i] = switch (kind) {
                case 0 -> first || random.nextInt(8) > 0 ? same : same.clone();
                case 1 -> random(random, same.length);
                default -> random(random, (first ? 1 : 0) + random.nextInt(longest));
            };
        }
        return values;
    }

    private static byte[] random(RandomGenerator random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    @Test
    void should_read_what_was_packed() {
        int[] packed = {0};
        Fuzz.run("calls with many items", 2_000, random -> {
            int width = 1 + random.nextInt(5);
            int count = random.nextInt(4) == 0 ? 256 : 1 + random.nextInt(20);
            byte[][][] columns = IntStream.range(0, width)
                    .mapToObj(c -> column(random, count, c == 0))
                    .toArray(byte[][][]::new);
            List<byte[]> items = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                for (byte[][] values : columns) {
                    items.add(values[i]);
                }
            }
            Object[] plain = call(width, items);
            Object[] sent = PackedArguments.of(plain, HEAD, width, random.nextBoolean());
            packed[0] += sent == plain ? 0 : 1;
            assertThat(sent.length).isLessThanOrEqualTo(plain.length + 1);
            assertThat(read(sent)).usingElementComparator(Arrays::compare).isEqualTo(items);
        });
        assertThat(packed[0]).isPositive();
    }

    @Test
    void should_send_few_arguments_where_most_are_alike() {
        List<byte[]> items = new ArrayList<>();
        for (int i = 0; i < 256; i++) {
            items.add(("id-" + (1000 + i)).getBytes(StandardCharsets.US_ASCII));
            items.add(new byte[16]);
        }
        assertThat(PackedArguments.of(call(2, items), HEAD, 2, false)).hasSize(HEAD + 1);
        assertThat(PackedArguments.of(call(2, items), HEAD, 2, true)).hasSize(HEAD + 1 + 256);
        assertThat(PackedArguments.of(call(2, items.subList(0, 4)), HEAD, 2, false))
                .hasSize(HEAD + 1);
        assertThat(PackedArguments.of(call(2, items.subList(0, 2)), HEAD, 2, false))
                .hasSize(HEAD + 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 11, 40, 100})
    void should_pack_a_single_item_that_begins_as_packed_ones_do(int length) {
        List<byte[]> item = List.of(new byte[length], new byte[] {7});

        assertThat(read(PackedArguments.of(call(2, item), HEAD, 2, false)))
                .usingElementComparator(Arrays::compare)
                .isEqualTo(item);
    }

    /** The part behind the head: the number of items, how their values stand there, and the short ones. */
    private static byte[] text(int count, int[] forms, String values) {
        ByteBuffer text = ByteBuffer.allocate(3 + 4 * forms.length + values.length())
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) 0)
                .putShort((short) count);
        for (int form : forms) {
            text.putInt(form);
        }
        return text.put(values.getBytes(StandardCharsets.ISO_8859_1)).array();
    }

    /** As no client of this project packs them. */
    @Test
    void should_refuse_items_that_are_not_all_there() {
        byte[] two = {'2'};
        byte[] body = {'b'};
        int[] forms = {4 * 2 + 1, 2};
        assertThat(read(two, two, two, text(2, forms, "abcd"), body, body)).hasSize(4);
        for (Object[] behind : List.of(
                new Object[] {text(2, forms, "abcd"), body},
                new Object[] {text(2, forms, "abcd"), body, body, body},
                new Object[] {text(2, forms, "abc"), body, body},
                new Object[] {text(2, forms, "abcde"), body, body},
                new Object[] {text(3, forms, "abcd"), body, body},
                new Object[] {text(2, new int[] {4 * 2 + 1}, "abcd"), body, body},
                new Object[] {new byte[1], body, body},
                new Object[] {new byte[0]},
                new Object[] {})) {
            assertRefused(two, behind);
        }
        for (int form : new int[] {1, 4 * 3, 4 * 3 + 1, 5 * 4, 3, 6, 7, -1, -2, -3, -4, Integer.MAX_VALUE}) {
            assertRefused(two, text(2, new int[] {form, 2}, "abcd"), body, body);
            assertRefused(two, text(2, new int[] {4 * 2 + 1, form}, "abcd"), body, body);
        }
    }

    private static void assertRefused(byte[] width, Object... behind) {
        Object[] arguments = new Object[HEAD + behind.length];
        Arrays.fill(arguments, 0, HEAD, width);
        System.arraycopy(behind, 0, arguments, HEAD, behind.length);
        assertThatThrownBy(() -> read(arguments)).hasMessageContaining("REDISDELAY argument: number of items");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 257, 65_535})
    void should_refuse_a_number_of_items_that_no_call_has(int count) {
        assertRefused(new byte[] {'1'}, (Object) text(count, new int[] {4}, "a"));
    }
}
