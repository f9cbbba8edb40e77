// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.redisdelay.camel.RedisDelayHeaderFilterStrategy;
import io.github.redisdelay.camel.option.OncePerName;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.envelope.Envelope.BodyType;
import io.github.redisdelay.queue.envelope.Envelope.Settings;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collections;
import java.util.Currency;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.Source;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.sax.SAXSource;
import javax.xml.transform.stream.StreamSource;
import org.apache.camel.CamelContext;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.StreamCache;
import org.apache.camel.WrappedFile;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.component.file.GenericFile;
import org.apache.camel.component.mock.MockEndpoint;
import org.apache.camel.converter.stream.CachedOutputStream;
import org.apache.camel.converter.stream.FileInputStreamCache;
import org.apache.camel.converter.stream.InputStreamCache;
import org.apache.camel.converter.stream.ReaderCache;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.spi.HeaderFilterStrategy;
import org.apache.camel.support.DefaultExchange;
import org.apache.camel.support.DefaultMessage;
import org.apache.camel.support.TypeConverterSupport;
import org.apache.camel.util.xml.BytesSource;
import org.apache.camel.util.xml.StringSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class MessageMapperTest {

    private static final int LIMIT = 1000;

    /** Lets everything pass. */
    private static final HeaderFilterStrategy NO_FILTER = new HeaderFilterStrategy() {
        @Override
        public boolean applyFilterToCamelHeaders(String name, Object value, Exchange exchange) {
            return false;
        }

        @Override
        public boolean applyFilterToExternalHeaders(String name, Object value, Exchange exchange) {
            return false;
        }
    };

    private final CamelContext context = new DefaultCamelContext();
    private final MessageMapper mapper = new MessageMapper("orders", new RedisDelayHeaderFilterStrategy(), LIMIT);

    private final Logger log = (Logger) LoggerFactory.getLogger(MessageMapper.class);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

    @TempDir
    Path directory;

    @BeforeEach
    void start() {
        context.start();
        logged.start();
        log.addAppender(logged);
        log.setAdditive(false);
    }

    @AfterEach
    void stop() {
        log.setAdditive(true);
        log.detachAppender(logged);
        context.stop();
    }

    // ---- bodies

    static Stream<Object> nativeBodies() {
        return Stream.of(
                new byte[] {1, 2, -1},
                "grüße",
                "",
                true,
                (byte) 1,
                (short) 2,
                3,
                4L,
                5.5f,
                6.5d,
                new BigDecimal("7.50"),
                BigInteger.TWO.pow(100));
    }

    private static Envelope envelope(MessageMapper mapper, Exchange exchange) {
        return mapper.toEnvelope(exchange, exchange, Settings.NONE);
    }

    @ParameterizedTest
    @MethodSource("nativeBodies")
    void a_native_body_comes_back_as_it_was(Object body) {
        assertThat(roundTrip(body)).isEqualTo(body).hasSameClassAs(body);
    }

    @Test
    void a_null_body_comes_back() {
        assertThat(store(null).bodyType()).isEqualTo(BodyType.NULL);
        assertThat(roundTrip(null)).isNull();
    }

    @Test
    void a_stream_is_stored_as_its_bytes_and_closed() {
        WatchedStream stream = new WatchedStream("grüße".getBytes(StandardCharsets.ISO_8859_1));

        assertThat(store(stream).body()).isEqualTo("grüße".getBytes(StandardCharsets.ISO_8859_1));
        assertThat(stream.closed).isTrue();
    }

    @Test
    void a_reader_is_stored_as_text() {
        assertThat(store(new StringReader("grüße \uD83D\uDE00")).body()).isEqualTo("grüße \uD83D\uDE00");
    }

    @Test
    void characters_are_stored_as_text() {
        assertThat(store("grüße".toCharArray()).body()).isEqualTo("grüße");
        assertThat(store(new StringBuilder("grüße")).body()).isEqualTo("grüße");
        assertThat(store(CharBuffer.wrap("grüße")).body()).isEqualTo("grüße");
    }

    @Test
    void a_byte_buffer_is_stored_from_where_it_stands_and_stays_there() {
        ByteBuffer buffer = ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5}, 1, 3);
        ByteBuffer direct =
                ByteBuffer.allocateDirect(2).put((byte) 7).put((byte) 8).flip();

        assertThat(store(buffer).body()).isEqualTo(new byte[] {2, 3, 4});
        assertThat(buffer.remaining()).isEqualTo(3);
        assertThat(store(direct).body()).isEqualTo(new byte[] {7, 8});
        assertThat(store(buffer.asReadOnlyBuffer()).body()).isEqualTo(new byte[] {2, 3, 4});
    }

    @Test
    void a_file_is_stored_as_its_bytes() throws IOException {
        assertThat(store(file("content")).body()).isEqualTo("content".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void a_file_that_cannot_be_read_is_an_error_with_its_name() {
        assertThatThrownBy(() -> store(directory.resolve("none").toFile()))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("body of type java.io.File cannot be read")
                .hasMessageContaining("none");
    }

    @Test
    void a_file_of_the_file_component_is_stored_as_its_bytes() throws Exception {
        file("content");
        List<Envelope> stored = Collections.synchronizedList(new ArrayList<>());
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("file:" + directory + "?noop=true&initialDelay=0&delay=10")
                        .process(exchange -> {
                            assertThat(exchange.getMessage().getBody()).isInstanceOf(GenericFile.class);
                            stored.add(envelope(mapper, exchange));
                        })
                        .to("mock:done");
            }
        });
        MockEndpoint done = context.getEndpoint("mock:done", MockEndpoint.class);
        done.expectedMessageCount(1);
        done.assertIsSatisfied(20_000);

        assertThat(stored.get(0).body()).isEqualTo("content".getBytes(StandardCharsets.UTF_8));
        assertThat(stored.get(0).headers()).isEmpty();
    }

    @Test
    void a_wrapped_file_is_stored_as_its_content() throws IOException {
        byte[] bytes = "content".getBytes(StandardCharsets.UTF_8);
        File file = file("content");

        assertThat(store(new Wrapped(null, "content")).body()).isEqualTo("content");
        assertThat(store(new Wrapped(file, file)).body()).isEqualTo(bytes);
        assertThat(store(new Wrapped(file, null)).body()).isEqualTo(bytes);
        assertThat(store(new Wrapped("remote", new ByteArrayInputStream(bytes))).body())
                .isEqualTo(bytes);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store(new Wrapped("remote", Map.of())))
                .withMessageContaining("marshal it first");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store(new Wrapped("remote", null)))
                .withMessageContaining("Wrapped cannot be stored: its content cannot be had");
    }

    @Test
    void a_wrapped_file_without_content_is_read_by_camels_type_converter() {
        context.getTypeConverterRegistry()
                .addTypeConverter(InputStream.class, Wrapped.class, new TypeConverterSupport() {
                    @Override
                    public <T> T convertTo(Class<T> type, Exchange exchange, Object value) {
                        return type.cast(new ByteArrayInputStream(new byte[] {1, 2}));
                    }
                });

        assertThat(store(new Wrapped("remote", null)).body()).isEqualTo(new byte[] {1, 2});
    }

    @Test
    void a_dom_node_is_stored_as_text() throws Exception {
        Document document = document("<order id=\"7\"><item>ü</item><item>2</item></order>");

        assertThat((String) store(document).body()).endsWith("<order id=\"7\"><item>ü</item><item>2</item></order>");
        assertThat((String) store(document.getDocumentElement()).body())
                .endsWith("<order id=\"7\"><item>ü</item><item>2</item></order>");
        assertThat((String) store(document.getDocumentElement().getFirstChild()).body())
                .endsWith("<item>ü</item>");
        assertThat((String) store(new DOMSource(document)).body()).contains("<item>ü</item>");
    }

    @Test
    void xml_sources_are_stored_as_what_they_hold() {
        String xml = "<order>ü</order>";
        byte[] latin =
                "<?xml version='1.0' encoding='ISO-8859-1'?><order>ü</order>".getBytes(StandardCharsets.ISO_8859_1);

        assertThat(store(new StringSource(xml)).body()).isEqualTo(xml);
        assertThat(store(new StreamSource(new StringReader(xml))).body()).isEqualTo(xml);
        assertThat(store(new StreamSource(new ByteArrayInputStream(latin))).body())
                .isEqualTo(latin);
        assertThat(store(new BytesSource(latin)).body()).isEqualTo(latin);
        assertThat((String) store(new SAXSource(new InputSource(new ByteArrayInputStream(latin))))
                        .body())
                .endsWith(xml);
    }

    @Test
    void what_a_source_only_refers_to_is_not_fetched() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store(new StreamSource("file:///etc/hostname")))
                .withMessageContaining("has neither a reader nor a stream");
    }

    @Test
    void xml_is_refused_where_camel_would_fall_back_to_its_toString() throws Exception {
        Document document = document("<order/>");
        context.getTypeConverterRegistry().removeTypeConverter(String.class, Source.class);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> store(document))
                .withMessageContaining("add camel-xml-jaxp to the class path");
    }

    @Test
    void a_stream_cache_can_be_read_again() throws Exception {
        String xml = "<cached>grüße</cached>";
        byte[] bytes = xml.getBytes(StandardCharsets.UTF_8);
        CachedOutputStream spooled = new CachedOutputStream(exchange(null));
        spooled.write(bytes);
        List<StreamCache> caches = List.of(
                new InputStreamCache(bytes),
                spooled.newStreamCache(),
                new FileInputStreamCache(file(xml)),
                new ReaderCache(xml),
                streamCache(new StreamSource(new StringReader(xml))),
                streamCache(new StreamSource(new ByteArrayInputStream(bytes))),
                streamCache(new StringSource(xml)));
        for (StreamCache cache : caches) {
            Exchange exchange = exchange(cache);
            for (int i = 0; i < 2; i++) {
                Object body = envelope(mapper, exchange).body();
                assertThat(body instanceof byte[] b ? new String(b, StandardCharsets.UTF_8) : (String) body)
                        .as("stored from %s", cache.getClass())
                        .endsWith(xml);
            }
            assertThat(exchange.getMessage().getBody(String.class))
                    .as("read afterwards from %s", cache.getClass())
                    .endsWith(xml);
        }
    }

    @Test
    void a_stream_cache_that_can_only_be_written_out_is_stored_as_bytes() {
        assertThat(store(new PlainCache(new byte[] {1, 2})).body()).isEqualTo(new byte[] {1, 2});
    }

    @Test
    void a_stream_cache_that_was_partly_read_is_stored_whole() throws IOException {
        InputStreamCache cache = new InputStreamCache(new byte[] {1, 2, 3});
        assertThat(cache.read()).isEqualTo(1);

        assertThat(store(cache).body()).isEqualTo(new byte[] {1, 2, 3});
        assertThat(cache.readAllBytes()).isEqualTo(new byte[] {1, 2, 3});
    }

    @Test
    void a_stream_cache_that_is_too_large_can_be_read_again() {
        InputStreamCache cache = new InputStreamCache(new byte[LIMIT + 1]);

        assertThatIllegalArgumentException().isThrownBy(() -> store(cache));
        assertThat(cache.readAllBytes()).hasSize(LIMIT + 1);
    }

    enum Colour {
        RED {
            @Override
            public String toString() {
                return "rouge";
            }
        }
    }

    static final class Order {}

    static Stream<Arguments> refusedBodies() {
        return Stream.<Object>of(
                        new Order(),
                        new Object(),
                        Map.of("a", 1),
                        List.of("a"),
                        new String[] {"a"},
                        new int[] {1},
                        new Object[0],
                        new Byte[] {1},
                        Optional.of("a"),
                        Colour.RED,
                        UUID.randomUUID(),
                        Instant.EPOCH,
                        new Date(),
                        URI.create("http://localhost"),
                        new AtomicLong(1),
                        Path.of("x"),
                        new RuntimeException("x"),
                        Order.class)
                .map(body -> Arguments.of(body));
    }

    @ParameterizedTest
    @MethodSource("refusedBodies")
    void any_other_body_is_refused_with_its_type_and_what_to_do(Object body) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store(body))
                .withMessage("body of type " + body.getClass().getTypeName()
                        + " cannot be stored: marshal it first, e.g. .marshal().json()");
    }

    @Test
    void a_character_is_text() {
        assertThat(store('ü').body()).isEqualTo("ü");
    }

    @Test
    void an_exchange_as_a_body_is_refused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store(exchange("x")))
                .withMessageContaining("body of type org.apache.camel.support.DefaultExchange cannot be stored");
    }

    // ---- size

    @Test
    void a_message_of_exactly_the_limit_is_stored() {
        assertThat(store(new byte[LIMIT - 2]).size()).isEqualTo(LIMIT);
        assertThat(store(new ByteArrayInputStream(new byte[LIMIT - 2])).size()).isEqualTo(LIMIT);
        assertThat(store(new StringReader("x".repeat(LIMIT - 2))).size()).isEqualTo(LIMIT);
    }

    @Test
    void a_message_above_the_limit_is_refused_with_both_sizes() throws IOException {
        for (Object body : List.of(
                new byte[LIMIT - 1],
                "x".repeat(LIMIT - 1),
                "é".repeat(LIMIT / 2),
                new ByteArrayInputStream(new byte[LIMIT - 1]),
                file("x".repeat(LIMIT - 1)),
                new StringReader("x".repeat(LIMIT - 1)))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> store(body))
                    .withMessageMatching(
                            "the message cannot be stored: it has 100[12] bytes, option 'maximumMessageSize'"
                                    + " allows 1000; .*");
        }
    }

    @Test
    void what_is_seen_to_be_too_large_is_not_read() throws IOException {
        for (Object body : List.of(
                "x".repeat(5000),
                new StringBuilder("x".repeat(5000)),
                new char[5000],
                ByteBuffer.allocate(5000),
                file("x".repeat(5000)),
                new InputStreamCache(new byte[5000]),
                new ReaderCache("x".repeat(5000)),
                new PlainCache(new byte[5000]))) {
            assertThatIllegalArgumentException()
                    .as(body.getClass().getName())
                    .isThrownBy(() -> store(body))
                    .withMessageContaining("it has 5000 bytes or more, option 'maximumMessageSize' allows 1000");
        }
    }

    @Test
    void an_endless_stream_is_read_to_the_limit_and_closed() {
        EndlessStream stream = new EndlessStream();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> store(stream))
                .withMessageContaining("it has 1001 bytes or more, option 'maximumMessageSize' allows 1000");
        assertThat(stream.read).isEqualTo(LIMIT + 1);
        assertThat(stream.closed).isTrue();
    }

    @Test
    void an_endless_reader_is_read_to_the_limit_and_closed() {
        EndlessReader reader = new EndlessReader();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> store(reader))
                .withMessageContaining("it has 1001 bytes or more");
        assertThat(reader.read).isEqualTo(LIMIT + 1);
        assertThat(reader.closed).isTrue();
    }

    @Test
    void an_endless_cache_or_source_is_read_to_the_limit() {
        EndlessStream stream = new EndlessStream();
        assertThatIllegalArgumentException().isThrownBy(() -> store(new StreamSource(stream)));
        assertThat(stream.read).isEqualTo(LIMIT + 1);

        EndlessReader reader = new EndlessReader();
        assertThatIllegalArgumentException().isThrownBy(() -> store(new StreamSource(reader)));
        assertThat(reader.read).isEqualTo(LIMIT + 1);

        assertThatIllegalArgumentException().isThrownBy(() -> store(new PlainCache(null)));
    }

    @Test
    void headers_count() {
        Exchange exchange = exchange("x", "large", "y".repeat(LIMIT));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> envelope(mapper, exchange))
                .withMessageContaining("maximumMessageSize");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, Envelope.MAX_SIZE + 1})
    void a_limit_out_of_range_is_refused(int limit) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MessageMapper("orders", NO_FILTER, limit))
                .withMessageContaining("option 'maximumMessageSize' is " + limit);
    }

    // ---- headers

    @Test
    void headers_come_back_with_their_types() {
        Map<String, Object> headers = new LinkedHashMap<>();
        nativeBodies()
                .filter(value -> !(value instanceof byte[]))
                .forEach(value -> headers.put("h" + headers.size(), value));
        headers.put("instant", Instant.parse("2026-03-01T10:15:30.123456789Z"));
        headers.put("uuid", UUID.randomUUID());
        headers.put("bytes", new byte[] {1, 2});
        headers.put("breadcrumbId", "b-1");
        Exchange exchange = exchange("x");
        exchange.getMessage().setHeaders(headers);

        Map<String, Object> restored =
                restore(envelope(mapper, exchange)).getMessage().getHeaders();

        assertThat(restored).containsOnlyKeys(headers.keySet());
        headers.forEach((name, value) ->
                assertThat(restored.get(name)).as(name).isEqualTo(value).hasSameClassAs(value));
        assertThat(logged.list).isEmpty();
    }

    @Test
    void well_known_types_are_stored_as_instant_or_text() {
        Instant time = Instant.parse("2026-03-01T10:15:30.123Z");
        Calendar calendar = new GregorianCalendar();
        calendar.setTimeInMillis(time.toEpochMilli());
        Map<Object, Object> expected = new LinkedHashMap<>();
        expected.put(Date.from(time), time);
        expected.put(java.sql.Timestamp.from(time.plusNanos(1)), time.plusNanos(1));
        expected.put(new java.sql.Date(time.toEpochMilli()), time);
        expected.put(calendar, time);
        expected.put(Colour.RED, "RED");
        expected.put(DayOfWeek.MONDAY, "MONDAY");
        expected.put(URI.create("http://localhost/a?b=c"), "http://localhost/a?b=c");
        expected.put(Locale.CANADA_FRENCH, "fr-CA");
        expected.put(Currency.getInstance("EUR"), "EUR");
        expected.put(StandardCharsets.UTF_8, "UTF-8");
        expected.put(ZoneId.of("Europe/Berlin"), "Europe/Berlin");
        expected.put(Duration.ofMinutes(30), "PT30M");
        expected.put(LocalDate.parse("2026-03-01"), "2026-03-01");
        expected.put(
                ZonedDateTime.parse("2026-03-01T11:15:30+01:00[Europe/Berlin]"),
                "2026-03-01T11:15:30+01:00[Europe/Berlin]");
        expected.put('c', "c");
        expected.put(new StringBuilder("text"), "text");
        expected.forEach((value, stored) -> assertThat(
                        envelope(mapper, exchange("x", "h", value)).headers().get("h"))
                .as(value.getClass().getName())
                .isEqualTo(stored));
        assertThat(logged.list).isEmpty();
    }

    @Test
    void the_first_loss_of_each_header_is_logged_with_name_and_type_but_not_its_value() {
        for (int i = 0; i < 3; i++) {
            Envelope envelope = envelope(mapper, exchange("x", "order", Map.of("secret", 1), "kept", 1));
            assertThat(envelope.headers()).containsOnlyKeys("kept");
        }
        Exchange routed = exchange("x", "count", new AtomicLong(1));
        routed.getExchangeExtension().setFromRouteId("shop");
        envelope(mapper, routed);
        envelope(mapper, exchange("x", "evil\nname", new Order()));

        assertThat(logged.list).allSatisfy(event -> assertThat(event.getLevel()).isEqualTo(Level.WARN));
        assertThat(logged.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .satisfiesExactly(
                        first -> assertThat(first)
                                .startsWith(
                                        "queue 'orders': header 'order' of type java.util.ImmutableCollections$Map1 is not stored")
                                .doesNotContain("secret"),
                        second -> assertThat(second)
                                .startsWith(
                                        "queue 'orders', route 'shop': header 'count' of type java.util.concurrent.atomic.AtomicLong is not stored"),
                        third -> assertThat(third).startsWith("queue 'orders': header 'evil?name' of type"));
    }

    @Test
    void losses_are_logged_for_a_thousand_names_and_the_last_says_so() {
        for (int i = 0; i < OncePerName.MAX + 10; i++) {
            envelope(mapper, exchange("x", "lost" + i, new Order()));
        }

        assertThat(logged.list).hasSize(OncePerName.MAX);
        assertThat(logged.list.get(998).getFormattedMessage()).endsWith("once for each header name");
        assertThat(logged.list.get(999).getFormattedMessage()).endsWith("after 1000 names, no more");
    }

    @Test
    void null_headers_are_left_out() {
        assertThat(envelope(mapper, exchange("x", "nothing", null)).headers()).isEmpty();
        assertThat(logged.list).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CamelFileName",
                "camelFileName",
                "CAmelFileName",
                "CAMELFILENAME",
                "camelhttpuri",
                "cAMELHttpUri",
                "CamelRedisDelayDelay",
                "CamelRedisDelayOperation",
                "camelredisdelayscheduleid",
                "Camel"
            })
    void headers_of_camel_pass_in_neither_direction_whatever_the_strategy(String name) {
        for (HeaderFilterStrategy strategy : List.of(new RedisDelayHeaderFilterStrategy(), NO_FILTER)) {
            MessageMapper any = new MessageMapper("orders", strategy, LIMIT);

            assertThat(envelope(any, exchange("x", name, "evil", "kept", 1)).headers())
                    .containsOnlyKeys("kept");
            Exchange target = exchange(null);
            any.fill(Envelope.of("x", null, Map.of(name, "evil", "kept", 1)), target.getMessage(), target);
            assertThat(target.getMessage().getHeaders()).containsOnlyKeys("kept");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"org.apache.camel.x", "Org.Apache.Camel.x", "CAmelFileName"})
    void the_default_strategy_drops_what_is_camels_in_both_directions(String name) {
        RedisDelayHeaderFilterStrategy strategy = new RedisDelayHeaderFilterStrategy();

        assertThat(strategy.applyFilterToCamelHeaders(name, "x", null)).isTrue();
        assertThat(strategy.applyFilterToExternalHeaders(name, "x", null)).isTrue();
        assertThat(envelope(mapper, exchange("x", name, "x")).headers()).isEmpty();
        Exchange target = exchange(null);
        mapper.fill(Envelope.of("x", null, Map.of(name, "x")), target.getMessage(), target);
        assertThat(target.getMessage().getHeaders()).isEmpty();
    }

    @Test
    void the_given_strategy_is_asked_in_both_directions() {
        List<String> asked = new ArrayList<>();
        HeaderFilterStrategy strategy = new HeaderFilterStrategy() {
            @Override
            public boolean applyFilterToCamelHeaders(String name, Object value, Exchange exchange) {
                asked.add("out " + name + "=" + value + " " + exchange.getExchangeId());
                return name.equals("hidden");
            }

            @Override
            public boolean applyFilterToExternalHeaders(String name, Object value, Exchange exchange) {
                asked.add("in " + name + "=" + value + " " + exchange.getExchangeId());
                return name.equals("kept") || name.equals("Content-Type");
            }
        };
        MessageMapper asking = new MessageMapper("orders", strategy, LIMIT);
        Exchange source = exchange("x", "hidden", 1, "kept", 2, "Content-Type", "text/plain");
        source.setExchangeId("A");
        Exchange target = exchange(null);
        target.setExchangeId("B");

        Envelope envelope = envelope(asking, source);
        asking.fill(envelope, target.getMessage(), target);

        assertThat(envelope.headers()).containsOnlyKeys("kept");
        assertThat(envelope.contentType()).isEqualTo("text/plain");
        assertThat(target.getMessage().getHeaders()).isEmpty();
        assertThat(asked)
                .containsExactlyInAnyOrder(
                        "out hidden=1 A",
                        "out kept=2 A",
                        "out Content-Type=text/plain A",
                        "in kept=2 B",
                        "in Content-Type=text/plain B");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Type", "content-type", "CONTENT-TYPE"})
    void the_content_type_is_kept_apart(String name) {
        Envelope envelope = envelope(mapper, exchange("{}", name, "application/json"));

        assertThat(envelope.contentType()).isEqualTo("application/json");
        assertThat(envelope.headers()).isEmpty();
        assertThat(restore(envelope).getMessage().getHeaders())
                .containsExactly(Map.entry("Content-Type", "application/json"));
    }

    @Test
    void a_stored_message_replaces_the_body_and_adds_headers() {
        Exchange target = exchange("old", "CamelRedisDelayMessageId", "id-1");

        mapper.fill(Envelope.of("new", null, Map.of("a", 1)), target.getMessage(), target);

        assertThat(target.getMessage().getBody()).isEqualTo("new");
        assertThat(target.getMessage().getHeaders()).containsOnlyKeys("CamelRedisDelayMessageId", "a");
    }

    // ---- elements of a list

    @Test
    void an_element_that_is_a_message_or_exchange_has_its_own_headers() {
        Exchange outer = exchange(List.of(), "outer", 1);
        Exchange element = exchange("a", "inner", 2);
        Message message = new DefaultMessage(context);
        message.setBody("b");
        message.setHeader("inner", 3);

        assertThat(mapper.toEnvelope(element, outer, Settings.NONE))
                .isEqualTo(Envelope.of("a", null, Map.of("inner", 2)));
        assertThat(mapper.toEnvelope(message, outer, Settings.NONE))
                .isEqualTo(Envelope.of("b", null, Map.of("inner", 3)));
    }

    @Test
    void an_element_that_is_a_body_is_sent_with_the_headers_of_the_exchange() {
        Exchange outer = exchange(List.of(), "outer", 1, "CamelRedisDelayDelay", "5s");

        assertThat(mapper.toEnvelope("a", outer, Settings.NONE)).isEqualTo(Envelope.of("a", null, Map.of("outer", 1)));
        assertThat(mapper.toEnvelope((Object) null, outer, Settings.NONE))
                .isEqualTo(Envelope.of(null, null, Map.of("outer", 1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> mapper.toEnvelope(new Order(), outer, Settings.NONE))
                .withMessageContaining("Order cannot be stored: marshal it first");
        assertThatIllegalArgumentException().isThrownBy(() -> mapper.toEnvelope(List.of("a"), outer, Settings.NONE));
    }

    // ---- helpers

    private Exchange exchange(Object body, Object... headers) {
        Exchange exchange = new DefaultExchange(context);
        exchange.getMessage().setBody(body);
        for (int i = 0; i < headers.length; i += 2) {
            exchange.getMessage().setHeader((String) headers[i], headers[i + 1]);
        }
        return exchange;
    }

    private Envelope store(Object body) {
        return envelope(mapper, exchange(body));
    }

    private Exchange restore(Envelope envelope) {
        Exchange target = exchange(null);
        mapper.fill(Envelope.decode(envelope.encode()), target.getMessage(), target);
        return target;
    }

    private Object roundTrip(Object body) {
        return restore(store(body)).getMessage().getBody();
    }

    private StreamCache streamCache(Source source) {
        return context.getTypeConverter().convertTo(StreamCache.class, exchange(null), source);
    }

    private File file(String content) throws IOException {
        return Files.writeString(Files.createTempFile(directory, "body", ".txt"), content)
                .toFile();
    }

    private static Document document(String xml) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
    }

    private static final class WatchedStream extends ByteArrayInputStream {
        private boolean closed;

        WatchedStream(byte[] bytes) {
            super(bytes);
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private static final class EndlessStream extends InputStream {
        private long read;
        private boolean closed;

        @Override
        public int read() {
            read++;
            return 'x';
        }

        @Override
        public int read(byte[] bytes, int offset, int length) {
            Arrays.fill(bytes, offset, offset + length, (byte) 'x');
            read += length;
            return length;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private static final class EndlessReader extends Reader {
        private long read;
        private boolean closed;

        @Override
        public int read(char[] text, int offset, int length) {
            Arrays.fill(text, offset, offset + length, 'x');
            read += length;
            return length;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    /** A file as a component other than camel-file might hand it over. */
    private record Wrapped(Object file, Object content) implements WrappedFile<Object> {
        @Override
        public Object getFile() {
            return file;
        }

        @Override
        public Object getBody() {
            return content;
        }

        @Override
        public long getFileLength() {
            return -1;
        }
    }

    /** A stream cache that can only be written out. Without bytes it is endless. */
    private record PlainCache(byte[] bytes) implements StreamCache {
        @Override
        public void reset() {}

        @Override
        public void writeTo(OutputStream out) throws IOException {
            if (bytes != null) {
                out.write(bytes);
                return;
            }
            while (true) {
                out.write('x');
            }
        }

        @Override
        public StreamCache copy(Exchange exchange) {
            return this;
        }

        @Override
        public boolean inMemory() {
            return true;
        }

        @Override
        public long length() {
            return bytes == null ? 0 : bytes.length;
        }

        @Override
        public long position() {
            return -1;
        }
    }
}
