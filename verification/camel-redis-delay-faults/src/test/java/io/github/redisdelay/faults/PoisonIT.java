// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.TestConnections;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.envelope.EnvelopeFormatException;
import io.github.redisdelay.test.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Messages that nobody can work on: they end in the dead letters with a reason, and nobody else does. */
@Tag("faults")
class PoisonIT {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");
    private static final int NEIGHBOURS = 60;
    private static final int RECORDS = 300;

    private RedisServer server;
    private RedissonClient redisson;
    private DelayQueueClient client;
    private DelayQueue queue;

    @BeforeEach
    void open() {
        server = RedisServer.dedicated();
        redisson = TestConnections.open(server.address());
        client = DelayQueueClient.create(redisson, Experiment.OPTIONS);
        queue = client.queue(Experiment.QUEUE);
    }

    @AfterEach
    void close() {
        client.close();
        redisson.shutdown();
        server.close();
    }

    private void schedule(String id, byte[] body) throws Exception {
        queue.schedule(ScheduleRequest.of(id, body, DueTime.now())).result().get(20, TimeUnit.SECONDS);
    }

    private boolean isEmpty() throws Exception {
        QueueStats stats = queue.admin().stats().get(20, TimeUnit.SECONDS);
        return stats.delayed() + stats.leased() == 0;
    }

    /** The dead letters: the messages' ids, and their failures. */
    private Map<String, String> deadLetters() throws Exception {
        Map<String, String> failures = new TreeMap<>();
        String from = null;
        do {
            MessagePage page = queue.deadLetters()
                    .admin()
                    .list(MessageState.DELAYED, PageStart.next(from), QueueAdmin.MAX_PAGE)
                    .get(20, TimeUnit.SECONDS);
            for (MessageInfo letter : page.messages()) {
                String id = letter.id().substring(0, letter.id().lastIndexOf('@'));
                assertThat(failures.put(id, new String(letter.lastFailure(), StandardCharsets.UTF_8)))
                        .as("'" + id + "' is among the dead letters once")
                        .isNull();
            }
            from = page.next();
        } while (from != null);
        return failures;
    }

    /** A neighbour may lose two attempts to it, which leaves it one. */
    @Test
    void should_bury_what_kills_its_JVM_each_time_and_none_of_its_neighbours() throws Exception {
        long seed = Long.getLong("faults.seed", System.nanoTime());
        LOG.info("a message kills its JVM each time: -Dfaults.seed={}", seed);
        Random random = new Random(seed);
        Poisoning all = new Poisoning("a message kills its JVM each time");
        for (int round = 0; round < Experiment.rounds(); round++) {
            all.run(RouteProcess.Role.POISONED, round + "-", Set.of(random.nextInt(NEIGHBOURS)));
        }
        all.report();
        int several = Math.min(Experiment.rounds(), RouteProcess.MUCH_POISON);
        if (several > 1) {
            // One that waits to be begun alone may lose more of them, to those that are not suspected yet.
            Poisoning much = new Poisoning("several messages kill their JVMs each time");
            Set<Integer> places = new TreeSet<>();
            for (int i = 0; i < several; i++) {
                places.add(2 + i * (NEIGHBOURS / several));
            }
            much.run(RouteProcess.Role.MUCH_POISONED, "", places);
            much.report();
        }
    }

    /** Messages some of which kill their JVMs, one JVM after the other. */
    private final class Poisoning {
        final String name;
        int deaths;
        int messages;
        int twice;

        Poisoning(String name) {
            this.name = name;
        }

        /** @param places before which of the neighbours a poisonous one is due */
        void run(RouteProcess.Role role, String prefix, Set<Integer> places) throws Exception {
            Set<String> neighbours = new TreeSet<>();
            Set<String> poison = new TreeSet<>();
            for (int i = 0; i < NEIGHBOURS; i++) {
                if (places.contains(i)) {
                    poison.add("poison-" + prefix + i);
                    schedule("poison-" + prefix + i, Envelope.of("poison-" + i).encode());
                }
                neighbours.add("good-" + prefix + i);
                schedule("good-" + prefix + i, Envelope.of("good-" + prefix + i).encode());
            }
            Set<String> before = deadLetters().keySet();
            List<String> done = new ArrayList<>();
            int attempts = role.redeliveries + 1;
            int died = consume(role, done, poison.size() * attempts);
            Map<String, String> letters = deadLetters();
            letters.keySet().removeAll(before);
            assertThat(letters.keySet()).isEqualTo(poison);
            assertThat(letters.values())
                    .allSatisfy(failure -> assertThat(failure).contains("\"reason\":\"leaseExpired\""));
            assertThat(died).as("deaths").isBetween(attempts, poison.size() * attempts);
            assertThat(new TreeSet<>(done)).isEqualTo(neighbours);
            deaths += died;
            messages += neighbours.size() + poison.size();
            twice += done.size() - neighbours.size();
        }

