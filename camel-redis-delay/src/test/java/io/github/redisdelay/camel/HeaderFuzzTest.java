// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.redisdelay.camel.delivery.DeliveryReport;
import io.github.redisdelay.camel.delivery.RouteOutcome;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.camel.option.OwnHeaders;
import io.github.redisdelay.camel.producer.IdHeaders;
import io.github.redisdelay.camel.producer.MessageChoice;
import io.github.redisdelay.camel.producer.ProducerSettings;
import io.github.redisdelay.camel.producer.ScheduleHeaders;
import io.github.redisdelay.camel.redelivery.MessageRetryPolicy;
import io.github.redisdelay.camel.redelivery.RetryPolicy;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.testkit.Fuzz;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.ResolveEndpointFailedException;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultExchange;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Whatever is in a header or in an option, it is taken or refused with an error that says what is wrong. */
class HeaderFuzzTest {

    /** The headers that a route can set to direct the component. */
    private static final List<String> CONTROLS = OwnHeaders.REQUEST_HEADERS;

    private static final ProducerSettings PLAIN = new ProducerSettings(
            null,
            false,
            RedisDelayOperation.SCHEDULE,
            DuplicatePolicy.REJECT,
            false,
            0,
            null,
            Envelope.Settings.NONE,
            null,
            null,
            ZoneId.of("UTC"),
            0,
            100,
            Duration.ofMinutes(1),
            60,
            new MessageChoice(false, false, null, null, null, null),
            null);

    private final DefaultCamelContext context = CamelRedisIT.newContext();
    /** Warns of what a route left that cannot be read. */
    private final Logger warnings = (Logger) LoggerFactory.getLogger(DeliveryReport.class);

    @BeforeEach
    void silence() {
        warnings.setLevel(Level.OFF);
    }

    @AfterEach
    void close() throws Exception {
        warnings.setLevel(null);
        context.close();
    }

    private static Object value(RandomGenerator random) {
        return switch (random.nextInt(24)) {
            case 0 -> null;
            case 1 -> random.nextLong();
            case 2 -> random.nextInt(-3, 12);
            case 3 ->
                new double[] {Double.NaN, Double.POSITIVE_INFINITY, -0.0, 1.5, 1e300, Double.MIN_VALUE, 30, -1}
                        [random.nextInt(8)];
            case 4 -> (float) random.nextGaussian();
            case 5 ->
                new BigDecimal(
                        BigInteger.valueOf(random.nextLong(1000)),
                        new int[] {0, 1, -3, 30, Integer.MAX_VALUE, Integer.MIN_VALUE}[random.nextInt(6)]);
            case 6 ->
                BigInteger.TEN
                        .pow(random.nextInt(20) == 0 ? 20_000 : random.nextInt(40))
                        .negate();
            case 7 -> new BigDecimal(BigInteger.TEN.pow(random.nextInt(20) == 0 ? 20_000 : random.nextInt(40)));
            case 8 -> Duration.ofSeconds(random.nextLong(), random.nextInt(1_000_000_000));
            case 9 ->
                new Duration[] {Duration.ZERO, Duration.ofNanos(1), Duration.ofDays(-1), Durations.MAX}
                        [random.nextInt(4)];
            case 10 ->
                new Instant[] {Instant.MIN, Instant.MAX, Instant.EPOCH, Durations.LAST, Durations.LAST.plusNanos(1)}
                        [random.nextInt(5)];
            case 11 -> new Date(random.nextLong());
            case 12 -> new java.sql.Date(random.nextLong(1L << 42));
            case 13 -> ZonedDateTime.of(LocalDateTime.MAX, ZoneId.of("Asia/Tokyo"));
            case 14 ->
                new Object[] {LocalDate.MIN, LocalDateTime.MIN, Period.ofDays(1), DayOfWeek.MONDAY}[random.nextInt(4)];
            case 15 -> new GregorianCalendar(random.nextInt(), 1, 1);
            case 16 -> List.of(new Object[] {"15s", 3, Duration.ofMinutes(1), "", -1, Map.of()}[random.nextInt(6)]);
            case 17 -> Arrays.asList(Fuzz.text(random, 20), null, random.nextInt());
            case 18 ->
                new Object[] {List.of(), Set.of("a"), Map.of("a", "b"), Optional.empty(), new byte[3]}
                        [random.nextInt(5)];
            case 19 ->
                new Object[] {new UUID(1, 2), String.class, URI.create("a:b"), true, 'c', new AtomicLong(-5)}
                        [random.nextInt(6)];
            case 20 -> new StringBuilder(Fuzz.text(random, 40));
            case 21 -> text(random);
            case 22 -> new AtomicInteger(random.nextInt());
            default -> Fuzz.text(random, 300);
        };
    }

