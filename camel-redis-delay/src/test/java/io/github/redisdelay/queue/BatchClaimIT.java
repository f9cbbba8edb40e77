// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Batches: what one claim gives, and when. */
class BatchClaimIT extends RealQueueIT {

    private List<String> batch(int size, Duration timeout) {
        ClaimRequest request =
                new ClaimRequest(FakeHost.randomClaimId(), 3_600_000_000L, size, 1, false, 1, timeout.toNanos() / 1000);
        return get(claims.claim(request, new CompletableFuture<>())).messages().stream()
                .map(ClaimReply.ClaimedMessage::id)
                .toList();
    }

    @Test
    void should_give_a_batch_when_so_many_messages_are_due() {
        scheduleMany(2, "m", LONG_AGO);
        schedule("later", IN_AN_HOUR);
        assertThat(batch(3, Duration.ofDays(100_000))).isEmpty();
        schedule("n", DueTime.now());
        schedule("o", DueTime.now());
        assertThat(batch(3, Duration.ofDays(100_000))).containsExactly("m0", "m1", "n");
        assertThat(held("leased")).hasSize(3);
    }

    @Test
    void should_give_what_there_is_when_the_first_has_been_due_for_the_timeout() {
        schedule("a", DueTime.now());
        pass(Duration.ofMinutes(2));
        schedule("b", DueTime.now());
        assertThat(batch(3, Duration.ofMinutes(3))).isEmpty();
        assertThat(batch(3, Duration.ofMinutes(2))).containsExactly("a", "b");
    }

    @Test
    void should_count_all_priorities_and_give_the_highest_first() {
        schedule("low", LONG_AGO, 0);
        schedule("high", LONG_AGO, 7);
        assertThat(batch(3, Duration.ofDays(100_000))).isEmpty();
        schedule("middle", LONG_AGO, 4);
        assertThat(batch(3, Duration.ofDays(100_000))).containsExactly("high", "middle", "low");
    }

    @Test
    void should_give_each_message_that_comes_again_alone_without_a_wait_and_leave_it_out_of_other_batches() {
        scheduleMany(3, "again", LONG_AGO);
        List<ClaimedDelivery> failed = claim(3);
        get(failed.get(0).settle(new Settlement.Retry(Duration.ZERO, new byte[0])));
        get(failed.get(1).settle(new Settlement.Retry(Duration.ZERO, new byte[0])));
        get(failed.get(2).settle(Settlement.RELEASE));
        schedule("new", LONG_AGO);
        assertThat(batch(9, Duration.ofDays(100_000))).containsExactly("again0");
        assertThat(batch(2, Duration.ofDays(100_000)))
                .as("what was released and not begun is as new")
                .containsExactly("again2", "new");
        assertThat(batch(9, Duration.ofDays(100_000))).containsExactly("again1");
        assertThat(batch(9, Duration.ZERO)).isEmpty();
    }

    @Test
    void should_look_at_8_messages_for_one_that_comes_again_while_the_batch_waits() {
        schedule("again", LONG_AGO);
        scheduleMany(8, "m", LONG_AGO);
        get(claim(1).get(0).settle(new Settlement.Retry(Duration.ZERO, new byte[0])));
        assertThat(batch(20, Duration.ofDays(100_000))).isEmpty();
        get(queue.cancel("m3"));
        assertThat(batch(20, Duration.ofDays(100_000))).containsExactly("again");
    }

    @Test
    void should_give_a_message_whose_lease_was_lost_alone() {
        schedule("lost", LONG_AGO);
        claim(1);
        pass(Duration.ofHours(2));
        scheduleMany(2, "m", LONG_AGO);
        assertThat(batch(3, Duration.ofDays(100_000))).containsExactly("lost");
        assertThat(batch(2, Duration.ofDays(100_000))).containsExactly("m0", "m1");
    }

    @Test
    void should_give_no_more_bytes_than_a_claim_may() {
        byte[] large = new byte[400_000];
        for (int i = 0; i < 3; i++) {
            get(queue.schedule(ScheduleRequest.of("m" + i, large, LONG_AGO)));
        }
        assertThat(batch(3, Duration.ZERO)).containsExactly("m0", "m1");
        assertThat(batch(3, Duration.ZERO)).containsExactly("m2");
    }

    @Test
    void should_hand_a_batch_to_its_handler_as_one_and_work_on_so_many_at_a_time() throws Exception {
        BlockingQueue<List<? extends Delivery>> received = new LinkedBlockingQueue<>();
        ConsumerOptions options = ConsumerOptions.DEFAULTS
                .withConcurrentConsumers(2)
                .withMaxMessagesPerPoll(1)
                .withName("batches")
                .withBatch(new ConsumerOptions.Batch(3, Duration.ofMillis(100)));
        scheduleMany(7, "m", LONG_AGO);
        queue.consume(options, executor, new DeliveryHandler() {
            @Override
            public void handle(Delivery delivery) {
                throw new IllegalStateException("one by one");
            }

            @Override
            public void handle(List<? extends Delivery> batch) {
                received.add(batch);
            }
        });
        // Two threads have them: either may be the first to say so.
        Map<String, List<? extends Delivery>> batches = new TreeMap<>();
        for (int i = 0; i < 2; i++) {
            List<? extends Delivery> batch = received.poll(10, TimeUnit.SECONDS);
            batches.put(batch.get(0).id(), batch);
        }
        assertThat(batches).containsOnlyKeys("m0", "m3");
        List<? extends Delivery> first = batches.get("m0");
        assertThat(first).extracting(Delivery::id).containsExactly("m0", "m1", "m2");
        assertThat(batches.get("m3")).extracting(Delivery::id).containsExactly("m3", "m4", "m5");
        get(first.get(0).settle(Settlement.ACKNOWLEDGE));
        get(first.get(1).settle(Settlement.ACKNOWLEDGE));
        assertThat(held("delayed")).as("its slot is not free yet").containsExactly("m6");
        assertThat(received).isEmpty();
        get(first.get(2).settle(Settlement.ACKNOWLEDGE));
        assertThat(received.poll(10, TimeUnit.SECONDS)).extracting(Delivery::id).containsExactly("m6");
    }
}
