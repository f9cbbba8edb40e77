// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.envelope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ShownId;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.MessageRows;
import io.github.redisdelay.queue.internal.format.PageCursor;
import io.github.redisdelay.queue.internal.format.StateRecord;
import io.github.redisdelay.testkit.Fuzz;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Whatever is in Redis, what reads it throws only what it says, and takes no more memory than the bytes are worth. */
class EnvelopeFuzzTest {

    /**
     * The most memory for each byte. The dearest are headers whose names and values have a character each: seven bytes that
     * become an entry of a map, two texts and what reads them.
     */
    private static final int FACTOR = 120;

    /** For an exception and its stack trace, and what is made once. */
    private static final long ANYWAY = 60_000;

    private static Object scalar(RandomGenerator random) {
        return switch (random.nextInt(10)) {
            case 0 -> (byte) random.nextInt();
            case 1 -> (short) random.nextInt();
            case 2 -> random.nextInt();
            case 3 -> random.nextLong();
            case 4 -> random.nextFloat() * (random.nextBoolean() ? Float.MIN_VALUE : 1e30f);
            case 5 -> random.nextInt(4) == 0 ? Double.NEGATIVE_INFINITY : random.nextDouble();
            case 6 -> integer(random);
            case 7 -> new BigDecimal(integer(random), random.nextInt(20_001) - 10_000);
            case 8 -> random.nextBoolean();
            default -> Fuzz.wellFormed(random, 300);
        };
    }

    private static BigInteger integer(RandomGenerator random) {
        int bits = random.nextInt(8) == 0 ? random.nextInt(13_000) : random.nextInt(80);
        BigInteger any = new BigInteger(1, Arrays.copyOf(Fuzz.bytes(random, bits / 8), bits / 8));
        return random.nextBoolean() ? any : any.negate();
    }

    private static Object headerValue(RandomGenerator random) {
        return switch (random.nextInt(6)) {
            case 0 -> Instant.ofEpochSecond(random.nextLong(-1L << 35, 1L << 40), random.nextInt(1_000_000_000));
            case 1 -> new UUID(random.nextLong(), random.nextLong());
            case 2 -> Fuzz.bytes(random, 40);
            default -> scalar(random);
        };
    }

    private static Duration duration(RandomGenerator random) {
        return random.nextInt(3) > 0 ? null : Duration.ofMillis(1 + (random.nextLong() >>> 1 + random.nextInt(62)));
    }

    static Envelope envelope(RandomGenerator random) {
        Object body =
                switch (random.nextInt(4)) {
                    case 0 -> null;
                    case 1 -> Fuzz.bytes(random, 300);
                    default -> scalar(random);
                };
        Map<String, Object> headers = new LinkedHashMap<>();
        for (int i = random.nextInt(6); i > 0; i--) {
            headers.put(Fuzz.wellFormed(random, 100), headerValue(random));
        }
        return Envelope.of(
                body,
                random.nextBoolean() ? null : Fuzz.wellFormed(random, 60),
                headers,
                new Envelope.Settings(
                        duration(random),
                        duration(random),
                        random.nextInt(3) > 0 ? null : Fuzz.wellFormed(random, 100)));
    }

    @Test
    void should_read_every_envelope_as_it_was_written() {
        Fuzz.run("envelopes", 5_000, random -> {
            Envelope written = envelope(random);
            byte[] bytes = written.encode();
            Envelope read = Envelope.decode(bytes);
            assertThat(bytes).hasSize(written.size());
            assertThat(read).isEqualTo(written);
            assertThat(read.encode()).isEqualTo(bytes);
            assertThat(read.headers().keySet())
                    .containsExactlyElementsOf(written.headers().keySet());
            assertThat(read.settings()).isEqualTo(written.settings());
        });
    }

    @Test
    void should_refuse_what_is_no_envelope_with_the_one_error_and_little_memory() {
        byte[][] other = {new byte[0]};
        Fuzz.run("changed envelopes", 20_000, random -> {
            byte[] bytes = envelope(random).encode();
            byte[] changed = random.nextInt(20) == 0 ? spliced(bytes, other[0], random) : Fuzz.mutated(bytes, random);
            other[0] = bytes;
            check(changed);
        });
    }

