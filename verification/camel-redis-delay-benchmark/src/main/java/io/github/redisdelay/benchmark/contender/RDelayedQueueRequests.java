// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.contender.Contender.Consumption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RedissonClient;

/**
 * {@code RDelayedQueue} of Redisson and one thread that takes. A message is cancelled by its value, moved by a cancel
 * and an offer, and looked up by {@code contains}. What fails is offered again.
 */
@SuppressWarnings("deprecation") // it is what many use nevertheless
public final class RDelayedQueueRequests extends RDelayed implements Requests {

    /** @param look for questions that are no part of what is measured */
    public RDelayedQueueRequests(RedissonClient redisson, String name, RedissonClient look) {
        super(redisson, name, look);
    }

    @Override
    public void call(Kind kind, int number) throws Exception {
        send(kind, number).get();
    }

    @Override
    public CompletableFuture<?> send(Kind kind, int number) {
        byte[] body = Message.of(number, kind.due()).body();
        return switch (kind) {
            case SCHEDULE -> offer(body, FAR);
            case SCHEDULE_DUE -> offer(body, Duration.ZERO);
            case CANCEL -> queue.removeAsync(body).toCompletableFuture();
            case RESCHEDULE ->
                queue.removeAsync(body).toCompletableFuture().thenCompose(removed -> offer(body, Duration.ZERO));
            case GET -> queue.containsAsync(body).toCompletableFuture();
        };
    }

    private CompletableFuture<Void> offer(byte[] body, Duration delay) {
        return queue.offerAsync(body, delay.toMillis(), TimeUnit.MILLISECONDS).toCompletableFuture();
    }

    @Override
    public Consumption consume(Duration redeliveryDelay, Deliveries deliveries) {
        return Taker.start(destination, look, body -> {
            if (deliveries.fails(body)) {
                offer(body, redeliveryDelay).get();
            }
        });
    }

    @Override
    public boolean holds(long delayed) {
        return queue.size() == delayed && destination.isEmpty();
    }
}
