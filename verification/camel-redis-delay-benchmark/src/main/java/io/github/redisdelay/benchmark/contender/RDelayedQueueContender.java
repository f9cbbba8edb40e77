// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.InFlight;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.queue.DueTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/** {@code RDelayedQueue} of Redisson and one thread that takes from its destination, all with their own settings. */
@SuppressWarnings("deprecation") // it is what many use nevertheless
public final class RDelayedQueueContender extends RDelayed implements Contender {

    /** @param look for questions that are no part of what is measured; waits longer for the answer */
    public RDelayedQueueContender(RedissonClient redisson, String name, RedissonClient look) {
        super(redisson, name, look);
    }

    @Override
    public String subject() {
        return Subject.RDELAYEDQUEUE;
    }

    @Override
    public void schedule(Message message) {
        queue.offer(message.body(), delayMicros(message.due()), TimeUnit.MICROSECONDS);
    }

    @Override
    public void scheduleBatch(List<byte[]> bodies, DueTime due) throws Exception {
        // It has nothing for several messages: sent together, and the answers waited for together.
        List<CompletionStage<Void>> answers = new ArrayList<>(bodies.size());
        for (byte[] body : bodies) {
            answers.add(queue.offerAsync(body, delayMicros(due), TimeUnit.MICROSECONDS));
        }
        for (CompletionStage<Void> answer : answers) {
            answer.toCompletableFuture().get();
        }
    }

    @Override
    public void scheduleAll(Source source) throws Exception {
        InFlight inFlight = new InFlight(UNDER_WAY);
        for (Message message = source.next(); message != null; message = source.next()) {
            inFlight.begin();
            queue.offerAsync(message.body(), delayMicros(message.due()), TimeUnit.MICROSECONDS)
                    .whenComplete((result, error) -> inFlight.end(error));
        }
        inFlight.awaitAll();
    }

    private static long delayMicros(DueTime due) {
        return due.relative() ? due.micros() : Math.max(0, due.micros() - System.currentTimeMillis() * 1000);
    }

    @Override
    public Consumption consume(Arrivals arrivals) {
        return Taker.start(destination, look, arrivals::arrived);
    }

    /** The number of messages that have come to the destination. */
    public int transferred() {
        return destination.size();
    }

    /** In one script, as a message can move while one asks. */
    @Override
    public long remaining() {
        return look.getScript(ByteArrayCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_ONLY,
                        "return redis.call('LLEN', KEYS[1]) + redis.call('LLEN', KEYS[2])",
                        RScript.ReturnType.LONG,
                        List.of(destination.getName(), "redisson_delay_queue:{" + destination.getName() + "}"));
    }
}
