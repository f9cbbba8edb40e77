// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.imports.ImportConverter;
import io.github.redisdelay.imports.ImportRun;
import io.github.redisdelay.imports.ImportedMessage;
import io.github.redisdelay.testkit.LogLines;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.camel.Exchange;
import org.apache.camel.FailedToCreateProducerException;
import org.apache.camel.ResolveEndpointFailedException;
import org.apache.camel.StatefulService;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.console.DevConsole.MediaType;
import org.apache.camel.console.DevConsoleRegistry;
import org.apache.camel.util.json.JsonObject;
import org.apache.camel.util.json.Jsoner;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.client.codec.Codec;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.JsonJacksonCodec;
import org.redisson.codec.Kryo5Codec;

/** The operation import moves what Redisson's own RDelayedQueue has stored. */
class ImportOperationIT extends CamelRedisIT {

    private String old;

    @BeforeEach
    void nameOldQueue() {
        old = redis.uniqueQueue();
    }

    /** Offers messages as an application on Redisson does. */
    private void offer(Codec codec, Object... messages) {
        RBlockingQueue<Object> list = redis.client().getBlockingQueue(old, codec);
        RDelayedQueue<Object> delayed = redis.client().getDelayedQueue(list);
        for (Object message : messages) {
            delayed.offer(message, 1, TimeUnit.HOURS);
        }
        delayed.destroy();
    }

    private Exchange sendImport(String options) {
        return send(uri + "?operation=import&import.from=" + old + options, "before", Map.of());
    }

    private Map<?, ?> importNow(String options) {
        Exchange exchange = sendImport(options);
        assertThat(exchange.getException()).isNull();
        assertThat(exchange.getMessage().getHeaders()).containsEntry(RedisDelayConstants.QUEUE, queue);
        return exchange.getMessage().getBody(Map.class);
    }

    private static Map<String, Long> found(long pending) {
        return Map.of("pending", pending, "ready", 0L, "overdue", 0L, "oldFormat", 0L, "newFormat", pending);
    }

    private Object body(String id) {
        return send(uri + "?operation=get", null, Map.of(RedisDelayConstants.SCHEDULE_ID, id))
                .getMessage()
                .getBody();
    }

    private long pendingThere() {
        return redis.client()
                .getScoredSortedSet("redisson_delay_queue_timeout:{" + old + "}")
                .size();
    }

    @Test
    void should_move_texts_of_the_default_codec() {
        context.start();
        offer(new Kryo5Codec(), "order-1", "订单-2");

        Map<?, ?> reply;
        List<String> lines;
        try (LogLines log = new LogLines(ImportRun.class)) {
            reply = importNow("&import.codec=kryo5&import.id=body");
            lines = log.of(Level.INFO);
        }

        assertThat(reply)
                .isEqualTo(Map.of(
                        "found", found(2),
                        "moved", 2L,
                        "gone", 0L,
                        "renamed", 0L,
                        "left", Map.of(),
                        "remaining", 0L,
                        "stopped", false));
        assertThat(body("order-1")).isEqualTo("order-1");
        assertThat(body("订单-2")).isEqualTo("订单-2");
        assertThat(stats().nextDueMicros())
                .isBetween(
                        Duration.ofMinutes(50).toNanos() / 1000,
                        Duration.ofHours(1).toNanos() / 1000);
        assertThat(pendingThere()).isZero();
        assertThat(lines)
                .containsExactly("queue '" + queue + "': the import from Redisson's queue '" + old
                        + "' has ended: 2 found, 2 moved, 0 gone, 0 left, 0 remaining");
    }

    @Test
    @SuppressWarnings("unchecked")
    void should_tell_what_a_dry_run_has_found_and_move_nothing() {
        context.start();
        offer(new Kryo5Codec(), "a", "b", 3L, "d");

        Map<?, ?> reply = importNow("&import.dryRun=true");

        assertThat(reply.get("found")).isEqualTo(found(4));
        assertThat(reply.get("guess")).isEqualTo(Map.of("kryo5", 4L));
        assertThat((List<Object>) reply.get("bodies")).hasSize(3).isSubsetOf("a", "b", 3L, "d");
        assertThat(reply.get("moved")).isEqualTo(0L);
        assertThat(reply.get("remaining")).isEqualTo(4L);
        assertThat(stats().delayed()).isZero();
        assertThat(pendingThere()).isEqualTo(4);
    }

