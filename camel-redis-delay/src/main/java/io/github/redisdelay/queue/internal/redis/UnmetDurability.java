// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletionException;

/**
 * The difference between the durability that a change was to have and the one that it has. Redis has executed the change.
 *
 * @param wanted the durability that was asked for
 * @param replicas the number of replicas that had the change when the time was over
 * @param onDisk whether the master had the change on disk; false if that was not asked for
 * @param history the id of the history of the master that has the change; {@link #UNKNOWN_HISTORY} if Redis does not tell
 * @param refusal the reason why Redis did not wait; null if it did
 */
public record UnmetDurability(Durability wanted, int replicas, boolean onDisk, String history, Throwable refusal) {

    /** The id of no history. */
    static final String UNKNOWN_HISTORY = "unknown";

    /** The durability that a wait has not reached; null if it has reached all. */
    public static UnmetDurability missing(Durability wanted, Waited waited, String history, Throwable refusal) {
        return waited != null && waited.satisfies(wanted)
                ? null
                : new UnmetDurability(
                        wanted,
                        waited == null ? 0 : waited.replicas(),
                        waited != null && waited.onDisk(),
                        history,
                        refusal);
    }

    /**
     * The answer to a change whose durability nobody needs.
     *
     * @throws CompletionException of any other error
     */
    @SuppressWarnings("unchecked")
    public static <T> T answer(Throwable error) {
        if (ErrorText.unwrap(error) instanceof ReplicationTimeoutException done) {
            return (T) done.getResult();
        }
        throw new CompletionException(error);
    }

    /**
     * The error for the caller of the change.
     *
     * @param done a clause that says what was done
     * @param result the answer to the change
     */
    public ReplicationTimeoutException exception(String queue, String done, Object result) {
        return exception(
                queue, done, result, refusal == null ? counted() + " within " + text(wanted.timeout()) : reason());
    }

    /** The error for a caller where a failover may have undone the change. */
    public ReplicationTimeoutException perhapsUndone(String queue, String done, Object result) {
        return exception(
                queue,
                done,
                result,
                "it is unknown whether a failover has undone it (another master answers now, or Redis does not say which"
                        + " one)");
    }

    private ReplicationTimeoutException exception(String queue, String done, Object result, String why) {
        return new ReplicationTimeoutException(
                "queue '" + queue + "': " + done + ", not known to be " + (wanted.disk() ? "on disk: " : "replicated: ")
                        + why,
                refusal,
                result,
                replicas,
                wanted.replicas());
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
        return "Redis does not wait for it: " + ErrorText.of(refusal);
    }

    private static String text(Duration duration) {
        long millis = duration.toMillis();
        return millis % 1000 == 0 ? millis / 1000 + " s" : millis + " ms";
    }
}
