// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import java.time.Duration;

/**
 * What a change that Redis has executed is short of.
 *
 * @param wanted what was to be waited for
 * @param replicas how many replicas had it when the time was over
 * @param onDisk whether the master had it on disk; false where that was not asked for
 * @param history the id of the history of the master that has the change, or null if Redis does not tell
 * @param refusal why Redis would not wait, or null if it did
 * @param unknown whether nobody can tell if a failover has undone the change
 */
public record UnmetDurability(
        Durability wanted,
        int replicas,
        boolean onDisk,
        String history,
        Throwable refusal,
        boolean unknown) {

    /** Of a change that is there. */
    public UnmetDurability(Durability wanted, int replicas, boolean onDisk, String history, Throwable refusal) {
        this(wanted, replicas, onDisk, history, refusal, false);
    }

    /** Of a change that may be there or not. */
    public static UnmetDurability unknown(Durability wanted) {
        return new UnmetDurability(wanted, 0, false, null, null, true);
    }

    private static final String UNKNOWN =
            "nobody can tell whether a failover has undone it (another master answers now, or Redis does not say"
                    + " which one), and it was not made again";

    /** As the end of a sentence about the change. */
    String text() {
        return (wanted.disk() ? "not known to be on disk: " : "not known to be replicated: ")
                + (unknown ? UNKNOWN : refusal == null ? counted() + " within " + text(wanted.timeout()) : reason());
    }

    /**
     * The error for the caller of the change.
     *
     * @param done what was done, a clause
     * @param result what the change was answered
     */
    public ReplicationTimeoutException exception(String queue, String done, Object result) {
        return new ReplicationTimeoutException(
                "queue '" + queue + "': " + done + ", " + text(), refusal, result, replicas, wanted.replicas());
    }

    private String counted() {
        String replicasOf = replicas + " of " + wanted.replicas() + " replicas";
        if (!wanted.disk()) {
            return replicasOf;
        }
        String master = onDisk ? "the master has it" : "the master does not have it";
        return wanted.replicas() == 0 ? master : master + ", " + replicasOf + " have it,";
    }

    private String reason() {
        return "Redis does not wait for it: " + RedisErrors.text(refusal);
    }

    private static String text(Duration duration) {
        long millis = duration.toMillis();
        return millis % 1000 == 0 ? millis / 1000 + " s" : millis + " ms";
    }
}
