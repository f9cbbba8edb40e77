// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import io.github.redisdelay.imports.ImportConverter;
import io.github.redisdelay.imports.ImportedMessage;
import io.github.redisdelay.imports.queue.ConvertedPayload;
import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.imports.queue.PayloadConverter;
import io.github.redisdelay.imports.queue.RedissonImport;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RedissonClient;

/** The methods of an RDelayedQueue that applications use, on the queue layer. */
public class DelayedTexts implements AutoCloseable {

    private final DelayQueueClient client;
    private final DelayQueue queue;
    private final DelayQueueReceiver receiver;

    public DelayedTexts(RedissonClient redisson, String name) {
        client = DelayQueueClient.create(redisson, ClientOptions.DEFAULTS);
        queue = client.queue(name);
        receiver = queue.receiver(ConsumerOptions.DEFAULTS, delivery -> {});
    }

    public void offer(String text, long delay, TimeUnit unit) {
        DueTime due = DueTime.after(Duration.of(delay, unit.toChronoUnit()));
        queue.schedule(ScheduleRequest.of(text, Envelope.of(text).encode(), due)
                        .withOnDuplicate(DuplicatePolicy.IGNORE))
                .result()
                .join();
    }

    public boolean remove(String text) {
        return queue.cancel(text).result().join().previousState() == MessageState.DELAYED;
    }

    public boolean contains(String text) {
        return queue.get(text).join().isPresent();
    }

    public long size() {
        return queue.admin().stats().join().delayed();
    }

    public Delivery take() throws InterruptedException {
        return receiver.receive(null);
    }

    public Delivery poll(Duration timeout) throws InterruptedException {
        return receiver.receive(timeout);
    }

    public static String text(Delivery delivery) {
        return (String) Envelope.decode(delivery.body()).body();
    }

    /** Moves all messages of Redisson's queue of this name here. */
    public ImportReport importFrom(String name, ImportConverter converter) {
        PayloadConverter payloads = payload -> {
            ImportedMessage message = converter.convert(payload).withBodyAsId();
            return new ConvertedPayload(message.toEnvelope().encode(), message.id(), 0);
        };
        return RedissonImport.into(queue)
                .run(new ImportSource(name), payloads, ImportOptions.EVERYTHING)
                .join();
    }

    @Override
    public void close() {
        receiver.close();
        client.close();
    }
}
