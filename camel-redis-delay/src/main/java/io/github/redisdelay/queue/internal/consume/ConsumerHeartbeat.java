// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.internal.format.ConsumerId;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a queue now and then that a consumer is there, whether or not there is anything to claim or room for it: so
 * that it can be seen whether anybody listens, and who holds a message. Nothing depends on it.
 */
public final class ConsumerHeartbeat {

    private static final Logger LOG = LoggerFactory.getLogger(ConsumerHeartbeat.class);

    /** How often a consumer tells of itself. {@code stats.lua} counts those that did so in the last 140 s. */
    static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final byte[] GONE = {};

    private final Function<Object[], CompletableFuture<?>> call;
    private final Timers timers;
    private final byte[] id;
    private final byte[] name;

    // All below are guarded by this.
    private Timers.Timer timer;
    private boolean stopped;
    /** What was told last; what follows waits for it, so that a consumer which has stopped is not noted again. */
    private CompletableFuture<?> told = CompletableFuture.completedFuture(null);

    /**
     * @param call sends arguments to the script, once
     * @param name by which people know the consumer
     */
    public ConsumerHeartbeat(Function<Object[], CompletableFuture<?>> call, Timers timers, ConsumerId id, String name) {
        this.call = call;
        this.timers = timers;
        this.id = id.bytes();
        this.name = (name.isEmpty() ? "unnamed" : name).getBytes(StandardCharsets.UTF_8);
    }

    public synchronized void start() {
        if (!stopped) {
            timer = timers.schedule(INTERVAL_NANOS, this::start);
            tell(name);
        }
    }

    public synchronized void stop() {
        if (!stopped && timer != null) {
            timer.cancel();
            tell(GONE);
        }
        stopped = true;
    }

    private void tell(byte[] text) {
        told = told.thenCompose(before -> call.apply(new Object[] {id, text})).handle((done, error) -> {
            if (error != null) {
                LOG.debug("a consumer could not tell that it is there: {}", error.toString());
            }
            return null;
        });
    }
}
