// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.Submission;
/**
 * Redis has executed a request, and it is not known to be as safe as was asked for (see {@link Durability}): not as many
 * replicas have it, or it is not on disk. It has taken effect, and a failover may undo it. {@link Submission#confirm()} waits
 * once more; to send the request again would be another request.
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

    /** What the request would have been answered, such as a {@link ScheduleResult}; null after it was serialized. */
    public Object getResult() {
        return result;
    }

    /** How many replicas had the change when the time was over. */
    public int getReplicas() {
        return replicas;
    }

    /** How many replicas were to have it. */
    public int getRequiredReplicas() {
        return requiredReplicas;
    }
}
