// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.model.QueueSnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Operations by id while consumers claim and finish the same messages: what one side is told is true for the other. */
class OperationRacesIT extends RealQueueIT {

    private static final int COUNT = 1_500;

    /** Schedules messages, due one behind the other within a short time, while consumers work in a client of their own. */
    private void scheduleSoon() {
        List<Submission<ScheduleResult>> sent = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            sent.add(queue.schedule(message("m" + i, new DueTime(true, 100_000 + 200L * i), i % 3)));
        }
        sent.forEach(RealQueueIT::get);
    }

    private void awaitEmpty() {
        Awaitility.await().untilAsserted(() -> assertThat(held("messages")).isEmpty());
    }

    @Test
    void should_tell_truly_whether_a_cancel_came_in_time() throws Exception {
        Map<String, SettleResult> finished = new ConcurrentHashMap<>();
        Set<String> begun = ConcurrentHashMap.newKeySet();
        Map<String, MessageState> cancelled = new ConcurrentHashMap<>();
        try (DelayQueueClient other = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS)) {
            other.queue(queue.name()).consume(concurrent(8), executor, delivery -> {
                begun.add(delivery.id());
                finished.put(delivery.id(), get(delivery.settle(Settlement.ACKNOWLEDGE)));
            });
            scheduleSoon();
            List<Future<?>> cancellers = new ArrayList<>();
            for (int c = 0; c < 3; c++) {
                int from = c;
                cancellers.add(executor.submit(() -> {
                    for (int i = from; i < COUNT; i += 3) {
                        cancelled.put("m" + i, get(queue.cancel("m" + i)).previousState());
                    }
                }));
            }
            for (Future<?> canceller : cancellers) {
                canceller.get(30, TimeUnit.SECONDS);
            }
            awaitEmpty();
            Awaitility.await().until(() -> finished.keySet().containsAll(begun));
        }
        assertThat(cancelled).hasSize(COUNT);
        cancelled.forEach((id, state) -> {
            switch (state) {
                case DELAYED ->
                    assertThat(begun).as("delivered although cancelled in time").doesNotContain(id);
                // Claimed, perhaps not begun: what finishes it is told so.
                case LEASED ->
                    assertThat(finished.getOrDefault(id, SettleResult.STALE_GONE))
                            .as("settlement of " + id)
                            .isEqualTo(SettleResult.STALE_GONE);
                default ->
                    assertThat(finished.get(id)).as("settlement of " + id).isEqualTo(SettleResult.DONE);
            }
        });
    }

    @Test
    void should_finish_either_the_old_or_the_new_message_as_replace_was_told() throws Exception {
        Map<String, SettleResult> finished = new ConcurrentHashMap<>();
        Set<String> begun = ConcurrentHashMap.newKeySet();
        Map<String, ScheduleOutcome> replaced = new ConcurrentHashMap<>();
        try (DelayQueueClient other = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS)) {
            other.queue(queue.name()).consume(concurrent(8), executor, delivery -> {
                String body = delivery.id() + " " + (text(delivery.body()).startsWith("new") ? "new" : "old");
                begun.add(body);
                finished.put(body, get(delivery.settle(Settlement.ACKNOWLEDGE)));
            });
            scheduleSoon();
            for (int i = 0; i < COUNT; i++) {
                String id = "m" + i;
                replaced.put(
                        id,
                        get(queue.schedule(ScheduleRequest.of(id, bytes("new " + id), DueTime.now())
                                        .withOnDuplicate(DuplicatePolicy.REPLACE)
                                        .withPriority(i % 4)))
                                .outcome());
            }
            awaitEmpty();
            Awaitility.await().until(() -> finished.keySet().containsAll(begun));
        }
        replaced.forEach((id, outcome) -> {
            assertThat(finished.get(id + " new"))
                    .as("settlement of the new " + id)
                    .isEqualTo(SettleResult.DONE);
            SettleResult old = finished.get(id + " old");
            switch (outcome) {
                case REPLACED ->
                    assertThat(old).as("settlement of the replaced " + id).isNull();
                case SUPERSEDED ->
                    assertThat(old).as("settlement of the old " + id).isNotEqualTo(SettleResult.DONE);
                default -> assertThat(old).as("settlement of the old " + id).isEqualTo(SettleResult.DONE);
            }
        });
    }

    @Test
    void should_keep_every_message_while_all_kinds_of_operations_meet() throws Exception {
        Set<String> acknowledged = ConcurrentHashMap.newKeySet();
        Map<String, Integer> begun = new ConcurrentHashMap<>();
        try (DelayQueueClient other = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS)) {
            DelayQueue its = other.queue(queue.name());
            its.consume(concurrent(4), executor, delivery -> {
                // Most are given up three times, redriven, and then succeed.
                if (delivery.priority() < 2 && begun.merge(delivery.id(), 1, Integer::sum) <= 3) {
                    delivery.settle(new Settlement.DeadLetter(bytes("given up")));
                } else if (get(delivery.settle(Settlement.ACKNOWLEDGE)) == SettleResult.DONE) {
                    assertThat(acknowledged.add(delivery.id()))
                            .as("first acknowledgement")
                            .isTrue();
                }
            });
            scheduleSoon();
            Future<?> redriver = executor.submit(() -> {
                while (acknowledged.size() < COUNT && !Thread.currentThread().isInterrupted()) {
                    get(its.admin().redriveAll(message -> true, Long.MAX_VALUE));
                }
            });
            for (int i = 0; i < 20; i++) {
                get(queue.admin().pause());
                get(queue.admin().promoteAll(message -> true, Long.MAX_VALUE));
                get(queue.admin().resume());
            }
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> acknowledged.size() == COUNT);
            redriver.get(20, TimeUnit.SECONDS);
        }
        QueueSnapshot left = snapshot();
        assertThat(left.messages()).isEmpty();
        assertThat(left.keys().get("dead:messages")).isEmpty();
        assertThat(left.keys().get("state")).isEmpty();
    }
}