    /** Text that looks like a value, and is nearly one. */
    private static String text(RandomGenerator random) {
        String[] forms = {
            "30m",
            "1d2h3m4s5ms",
            "PT30M",
            "P1DT1H",
            "2030-01-31T10:15:00Z",
            "2030-01-31T10:15:00+01:00[Europe/Paris]",
            "1893456000000",
            "15s,3m,10m",
            "schedule",
            "reschedule",
            "9",
            "1E5",
            "-1",
            "1.5",
            "0x10",
            "NaN",
            "9".repeat(random.nextInt(100) == 0 ? 50_000 : 30),
            "PT" + "9".repeat(random.nextInt(100) == 0 ? 50_000 : 30) + "S"
        };
        String form = forms[random.nextInt(forms.length)];
        return random.nextBoolean()
                ? form
                : new String(Fuzz.mutated(form.getBytes(StandardCharsets.UTF_8), random), StandardCharsets.UTF_8);
    }

    private static void expectErrorOf(IllegalArgumentException e, List<String> names) {
        assertThat(e.getMessage()).as("the error names what is wrong").containsAnyOf(names.toArray(new String[0]));
        assertThat(e.getMessage().length()).as("its length").isLessThan(1500);
        assertThat(e.getMessage()).as("its characters").doesNotContainPattern("\\p{Cc}");
    }

    @Test
    void should_take_or_refuse_whatever_is_in_the_headers_of_a_message_to_schedule() {
        Fuzz.run("headers", 15_000, random -> {
            Exchange exchange = new DefaultExchange(context);
            Message message = exchange.getMessage();
            for (int i = 1 + random.nextInt(3); i > 0; i--) {
                message.setHeader(CONTROLS.get(random.nextInt(CONTROLS.size())), value(random));
            }
            ScheduleHeaders headers = new ScheduleHeaders(message, message, PLAIN);
            List<Runnable> reads = List.of(
                    () -> assertThat(headers.due().micros()).isBetween(0L, DueTime.MAX_MICROS),
                    () -> assertThat(headers.priority()).isBetween(0, ScheduleRequest.MAX_PRIORITY),
                    () -> {
                        Envelope.Settings settings = headers.settings();
                        Envelope read = Envelope.decode(
                                Envelope.of(null, null, Map.of(), settings).encode());
                        assertThat(read.settings()).isEqualTo(settings);
                        if (settings.retryPolicy() != null) {
                            // The consumer can read each stored message.
                            MessageRetryPolicy.parse(settings.retryPolicy());
                        }
                    },
                    () -> ScheduleHeaders.operation(message, RedisDelayOperation.SCHEDULE),
                    () -> IdHeaders.of(message, random.nextBoolean()),
                    () -> IdHeaders.single(message),
                    () -> IdHeaders.ofDeadLetters(message),
                    () -> IdHeaders.singleOrDeadLetter(message),
                    () -> PLAIN.choice().with(message));
            for (Runnable read : reads) {
                try {
                    read.run();
                } catch (IllegalArgumentException e) {
                    expectErrorOf(e, CONTROLS);
                }
            }
            // Of a route's end: never an error, whatever it left there.
            RouteOutcome.of(exchange, random.nextBoolean(), reason -> false);
        });
    }

    @Test
    void should_take_or_refuse_every_duration_and_time() {
        Fuzz.run("durations", 30_000, random -> {
            Object value = random.nextBoolean() ? text(random) : value(random);
            List<Runnable> reads = List.of(
                    () -> assertThat(Durations.of("this", value)).isBetween(Duration.ZERO, Durations.MAX),
                    () -> assertThat(Durations.instant("this", value)).isBetween(Instant.EPOCH, Durations.LAST),
                    () -> Durations.list("this", value));
            for (Runnable read : reads) {
                try {
                    read.run();
                } catch (IllegalArgumentException e) {
                    expectErrorOf(e, List.of("this "));
                }
            }
        });
    }

