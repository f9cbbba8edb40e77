// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.redisdelay.camel.ObservedComponent;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.history.History;
import io.github.redisdelay.history.ObservedQueue;
import io.github.redisdelay.queue.Delivery;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Exchange;
import org.apache.camel.LoggingLevel;
import org.apache.camel.Message;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultMessage;
import org.slf4j.LoggerFactory;

/**
 * A Camel context as an application has one, under a mixed load that it makes itself: it schedules to several queues
 * and consumes all of them and their dead letters. Everything is written down in a {@link WindowedHistory}.
 *
 * <p>What becomes of a message follows from its id, which ends with the letter of its {@link Kind}.
 */
final class SoakNode implements AutoCloseable {

    /** The usual queue, with retries, handovers and long work. */
    private static final String PLAIN = "plain";
    /** Messages of all priorities, many of them due at the same moment, for few consumers. */
    private static final String URGENT = "urgent";
    /** Scheduled and received in batches. */
    private static final String BATCHES = "batches";
    /** Messages with a short time to live, that are dropped when it is over. */
    private static final String SHORT = "short";

    static final List<String> QUEUES = List.of(PLAIN, URGENT, BATCHES, SHORT);

    private static final String RETRIES =
            "&visibilityTimeout=" + Experiment.LEASE.toSeconds() + "s&redeliveryDelay=200ms&maximumRedeliveryDelay=1s";

    private static final int TICK_MILLIS = 100;
    private static final int SENDERS = 8;
    /** The most messages that wait for a sender; more are not sent at all. */
    private static final int BACKLOG = 500;

    private static final int BATCH = 10;
    private static final int MAX_WORK_MILLIS = 50;
    private static final String WORK_MILLIS = "soakWorkMillis";
    private static final String TO_QUEUE = "soakQueue";

    private static final List<String> LOGGERS = List.of(
            "io.github.redisdelay.camel", "io.github.redisdelay.queue", "org.apache.camel", "org.redisson", "io.netty");

    /** The purposes of messages. */
    private enum Kind {
        /** Succeeds. */
        ORDINARY('o'),
        /** Fails twice. */
        FAILING('f'),
        /** Fails each time, until it is given up. */
        POISON('p'),
        /** Is given up by its route. */
        UNWANTED('u'),
        /** Its route asks for another delivery. */
        RETURNING('r'),
        /** Its work takes longer than its lease. */
        LONG('l'),
        /** Is handed over to another route. */
        HANDED_OVER('h'),
        /** Its route asks for another delivery after its time to live. */
        EXPIRING('x');

        final char letter;

        Kind(char letter) {
            this.letter = letter;
        }

        static Kind of(String id) {
            for (Kind kind : values()) {
                if (kind.letter == id.charAt(id.length() - 1)) {
                    return kind;
                }
            }
            throw new IllegalArgumentException(id);
        }
    }

    /** How a route ends. */
    private enum Outcome {
        SUCCESS,
        FAILURE,
        RETRY,
        BURY
    }

    /**
     * The settings of a node.
     *
     * @param name of its own in the run
     * @param address of Redis
     * @param directory where the histories are
     * @param beginMillis when the first window of the run began, in milliseconds since the epoch
     * @param windowMillis how long a window is
     * @param perSecond how many messages to schedule, a multiple of 10
     * @param maxDelayMillis the longest delay of a message
     */
    record Settings(
            String name,
            String address,
            Path directory,
            long beginMillis,
            long windowMillis,
            int perSecond,
            int maxDelayMillis,
            long seed) {

        static Settings of(String... arguments) {
            return new Settings(
                    arguments[0],
                    arguments[1],
                    Path.of(arguments[2]),
                    Long.parseLong(arguments[3]),
                    Long.parseLong(arguments[4]),
                    Integer.parseInt(arguments[5]),
                    Integer.parseInt(arguments[6]),
                    Long.parseLong(arguments[7]));
        }

        /** The window of a time in milliseconds since the epoch. */
        int window(long millis) {
            return (int) ((millis - beginMillis) / windowMillis);
        }

        String[] arguments() {
            return new String[] {
                name,
                address,
                directory.toString(),
                Long.toString(beginMillis),
                Long.toString(windowMillis),
                Integer.toString(perSecond),
                Integer.toString(maxDelayMillis),
                Long.toString(seed)
            };
        }
    }

    /** Of one queue and window: half of the messages of two queues have one. */
    private static final int GROUPS = 20;

