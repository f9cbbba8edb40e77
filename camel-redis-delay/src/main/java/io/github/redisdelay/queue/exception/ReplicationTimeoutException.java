// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Submission;

/**
 * An error about a request that Redis has executed and that is not known to be as safe as was asked for (see {@link
 * Durability}): too few replicas have it, or it is not on disk. The request has taken effect, and a failover may undo
 * it. {@link Submission#confirm()} waits once more; to send the request again would be another request.
 */
public class ReplicationTimeoutException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final transient Object result;
    private final int replicas;
    private final int requiredReplicas;

    public ReplicationTimeoutException(
            String message, Throwable cause, Object result, int replicas, int requiredReplicas) {
        super(message, cause);
        this.result = result;
        this.replicas = replicas;
        this.requiredReplicas = requiredReplicas;
    }

    /** The answer to the request, such as a {@link ScheduleResult}; null after it was serialized. */
    public Object getResult() {
        return result;
    }

    /** The number of replicas that had the change when the time was over. */
    public int getReplicas() {
        return replicas;
    }

    /** The number of replicas that were to have the change. */
    public int getRequiredReplicas() {
        return requiredReplicas;
    }
}