        /** Consumes in one JVM after the other until nothing is left; answers how many of them have died. */
        private int consume(RouteProcess.Role role, List<String> done, int mostDeaths) throws Exception {
            int died = 0;
            boolean over = false;
            while (!over) {
                assertThat(died).as("deaths").isLessThanOrEqualTo(mostDeaths);
                try (RouteChild child = RouteChild.start(role, server.address())) {
                    boolean dead = false;
                    while (!dead && !over) {
                        dead = child.hasDied(100);
                        over = isEmpty();
                    }
                    died += dead ? 1 : 0;
                    if (!dead) {
                        child.end();
                    }
                    done.addAll(child.messages("done"));
                }
            }
            return died;
        }

        void report() throws Exception {
            Experiment.row(name, deaths, messages, messages, 0, twice, null);
        }
    }

    @Test
    void should_bury_what_cannot_be_read_and_deliver_the_rest() throws Exception {
        long seed = Long.getLong("faults.seed", System.nanoTime());
        LOG.info("unreadable records: -Dfaults.seed={}", seed);
        Random random = new Random(seed);
        Set<String> good = new TreeSet<>();
        Set<String> bad = new TreeSet<>();
        List<Submission<ScheduleResult>> sent = new ArrayList<>();
        int records = RECORDS * Experiment.rounds();
        for (int i = 0; i < records; i++) {
            byte[] body = i % 3 == 0 ? readable("good-" + i) : unreadable(random);
            String id = (i % 3 == 0 ? "good-" : "bad-") + i;
            (i % 3 == 0 ? good : bad).add(id);
            sent.add(queue.schedule(ScheduleRequest.of(id, body, DueTime.now())));
        }
        for (Submission<ScheduleResult> each : sent) {
            each.result().get(20, TimeUnit.SECONDS);
        }
        Map<String, Integer> delivered = new ConcurrentHashMap<>();
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            context.disableJMX();
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    errorHandler(noErrorHandler());
                    from("redis-delay:orders?concurrentConsumers=4&address=" + server.address())
                            .process(exchange ->
                                    delivered.merge(exchange.getMessage().getBody(String.class), 1, Integer::sum));
                }
            });
            context.start();
            await().atMost(Duration.ofSeconds(60)).until(this::isEmpty);
            // It goes on.
            schedule("good-last", readable("good-last"));
            good.add("good-last");
            await().atMost(Duration.ofSeconds(20)).until(() -> delivered.containsKey("good-last") && isEmpty());
        }
        assertThat(delivered.keySet()).isEqualTo(good);
        assertThat(delivered.values()).containsOnly(1);
        Map<String, String> letters = deadLetters();
        assertThat(letters.keySet()).isEqualTo(bad);
        assertThat(letters.values()).allSatisfy(failure -> assertThat(failure).contains("\"reason\":\"unreadable\""));
        Experiment.row("records that cannot be read", bad.size(), good.size() + bad.size(), bad.size(), 0, 0, null);
    }

    private static byte[] readable(String text) {
        return Envelope.of(text, "text/plain", Map.of("name", "value", "number", 7))
                .encode();
    }

    /** Random bytes, an unknown version, or an envelope that is cut; never nothing, which is no body. */
    private static byte[] unreadable(Random random) {
        byte[] bytes;
        do {
            byte[] envelope = readable("cut");
            switch (random.nextInt(3)) {
                case 0 -> {
                    bytes = new byte[1 + random.nextInt(200)];
                    random.nextBytes(bytes);
                }
                case 1 -> {
                    bytes = envelope;
                    bytes[0] = (byte) (0xF8 | random.nextInt(8));
                }
                default -> bytes = Arrays.copyOf(envelope, 1 + random.nextInt(envelope.length - 4));
            }
        } while (isReadable(bytes));
        return bytes;
    }

    private static boolean isReadable(byte[] bytes) {
        try {
            Envelope.decode(bytes);
            return true;
        } catch (EnvelopeFormatException e) {
            return false;
        }
    }
}
