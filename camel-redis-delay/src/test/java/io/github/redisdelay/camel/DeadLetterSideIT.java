// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.camel.Exchange;
import org.apache.camel.Message;

/** Messages that died, and short words for what tests do with them. */
abstract class DeadLetterSideIT extends ConsumerSideIT {

    Message change(String options, Map<String, Object> headers) {
        Exchange exchange = send(uri + options, "x", headers);
        assertThat(exchange.getException()).isNull();
        return exchange.getMessage();
    }

    /** Makes dead letters that failed in a route, for a reason. */
    void dieOf(String routeId, String reason, String... ids) {
        for (String id : ids) {
            schedule(id, "body of " + id);
        }
        long before = stats().dead();
        // One after the other, so that they are dead letters in this order.
        ExecutorService undertaker = Executors.newSingleThreadExecutor();
        DelayQueueConsumer consumer = stored().consume(
                        ConsumerOptions.DEFAULTS, undertaker, delivery -> delivery.settle(
                                        new Settlement.DeadLetter(new FailureRecord(
                                                        "java.io.IOException",
                                                        "wrong",
                                                        routeId,
                                                        "host",
                                                        2,
                                                        Instant.now(),
                                                        reason)
                                                .encode()))
                                .result()
                                .join());
        await().until(() -> stats().dead() == before + ids.length);
        consumer.stop(false);
        undertaker.shutdown();
    }

    void die(String... ids) {
        dieOf("notify", "failed", ids);
    }

    List<String> deadLetters() {
        return stored()
                .deadLetters()
                .admin()
                .list(MessageState.DELAYED, PageStart.first(), 256)
                .join()
                .messages()
                .stream()
                .map(MessageInfo::id)
                .toList();
    }

    List<String> deadMessages() {
        return deadLetters().stream()
                .map(id -> id.substring(0, id.indexOf('@')))
                .toList();
    }

    String deadLetterOf(String id) {
        return deadLetters().stream()
                .filter(letter -> letter.startsWith(id + "@"))
                .findFirst()
                .orElseThrow();
    }

    List<String> waiting() {
        return stored().admin().list(MessageState.DELAYED, PageStart.first(), 256).join().messages().stream()
                .map(MessageInfo::id)
                .toList();
    }

    void scheduleNew(String id) {
        schedule(id, "new", Envelope.Settings.NONE, DueTime.after(Duration.ofHours(1)));
    }
}
