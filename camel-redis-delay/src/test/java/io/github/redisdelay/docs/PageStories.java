// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.docs.PageCode.Invoice;
import java.net.ConnectException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.Processor;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.http.base.HttpOperationFailedException;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RScoredSortedSet;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.Kryo5Codec;

/**
 * The stories that the pages tell of their routes, played with them. A story belongs to each block that has the code which it is told of;
 * a block without one is started. Recipes have tests of their own.
 */
final class PageStories {

    /** Starts the stage, and does what comes before and after. */
    interface Story {
        void play(Stage stage) throws Exception;
    }

    private static final Map<String, Story> STORIES = new HashMap<>();

    private static final Placed ORDER = new Placed("A-1", "Ada", 12.5, "45m");

    private static final Map<String, Object> DUE_NOW = Map.of("CamelRedisDelayDelay", "0ms");

    private PageStories() {}

    private static void story(String code, Story story) {
        STORIES.put(code, story);
    }

    static Story of(Block block) {
        List<Story> found = STORIES.entrySet().stream()
                .filter(story -> isOf(story.getKey(), block))
                .map(Map.Entry::getValue)
                .toList();
        if (found.size() > 1) {
            throw new AssertionError(block + " has " + found.size() + " stories");
        }
        return found.isEmpty() ? Stage::start : found.get(0);
    }

    /** The code of stories that are of no block. */
    static List<String> untold(List<Block> blocks) {
        return STORIES.keySet().stream()
                .filter(code -> blocks.stream().noneMatch(block -> isOf(code, block)))
                .toList();
    }

    /** Each of several words has to be there. */
    private static boolean isOf(String code, Block block) {
        return !block.page().equals("docs/recipes.md")
                && List.of(code.split(" ")).stream().allMatch(block.code()::contains);
    }