    private static byte[] spliced(byte[] a, byte[] b, RandomGenerator random) {
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.write(a, 0, random.nextInt(a.length + 1));
        int from = random.nextInt(b.length + 1);
        both.write(b, from, b.length - from);
        return both.toByteArray();
    }

    @Test
    void should_refuse_any_bytes_with_the_one_error_and_little_memory() {
        Fuzz.run("any bytes as envelope", 20_000, random -> {
            byte[] bytes = Fuzz.bytes(random, random.nextInt(100) == 0 ? 60_000 : 60);
            if (bytes.length > 1) {
                bytes[0] = (byte) 0xF9;
                bytes[1] &= 0x1F;
                if (bytes.length > 4 && random.nextBoolean()) {
                    // Fields that fill it, in small pieces.
                    bytes[1] |= 0x10;
                    int length = bytes.length - 4 & 0x3FFF;
                    bytes[2] = (byte) (length | 0x80);
                    bytes[3] = (byte) (length >>> 7);
                    for (int i = 4; i + 1 < bytes.length; i += 2 + bytes[i + 1]) {
                        bytes[i] &= 0x83;
                        bytes[i + 1] &= 0x0F;
                    }
                }
            }
            check(bytes);
        });
    }

    /** The cheapest inputs for what costs most to read. */
    @Test
    void should_take_little_memory_for_the_dearest_envelopes() {
        for (int type = 0; type <= 13; type++) {
            ByteArrayOutputStream fields = new ByteArrayOutputStream();
            for (int i = 0; fields.size() < 200_000; i++) {
                byte[] name = Integer.toString(i, 36).getBytes(StandardCharsets.US_ASCII);
                byte[] value =
                        switch (type) {
                            case 0, 1, 12 -> new byte[] {(byte) Math.max(1, type)};
                            case 2, 3 -> new byte[] {(byte) type, 1};
                            case 4 -> new byte[] {4, 0, 1};
                            case 5, 7 -> new byte[] {(byte) type, 0, 0, 0, 1};
                            case 6, 8 -> new byte[] {(byte) type, 0, 0, 0, 0, 0, 0, 0, 1};
                            case 9, 10 -> new byte[] {(byte) type, '7'};
                            case 11 -> Arrays.copyOf(new byte[] {11}, 13);
                            default -> Arrays.copyOf(new byte[] {13}, 17);
                        };
                if (type == 0) {
                    fields.writeBytes(new byte[] {4, 0}); // a field that is skipped
                } else {
                    fields.write(Envelope.TAG_HEADER);
                    fields.write(1 + name.length + value.length);
                    fields.write(name.length);
                    fields.writeBytes(name);
                    fields.writeBytes(value);
                }
            }
            byte[] bytes = new byte[fields.size() + 5];
            bytes[0] = (byte) 0xF9;
            bytes[1] = 0x10;
            int head = EnvelopeWriter.varint(bytes, 2, fields.size());
            System.arraycopy(fields.toByteArray(), 0, bytes, head, fields.size());
            bytes = Arrays.copyOf(bytes, head + fields.size());
            check(bytes);
            assertThat(Envelope.decode(bytes).headers().isEmpty()).isEqualTo(type == 0);
        }
    }

    private static void check(byte[] bytes) {
        Envelope[] read = new Envelope[1];
        int[] offset = {0};
        Fuzz.assertAllocates(ANYWAY + (long) FACTOR * bytes.length, () -> Fuzz.hex(bytes), () -> {
            try {
                read[0] = Envelope.decode(bytes);
            } catch (EnvelopeFormatException e) {
                offset[0] = e.getOffset();
            }
        });
        assertThat(offset[0]).isBetween(0, bytes.length);
        if (read[0] != null) {
            // An envelope that can be read can be written, and is the same then.
            byte[] written = read[0].encode();
            assertThat(read[0].size()).isEqualTo(written.length);
            assertThat(Envelope.decode(written)).isEqualTo(read[0]).hasSameHashCodeAs(read[0]);
        }
    }

