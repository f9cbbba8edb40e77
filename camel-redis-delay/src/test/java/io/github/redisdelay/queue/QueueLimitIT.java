// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.exception.QueueFullException;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.model.QueueSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A queue holds no more messages than the producer allows. */
class QueueLimitIT extends RealQueueIT {

    private static ScheduleRequest limited(String id, DuplicatePolicy policy, ClaimId supersedes, long limit) {
        return ScheduleRequest.of(id, bytes("x"), LONG_AGO)
                .withOnDuplicate(policy)
                .superseding(supersedes)
                .withMaximumQueueLength(limit);
    }

    private ScheduleOutcome schedule(String id, DuplicatePolicy policy, long limit) {
        return get(queue.schedule(limited(id, policy, null, limit))).outcome();
    }

    @Test
    void should_refuse_what_is_too_much_and_tell_how_many_there_are() {
        schedule("a", DuplicatePolicy.REJECT, 2);
        schedule("b", DuplicatePolicy.REJECT, 2);
        QueueSnapshot before = snapshot();
        assertThatThrownBy(() -> schedule("c", DuplicatePolicy.REJECT, 2))
                .isInstanceOfSatisfying(QueueFullException.class, e -> {
                    assertThat(e.getLength()).isEqualTo(2);
                    assertThat(e.getMessageId()).isEqualTo("c");
                })
                .hasMessage("message 'c' was not stored: queue '" + queue.name()
                        + "' has 2 messages, delayed or leased, and maximumQueueLength allows 2");
        assertThat(snapshot().messages()).isEqualTo(before.messages());
        assertThat(snapshot().keys().get("delayed")).isEqualTo(before.keys().get("delayed"));
        // It is the producer's limit, not the queue's.
        assertThat(schedule("c", DuplicatePolicy.REJECT, 3)).isEqualTo(ScheduleOutcome.SCHEDULED);
        assertThat(schedule("d", DuplicatePolicy.REJECT, 0)).isEqualTo(ScheduleOutcome.SCHEDULED);
    }

    @Test
    void should_count_what_is_being_delivered_and_not_what_is_dead() {
        schedule("a", DuplicatePolicy.REJECT, 1);
        ClaimedDelivery delivery = claim(1).get(0);
        assertThatThrownBy(() -> schedule("b", DuplicatePolicy.REJECT, 1)).isInstanceOf(QueueFullException.class);
        get(delivery.settle(new Settlement.DeadLetter(new byte[0])));
        assertThat(schedule("b", DuplicatePolicy.REJECT, 1)).isEqualTo(ScheduleOutcome.SCHEDULED);
        get(queue.cancel("b"));
        assertThat(schedule("c", DuplicatePolicy.REJECT, 1)).isEqualTo(ScheduleOutcome.SCHEDULED);
    }

    @Test
    void should_not_refuse_what_takes_the_place_of_another() {
        schedule("a", DuplicatePolicy.REJECT, 1);
        assertThat(schedule("a", DuplicatePolicy.REPLACE, 1)).isEqualTo(ScheduleOutcome.REPLACED);
        ClaimedDelivery delivery = claim(1).get(0);
        assertThat(get(queue.schedule(limited("a", DuplicatePolicy.REJECT, delivery.claimId(), 1)))
                        .outcome())
                .isEqualTo(ScheduleOutcome.SUPERSEDED);
        assertThat(schedule("a", DuplicatePolicy.IGNORE, 1)).isEqualTo(ScheduleOutcome.IGNORED);
        assertThatThrownBy(() -> schedule("a", DuplicatePolicy.REJECT, 1))
                .isInstanceOf(DuplicateMessageException.class);
    }

    @Test
    void should_keep_the_limit_however_many_schedule_at_a_time() throws Exception {
        AtomicInteger full = new AtomicInteger();
        List<Future<?>> producers = new ArrayList<>();
        for (int p = 0; p < 4; p++) {
            int producer = p;
            producers.add(executor.submit(() -> {
                List<Submission<ScheduleResult>> sent = new ArrayList<>();
                for (int i = 0; i < 300; i++) {
                    sent.add(queue.schedule(limited("m" + producer + "-" + i, DuplicatePolicy.REJECT, null, 500)));
                }
                for (Submission<ScheduleResult> one : sent) {
                    try {
                        get(one);
                    } catch (QueueFullException e) {
                        full.incrementAndGet();
                    }
                }
            }));
        }
        for (Future<?> producer : producers) {
            producer.get(30, TimeUnit.SECONDS);
        }
        assertThat(full).hasValue(700);
        assertThat(get(queue.admin().stats()).delayed()).isEqualTo(500);
    }

    @Test
    void should_refuse_a_negative_limit() {
        assertThatThrownBy(() -> limited("a", DuplicatePolicy.REJECT, null, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("maximumQueueLength is -1");
    }
}
