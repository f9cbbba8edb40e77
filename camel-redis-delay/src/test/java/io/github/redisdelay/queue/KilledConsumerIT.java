// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.testkit.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A consumer's JVM is killed in the middle of its work: nothing is lost, nothing is early, attempts are counted. */
class KilledConsumerIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final ConcurrentLinkedQueue<Child> children = new ConcurrentLinkedQueue<>();
    private DelayQueueClient client;
    private DelayQueue queue;

    @BeforeEach
    void open() {
        client = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS.withKeyPrefix(redis.keyPrefix()));
        queue = client.queue("orders");
    }

    @AfterEach
    void close() {
        children.forEach(child -> child.process.destroyForcibly());
        client.close();
        executor.shutdownNow();
    }

    /** A child JVM and what it has said. */
    private static final class Child {
        final Process process;
        final ConcurrentLinkedQueue<String[]> said = new ConcurrentLinkedQueue<>();
        final Thread reader;

        Child(Process process) {
            this.process = process;
            this.reader = new Thread(this::read, "child-output");
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
                String line;
                while ((line = lines.readLine()) != null) {
                    said.add(line.split(" "));
                }
            } catch (IOException e) {
                // It was killed.
            }
        }

        Set<String> ids(String what) {
            return said.stream()
                    .filter(words -> words[0].equals(what))
                    .map(words -> words[1])
                    .collect(Collectors.toCollection(TreeSet::new));
        }

        /** When it claimed a message, by the server's clock in microseconds. */
        long claimedMicros(String id) {
            return said.stream()
                    .filter(words -> words[0].equals("begun") && words[1].equals(id))
                    .mapToLong(words -> Long.parseLong(words[3]))
                    .max()
                    .orElseThrow();
        }

        void kill() throws InterruptedException {
            process.destroyForcibly();
            ended();
        }

        void ended() throws InterruptedException {
            assertThat(process.waitFor(60, TimeUnit.SECONDS))
                    .as("the child has ended")
                    .isTrue();
            reader.join(10_000);
        }
    }

    private Child start(Duration lease, int concurrent, String what) throws IOException {
        Child child = new Child(new ProcessBuilder(JavaCommand.of(
                        ConsumerProcess.class,
                        redis.address(),
                        redis.keyPrefix(),
                        "orders",
                        Long.toString(lease.toMillis()),
                        Integer.toString(concurrent),
                        what))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
        children.add(child);
        return child;
    }

    private static ScheduleRequest message(String id, Duration delay) {
        return ScheduleRequest.of(id, id.getBytes(StandardCharsets.UTF_8), DueTime.after(delay));
    }

    @Test
    void should_deliver_again_what_a_killed_consumer_held_and_lose_nothing() throws Exception {
        Duration lease = Duration.ofSeconds(5);
        Set<String> ids = new TreeSet<>();
        for (int i = 0; i < 400; i++) {
            String id = i % 20 == 0 ? "m" + i + "-stuck" : "m" + i;
            // Due when the child starts, while it works, and after it was killed.
            queue.schedule(message(id, Duration.ofMillis(i * 20L))).result().get();
            ids.add(id);
        }
        Child child = start(lease, 50, "acknowledge");
        await().atMost(Duration.ofSeconds(30))
                .until(() -> child.ids("acknowledged").size() >= 60
                        && child.ids("begun").stream()
                                        .filter(id -> id.endsWith("-stuck"))
                                        .count()
                                >= 4);
        child.kill();

        Map<String, Delivery> received = new ConcurrentHashMap<>();
        ConcurrentLinkedQueue<String> twice = new ConcurrentLinkedQueue<>();
        queue.consume(
                ConsumerOptions.DEFAULTS.withConcurrentConsumers(10).withVisibilityTimeout(lease),
                executor,
                delivery -> {
                    if (received.put(delivery.id(), delivery) != null) {
                        twice.add(delivery.id());
                    }
                    delivery.settle(Settlement.ACKNOWLEDGE);
                });
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            QueueStats stats = queue.admin().stats().get();
            return stats.delayed() + stats.leased() == 0;
        });

        // An acknowledgement may have been executed whose answer the child did not live to see.
        Set<String> finished = new TreeSet<>(child.ids("acknowledging"));
        finished.addAll(received.keySet());
        assertThat(finished).as("messages that were finished").isEqualTo(ids);
        assertThat(received).doesNotContainKeys(child.ids("acknowledged").toArray(String[]::new));
        assertThat(twice).as("delivered twice in this JVM").isEmpty();
        assertThat(received.values()).allSatisfy(delivery -> assertThat(delivery.claimedMicros())
                .as("when '" + delivery.id() + "' was claimed")
                .isGreaterThanOrEqualTo(delivery.dueMicros()));

        Set<String> stuck = child.ids("begun");
        stuck.removeIf(id -> !id.endsWith("-stuck"));
        assertThat(stuck).isNotEmpty().allSatisfy(id -> {
            Delivery again = received.get(id);
            assertThat(again.attempt()).as("attempt of '" + id + "'").isEqualTo(2);
            assertThat(again.lostLeases()).isEqualTo(1);
            assertThat(again.body()).isEqualTo(id.getBytes(StandardCharsets.UTF_8));
            assertThat(again.claimedMicros() - child.claimedMicros(id))
                    .as("from the claim of '" + id + "' to the next, in microseconds")
                    .isGreaterThanOrEqualTo(lease.toMillis() * 1000);
        });
    }

    @Test
    void should_count_the_attempts_of_a_message_that_kills_each_of_its_consumers() throws Exception {
        Duration lease = Duration.ofSeconds(2);
        queue.schedule(message("poison", Duration.ZERO)).result().get();
        for (int attempt = 1; attempt <= 3; attempt++) {
            Child child = start(lease, 5, "die");
            child.ended();
            assertThat(child.process.exitValue()).isEqualTo(137);
            assertThat(child.said).anySatisfy(words -> assertThat(words).startsWith("begun", "poison"));
            int expected = attempt;
            assertThat(child.said.stream().filter(words -> words[0].equals("begun") && words[1].equals("poison")))
                    .singleElement()
                    .satisfies(words -> assertThat(words[2]).isEqualTo(String.valueOf(expected)));
        }
        try (DelayQueueReceiver receiver = queue.receiver(ConsumerOptions.DEFAULTS, delivery -> {})) {
            Delivery delivery = receiver.receive(Duration.ofSeconds(20));
            assertThat(delivery.attempt()).isEqualTo(4);
            assertThat(delivery.lostLeases()).isEqualTo(3);
            assertThat(delivery.settle(new Settlement.DeadLetter(new byte[0]))
                            .result()
                            .get())
                    .isEqualTo(SettleResult.DONE);
        }
        assertThat(queue.admin().stats().get().dead()).isEqualTo(1);
    }

    @Test
    void should_not_use_up_the_attempts_of_a_poisonous_messages_neighbours() throws Exception {
        queue.schedule(message("a-poison", Duration.ZERO)).result().get();
        Set<String> neighbours = new TreeSet<>();
        for (int i = 0; i < 5; i++) {
            neighbours.add("n" + i + "-slow");
            queue.schedule(message("n" + i + "-slow", Duration.ZERO)).result().get();
        }
        int deaths = 5;
        // Its id comes first, so that it is the first of those that are claimed together.
        for (int i = 0; i < deaths; i++) {
            start(Duration.ofSeconds(2), 10, "die").ended();
        }
        Set<String> finished = new TreeSet<>();
        for (Child child : children) {
            finished.addAll(child.ids("acknowledging"));
            assertThat(child.said)
                    .filteredOn(words -> words[1].endsWith("-slow") && words[0].equals("begun"))
                    .allSatisfy(words -> assertThat(Integer.parseInt(words[2]))
                            // Two deaths take them along; then it is begun alone, and so are they.
                            .as("attempt of '" + words[1] + "'")
                            .isLessThanOrEqualTo(3));
        }
        // Redis may have executed an acknowledgement whose answer the child did not live to see. Then the message is
        // gone.
        assertThat(finished).as("neighbours that were worked on beside it").isEqualTo(neighbours);
        QueueStats left = queue.admin().stats().get();
        assertThat(left.delayed() + left.leased())
                .as("messages left: the poisonous one")
                .isEqualTo(1);
        try (DelayQueueReceiver receiver = queue.receiver(ConsumerOptions.DEFAULTS, delivery -> {})) {
            Delivery delivery = receiver.receive(Duration.ofSeconds(20));
            assertThat(delivery.id()).isEqualTo("a-poison");
            assertThat(delivery.attempt()).isEqualTo(deaths + 1);
        }
    }
}
