// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import io.github.redisdelay.camel.ObservedComponent;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.history.History;
import io.github.redisdelay.history.ObservedQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.envelope.EnvelopeFormatException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Random;
import org.apache.camel.Exchange;
import org.apache.camel.Processor;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.redisson.Redisson;
import org.redisson.api.RQueue;
import org.redisson.codec.Kryo5Codec;
import org.redisson.config.Config;

/**
 * An application with Camel routes: it schedules to a queue, consumes it, and takes over what a delayed queue of
 * Redisson's holds, or gives what is due to a queue of Redisson's. It can be killed at any moment. It schedules no more
 * when it reads a line, and ends when its standard input ends.
 *
 * <p>Arguments: its name; the file of its history; the address of Redis, or the URI of a configuration; the URI of the
 * queue's endpoint, with an option; what its consumer has besides, and its importing producer, or nothing where there
 * is none, both beginning with {@code &}; the name of the queue of Redisson's to which it gives what is due, or
 * nothing. Beside the history another file names the messages whose ids are no texts: their id, the text, when they
 * were due first.
 */
public final class CamelProcess {

    /** So that what a killed one held comes again soon, and a busy machine on which several JVMs begin ends none. */
    static final Duration LEASE = Duration.ofSeconds(6);

    /** The ending of the file with the names, behind the name of the history. */
    static final String NAMES = ".names";

    private static final int PERIOD_MILLIS = 20;
    private static final int LONGEST_DELAY_MILLIS = 3_000;
    private static final int WORK_MILLIS = 10;
    private static final String SCHEDULING = "scheduling";

    private final String name;
    private final History history;
    private final Path names;

    private int scheduled; // used by the timer's thread only

    private CamelProcess(String name, Path file) {
        this.name = name;
        history = History.appendingTo(file, name);
        names = Path.of(file + NAMES);
    }

    public static void main(String[] args) throws Exception {
        CamelProcess process = new CamelProcess(args[0], Path.of(args[1]));
        RQueue<String> old = args[6].isEmpty() ? null : old(args[2], args[6]);
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            context.disableJMX();
            context.getShutdownStrategy().setTimeout(60);
            context.addComponent("redis-delay", process.component(args[2]));
            context.addRoutes(process.routes(args[3], args[4], args[5], old));
            context.start();
            while (System.in.read() >= 0) {
                context.getRouteController().stopRoute(SCHEDULING);
            }
        }
        System.exit(0);
    }

    private ObservedComponent component(String redis) {
        ObservedComponent component = new ObservedComponent(queue -> ObservedQueue.of(queue, new Recording()));
        if (redis.startsWith("file:")) {
            component.getConfiguration().setConfigurationUri(redis);
        } else {
            component.getConfiguration().setAddress(redis);
        }
        return component;
    }

    private RouteBuilder routes(String uri, String consuming, String importing, RQueue<String> old) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + "&concurrentConsumers=8&visibilityTimeout=" + LEASE.toMillis() + consuming)
                        .delay(WORK_MILLIS)
                        .process(exchange -> received(exchange, old));
                from("timer:orders?delay=0&period=" + PERIOD_MILLIS)
                        .routeId(SCHEDULING)
                        .process(order())
                        .to(uri);
                if (!importing.isEmpty()) {
                    // One after the other.
                    from("timer:import?synchronous=true&delay=0&period=" + PERIOD_MILLIS)
                            .doTry()
                            .to(uri + importing)
                            .doCatch(Exception.class)
                            .process(exchange -> fail(exchange.getProperty(Exchange.EXCEPTION_CAUGHT, Exception.class)))
                            .end();
                }
            }
        };
    }

    private static void fail(Exception e) {
        e.printStackTrace();
        Runtime.getRuntime().halt(3);
    }

    private Processor order() {
        Random random = new Random(name.hashCode());
        return exchange -> {
            String text = name + "-" + scheduled++;
            exchange.getMessage().setBody(text);
            exchange.getMessage().setHeader(RedisDelayConstants.SCHEDULE_ID, text);
            Duration delay = Duration.ofMillis(random.nextInt(LONGEST_DELAY_MILLIS));
            exchange.getMessage().setHeader(RedisDelayConstants.DELAY, delay);
        };
    }

    private void received(Exchange exchange, RQueue<String> old) {
        if (old != null) {
            old.add(exchange.getMessage().getBody(String.class));
        }
        ObservedComponent.deliveries(exchange).forEach(delivery -> history.worked(delivery, true));
    }

    /** The queue of Redisson's, whose consumers use Kryo 5. */
    private static RQueue<String> old(String address, String queue) {
        Config config = new Config();
        config.useSingleServer().setAddress(address).setConnectionMinimumIdleSize(1);
        return Redisson.create(config).getQueue(queue, new Kryo5Codec());
    }

    private final class Recording implements ObservedQueue.Recorder {

        @Override
        public History of(String id) {
            return history;
        }

        @Override
        public void delivered(Delivery delivery, boolean deadLetter) {
            String text = text(delivery);
            if (!text.equals(delivery.id())) {
                write(delivery.id() + " " + text + " " + delivery.firstDueMicros());
            }
        }
    }

    private synchronized void write(String line) {
        try {
            Files.writeString(names, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(Delivery delivery) {
        try {
            // JSON is imported as it stands, with its quotation marks.
            return Envelope.decode(delivery.body()).body().toString().replace("\"", "");
        } catch (EnvelopeFormatException e) {
            throw new AssertionError(e);
        }
    }
}