    static {
        story("direct:orderPlaced bean:closeIfUnpaid", stage -> {
            BlockingQueue<String> closed = new LinkedBlockingQueue<>();
            stage.bind("closeIfUnpaid", (Processor)
                    exchange -> closed.add(String.valueOf(exchange.getMessage().getBody())));
            stage.start();
            Object order = stage.shows("json") ? ORDER : ORDER.toString();
            stage.send("direct:orderPlaced", order);
            assertThat(stage.secondsToWait("orders")).isBetween(29 * 60.0, 30 * 60.0);
            stage.send("direct:orderPlaced", order, DUE_NOW);
            assertThat(closed.poll(10, TimeUnit.SECONDS)).contains("A-1", "Ada");
            stage.awaitMessages("orders", 1, 0);
        });

        story("direct:orderPlaced direct:orderPaid", stage -> {
            stage.start();
            stage.send("direct:orderPlaced", ORDER);
            assertThat(stage.secondsToWait("orders")).isBetween(29 * 60.0, 30 * 60.0);
            assertThat(previousState(stage.send("direct:orderPaid", ORDER))).isEqualTo("delayed");
            stage.awaitMessages("orders", 0, 0);
            assertThat(previousState(stage.send("direct:orderPaid", ORDER))).isEqualTo("none");
        });

        story("timer:customers timer:payment", stage -> {
            stage.start();
            await().untilAsserted(() -> {
                assertThat(state(stage, "orders", "order-3")).isEqualTo("delayed");
                assertThat(state(stage, "orders", "order-2")).isEqualTo("none");
            });
        });

        story("direct:eventPlanned", stage -> {
            stage.start();
            Event planned = new Event("E-1", System.currentTimeMillis() + 3_600_000);
            stage.send("direct:eventPlanned", planned);
            assertThat(stage.secondsToWait("reminders")).isBetween(3_500.0, 3_600.0);
            assertThat(state(stage, "reminders", "E-1")).isEqualTo("delayed");
        });

        story("direct:ordersPlaced", stage -> {
            stage.start();
            Exchange placed = stage.send("direct:ordersPlaced", List.of("A-1", "A-2"));
            assertThat(placed.getMessage().getHeader("CamelRedisDelayMessageId", List.class))
                    .hasSize(2);
            stage.awaitMessages("orders", 2, 0);
        });

        story(".idempotentConsumer(", stage -> {
            List<Boolean> noted = new CopyOnWriteArrayList<>(); // before the work is done
            stage.bind("closeIfUnpaid", (Processor) exchange -> noted.add(stage.idempotentRepository.contains("A-1")));
            stage.start();
            Map<String, Object> id = Map.of("CamelRedisDelayScheduleId", "A-1");
            for (int i = 0; i < 2; i++) {
                stage.send("redis-delay:orders", "order", id);
                stage.awaitMessages("orders", 0, 0);
                assertThat(noted).containsExactly(false);
                assertThat(stage.idempotentRepository.contains("A-1")).isTrue();
            }
        });

        story("${body.paymentWindow}", stage -> {
            stage.start();
            stage.send("direct:orderPlaced", ORDER);
            assertThat(stage.secondsToWait("orders")).isBetween(44 * 60.0, 45 * 60.0);
            assertThat(stage.send("redis-delay:orders?operation=get", null, Map.of("CamelRedisDelayScheduleId", "A-1"))
                            .getMessage()
                            .getHeader("CamelRedisDelayState"))
                    .isEqualTo("delayed");
        });

        story("bean:refundStatus", stage -> {
            BlockingQueue<Boolean> pending = new LinkedBlockingQueue<>(List.of(true, false));
            stage.bind("refundStatus", (Processor)
                    exchange -> exchange.getMessage().setBody(new RefundStatus(pending.remove())));
            stage.start();
            stage.send("redis-delay:refunds", "R-1", Map.of("CamelRedisDelayScheduleId", "R-1"));
            // Until it is received for the first time it is one that waits, too, and is due.
            await().untilAsserted(
                            () -> assertThat(stage.secondsToWait("refunds")).isBetween(50.0, 60.0));
            stage.outside.queue("refunds").promote("R-1").result().join();
            stage.awaitMessages("refunds", 0, 0);
            assertThat(pending).isEmpty();
        });

        story("kafka:payments", stage -> {
            stage.start();
            for (int i = 0; i < 2; i++) {
                stage.send("kafka:payments", "payment", Map.of("paymentId", "P-1"));
            }
            stage.awaitMessages("receipts", 1, 0);
        });

        story("direct:loginCode direct:newsletter", stage -> {
            stage.start();
            stage.send("direct:newsletter", "news", DUE_NOW);
            stage.send("direct:loginCode", "1234");
            assertThat(stage.consumerTemplate.receiveBody("redis-delay:sms", 10_000, String.class))
                    .isEqualTo("1234");
        });

        story("direct:shipped", stage -> {
            stage.start();
            stage.send("direct:shipped", "T-1", Map.of("service", "express"));
            stage.send("direct:shipped", "T-2", Map.of("service", "snail"));
            stage.awaitMessages("shipments", 2, 0);
        });

        story("platform-http:/jobs", stage -> {
            stage.start();
            stage.send("platform-http:/jobs", "job");
            stage.awaitMessages("jobs", 1, 0);
        });

        story("direct:orderPaid direct:eventMoved", stage -> {
            stage.start();
            Event moved = new Event("E-1", System.currentTimeMillis() + 3_600_000);
            assertThat(previousState(stage.send("direct:eventMoved", moved))).isEqualTo("none");
            stage.send("redis-delay:reminders?delay=1m", "event", Map.of("CamelRedisDelayScheduleId", "E-1"));
            assertThat(previousState(stage.send("direct:eventMoved", moved))).isEqualTo("delayed");
            assertThat(stage.secondsToWait("reminders")).isBetween(3_500.0, 3_600.0);
            stage.send("redis-delay:orders?delay=1m", "order", Map.of("CamelRedisDelayScheduleId", "A-1"));
            assertThat(previousState(stage.send("direct:orderPaid", ORDER))).isEqualTo("delayed");
            stage.awaitMessages("orders", 0, 0);
        });

        story("direct:customerDeleted", stage -> {
            stage.bind("orders", new Orders());
            stage.start();
            for (String id : List.of("A-1", "A-2", "A-3")) {
                stage.send("redis-delay:orders?delay=1h", "order", Map.of("CamelRedisDelayScheduleId", id));
            }
            assertThat(count(stage.send("direct:customerDeleted", "Ada"))).isEqualTo(2);
            assertThat(count(stage.send("direct:deliverNow", null))).isOne();
            assertThat(stage.stats("orders").overdue()).isOne();
        });

        story("direct:stop direct:go", stage -> {
            stage.start();
            stage.send("direct:stop", null);
            assertThat(stage.stats("orders").paused()).isTrue();
            stage.send("direct:go", null);
            assertThat(stage.stats("orders").paused()).isFalse();
        });

        story("redisson.getScoredSortedSet(", stage -> {
            long due = System.currentTimeMillis() + 1_800_000;
            RScoredSortedSet<String> old = stage.redisson.getScoredSortedSet("orders:delayed", StringCodec.INSTANCE);
            old.add(due, "A-1");
            old.add(due + 1, "A-2");
            stage.context.start();
            stage.send("redis-delay:orders?delay=1h", "A-1", Map.of("CamelRedisDelayScheduleId", "A-1"));
            stage.start();
            assertThat(old.isExists()).isFalse();
            assertThat(stage.stats("orders").delayed()).isEqualTo(2);
            assertThat(stage.secondsToWait("orders")).isBetween(1_700.0, 1_801.0); // that of A-2
        });

        story("import.from={app}:orders", stage -> {
            BlockingQueue<String> received = new LinkedBlockingQueue<>();
            stage.bind("orders", (Processor)
                    exchange -> received.add(exchange.getMessage().getBody(String.class)));
            RDelayedQueue<String> old =
                    stage.redisson.getDelayedQueue(stage.redisson.getBlockingQueue("{app}:orders", new Kryo5Codec()));
            old.offer("A-1", 0, TimeUnit.MILLISECONDS);
            stage.start();
            assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo("A-1");
            old.destroy();
        });

        story("direct:find direct:inWork", stage -> {
            stage.start();
            stage.send("redis-delay:orders?delay=1h", "order", Map.of("CamelRedisDelayScheduleId", "A-1"));
            assertThat(stage.send("direct:find", "A-1").getMessage().getBody(String.class))
                    .isEqualTo("order");
            assertThat(stage.send("direct:inWork", null).getMessage().getBody(String.class))
                    .isEqualTo("[]");
            // Its timer asks for these, and would find nothing in silence.
            Exchange stats = stage.send("redis-delay:orders?operation=stats", null);
            Exchange outlook = stage.send("redis-delay:orders?operation=outlook", null);
            List<Object> told =
                    new ArrayList<>(stats.getMessage().getBody(Map.class).keySet());
            told.addAll(outlook.getMessage().getBody(Map.class).keySet());
            for (Object queue : stage.send("redis-delay:any?operation=queues", null)
                    .getMessage()
                    .getBody(List.class)) {
                told.addAll(((Map<?, ?>) queue).keySet());
            }
            assertThat(told).containsAll(stage.figures());
        });

        story("direct:repair", stage -> {
            stage.start();
            assertThat(count(stage.send("direct:repair", null))).isZero();
        });

        story("15s,3m,10m bean:notifyPartner", stage -> {
            stage.bind("notifyPartner", (Processor) exchange -> {
                throw new ConnectException("partner is away");
            });
            stage.start();
            long begin = System.nanoTime();
            stage.send("redis-delay:notifications", "N-1");
            await().untilAsserted(() -> {
                double left = stage.secondsToWait("notifications");
                assertThat(left).isBetween(0.0, 15.0);
                // The jitter takes up to 15 %, and this may look late.
                assertThat(left + (System.nanoTime() - begin) / 1e9).isGreaterThan(12.7);
            });
        });

        story("CamelRedisDelayRetryAfter method(\"retryAfter\"", stage -> {
            AtomicInteger status = new AtomicInteger(429);
            stage.bind("retryAfter", new RetryAfter());
            stage.bindProducer("https", exchange -> {
                throw new HttpOperationFailedException(
                        "https://partner.example/notify", status.get(), "", null, Map.of("Retry-After", "120"), "");
            });
            stage.start();
            stage.send("redis-delay:notifications", "N-1");
            await().untilAsserted(() ->
                    assertThat(stage.secondsToWait("notifications")).isBetween(100.0, 120.0));
            status.set(404);
            stage.send("redis-delay:notifications", "N-2");
            stage.awaitMessages("notifications", 1, 1);
        });

        story("direct:event bean:customers?method=apply", stage -> {
            Customers customers = new Customers("A-1"::equals);
            stage.bind("customers", customers);
            stage.start();
            for (String event : List.of("A-1", "A-2", "B-1", "A-3")) {
                stage.send("direct:event", event, Map.of("customer", event.substring(0, 1)));
            }
            // The other customer's event passes those that come after the first one of this customer.
            await().untilAsserted(() -> assertThat(customers.applied).containsExactly("B-1"));
            assertThat(stage.stats("events").parked()).isEqualTo(2);
            customers.open.countDown();
            stage.awaitMessages("events", 0, 0);
            assertThat(customers.applied).containsExactly("B-1", "A-1", "A-2", "A-3");
        });

        story("redeliveryDelays=1s,10s,1m bean:customers?method=apply", stage -> {
            Customers customers = new Customers(event -> false);
            customers.failing.add("A-1");
            stage.bind("customers", customers);
            stage.start();
            for (String event : List.of("A-1", "A-2")) {
                stage.send("redis-delay:events", event, Map.of("CamelRedisDelayGroup", "A"));
            }
            stage.awaitMessages("events", 0, 0);
            assertThat(customers.begun).containsExactly("A-1", "A-1", "A-2");
        });

        story("direct:mailOfTenant", stage -> {
            Customers mails = new Customers(mail -> true);
            mails.failing.add("noisy 0");
            stage.bind("mail", mails);
            stage.start();
            for (int i = 0; i < 10; i++) {
                stage.send("direct:mailOfTenant", "noisy " + i, Map.of("tenant", "noisy"));
            }
            stage.send("direct:mailOfTenant", "quiet 0", Map.of("tenant", "quiet"));
            await().untilAsserted(() -> assertThat(mails.begun).hasSize(5).contains("noisy 0", "quiet 0"));
            assertThat(stage.stats("mails").parked()).isEqualTo(6);
            mails.open.countDown();
            // The one that has failed lets the others pass.
            stage.awaitMessages("mails", 1, 0);
            assertThat(mails.applied).hasSize(10).doesNotContain("noisy 0");
        });

        story("direct:customerLeaves", stage -> {
            stage.start();
            for (String id : List.of("A-1", "A-2", "B-1")) {
                stage.send(
                        "redis-delay:events?delay=1h",
                        "event",
                        Map.of("CamelRedisDelayScheduleId", id, "CamelRedisDelayGroup", id.substring(0, 1)));
            }
            stage.send(
                    "redis-delay:events?every=1h",
                    "report",
                    Map.of("CamelRedisDelayScheduleId", "A-report", "CamelRedisDelayGroup", "A"));
            assertThat(count(stage.send("direct:customerLeaves", null, Map.of("customer", "A"))))
                    .isEqualTo(3);
            stage.awaitMessages("events", 1, 0);
            assertThat(state(stage, "events", "B-1")).isEqualTo("delayed");
        });

        story("direct:pausePartner direct:resumePartner", stage -> {
            stage.start();
            stage.send("direct:pausePartner", null, Map.of("host", "partner"));
            assertPause(stage, "partner", 3600);
            for (String host : List.of("partner", "other")) {
                stage.send("redis-delay:webhooks", host, Map.of("CamelRedisDelayGroup", host));
            }
            assertThat(stage.stats("webhooks").parked()).isOne();
            assertThat(stage.consumerTemplate.receiveBody("redis-delay:webhooks", 10_000))
                    .isEqualTo("other");
            stage.send("direct:resumePartner", null, Map.of("host", "partner"));
            assertThat(stage.stats("webhooks").parked()).isZero();
            assertThat(stage.consumerTemplate.receiveBody("redis-delay:webhooks", 10_000))
                    .isEqualTo("partner");
        });

        story("direct:remind direct:orderDone", stage -> {
            Customers mails = new Customers(mail -> false);
            stage.bind("mail", mails);
            stage.start();
            for (String order : List.of("A-1", "A-1", "B-1")) {
                stage.send("direct:remind", order, Map.of("order", order, "days", "3"));
            }
            stage.awaitMessages("reminders", 3, 0);
            assertThat(count(stage.send("direct:orderDone", null, Map.of("order", "A-1"))))
                    .isEqualTo(2);
            stage.awaitMessages("reminders", 1, 0);
            assertThat(stage.secondsToWait("reminders")).isBetween(3 * 86_400.0 - 60, 3 * 86_400.0);
            assertThat(mails.begun).isEmpty();
        });

        story("CamelRedisDelayPauseGroup constant(\"30s\")", stage -> {
            stage.bindProducer("https", exchange -> {
                throw new HttpOperationFailedException("https://partner.example/notify", 429, "", null, Map.of(), "");
            });
            stage.start();
            stage.send("redis-delay:webhooks?group=partner", "W-1");
            stage.send("redis-delay:webhooks?group=partner", "W-2");
            await().untilAsserted(
                            () -> assertThat(stage.secondsToWait("webhooks")).isBetween(10.0, 30.0));
            stage.awaitMessages("webhooks", 2, 0);
        });

        story("CamelRedisDelayPauseGroup method(\"retryAfter\"", stage -> {
            String date = DateTimeFormatter.RFC_1123_DATE_TIME.format(
                    ZonedDateTime.now(ZoneOffset.UTC).plusMinutes(10));
            Map<String, Map<String, String>> answers = Map.of(
                    "seconds.example", Map.of("Retry-After", "120"),
                    "lower.example", Map.of("retry-after", "120"),
                    "date.example", Map.of("Retry-After", date),
                    "past.example", Map.of("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"),
                    "long.example", Map.of("Retry-After", "86400"),
                    "odd.example", Map.of("Retry-After", "soon"),
                    "silent.example", Map.of());
            stage.bind("retryAfter", new RetryAfter());
            stage.bindProducer("https", exchange -> {
                String host = exchange.getMessage().getHeader("host", String.class);
                throw new HttpOperationFailedException("https://" + host, 429, "", null, answers.get(host), "");
            });
            stage.start();
            for (String host : answers.keySet()) {
                stage.send("direct:webhook", "W", Map.of("host", host, "url", "https://" + host + "/hook"));
            }
            assertPause(stage, "seconds.example", 120);
            assertPause(stage, "lower.example", 120);
            assertPause(stage, "date.example", 600);
            assertPause(stage, "long.example", 3600);
            assertPause(stage, "odd.example", 30);
            assertPause(stage, "silent.example", 30);
            // As the pause of a second ends, the message comes again.
            stage.awaitMessages("webhooks", answers.size(), 0);
        });

        story("bean:payments?method=lookUp", stage -> {
            Payments payments = new Payments();
            stage.bind("payments", payments);
            stage.start();
            stage.send("redis-delay:orders", "A-1");
            stage.awaitMessages("orders", 0, 0);
            assertThat(payments.calls).containsExactly("pay A-1");
        });

        story("bean:ledger?method=bookAll", stage -> {
            Ledger ledger = new Ledger();
            stage.bind("ledger", ledger);
            stage.bind("readings", ledger);
            stage.start();
            stage.send("redis-delay:invoices?batching=true", List.of("{\"number\":\"I-1\"}", "{\"number\":\"I-2\"}"));
            stage.send("redis-delay:readings?batching=true", List.of("17.5", "18"));
            stage.awaitMessages("invoices", 0, 0);
            stage.awaitMessages("readings", 0, 0);
            assertThat(ledger.booked).containsExactlyInAnyOrder(new Invoice("I-1"), new Invoice("I-2"), "17.5", "18");
        });

        story("consumerTemplate.receive(", stage -> {
            stage.context.start();
            stage.send("redis-delay:orders", "A-1");
            stage.start();
            stage.awaitMessages("orders", 0, 0);
        });

        story("failed_notification", stage -> {
            BlockingQueue<Message> rows = new LinkedBlockingQueue<>();
            stage.bindProducer("sql", exchange -> rows.add(exchange.getMessage().copy()));
            stage.start();
            failWhatIsSent(stage);
            stage.send("redis-delay:notifications", "N-1");
            Message row = rows.poll(10, TimeUnit.SECONDS);
            assertThat(row).isNotNull();
            assertThat(row.getHeaders())
                    .containsEntry("CamelRedisDelayFailureMessage", "partner is away")
                    .containsKeys("CamelRedisDelayMessageId", "CamelRedisDelayDeadLetterReason");
            stage.awaitMessages("notifications", 0, 0);
        });

        story("direct:partnerIsBack", stage -> {
            stage.start();
            failWhatIsSent(stage);
            stage.send("redis-delay:notifications", "N-1");
            stage.awaitMessages("notifications", 0, 1);
            stage.context.getRouteController().stopRoute("failing");
            assertThat(count(stage.send("direct:partnerIsBack", null))).isOne();
            stage.awaitMessages("notifications", 1, 0);
            assertThat(count(stage.send("direct:purgeAll", null))).isZero();
        });

        story("bean:mender?method=mend", stage -> {
            Mender mender = new Mender();
            stage.bind("mender", mender);
            stage.context.start();
            failWhatIsSent(stage);
            stage.send("redis-delay:notifications", "N-1");
            stage.awaitMessages("notifications", 0, 1);
            stage.context.getRouteController().stopRoute("failing");
            stage.context.removeRoute("failing");
            stage.start();
            stage.awaitMessages("notifications", 1, 0);
            assertThat(mender.mended).hasValue(1);
        });

        story("DelayQueueClient.create( due.take()", stage -> {
            long begin = System.nanoTime();
            stage.start();
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofSeconds(2));
            stage.awaitMessages("orders", 0, 0);
        });

