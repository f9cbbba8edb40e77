// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.command;

import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.ShownId;
import io.github.redisdelay.queue.internal.format.LittleEndian;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A walk with {@code repair.lua} over a queue's bodies, then over its state records, then over the groups, or the index of dead
 * letters: slice by
 * slice, each when the one before is answered. It logs what was amiss, also if it fails on the way.
 */
public final class RepairScan {

    private static final Logger LOG = LoggerFactory.getLogger(RepairScan.class);

    /** The most ids that the log names. */
    private static final int NAMED = 10;

    private static final byte[] BODIES = "messages".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] RECORDS = "state".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] INDEX = "index".getBytes(StandardCharsets.US_ASCII);
    /** A walk whose cursors any server knows. */
    static final byte[] GROUPS = "groups".getBytes(StandardCharsets.US_ASCII);

    private static final byte[] BEGIN = {'0'};

    private final String queue;
    private final BiFunction<byte[], byte[], CompletableFuture<?>> slices;

    // The slices follow one another: no two threads are in here at a time.
    private long messages;
    private long restored;
    private long bodiesMissing;
    private long recordsDropped;
    private final List<String> named = new ArrayList<>();

    private RepairScan(String queue, BiFunction<byte[], byte[], CompletableFuture<?>> slices) {
        this.queue = queue;
        this.slices = slices;
    }

    /**
     * @param queue its name for the log
     * @param dead whether it is one of dead letters, which has an index
     */
    static CompletableFuture<CheckResult> of(
            String queue, boolean dead, BiFunction<byte[], byte[], CompletableFuture<?>> slices) {
        RepairScan walk = new RepairScan(queue, slices);
        return walk.over(BODIES)
                .thenCompose(done -> walk.over(RECORDS))
                .thenCompose(done -> walk.over(dead ? INDEX : GROUPS))
                .whenComplete((done, error) -> walk.log())
                .thenApply(done -> walk.result());
    }

    /** Walks over the groups of a queue, to bring each in line with their limit. */
    static CompletableFuture<Void> overGroups(BiFunction<byte[], byte[], CompletableFuture<?>> slices) {
        return new RepairScan("", slices).over(GROUPS);
    }

    /** True for the cursor with which a walk begins. In an answer it means that the walk has ended. */
    public static boolean isBegin(byte[] cursor) {
        return Arrays.equals(cursor, BEGIN);
    }

    private CompletableFuture<Void> over(byte[] walk) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        next(walk, BEGIN, done);
        return done;
    }

    private void next(byte[] walk, byte[] cursor, CompletableFuture<Void> done) {
        slices.apply(walk, cursor)
                .thenAccept(reply -> {
                    byte[] behind = read(walk, (List<?>) reply);
                    if (isBegin(behind)) {
                        done.complete(null);
                    } else {
                        next(walk, behind, done);
                    }
                })
                .exceptionally(error -> {
                    done.completeExceptionally(ErrorText.unwrap(error));
                    return null;
                });
    }

    /** Counts a slice; answers where the next one begins. */
    private byte[] read(byte[] walk, List<?> reply) {
        ByteBuffer head = LittleEndian.of((byte[]) reply.get(0));
        head.getDouble(); // the time
        long looked = (long) head.getDouble();
        long missing = (long) head.getDouble();
        List<?> ids = reply.subList(2, reply.size());
        if (walk == BODIES) {
            messages += looked;
            restored += ids.size();
            bodiesMissing = missing; // the last one counts
            for (int i = 0; i < ids.size() && named.size() < NAMED; i++) {
                named.add(ShownId.of(new String((byte[]) ids.get(i), StandardCharsets.UTF_8)));
            }
        } else if (walk == RECORDS) {
            recordsDropped += ids.size();
        }
        return (byte[]) reply.get(1);
    }

    private CheckResult result() {
        return new CheckResult(messages, restored, bodiesMissing, recordsDropped);
    }

    private void log() {
        if (restored > 0) {
            LOG.warn(
                    "{}: {} messages were neither delayed nor leased, as an evicted or deleted key leaves them behind;"
                            + " they are delayed again, the first ones: {}",
                    queue,
                    restored,
                    String.join(", ", named));
        }
        if (bodiesMissing > 0 || recordsDropped > 0) {
            LOG.warn(
                    "{}: {} ids have no message: it is lost, and the id is dropped when it is claimed; {} state records of"
                            + " no message were dropped",
                    queue,
                    bodiesMissing,
                    recordsDropped);
        }
    }
}