    @Test
    void should_write_a_decimal_that_was_as_long_as_one_may_be() {
        // As Java would write it, it has a character more: the point.
        String text = "1".repeat(4092) + "E+5";
        byte[] value = text.getBytes(StandardCharsets.US_ASCII);
        byte[] bytes =
                Envelope.of(null, null, Map.of("d", "x".repeat(value.length))).encode();
        // The same envelope, with a decimal where the text was.
        int at = bytes.length - value.length;
        bytes[at - 1] = EnvelopeWriter.DECIMAL;
        System.arraycopy(value, 0, bytes, at, value.length);

        Envelope read = Envelope.decode(bytes);

        assertThat(read.headers().get("d")).isEqualTo(new BigDecimal(text));
        assertThat(Envelope.decode(read.encode())).isEqualTo(read);
    }

    @Test
    void should_read_every_state_record_of_its_length() {
        Fuzz.run("state records", 20_000, random -> {
            byte[] bytes = Fuzz.bytes(random, 100);
            if (bytes.length < 40) {
                bytes = Arrays.copyOf(bytes, 40);
            }
            StateRecord record = StateRecord.parse(bytes);
            assertThat(record.priority()).isBetween(0, 15);
            assertThat(record.redeliveryReason()).isNotNull();
            if (record.group() == null) {
                assertThat(record.lastFailure()).hasSize(bytes.length - 40);
            } else {
                // The group is in front of it.
                assertThat(bytes[3] & 0xff).isGreaterThanOrEqualTo(64);
                assertThat(record.lastFailure()).hasSizeLessThan(bytes.length - 41);
            }
        });
    }

