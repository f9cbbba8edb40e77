// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * A producer that schedules messages for later and cancels each tenth of them, as fast as it is answered, and remembers
 * when each change was confirmed.
 */
final class PowerCutLoad implements AutoCloseable {

    /** How many changes wait for an answer at a time. */
    private static final int WINDOW = 1000;

    private static final int CANCELLED = 10;

    private final RedissonClient redisson;
    private final DelayQueueClient client;
    private final ExecutorService producer = Executors.newSingleThreadExecutor();
    /** For results. By default a machine of two cores begins a thread for each of them, thousands in a second. */
    private final ExecutorService recorder = Executors.newSingleThreadExecutor();

    private final Semaphore window = new Semaphore(WINDOW);
    /** With {@link System#nanoTime}, by queue and id. */
    private final Map<String, Long> scheduled = new ConcurrentHashMap<>();

    private final Map<String, Long> cancelled = new ConcurrentHashMap<>();

    /**
     * @param redisson is shut down in the end
     * @param prefix of the messages' ids
     */
    PowerCutLoad(RedissonClient redisson, ClientOptions options, List<String> queues, String prefix) {
        this.redisson = redisson;
        client = DelayQueueClient.create(redisson, options);
        List<DelayQueue> all = queues.stream().map(client::queue).toList();
        producer.submit(() -> {
            for (int number = 0; !Thread.currentThread().isInterrupted(); number++) {
                window.acquire();
                send(all.get(number % all.size()), prefix + number, number % CANCELLED == 0);
            }
            return null;
        });
    }

    private void send(DelayQueue queue, String id, boolean cancel) {
        ScheduleRequest request = ScheduleRequest.of(id, new byte[200], DueTime.after(Duration.ofHours(1)));
        queue.schedule(request)
                .result()
                .whenCompleteAsync((result, error) -> scheduled(queue, id, cancel, error), recorder);
    }

    private void scheduled(DelayQueue queue, String id, boolean cancel, Throwable error) {
        String name = name(queue.name(), id);
        if (error == null && cancel) {
            queue.cancel(id).result().whenComplete((change, failure) -> confirmed(cancelled, name, failure));
        } else {
            confirmed(scheduled, name, error);
        }
    }

    private void confirmed(Map<String, Long> changes, String name, Throwable error) {
        if (error == null) {
            changes.put(name, System.nanoTime());
        }
        window.release();
    }

    private static String name(String queue, String id) {
        return queue + "/" + id;
    }

    /** How many changes were confirmed. */
    int confirmed() {
        return scheduled.size() + cancelled.size();
    }

    /** Ends it, also where nobody answers any more. */
    @Override
    public void close() throws InterruptedException {
        producer.shutdownNow();
        client.close(Duration.ofMillis(1));
        redisson.shutdown();
        recorder.shutdown();
        if (!producer.awaitTermination(30, TimeUnit.SECONDS)) {
            throw new AssertionError("the producer does not end");
        }
    }

    /** What is stored now. */
    static Set<String> stored(RedissonClient redisson, List<String> queues) {
        Set<String> names = new HashSet<>();
        for (String queue : queues) {
            redisson.<String, Object>getMap("redis-delay:{" + queue + "}:messages", StringCodec.INSTANCE)
                    .readAllKeySet()
                    .forEach(id -> names.add(name(queue, id)));
        }
        return names;
    }

    /** @param cut when the power was lost, with {@link System#nanoTime} */
    PowerCutTally tally(Set<String> stored, long cut) {
        PowerCutTally tally = new PowerCutTally(1, confirmed(), 0, Long.MIN_VALUE);
        for (Map.Entry<String, Long> change : scheduled.entrySet()) {
            tally = stored.contains(change.getKey()) ? tally : tally.withLost(cut - change.getValue());
        }
        for (Map.Entry<String, Long> change : cancelled.entrySet()) {
            tally = stored.contains(change.getKey()) ? tally.withLost(cut - change.getValue()) : tally;
        }
        return tally;
    }
}