    @Test
    void should_take_or_refuse_every_stored_redelivery_policy() {
        String valid = "maximumRedeliveries=5;redeliveryDelay=1000;backOffMultiplier=1.5;maximumRedeliveryDelay=60000;"
                + "redeliveryDelays=15000,180000";
        RetryPolicy consumers = new RetryPolicy(
                9, Duration.ofSeconds(10), 2, Duration.ofHours(1), 0.15, List.of(Duration.ofSeconds(1)));
        Fuzz.run("stored policies", 20_000, random -> {
            String text = random.nextInt(4) == 0
                    ? Fuzz.text(random, 200)
                    : new String(
                            Fuzz.mutated(valid.getBytes(StandardCharsets.ISO_8859_1), random),
                            StandardCharsets.ISO_8859_1);
            RetryPolicy policy;
            try {
                policy = consumers.with(text);
            } catch (IllegalArgumentException e) {
                expectErrorOf(e, List.of("retry policy"));
                return;
            }
            for (int attempt : new int[] {1, 2, 1000, Integer.MAX_VALUE}) {
                assertThat(policy.delayAfter(attempt, random)).isBetween(Duration.ZERO, Durations.MAX);
                policy.isLast(attempt);
            }
        });
    }

    @Test
    void should_refuse_a_stored_redelivery_policy_without_end() {
        for (String text : List.of(
                "maximumRedeliveries=" + "9".repeat(5_000_000),
                "redeliveryDelays=" + "1,".repeat(5_000_000) + "1",
                "maximumRedeliveries=" + "9".repeat(60_000),
                "backOffMultiplier=" + "9".repeat(60_000))) {
            Fuzz.assertAllocates(1_000_000, () -> text.substring(0, 50), () -> {
                try {
                    MessageRetryPolicy.parse(text);
                    throw new AssertionError("was read");
                } catch (IllegalArgumentException e) {
                    expectErrorOf(e, List.of("retry policy"));
                }
            });
        }
    }

    @Test
    void should_refuse_more_steps_than_can_be_read_again() {
        Exchange exchange = new DefaultExchange(context);
        exchange.getMessage().setHeader(RedisDelayConstants.REDELIVERY_DELAYS, "1h,".repeat(20_000) + "1h");
        try {
            new ScheduleHeaders(exchange.getMessage(), exchange.getMessage(), PLAIN).settings();
            throw new AssertionError("was taken");
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining(RedisDelayConstants.REDELIVERY_DELAYS + "' has 20001 steps");
        }
    }

    @Test
    void should_read_whatever_a_failure_left_and_take_little_memory() {
        byte[] valid = new FailureRecord(
                        "java.lang.IllegalStateException",
                        "no \"such\" order\n\u20ac",
                        "route",
                        "host",
                        3,
                        Instant.ofEpochMilli(1),
                        "failed")
                .encode();
        Fuzz.run("failure records", 10_000, random -> {
            byte[] bytes =
                    switch (random.nextInt(5)) {
                        case 0 -> Fuzz.bytes(random, 200);
                        case 1 -> nested(random);
                        case 2 ->
                            "{\"attempt\":%s,\"time\":\"%s\"}"
                                    .formatted(
                                            new String[] {
                                                        "1E999999999", "-1E-999999999", "9".repeat(4000), "1e400", "0x1"
                                                    }
                                                    [random.nextInt(5)],
                                            new String[] {
                                                        "+999999999-12-31T23:59:59Z", "-999999999-01-01T00:00:00Z", "x"
                                                    }
                                                    [random.nextInt(3)])
                                    .getBytes(StandardCharsets.UTF_8);
                        default -> Fuzz.mutated(valid, random);
                    };
            FailureRecord[] read = new FailureRecord[1];
            Fuzz.assertAllocates(
                    400_000 + 200L * bytes.length, () -> Fuzz.hex(bytes), () -> read[0] = FailureRecord.decode(bytes));
            if (read[0] != null) {
                byte[] written = read[0].givenUp("expired").encode();
                assertThat(written.length).isLessThanOrEqualTo(FailureRecord.MAX_BYTES);
                assertThat(FailureRecord.decode(written).reason()).isEqualTo("expired");
                read[0].time().toEpochMilli();
            }
        });
    }

