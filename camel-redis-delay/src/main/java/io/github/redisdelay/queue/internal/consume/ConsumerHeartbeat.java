// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.internal.format.ConsumerId;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.format.LittleEndian;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports to a queue now and then that a consumer is there, also while it claims nothing. So people can see whether anybody
 * listens, and who holds a message. No delivery depends on it.
 */
public final class ConsumerHeartbeat {

    private static final Logger LOG = LoggerFactory.getLogger(ConsumerHeartbeat.class);

    /** The interval of the heartbeat. {@code stats.lua} counts the consumers that had one in the last 140 s. */
    static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** The version of this library, without spaces, so that people see where a fleet runs several. */
    public static final String VERSION =
            Objects.requireNonNullElse(ConsumerHeartbeat.class.getPackage().getImplementationVersion(), "unknown");

    private static final byte[] GONE = {};
    private static final byte[] NOTE = {'1'};

    /** Hears what Redis has answered. */
    public interface Listener {

        /** Redis knows that the consumer is there. */
        void known();

        /**
         * Redis did not know the consumer any more, although it was there at a time within a day: it has lost data.
         *
         * @param seenMicros that time, by the server's clock, in microseconds since the epoch
         */
        void lost(long seenMicros);
    }

    private final Function<Object[], CompletableFuture<?>> call;
    private final Timers timers;
    private final byte[] id;
    /** Version, space and name. */
    private final byte[] name;

    private final Listener listener;

    // All below are guarded by this.
    /** The time when Redis last knew the consumer, by its own clock, in microseconds since the epoch; 0 if it never did. */
    private long seenMicros;

    /** True if Redis has said that it does not know the consumer any more, and has not noted that yet. */
    private boolean lost;

    private Timers.Timer timer;
    private boolean stopped;
    /**
     * The last heartbeat. The next one waits for its end, so that Redis never notes a consumer again that has stopped.
     */
    private CompletableFuture<?> last = CompletableFuture.completedFuture(null);

    /**
     * @param call sends arguments to the script, once
     * @param name by which people know the consumer
     * @param listener must not block
     */
    public ConsumerHeartbeat(
            Function<Object[], CompletableFuture<?>> call,
            Timers timers,
            ConsumerId id,
            String name,
            Listener listener) {
        this.call = call;
        this.timers = timers;
        this.id = id.bytes();
        this.name = (VERSION + " " + (name.isEmpty() ? "unnamed" : name)).getBytes(StandardCharsets.UTF_8);
        this.listener = listener;
    }

    public synchronized void start() {
        if (!stopped) {
            timer = timers.schedule(INTERVAL_NANOS, this::start);
            tell(name);
        }
    }

    /** Reports it now as well, unless Redis has not answered the last time. */
    public synchronized void beat() {
        if (!stopped && timer != null && last.isDone()) {
            tell(name);
        }
    }

    /** @return completes when Redis has answered that the consumer has stopped, or cannot be told; never fails */
    public synchronized CompletableFuture<?> stop() {
        if (!stopped && timer != null) {
            timer.cancel();
            tell(GONE);
        }
        stopped = true;
        return last;
    }

    /** Holds the lock. */
    private void tell(byte[] text) {
        last = last.thenCompose(before -> call.apply(arguments(text)))
                .thenAccept(reply -> {
                    if (text != GONE) {
                        answered(LittleEndian.of((byte[]) reply));
                    }
                })
                .exceptionally(error -> {
                    LOG.debug("a consumer could not tell that it is there: {}", error.toString());
                    return null;
                });
    }

    private synchronized Object[] arguments(byte[] text) {
        byte[] seen = Digits.of(seenMicros);
        return lost ? new Object[] {id, text, seen, NOTE} : new Object[] {id, text, seen};
    }

    private void answered(ByteBuffer reply) {
        long now = (long) reply.getDouble();
        boolean unknown = reply.get() != 0;
        long before;
        synchronized (this) {
            if (unknown && stopped) {
                return; // the farewell may have been executed first
            }
            lost = unknown;
            before = seenMicros;
            if (unknown) {
                tell(name); // so that it is listed again, and the loss is noted
            } else {
                seenMicros = now;
            }
        }
        if (unknown) {
            listener.lost(before);
        } else {
            listener.known();
        }
    }
}