    /** A reply as the script makes it, of what may be in Redis. */
    private static List<Object> claimReply(RandomGenerator random) {
        int count = random.nextInt(4);
        int dropped = random.nextInt(3);
        List<Object> reply = new ArrayList<>();
        ByteBuffer head = ByteBuffer.allocate(40).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 4; i++) {
            head.putDouble(number(random));
        }
        head.putInt(count).putInt(dropped);
        boolean sameIdLength = random.nextBoolean();
        boolean sameRecord = random.nextBoolean();
        ByteBuffer idLengths = ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer recordLengths = ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
        ByteArrayOutputStream ids = new ByteArrayOutputStream();
        ByteArrayOutputStream records = new ByteArrayOutputStream();
        List<byte[]> bodies = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] id = sameIdLength ? new byte[14] : Fuzz.bytes(random, 30);
            boolean brief = random.nextInt(4) == 0;
            byte[] record = Arrays.copyOf(Fuzz.bytes(random, 80), brief ? 24 : 40 + random.nextInt(40));
            idLengths.putInt(id.length);
            recordLengths.putInt(record.length);
            ids.writeBytes(id);
            if (i == 0 || !sameRecord) {
                records.writeBytes(record);
            }
            bodies.add(Fuzz.bytes(random, 20));
        }
        reply.add(head.array());
        reply.add(Arrays.copyOf(idLengths.array(), sameIdLength ? Math.min(4, 4 * count) : 4 * count));
        reply.add(ids.toByteArray());
        reply.add(sameRecord ? new byte[0] : recordLengths.array());
        reply.add(records.toByteArray());
        reply.addAll(bodies);
        for (int i = 0; i < dropped; i++) {
            reply.add(Fuzz.bytes(random, 20));
        }
        return reply;
    }

    private static double number(RandomGenerator random) {
        double[] odd = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, -0.0, -1, 1e300, 0.5};
        return random.nextInt(4) == 0 ? odd[random.nextInt(odd.length)] : random.nextLong(1L << 53);
    }

    @Test
    void should_read_every_reply_to_a_claim_and_refuse_what_is_none() {
        Fuzz.run("replies to claims", 10_000, random -> {
            List<Object> reply = claimReply(random);
            ClaimReply whole = ClaimReply.parse(reply);
            assertThat(whole.messages().size() + whole.dropped().size()).isEqualTo(reply.size() - 5);
            assertThat(whole.messages())
                    .allSatisfy(message -> assertThat(message.attempt()).isPositive());

            if (!whole.messages().isEmpty()) {
                List<Object> without = new ArrayList<>(reply);
                without.set(1, new byte[0]);
                assertThatThrownBy(() -> ClaimReply.parse(without)).hasMessageContaining("no lengths of ids");
            }

            int at = random.nextInt(reply.size());
            switch (random.nextInt(4)) {
                case 0 -> reply.remove(at);
                case 1 -> reply.add(at, Fuzz.bytes(random, 50));
                case 2 -> reply.set(at, 7L);
                default -> reply.set(at, Fuzz.mutated((byte[]) reply.get(at), random));
            }
            int size = reply.stream()
                    .mapToInt(part -> part instanceof byte[] bytes ? bytes.length : 0)
                    .sum();
            Fuzz.assertAllocates(ANYWAY + 200L * size, reply::toString, () -> {
                try {
                    ClaimReply.parse(reply);
                } catch (DelayQueueException e) {
                    assertThat(e.getMessage()).startsWith("the reply to a claim");
                }
            });
        });
    }

    @Test
    void should_read_every_page_and_go_on_behind_any_score() {
        Fuzz.run("pages", 10_000, random -> {
            List<Object> reply = new ArrayList<>();
            int count = random.nextInt(4);
            for (int i = 0; i < count; i++) {
                reply.add(Fuzz.bytes(random, 30));
                reply.add(ByteBuffer.allocate(8)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putDouble(number(random))
                        .array());
                reply.add(new byte[] {(byte) ('0' + random.nextInt(10))});
                reply.add(Arrays.copyOf(Fuzz.bytes(random, 80), 40 + random.nextInt(40)));
                reply.add(Fuzz.bytes(random, 10));
            }
            MessageState state = random.nextBoolean() ? MessageState.DELAYED : MessageState.LEASED;
            boolean newest = random.nextBoolean();
            MessagePage page = MessageRows.page(reply, state, Math.max(1, count), 'd', newest);
            assertThat(page.messages()).hasSize(count);
            double score = count == 0
                    ? 0
                    : ByteBuffer.wrap((byte[]) reply.get(5 * count - 4))
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .getDouble();
            if (page.next() != null && !Double.isNaN(score)) {
                PageCursor cursor = PageCursor.parse('d', page.next());
                assertThat(cursor.id()).isEqualTo(reply.get(5 * count - 5));
                assertThat(cursor.newest()).isEqualTo(newest);
                String read = cursor.score().replace("inf", "Infinity");
                assertThat(Double.parseDouble(read) == score).as(read).isTrue();
            }
            if (count > 0) {
                int at = random.nextInt(reply.size());
                reply.set(at, Fuzz.mutated((byte[]) reply.get(at), random));
                try {
                    MessageRows.page(reply, state, 1, 'd', newest);
                    reply.add(new byte[] {'l'});
                    reply.add(Fuzz.bytes(random, 20));
                    MessageRows.get(reply.subList(reply.size() - 7, reply.size()));
                } catch (DelayQueueException e) {
                    assertThat(e).hasMessageContaining("the reply of a script");
                }
            }
        });
    }

    @Test
    void should_read_every_cursor_that_was_given_and_refuse_all_others() {
        Fuzz.run("cursors", 20_000, random -> {
            char list = "dlDL".charAt(random.nextInt(4));
            String given = PageCursor.text(list, random.nextBoolean(), number(random), Fuzz.bytes(random, 40));
            String text =
                    switch (random.nextInt(3)) {
                        case 0 -> given;
                        case 1 ->
                            new String(
                                    Fuzz.mutated(given.getBytes(StandardCharsets.ISO_8859_1), random),
                                    StandardCharsets.ISO_8859_1);
                        default -> Fuzz.text(random, 200);
                    };
            try {
                PageCursor cursor = PageCursor.parse(list, text);
                assertThat(text).startsWith(String.valueOf(list));
                assertThat(cursor.score()).matches("-?(inf|[0-9.E-]+)");
            } catch (IllegalArgumentException e) {
                assertThat(e).hasMessageContaining("is none that this list has answered");
                assertThat(e.getMessage().length()).isLessThan(250);
            }
        });
    }

    @Test
    void should_show_no_id_as_lines_of_the_log() {
        assertThat(ShownId.of("order-1 ü")).isEqualTo("order-1 ü");
        assertThat(ShownId.of("a\r\n2026 WARN all is lost\u2028\u0085\u001b[31m"))
                .isEqualTo("a??2026 WARN all is lost???[31m");
        assertThat(ShownId.of("x".repeat(1_000_000))).hasSize(301).endsWith("x…");
    }
}