        story("DelayQueueClient.create( Schedule.cron(", stage -> {
            stage.start();
            stage.awaitMessages("reports", 1, 0);
            assertThat(stage.secondsToWait("reports")).isPositive();
        });

        story("redis-delay:nightly bean:reports", PageStories::runNow);

        story("redis-delay:partner-health", PageStories::runNow);

        story("direct:remind CamelRedisDelayCron", stage -> {
            stage.start();
            stage.send("direct:remind", "tablets", Map.of("user", "Ada", "at", "0 30 7 * * MON-FRI"));
            Exchange stored =
                    stage.send("redis-delay:reminders?operation=get", null, Map.of("CamelRedisDelayScheduleId", "Ada"));
            assertThat(stored.getMessage().getBody()).isEqualTo("tablets");
            assertThat(stored.getMessage().getHeader("CamelRedisDelayRule"))
                    .isEqualTo("cron 0 30 7 * * MON-FRI Europe/Berlin");
        });

        story("direct:forget", stage -> {
            stage.start();
            stage.send("redis-delay:reminders?every=1h", "tablets", Map.of("CamelRedisDelayScheduleId", "Ada"));
            stage.awaitMessages("reminders", 1, 0);
            stage.send("direct:forget", null, Map.of("user", "Ada"));
            stage.awaitMessages("reminders", 0, 0);
        });