    private static byte[] nested(RandomGenerator random) {
        String[] parts = {"[", "{\"a\":", "[[", "{\"message\":[", "\"", "\\u", ",", "]", "}"};
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        String part = parts[random.nextInt(parts.length)];
        for (int i = random.nextInt(2000); i > 0; i--) {
            all.writeBytes(part.getBytes(StandardCharsets.UTF_8));
            if (random.nextInt(200) == 0) {
                part = parts[random.nextInt(parts.length)];
            }
        }
        return all.toByteArray();
    }

    @Test
    void should_not_read_a_failure_that_no_script_can_have_left() {
        String large = "{\"attempt\":" + "9".repeat(3_000_000) + "}";
        assertThat(FailureRecord.decode(large.getBytes(StandardCharsets.UTF_8))).isNull();
        assertThat(FailureRecord.decode(new byte[Settlement.MAX_FAILURE_BYTES + 1]))
                .isNull();
    }

    @Test
    void should_take_or_refuse_every_option_of_a_uri() {
        List<String> options = options();
        assertThat(options).contains("delay", "onDuplicate", "redeliveryDelays", "address");
        Fuzz.run("options", 1_500, random -> {
            StringBuilder uri = new StringBuilder("redis-delay:");
            uri.append(random.nextInt(5) > 0 ? "orders" : encoded(Fuzz.wellFormed(random, 220)));
            char separator = '?';
            for (int i = random.nextInt(4); i > 0; i--) {
                String name = options.get(random.nextInt(options.size()));
                uri.append(separator).append(random.nextInt(20) == 0 ? name.toUpperCase(java.util.Locale.ROOT) : name);
                String text = random.nextBoolean() ? text(random) : Fuzz.wellFormed(random, 60);
                // Camel's own search for passwords takes the square of an URI's length, and longer.
                uri.append('=').append(encoded(text.substring(0, Math.min(text.length(), 100))));
                separator = '&';
            }
            takeOrRefuse(uri.toString());
        });
    }

    @Test
    void should_show_no_control_characters_of_any_option() {
        for (String text : List.of("a\t\n\u0085b", "\n", " \t", "1\n", "\u0085{", "9/1s\n", "a\u0000,")) {
            for (String option : options()) {
                for (String with : List.of("", "&partitions=2", "&state=dead", "&operation=promote")) {
                    takeOrRefuse("redis-delay:orders?" + option + "=" + encoded(text) + with);
                }
            }
            takeOrRefuse("redis-delay:" + encoded(text));
        }
    }

    private static List<String> options() {
        return new RedisDelayEndpointUriFactory()
                .propertyNames().stream()
                        // These need an object.
                        .filter(name -> !Set.of(
                                        "redisson",
                                        "headerFilterStrategy",
                                        "exceptionHandler",
                                        "importOptions",
                                        "queueName")
                                .contains(name))
                        .sorted()
                        .toList();
    }

    private void takeOrRefuse(String uri) {
        try {
            RedisDelayEndpoint endpoint = context.getEndpoint(uri, RedisDelayEndpoint.class);
            context.removeEndpoint(endpoint);
            endpoint.consumerSettings();
        } catch (ResolveEndpointFailedException e) {
            assertThat(e.getCause()).isNotNull();
            for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
                // Only ours: Camel's own errors show what they were given.
                StackTraceElement[] thrownAt = cause.getStackTrace();
                if (cause instanceof IllegalArgumentException
                        && thrownAt.length > 0
                        && thrownAt[0].getClassName().startsWith("io.github.redisdelay")) {
                    assertThat(cause.getMessage()).as("its characters").doesNotContainPattern("\\p{Cc}");
                }
            }
        } catch (IllegalArgumentException e) {
            expectErrorOf(e, List.of("option", "uri"));
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    @Test
    void should_check_a_number_however_its_option_is_spelt() {
        for (String option : List.of("priority=x", "PRIORITY=x", "ConcurrentConsumers=", "maxmessagesperpoll=1s")) {
            try {
                context.getEndpoint("redis-delay:orders?" + option);
                throw new AssertionError(option + " was taken");
            } catch (ResolveEndpointFailedException e) {
                assertThat(e).hasStackTraceContaining("it must be a whole number");
            }
        }
    }
}
