// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;

/**
 * Routes that consume, in a JVM of their own: for tests that let it die, or look at what it costs. Answers the {@linkplain
 * Question questions} on its standard input, a line each, and ends in an orderly way when that ends.
 *
 * <p>Arguments: what it {@linkplain Role does}; the address of Redis.
 */
final class RouteProcess {

    /** The beginning of lines that are meant for the test; others are the log. */
    static final String MARK = "@ ";

    static final int QUEUES = 1_000;
    static final int SLOW_CONSUMERS = 4;
    /** How many messages that kill their JVMs a consumer survives for each neighbour to be delivered in the end. */
    static final int MUCH_POISON = 3;

    private static final int SLOW_MILLIS = 20;
    private static final int SLOW_END_SECONDS = 45;

    /** The roles of its routes. */
    enum Role {
        /** Work for a moment; what is poisonous kills the JVM. */
        POISONED(2),
        /** The same with as many redeliveries as a neighbour of several such messages may need. */
        MUCH_POISONED(2 + 2 * MUCH_POISON),
        /** Consume more slowly than others produce. */
        SLOW(0),
        /** Consume from very many queues. */
        MANY_QUEUES(0);

        final int redeliveries;

        Role(int redeliveries) {
            this.redeliveries = redeliveries;
        }
    }

    /** The questions that it answers. */
    enum Question {
        /** How many bytes are used after a garbage collection. */
        HEAP,
        /** How many threads there are. */
        THREADS,
        /** How many messages were received. */
        RECEIVED
    }

    private final LongAdder received = new LongAdder();

    public static void main(String[] arguments) throws Exception {
        ChildMain.endsItsJvmWhenItFails();
        new RouteProcess().run(Role.valueOf(arguments[0]), arguments[1]);
    }

    private void run(Role role, String address) throws Exception {
        DefaultCamelContext context = new DefaultCamelContext();
        context.disableJMX();
        context.getShutdownStrategy().setTimeout(60);
        context.addRoutes(routes(role, "?address=" + address));
        long begin = System.nanoTime();
        context.start();
        say("ready " + millisSince(begin));
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        String question;
        while ((question = questions.readLine()) != null) {
            say(question + " " + answer(Question.valueOf(question)));
        }
        begin = System.nanoTime();
        Thread watch = new Thread(RouteProcess::showWhereItHangs, "watch");
        watch.setDaemon(true);
        watch.start();
        context.close();
        say("stopped " + millisSince(begin));
        say("RECEIVED " + received);
        System.exit(0);
    }

    private RouteBuilder routes(Role role, String address) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                switch (role) {
                    case POISONED, MUCH_POISONED ->
                        from("redis-delay:orders" + address + "&concurrentConsumers=8&visibilityTimeout=6s"
                                        + "&maximumRedeliveries=" + role.redeliveries)
                                .process(RouteProcess::swallow)
                                .delay(50)
                                .process(exchange ->
                                        say("done " + exchange.getMessage().getBody(String.class)));
                    case SLOW ->
                        from("redis-delay:orders" + address + "&concurrentConsumers=" + SLOW_CONSUMERS)
                                .delay(SLOW_MILLIS)
                                .process(exchange -> received.increment());
                    case MANY_QUEUES -> {
                        for (int i = 0; i < QUEUES; i++) {
                            from("redis-delay:queue-" + i + address).process(exchange -> received.increment());
                        }
                    }
                }
            }
        };
    }

    private static void swallow(Exchange exchange) {
        String body = exchange.getMessage().getBody(String.class);
        say("begun " + body);
        if (body.startsWith("poison")) {
            Runtime.getRuntime().halt(FaultChild.KILLED);
        }
    }

    /** The test only sees that it does not end in time. */
    private static void showWhereItHangs() {
        LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(SLOW_END_SECONDS));
        StringBuilder text = new StringBuilder("still stopping after " + SLOW_END_SECONDS + " s\n");
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            text.append(thread).append('\n');
            for (StackTraceElement frame : frames) {
                text.append("    at ").append(frame).append('\n');
            }
        });
        System.err.println(text);
    }

    private long answer(Question question) {
        return switch (question) {
            case HEAP -> {
                System.gc();
                yield ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            }
            case THREADS -> ManagementFactory.getThreadMXBean().getThreadCount();
            case RECEIVED -> received.sum();
        };
    }

    private static long millisSince(long nanos) {
        return (System.nanoTime() - nanos) / 1_000_000;
    }

    private static synchronized void say(String line) {
        System.out.println(MARK + line);
        System.out.flush();
    }
}