        story("new SSLContextParameters()", stage -> {
            stage.start();
            assertThat(stage.component.getConfiguration().getAddress()).startsWith("rediss://");
            assertThat(stage.component
                            .getConfiguration()
                            .getSslContextParameters()
                            .getTrustManagers()
                            .getKeyStore()
                            .getResource())
                    .isEqualTo("classpath:redis-ca.p12");
        });
    }

    /** The schedule that the route declares runs now, and goes on. */
    private static void runNow(Stage stage) throws Exception {
        String queue = stage.shows("nightly") ? "nightly" : "partner-health";
        stage.bind("partner", new Partner());
        stage.start();
        stage.awaitMessages(queue, 1, 0);
        stage.outside.queue(queue).promote(queue).result().join();
        await().untilAsserted(() -> assertThat(stage.send(
                                "redis-delay:" + queue + "?operation=get",
                                null,
                                Map.of("CamelRedisDelayScheduleId", queue))
                        .getMessage()
                        .getHeader("CamelRedisDelayLastRunTime"))
                .isNotNull());
        stage.awaitMessages(queue, 1, 0);
        assertThat(stage.secondsToWait(queue)).isPositive();
    }

    private static Object previousState(Exchange exchange) {
        return exchange.getMessage().getHeader("CamelRedisDelayPreviousState");
    }

    private static Object state(Stage stage, String queue, String id) throws Exception {
        return stage.send("redis-delay:" + queue + "?operation=get", null, Map.of("CamelRedisDelayScheduleId", id))
                .getMessage()
                .getHeader("CamelRedisDelayState");
    }

    private static int count(Exchange exchange) {
        return exchange.getMessage().getHeader("CamelRedisDelayCount", Integer.class);
    }

    /** Notifications go to the dead letters at once. */
    private static void failWhatIsSent(Stage stage) throws Exception {
        stage.context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from("redis-delay:notifications?maximumRedeliveries=0")
                        .routeId("failing")
                        .throwException(new ConnectException("partner is away"));
            }
        });
    }

    /** Waits until a group is paused for so long, of which up to 20 s may be over. */
    private static void assertPause(Stage stage, String group, int seconds) {
        await().untilAsserted(() -> {
            long until =
                    stage.outside.queue("webhooks").group(group).info().join().pausedUntilMicros();
            assertThat(until / 1_000 - System.currentTimeMillis())
                    .as(group)
                    .isBetween((seconds - 20) * 1_000L, seconds * 1_000L);
        });
    }

    /** Stands in for the reader's order; as JSON it is one of the example's, too. */
    public record Placed(String id, String customer, double amount, String paymentWindow) {}

    /** Stands in for the reader's event. */
    public record Event(String id, long start) {}

    /** Stands in for what the reader's payment provider says. */
    public record RefundStatus(boolean pending) {}

    /** Stands in for the reader's orders. */
    public static final class Orders {
        public List<String> openOrdersOf(String customer) {
            return List.of("A-1", "A-2");
        }
    }

    /** Stands in for what mends the cause of a failure. */
    public static final class Mender {
        final AtomicInteger mended = new AtomicInteger();

        public void mend() {
            mended.incrementAndGet();
        }
    }

    /** Stands in for the reader's partner. */
    public static final class Partner {
        public void ping() {}
    }

    /** Stands in for the reader's payments. */
    public static final class Payments {
        final List<String> calls = new CopyOnWriteArrayList<>();

        public void pay(String order) {
            calls.add("pay " + order);
        }

        public void lookUp(String order) {
            calls.add("lookUp " + order);
        }
    }

    /** Stands in for what works on messages of groups. */
    public static final class Customers {
        final List<String> begun = new CopyOnWriteArrayList<>();
        final List<String> applied = new CopyOnWriteArrayList<>();
        /** Ends the work on those that take long. */
        final CountDownLatch open = new CountDownLatch(1);
        /** Those that fail once. */
        final Set<String> failing = ConcurrentHashMap.newKeySet();

        private final Predicate<String> takesLong;

        Customers(Predicate<String> takesLong) {
            this.takesLong = takesLong;
        }

        public void apply(String message) throws Exception {
            begun.add(message);
            if (takesLong.test(message)) {
                assertThat(open.await(20, TimeUnit.SECONDS)).isTrue();
            }
            if (failing.remove(message)) {
                throw new ConnectException("the customer is away");
            }
            applied.add(message);
        }
    }

    /** Stands in for the reader's ledger, and for the store of readings. */
    public static final class Ledger {
        final List<Object> booked = new ArrayList<>();

        public synchronized void bookAll(List<Invoice> invoices) {
            booked.addAll(invoices);
        }

        public synchronized void store(List<Message> readings) {
            readings.forEach(reading -> booked.add(reading.getBody(String.class)));
        }
    }
}