    /** A message that is to be scheduled. */
    private record Plan(String queue, String id, long delayMillis, Map<String, Object> headers) {}

    private final Settings settings;
    private final WindowedHistory histories;
    private final DefaultCamelContext context = new DefaultCamelContext();
    private final ProducerTemplate template;

    /** Makes messages, and cancels some later. */
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();

    private final ThreadPoolExecutor senders = new ThreadPoolExecutor(
            SENDERS,
            SENDERS,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(BACKLOG),
            new ThreadPoolExecutor.DiscardPolicy());

    // Used by the clock's thread only.
    private final Random random;
    private int number;
    private int tick;

    private List<Long> lateness = new ArrayList<>(); // guarded by this
    private volatile long lastDelivery = System.nanoTime();

    /** Begins to produce and to consume. */
    SoakNode(Settings settings) throws Exception {
        this.settings = settings;
        histories = new WindowedHistory(settings.directory(), settings.name());
        random = new Random(settings.seed());
        context.disableJMX();
        context.getShutdownStrategy().setTimeout(20);
        ObservedComponent component = new ObservedComponent(queue -> ObservedQueue.of(queue, new Recording()));
        component.getConfiguration().setAddress(settings.address());
        component
                .getConfiguration()
                .setRequestTimeout(Experiment.OPTIONS.requestTimeout().toMillis() + "ms");
        context.addComponent("redis-delay", component);
        context.addRoutes(new Consuming());
        context.addRoutes(new Producing());
        context.start();
        template = context.createProducerTemplate();
        clock.scheduleWithFixedDelay(this::produce, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Turns off what would say each fault a hundred times. */
    static void silence() {
        for (String logger : LOGGERS) {
            ((Logger) LoggerFactory.getLogger(logger)).setLevel(Level.OFF);
        }
    }

    /** Undoes {@link #silence}. */
    static void speak() {
        for (String logger : LOGGERS) {
            ((Logger) LoggerFactory.getLogger(logger)).setLevel(null);
        }
    }

    // ---- what the test asks

    String name() {
        return settings.name();
    }

    /** Tells whether something was delivered here since. */
    boolean hasDeliveredSince(long nanos) {
        return lastDelivery - nanos > 0;
    }

    /** How late first deliveries were since the last time it was asked, in microseconds. */
    synchronized List<Long> takeLateness() {
        List<Long> taken = lateness;
        lateness = new ArrayList<>();
        return taken;
    }

    /** Suspends the routes that consume the queues, or lets them go on. */
    void suspend(boolean suspended) throws Exception {
        for (String queue : QUEUES) {
            if (suspended) {
                context.getRouteController().suspendRoute(queue);
            } else {
                context.getRouteController().resumeRoute(queue);
            }
        }
    }

    /** Schedules and cancels nothing more. */
    void endProducing() throws InterruptedException {
        clock.shutdownNow();
        senders.shutdown();
        if (!clock.awaitTermination(60, TimeUnit.SECONDS) || !senders.awaitTermination(60, TimeUnit.SECONDS)) {
            throw new AssertionError("the producer does not end");
        }
    }

    @Override
    public void close() throws Exception {
        clock.shutdownNow();
        senders.shutdownNow();
        context.close();
        histories.close();
    }

    private final class Recording implements ObservedQueue.Recorder {

        @Override
        public History of(String id) {
            return histories.of(id);
        }

        @Override
        public void delivered(Delivery delivery, boolean deadLetter) {
            lastDelivery = System.nanoTime();
            if (delivery.attempt() == 1 && !deadLetter) {
                synchronized (SoakNode.this) {
                    lateness.add(delivery.claimedMicros() - delivery.dueMicros());
                }
            }
        }
    }

    // ---- consuming

    private final class Consuming extends RouteBuilder {

        @Override
        public void configure() {
            errorHandler(noErrorHandler());
            consume(PLAIN, "?concurrentConsumers=10&maximumRedeliveries=3");
            consume(URGENT, "?concurrentConsumers=2&maximumRedeliveries=3");
            consume(
                    BATCHES,
                    "?concurrentConsumers=2&maximumRedeliveries=3&batching=true&batchSize=20&batchTimeout=200ms");
            consume(SHORT, "?concurrentConsumers=4&maximumRedeliveries=3&onExpiry=drop");
            for (String queue : QUEUES) {
                from("redis-delay:" + queue + "?state=dead&concurrentConsumers=2" + RETRIES)
                        .routeId(queue + "-dead")
                        .to("direct:work");
            }
            from("seda:handover?concurrentConsumers=4").routeId("handover").to("direct:work");
            from("direct:work")
                    .routeId("work")
                    .process(SoakNode::begin)
                    .delay(header(WORK_MILLIS))
                    .process(SoakNode.this::end);
        }

        private void consume(String queue, String options) {
            from("redis-delay:" + queue + options + RETRIES)
                    .routeId(queue)
                    .choice()
                    .when(exchange -> kind(exchange) == Kind.HANDED_OVER)
                    .to("seda:handover?waitForTaskToComplete=Never")
                    .otherwise()
                    .to("direct:work");
        }
    }

    private static Kind kind(Exchange exchange) {
        String id = exchange.getMessage().getHeader(RedisDelayConstants.MESSAGE_ID, String.class);
        return id == null ? null : Kind.of(id); // a batch has none
    }

    private static void begin(Exchange exchange) {
        // The same id takes the same time wherever it comes.
        int hash = ObservedComponent.deliveries(exchange).get(0).id().hashCode();
        long millis = kind(exchange) == Kind.LONG
                ? Experiment.LEASE.plusSeconds(1).toMillis()
                : Math.floorMod(hash, MAX_WORK_MILLIS);
        exchange.getMessage().setHeader(WORK_MILLIS, millis);
    }

    private void end(Exchange exchange) {
        List<Delivery> deliveries = ObservedComponent.deliveries(exchange);
        compareBodies(exchange, deliveries);
        Outcome outcome = deliveries.stream()
                .map(SoakNode::outcome)
                .filter(each -> each != Outcome.SUCCESS)
                .findFirst()
                .orElse(Outcome.SUCCESS);
        for (Delivery delivery : deliveries) {
            histories.of(delivery.id()).worked(delivery, outcome == Outcome.SUCCESS);
        }
        switch (outcome) {
            case FAILURE -> throw new IllegalStateException("as planned");
            case RETRY -> exchange.setProperty(RedisDelayConstants.RETRY_AFTER, "600ms");
            case BURY -> exchange.setProperty(RedisDelayConstants.DEAD_LETTER_REASON, "not wanted");
            case SUCCESS -> {}
        }
    }

    private static Outcome outcome(Delivery delivery) {
        String id = delivery.id();
        int at = id.indexOf('@');
        if (at >= 0) {
            boolean fails = delivery.attempt() == 1 && Math.floorMod(id.hashCode(), 4) == 0;
            return fails ? Outcome.FAILURE : Outcome.SUCCESS;
        }
        return switch (Kind.of(id)) {
            case FAILING -> delivery.attempt() < 3 ? Outcome.FAILURE : Outcome.SUCCESS;
            case POISON -> Outcome.FAILURE;
            case UNWANTED -> Outcome.BURY;
            case RETURNING, EXPIRING -> delivery.attempt() == 1 ? Outcome.RETRY : Outcome.SUCCESS;
            default -> Outcome.SUCCESS;
        };
    }

    private void compareBodies(Exchange exchange, List<Delivery> deliveries) {
        List<Message> messages = new ArrayList<>();
        if (exchange.getMessage().getBody() instanceof List<?> batch) {
            batch.forEach(message -> messages.add((Message) message));
        } else {
            messages.add(exchange.getMessage());
        }
        Map<String, Object> bodies = new HashMap<>();
        for (Message message : messages) {
            bodies.put(message.getHeader(RedisDelayConstants.MESSAGE_ID, String.class), message.getBody());
        }
        for (Delivery delivery : deliveries) {
            int at = delivery.id().indexOf('@');
            String id = at < 0 ? delivery.id() : delivery.id().substring(0, at);
            if (!body(id).equals(bodies.get(id))) {
                histories.of(delivery.id()).garbled(delivery);
            }
        }
    }

    private static String body(String id) {
        return new String(LoadProducer.body(id), StandardCharsets.UTF_8);
    }

    // ---- producing

    private static final class Producing extends RouteBuilder {

        @Override
        public void configure() {
            // As a careful application: what failed is sent again, under the same id.
            errorHandler(defaultErrorHandler()
                    .maximumRedeliveries(2)
                    .redeliveryDelay(200)
                    .logExhausted(false)
                    .retryAttemptedLogLevel(LoggingLevel.OFF));
            from("direct:schedule")
                    .routeId("schedule")
                    .toD("redis-delay:${header." + TO_QUEUE + "}?onDuplicate=ignore");
            from("direct:scheduleAll")
                    .routeId("scheduleAll")
                    .to("redis-delay:" + BATCHES + "?onDuplicate=ignore&batching=true");
            from("direct:cancel").routeId("cancel").toD("redis-delay:${header." + TO_QUEUE + "}?operation=cancel");
        }
    }

    private void produce() {
        try {
            tick++;
            int count = settings.perSecond() * TICK_MILLIS / 1000;
            if (tick % BATCH == 0) {
                List<Plan> batch = new ArrayList<>();
                for (int i = 0; i < count * BATCH / QUEUES.size(); i++) {
                    batch.add(plan(BATCHES));
                }
                senders.execute(() -> scheduleAll(batch));
            }
            for (int i = 0; i < count; i++) {
                String queue = QUEUES.get(random.nextInt(QUEUES.size()));
                if (!queue.equals(BATCHES)) {
                    Plan plan = plan(queue);
                    boolean cancel = random.nextInt(20) == 0;
                    int cancelMillis = random.nextInt(1000);
                    senders.execute(() -> schedule(plan, cancel ? cancelMillis : -1));
                }
            }
        } catch (RejectedExecutionException e) {
            // It has just been ended.
        }
    }

    private Plan plan(String queue) {
        long now = System.currentTimeMillis();
        int dice = random.nextInt(1000);
        Map<String, Object> headers = new HashMap<>();
        Kind kind = dice < 40 ? Kind.FAILING : dice < 50 ? Kind.POISON : Kind.ORDINARY;
        long delay = delayMillis();
        switch (queue) {
            case PLAIN -> {
                if (dice >= 960) {
                    kind = Kind.HANDED_OVER;
                } else if (dice >= 930) {
                    kind = Kind.RETURNING;
                } else if (dice >= 915) {
                    kind = Kind.UNWANTED;
                } else if (dice >= 911) {
                    kind = Kind.LONG;
                }
            }
            case URGENT -> {
                // Together with others, at the next full second.
                delay = 1000 - now % 1000;
                headers.put(RedisDelayConstants.PRIORITY, random.nextInt(10));
            }
            case SHORT -> {
                kind = dice >= 900 ? Kind.EXPIRING : kind;
                headers.put(RedisDelayConstants.TIME_TO_LIVE, kind == Kind.EXPIRING ? "300ms" : "5s");
            }
            default -> {}
        }
        int window = settings.window(now);
        if ((queue.equals(PLAIN) || queue.equals(SHORT)) && random.nextBoolean()) {
            headers.put(RedisDelayConstants.GROUP, WindowedHistory.prefix(window) + queue + random.nextInt(GROUPS));
        }
        String id = WindowedHistory.prefix(window) + settings.name() + "-" + number++ + kind.letter;
        headers.put(RedisDelayConstants.SCHEDULE_ID, id);
        headers.put(RedisDelayConstants.DELAY, Duration.ofMillis(delay));
        headers.put(TO_QUEUE, queue);
        return new Plan(queue, id, delay, headers);
    }

    private long delayMillis() {
        int dice = random.nextInt(100);
        if (dice < 25) {
            return 0;
        }
        return random.nextInt(dice < 95 ? 1000 : settings.maxDelayMillis());
    }

    /** @param cancelMillis after which to cancel it, or -1 */
    private void schedule(Plan plan, int cancelMillis) {
        Exchange sent = template.send("direct:schedule", exchange -> {
            exchange.getMessage().setBody(body(plan.id()));
            exchange.getMessage().setHeaders(new HashMap<>(plan.headers()));
        });
        if (cancelMillis >= 0 && !sent.isFailed()) {
            try {
                clock.schedule(() -> senders.execute(() -> cancel(plan)), cancelMillis, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                // It has just been ended.
            }
        }
    }

    private void scheduleAll(List<Plan> plans) {
        template.send("direct:scheduleAll", exchange -> {
            List<Message> messages = new ArrayList<>();
            for (Plan plan : plans) {
                Message message = new DefaultMessage(context);
                message.setBody(body(plan.id()));
                message.setHeaders(new HashMap<>(plan.headers()));
                messages.add(message);
            }
            exchange.getMessage().setBody(messages);
        });
    }

    private void cancel(Plan plan) {
        template.send("direct:cancel", exchange -> {
            exchange.getMessage().setHeader(RedisDelayConstants.SCHEDULE_ID, plan.id());
            exchange.getMessage().setHeader(TO_QUEUE, plan.queue());
        });
    }
}