    @Test
    void should_move_json_and_plain_text() {
        context.start();
        offer(new JsonJacksonCodec(), new ArrayList<>(List.of(new Date(17))));
        importNow("&import.codec=plainJson&import.id=body");
        assertThat(body("[17]")).isEqualTo("[17]");

        offer(StringCodec.INSTANCE, "text");
        importNow("&import.codec=string&import.id=body");
        assertThat(body("text")).isEqualTo("text");
    }

    @Test
    void should_leave_what_cannot_be_converted_unless_it_is_to_be_taken_as_bytes() {
        context.start();
        offer(new Kryo5Codec(), new UUID(1, 2), "a");

        Map<?, ?> first = importNow("&import.codec=kryo5");
        assertThat(first.get("moved")).isEqualTo(1L);
        assertThat(first.get("remaining")).isEqualTo(1L);
        assertThat(first.get("left"))
                .asInstanceOf(MAP)
                .extractingByKey("notConvertible")
                .asInstanceOf(MAP)
                .containsEntry("count", 1L)
                .extractingByKey("samples")
                .asString()
                .contains("java.util.UUID");

        assertThat(importNow("&import.codec=kryo5&import.onError=raw").get("moved"))
                .isEqualTo(1L);
        assertThat(stats().delayed()).isEqualTo(2);
        assertThat(pendingThere()).isZero();
    }

    @Test
    void should_convert_by_a_bean() {
        context.getRegistry().bind("orders", (ImportConverter) payload -> new ImportedMessage(
                "order " + new String(payload, StandardCharsets.UTF_8), "the id", Map.of("kind", "order")));
        context.start();
        offer(StringCodec.INSTANCE, "5");

        importNow("&import.converter=#orders");

        Exchange got = send(uri + "?operation=get", null, Map.of(RedisDelayConstants.SCHEDULE_ID, "the id"));
        assertThat(got.getMessage().getBody()).isEqualTo("order 5");
        assertThat(got.getMessage().getHeader("kind")).isEqualTo("order");
    }

    /** A converter, and what lets it begin with the second payload. */
    private static final class SlowConverter implements ImportConverter {
        final CountDownLatch converting = new CountDownLatch(1);
        final CountDownLatch mayGoOn = new CountDownLatch(1);

