// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.contender.Contender.Consumption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/** {@link BareChanges}: schedules, cancels and deliveries only. A delivery that fails is known by its place. */
final class BareRequests implements Requests {

    private static final byte[] FAILURE = new byte[300];

    private final BareChanges changes;
    private final RedissonClient look;

    /** @param look for questions that are no part of what is measured */
    BareRequests(RedissonClient redisson, RedissonClient look) {
        changes = new BareChanges(redisson);
        this.look = look;
    }

    @Override
    public void call(Kind kind, int number) {
        send(kind, number).join();
    }

    @Override
    public CompletableFuture<?> send(Kind kind, int number) {
        String id = Requests.id(number);
        return switch (kind) {
            case SCHEDULE -> changes.schedule(id, Message.of(number, kind.due()).body(), micros(FAR));
            case SCHEDULE_DUE ->
                changes.schedule(id, Message.of(number, kind.due()).body(), micros(Duration.ZERO));
            case CANCEL -> changes.cancel(id);
            default -> throw new IllegalArgumentException("There is no bare script for " + kind);
        };
    }

    private static long micros(Duration delay) {
        return 1_000 * (System.currentTimeMillis() + delay.toMillis());
    }

    @Override
    public Consumption consume(Duration redeliveryDelay, Deliveries deliveries) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Thread consumer = new Thread(
                () -> {
                    try {
                        changes.deliver(
                                deliveries.expected(),
                                place -> deliveries.fails(place - 1),
                                FAILURE,
                                micros(redeliveryDelay));
                        end.complete(null);
                    } catch (Throwable e) {
                        end.completeExceptionally(e);
                    }
                },
                "bare-consumer");
        consumer.start();
        return () -> end.get(1, TimeUnit.MINUTES);
    }

    @Override
    public boolean holds(long delayed) {
        return look.getScoredSortedSet("bare:delayed", ByteArrayCodec.INSTANCE).size() == delayed
                && look.getScoredSortedSet("bare:leased", ByteArrayCodec.INSTANCE)
                        .isEmpty();
    }

    @Override
    public void close() {}
}
