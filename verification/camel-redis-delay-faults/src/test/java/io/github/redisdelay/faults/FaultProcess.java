// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.history.History;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.TestClients;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RedissonClient;

/**
 * A producer or a consumer in a JVM of its own, for tests that kill it. Its history is a file. It ends in an orderly
 * way when its standard input ends, as it does when the test's JVM dies.
 *
 * <p>Arguments: {@code producer} or {@code consumer}; the address of Redis; the file; its name in the history; a seed;
 * and the {@linkplain Death step} at which it ends itself as a crash would, or {@code -}; the number of partitions; how many
 * groups messages have; and how many a producer schedules in a second.
 */
final class FaultProcess {

    /** How often the step is passed before: so that there is a load when it dies. */
    private static final int PASSES = 20;

    /** The steps at which a process can die. */
    enum Death {
        BEFORE_SCHEDULING("SCHEDULE", TestClients.Moment.BEFORE),
        SCHEDULE_SENT("SCHEDULE", TestClients.Moment.SENT),
        SCHEDULED_IN_A_GROUP("SCHEDULE", TestClients.Moment.EXECUTED),
        BEFORE_THE_CLAIM("CLAIM", TestClients.Moment.BEFORE),
        CLAIM_SENT("CLAIM", TestClients.Moment.SENT),
        AFTER_THE_CLAIM("CLAIM", TestClients.Moment.EXECUTED),
        AS_THE_WORK_BEGINS(LoadConsumer.Step.BEGUN),
        IN_THE_MIDDLE_OF_WORK(LoadConsumer.Step.WORKING),
        BEFORE_THE_ACKNOWLEDGEMENT(LoadConsumer.Step.WORKED),
        AS_IT_IS_ACKNOWLEDGED(LoadConsumer.Step.ACKNOWLEDGING),
        ACKNOWLEDGEMENT_SENT("SETTLE", TestClients.Moment.SENT),
        ACKNOWLEDGED_IN_A_GROUP("SETTLE", TestClients.Moment.EXECUTED),
        AS_A_LEASE_IS_EXTENDED("EXTEND", TestClients.Moment.SENT);

        private final String script;
        private final TestClients.Moment moment;
        private final LoadConsumer.Step step;

        Death(String script, TestClients.Moment moment) {
            this.script = script;
            this.moment = moment;
            this.step = null;
        }

        Death(LoadConsumer.Step step) {
            this.script = null;
            this.moment = null;
            this.step = step;
        }

        /** Tells whether it is a producer that dies. */
        boolean ofProducer() {
            return "SCHEDULE".equals(script);
        }

        /** Tells whether it takes a call that carries the requests of several callers. */
        private boolean inGroup() {
            return name().endsWith("IN_A_GROUP");
        }

        /** How often the step is passed before: groups and extensions are rare. */
        private int passes() {
            if (this == AS_A_LEASE_IS_EXTENDED) {
                return 0;
            }
            // A producer's groups come with each burst: some before, so that there is a load.
            return !inGroup() ? PASSES : ofProducer() ? 6 : 2;
        }
    }

    private final String name;
    private final History history;
    private final Death death;
    private final AtomicInteger passed = new AtomicInteger();
    /** Null for a consumer, and at first. Written by the main thread, read by those that call. */
    private volatile LoadProducer producer;

    private FaultProcess(String name, History history, Death death) {
        this.name = name;
        this.history = history;
        this.death = death;
    }

    public static void main(String[] arguments) throws Exception {
        ChildMain.endsItsJvmWhenItFails();
        String name = arguments[3];
        long seed = Long.parseLong(arguments[4]);
        Death death = arguments[5].equals("-") ? null : Death.valueOf(arguments[5]);
        History history = History.appendingTo(Path.of(arguments[2]), name);
        FaultProcess process = new FaultProcess(name, history, death);
        RedissonClient redisson = TestConnections.open(arguments[1]);
        new SoakWatch(arguments[1], history, List.of(name));
        DelayQueueClient client = TestClients.listening(redisson, Experiment.OPTIONS, process::called);
        DelayQueue queue = client.queue(Experiment.QUEUE, Integer.parseInt(arguments[6]));
        int groups = Integer.parseInt(arguments[7]);
        AutoCloseable load;
        if (arguments[0].equals("producer")) {
            process.producer = new LoadProducer(queue, history, name, Integer.parseInt(arguments[8]), seed, groups);
            load = process.producer;
        } else {
            warmUp(client.queue("first-of-" + name));
            LoadConsumer consumer = new LoadConsumer(history, Experiment.LEASE, seed, process::worked);
            consumer.consume(queue, Experiment.SLOTS);
            load = consumer;
        }
        while (System.in.read() >= 0) {
            // Nothing is to be read, only its end.
        }
        if (load instanceof LoadProducer) {
            load.close(); // first: it must not ask a client that is closed
        }
        client.close();
        load.close();
        redisson.shutdown();
    }

    /** The first delivery in a new JVM may take seconds on a busy machine, and a lease ends after three. */
    private static void warmUp(DelayQueue queue) throws Exception {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        DelayQueueConsumer consumer = queue.consume(
                ConsumerOptions.DEFAULTS,
                Runnable::run,
                delivery -> delivery.settle(Settlement.ACKNOWLEDGE).result().thenRun(() -> ended.complete(null)));
        int sent = 0;
        while (!isScheduled(queue, "first-" + sent)) {
            sent++; // the first request may take longer than its timeout, too
        }
        ended.get();
        consumer.stop(true).get();
    }

    private static boolean isScheduled(DelayQueue queue, String id) throws Exception {
        try {
            queue.schedule(ScheduleRequest.of(id, new byte[0], DueTime.now()))
                    .result()
                    .get();
            return true;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RequestTimeoutException) {
                return false;
            }
            throw e;
        }
    }

    private void called(String script, boolean group, TestClients.Moment moment) {
        // Deliveries are finished by either of two.
        String what = script.equals("ACKNOWLEDGE") ? "SETTLE" : script;
        if (death != null && what.equals(death.script) && moment == death.moment && (group || !death.inGroup())) {
            pass();
        }
    }

    private void worked(LoadConsumer.Step step) {
        if (death != null && step == death.step) {
            pass();
        }
    }

    private void pass() {
        if (passed.incrementAndGet() > death.passes()
                && (!death.ofProducer() || producer != null && producer.hasConfirmedMost())) {
            history.killed(name, death.name());
            Runtime.getRuntime().halt(137);
        }
    }
}
