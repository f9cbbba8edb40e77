// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serial;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.ConsumerTemplate;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.support.DefaultExchangeHolder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.BaseCodec;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.protocol.Decoder;
import org.redisson.client.protocol.Encoder;
import org.redisson.codec.Kryo5Codec;
import org.redisson.codec.SerializationCodec;
import org.redisson.config.Config;

/** Nothing that is stored is made an object by a format that names classes, wherever it lies and whatever it claims to be. */
class DeserializationSecurityIT extends ConsumerSideIT {

    /** Tells when it was read by Java's serialization, or made by its constructor as other formats do. */
    public static class Gadget implements Serializable {

        @Serial
        private static final long serialVersionUID = 1L;

        private static final AtomicInteger FIRED = new AtomicInteger();

        public Gadget() {
            FIRED.incrementAndGet();
        }

        @Serial
        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            FIRED.incrementAndGet();
            in.defaultReadObject();
        }

        @Override
        public int hashCode() {
            return 7;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Gadget;
        }
    }

    private static final List<String> CONTENT_TYPES = List.of(
            "application/x-java-serialized-object",
            "application/x-java-object; class=" + Gadget.class.getName(),
            "application/x-camel-serialized",
            "application/xml+xstream");

    private byte[] gadget;

    @BeforeEach
    void makeGadget() throws Exception {
        gadget = serialized(new Gadget());
        assertThat(gadget).startsWith(0xAC, 0xED, 0x00, 0x05);
        // The gadget works: else the tests would show nothing.
        Gadget.FIRED.set(0);
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(gadget))) {
            assertThat(in.readObject()).isInstanceOf(Gadget.class);
        }
        assertThat(Gadget.FIRED).hasValue(1);
        Gadget.FIRED.set(0);
    }

    @AfterEach
    void hasNotFired() {
        assertThat(Gadget.FIRED).as("objects made of stored bytes").hasValue(0);
    }

    private static byte[] serialized(Object object) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(object);
        }
        return bytes.toByteArray();
    }

    /** All that an attacker may make of it, as bodies. */
    private List<byte[]> forms() throws Exception {
        Exchange exchange = new org.apache.camel.support.DefaultExchange(context);
        exchange.getMessage().setBody(new Gadget());
        exchange.getMessage().setHeader("g", new Gadget());
        byte[] holder = serialized(DefaultExchangeHolder.marshal(exchange));
        byte[] kryo;
        var encoded = new Kryo5Codec().getValueEncoder().encode(new Gadget());
        kryo = new byte[encoded.readableBytes()];
        encoded.readBytes(kryo);
        encoded.release();
        Gadget.FIRED.set(0);
        String name = Gadget.class.getName();
        return List.of(
                gadget,
                holder,
                kryo,
                ("{\"@class\":\"" + name + "\"}").getBytes(StandardCharsets.UTF_8),
                ("[\"" + name + "\",{}]").getBytes(StandardCharsets.UTF_8),
                ("!!" + name + " {}").getBytes(StandardCharsets.UTF_8),
                ("<java><object class=\"" + name + "\"/></java>").getBytes(StandardCharsets.UTF_8));
    }

    /** As others may have stored it: without our reading it first. */
    private void store(String id, byte[] afterTimes, byte[] state) {
        byte[] body = new byte[16 + afterTimes.length];
        System.arraycopy(afterTimes, 0, body, 16, afterTimes.length);
        redis.client()
                .getScript(ByteArrayCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_WRITE,
                        "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) if #ARGV[3] > 0 then "
                                + "redis.call('HSET', KEYS[3], ARGV[1], ARGV[3]) end "
                                + "return redis.call('ZADD', KEYS[2], 1, ARGV[1])",
                        RScript.ReturnType.VALUE,
                        List.of(key("messages"), key("delayed"), key("state")),
                        id.getBytes(StandardCharsets.UTF_8),
                        body,
                        state);
    }

    private String key(String part) {
        return "redis-delay:{" + queue + "}:" + part;
    }

    /** A state record with something in the place of the failure. */
    private static byte[] record(byte[] failure) {
        byte[] record = Arrays.copyOf(new byte[] {1, 0, 1}, 40 + failure.length);
        System.arraycopy(failure, 0, record, 40, failure.length);
        return record;
    }

    @Test
    void should_give_a_route_bytes_and_texts_and_no_objects() throws Exception {
        int count = 0;
        for (byte[] form : forms()) {
            for (String type : CONTENT_TYPES) {
                for (Object body : List.of(form, new String(form, StandardCharsets.ISO_8859_1))) {
                    Map<String, Object> headers = new HashMap<>();
                    headers.put("bytes", form);
                    headers.put("text", new String(form, StandardCharsets.ISO_8859_1));
                    headers.put("Content-Encoding", "gzip");
                    byte[] envelope = Envelope.of(body, type, headers).encode();
                    store("m" + count++, envelope, record(form));
                }
            }
        }
        start(consume(FAST + "&concurrentConsumers=4", this::take));
        for (int i = 0; i < count; i++) {
            Message message = next();
            assertThat(message.getBody()).isInstanceOfAny(byte[].class, String.class);
            assertThat(message.getHeader("bytes")).isInstanceOf(byte[].class);
            assertThat(message.getHeader("text")).isInstanceOf(String.class);
            assertThat(CONTENT_TYPES).contains(message.getHeader(Exchange.CONTENT_TYPE, String.class));
        }
        assertEmpty();
    }

    @Test
    void should_bury_it_where_it_is_no_envelope_and_hand_it_on_as_bytes() throws Exception {
        List<byte[]> forms = forms();
        for (int i = 0; i < forms.size(); i++) {
            store("m" + i, forms.get(i), record(forms.get(i)));
        }
        start(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + FAST).routeId("consumer").process(exchange -> {
                    throw new AssertionError("was delivered");
                });
            }
        });
        await().until(() -> stats().dead() == forms.size());
        for (Map<?, ?> entry : list("dead")) {
            assertThat(entry.get("deadLetterReason")).isEqualTo("unreadable");
            Message looked = send(
                            uri + "?operation=get",
                            null,
                            Map.of(RedisDelayConstants.SCHEDULE_ID, entry.get("deadLetterId")))
                    .getMessage();
            assertThat(looked.getBody()).isInstanceOf(byte[].class);
        }
        context.getRouteController().stopRoute("consumer");
        context.removeRoute("consumer");
        start(consume("?state=dead", this::take));
        for (int i = 0; i < forms.size(); i++) {
            assertThat(next().getBody()).isInstanceOf(byte[].class);
        }
    }

    private List<Map<?, ?>> list(String state) {
        return send(uri + "?operation=list&limit=256&state=" + state, null, Map.of())
                .getMessage()
                .getBody(List.class);
    }

    @Test
    void should_read_it_in_no_record_and_no_page() throws Exception {
        context.start();
        int count = 0;
        for (byte[] form : forms()) {
            store("m" + count++, Envelope.of(form).encode(), record(form));
            store("m" + count++, form, form);
        }
        assertThat(list("delayed")).hasSize(count);
        for (int i = 0; i < count; i++) {
            Message looked = send(uri + "?operation=get", null, Map.of(RedisDelayConstants.SCHEDULE_ID, "m" + i))
                    .getMessage();
            assertThat(looked.getBody()).isInstanceOf(byte[].class);
        }
        ConsumerTemplate consumer = context.createConsumerTemplate();
        for (int i = 0; i < count / 2; i++) {
            assertThat(consumer.receiveBody(uri, 20_000)).isInstanceOf(byte[].class);
        }
        assertThat(send(uri + "?operation=redrive&all=true", null, Map.of()).getException())
                .isNull();
    }

    @Test
    void should_refuse_to_store_an_object() {
        context.start();
        Exchange sent = send(uri, new Gadget(), Map.of());
        assertThat(sent.getException())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("marshal it first");
        Exchange header = send(uri, "x", Map.of("g", new Gadget(), RedisDelayConstants.SCHEDULE_ID, "a"));
        assertThat(header.getException()).isNull();
        assertThat(Envelope.decode(stored().get("a").join().orElseThrow().body())
                        .headers())
                .isEmpty();
        Gadget.FIRED.set(0); // made by this test
    }

    /** Fails on whatever goes through it. */
    private static final class NoCodec extends BaseCodec {

        private final AtomicInteger used = new AtomicInteger();

        @Override
        public Decoder<Object> getValueDecoder() {
            return (buffer, state) -> {
                used.incrementAndGet();
                throw new IOException("decoded");
            };
        }

        @Override
        public Encoder getValueEncoder() {
            return value -> {
                used.incrementAndGet();
                throw new IOException("encoded " + value);
            };
        }
    }

    /** Whatever codec the user's client has, none of ours goes through it. */
    @Test
    void should_use_no_codec_of_the_users_client() throws Exception {
        NoCodec none = new NoCodec();
        for (var codec : List.of(none, new Kryo5Codec(), new SerializationCodec())) {
            Config config = new Config();
            config.useSingleServer().setAddress(redis.address()).setConnectionMinimumIdleSize(1);
            config.setCodec(codec);
            RedissonClient given = Redisson.create(config);
            String name = redis.uniqueQueue();
            try (var users = new org.apache.camel.impl.DefaultCamelContext()) {
                users.getRegistry().bind("given", given);
                users.addRoutes(new RouteBuilder() {
                    @Override
                    public void configure() {
                        errorHandler(noErrorHandler());
                        from("redis-delay:" + name + FAST + "&maximumRedeliveries=1")
                                .routeId("consumer")
                                .process(exchange -> {
                                    take(exchange);
                                    throw new IllegalStateException("no");
                                });
                    }
                });
                users.start();
                var own = users.createProducerTemplate();
                own.sendBodyAndHeader("redis-delay:" + name, gadget, "h", gadget);
                next();
                next();
                try (DelayQueueClient client = DelayQueueClient.create(given, ClientOptions.DEFAULTS)) {
                    await().until(() ->
                            client.queue(name).admin().stats().join().dead() == 1);
                    assertThat(client.queue(name)
                                    .deadLetters()
                                    .admin()
                                    .list(io.github.redisdelay.queue.MessageState.DELAYED, PageStart.first(), 1)
                                    .join()
                                    .messages())
                            .hasSize(1);
                    client.queue(name)
                            .schedule(ScheduleRequest.of("a", gadget, DueTime.after(java.time.Duration.ofHours(1))))
                            .result()
                            .join();
                    client.queue(name).cancel("a").result().join();
                    client.queue(name).admin().pause().result().join();
                    client.queue(name).admin().resume().result().join();
                    assertThat(own.requestBody("redis-delay:" + name + "?operation=redrive&all=true", (Object) null))
                            .isNull();
                }
                next();
            } finally {
                given.shutdown();
            }
        }
        assertThat(none.used).as("uses of the codec").hasValue(0);
    }

    /** A value that was written through such a codec is bytes to us. */
    @Test
    void should_not_read_what_a_codec_has_written() throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(redis.address()).setConnectionMinimumIdleSize(1);
        config.setCodec(new SerializationCodec());
        RedissonClient others = Redisson.create(config);
        try {
            others.getMap(key("messages")).put("a", new Gadget());
            others.getScoredSortedSet(key("delayed")).add(1, "a");
            Gadget.FIRED.set(0);
            Delivery delivery = claim(stored());
            assertThat(delivery.id()).isNotEqualTo("a");
            delivery.settle(Settlement.ACKNOWLEDGE).result().join();
        } finally {
            others.shutdown();
        }
    }
}