        @Override
        public ImportedMessage convert(byte[] payload) {
            converting.countDown();
            try {
                assertThat(mayGoOn.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return ImportedMessage.of(payload);
        }
    }

    /** Begins to import 200 messages by a converter that stays in the first slice of 64; where the reply comes. */
    private BlockingQueue<Map<?, ?>> importSlowly(SlowConverter converter) throws Exception {
        context.getRegistry().bind("slow", converter);
        offer(StringCodec.INSTANCE, (Object[])
                IntStream.range(0, 200).mapToObj(Integer::toString).toArray());
        BlockingQueue<Map<?, ?>> replies = new LinkedBlockingQueue<>();
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("timer:once?repeatCount=1&delay=0")
                        .routeId("import")
                        .to(uri + "?operation=import&import.converter=#slow&import.from=" + old)
                        .process(exchange -> replies.add(exchange.getMessage().getBody(Map.class)));
            }
        });
        assertThat(converter.converting.await(30, TimeUnit.SECONDS)).isTrue();
        return replies;
    }

    private void assertOneSliceIsMoved(Map<?, ?> reply) {
        assertThat(reply.get("moved")).isEqualTo(64L);
        assertThat(reply.get("stopped")).isEqualTo(true);
        assertThat(stats().delayed()).isEqualTo(64);
        assertThat(pendingThere()).isEqualTo(136);
    }

    @Test
    void should_end_when_the_route_is_stopped() throws Exception {
        SlowConverter converter = new SlowConverter();
        BlockingQueue<Map<?, ?>> replies = importSlowly(converter);

        CompletableFuture<Void> stop = CompletableFuture.runAsync(() -> {
            try {
                context.getRouteController().stopRoute("import");
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        StatefulService timer = (StatefulService) context.getRoute("import").getConsumer();
        await().until(() -> !timer.isStarted());
        converter.mayGoOn.countDown();

        Map<?, ?> reply = replies.poll(30, TimeUnit.SECONDS);
        stop.get(30, TimeUnit.SECONDS);
        assertOneSliceIsMoved(reply);
    }

    @Test
    void should_be_seen_and_stopped_from_outside() throws Exception {
        context.setDevConsole(true);
        SlowConverter converter = new SlowConverter();
        BlockingQueue<Map<?, ?>> replies = importSlowly(converter);

        assertThat(imports(MediaType.JSON))
                .contains("\"from\":\"" + old + "\"", "\"state\":\"running\"")
                .doesNotContain("moved");
        assertThat(imports(MediaType.TEXT)).containsPattern("imports \\{.*from=" + old + ", .*state=running");
        ImportModule.Run run = context.getComponent("redis-delay", RedisDelayComponent.class)
                .imports()
                .get(0);
        run.stop();
        converter.mayGoOn.countDown();

        assertOneSliceIsMoved(replies.poll(30, TimeUnit.SECONDS));
        assertThat(run.isStopped()).isTrue();
        assertThat(imports(MediaType.JSON))
                .contains("\"state\":\"stopped\"", "\"found\":64", "\"moved\":64", "\"remaining\":136");
        assertThat(imports(MediaType.TEXT)).contains("state=stopped", "found=64", "moved=64", "remaining=136");
    }

    private String imports(MediaType type) {
        Object answer = context.getCamelContextExtension()
                .getContextPlugin(DevConsoleRegistry.class)
                .resolveById("redis-delay")
                .call(type, Map.of("filter", queue));
        return type == MediaType.JSON ? Jsoner.serialize(((JsonObject) answer).get("imports")) : (String) answer;
    }

    @Test
    void should_say_what_is_wrong_with_the_options() {
        context.getRegistry().bind("own", (ImportConverter) payload -> null);
        context.start();
        assertThat(problem("?operation=import")).contains("option 'import.from' is not set");
        assertThat(problem("?operation=import&import.from=a"))
                .contains(
                        "option 'import.codec' is not set",
                        "string, json, plainJson, kryo5",
                        "import.converter",
                        "import.dryRun=true");
        assertThat(problem("?operation=import&import.from=a&import.codec=kryo"))
                .contains("option 'import.codec'", "'kryo'", "it must be string, json");
        assertThat(problem("?operation=import&import.from=a&import.codec=raw&import.converter=#own"))
                .contains("options 'import.codec' and 'import.converter' are both set");
        assertThat(problem("?operation=import&import.from=a&import.codec=raw&import.id=x"))
                .contains("option 'import.id' 'x' is unknown: use none, body");
        assertThat(problem("?operation=import&import.from=a&import.codec=raw&import.onError=x"))
                .contains("option 'import.onError' 'x' is unknown: use leave, raw");
        assertThat(problem("?import.from=a&import.codec=raw"))
                .contains("option 'import.codec' is set on a producer whose operation is 'schedule'");
        assertThat(problem("?import.Codec=raw"))
                .contains("option 'import.Codec' is set on a producer whose operation is 'schedule'");
        assertThat(problem("?operation=import&import.from=a&import.codec=raw&timeToLive=1d"))
                .contains("option 'timeToLive' is set on a producer whose operation is 'import'", "remove it");
        assertThat(problem("?operation=import&import.from=a&import.codec=raw&import.ahead=1d"))
                .contains("option 'import.ahead' is the consumer's");
        assertThat(problem("?operation=import&import.from=a&import.codec=raw&state=dead"))
                .contains("option 'state' is 'dead', which means nothing to operation 'import': remove it");
        assertThat(send(uri, "x", Map.of(RedisDelayConstants.OPERATION, "import"))
                        .getException())
                .hasMessageContaining("set operation=import, import.from and import.codec on the endpoint");
    }

    private String problem(String options) {
        try {
            Exception error = send(uri + options, "x", Map.of()).getException();
            return error.getMessage();
        } catch (ResolveEndpointFailedException | FailedToCreateProducerException e) {
            return e.getCause().getMessage();
        }
    }
}
