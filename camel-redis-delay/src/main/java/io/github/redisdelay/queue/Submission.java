// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import java.util.concurrent.CompletableFuture;

/**
 * A request to a delay queue and its answer.
 *
 * <p>As a future it ends at the client's request timeout: then it fails with a {@link RequestTimeoutException}. A
 * request that was still waiting to be sent is withdrawn and never takes effect. Of a request that was sent, nobody
 * knows by then whether it took effect: the client keeps sending the same bytes until Redis answers, and {@link
 * #outcome()} completes with that answer. Redis executes the request once, however often it was sent.
 *
 * <p>Where the client waits for replicas or the disk (see {@link Durability}), the future fails with a {@link
 * ReplicationTimeoutException} if the request has taken effect and is not known to be as safe as that.
 *
 * <p>The futures complete on threads that must not be blocked.
 */
public abstract class Submission<T> extends CompletableFuture<T> {

    /** The constructor for the implementation of this package's queues. */
    protected Submission() {}

    /**
     * The answer without a time limit: completes when the outcome of the request is known. Fails if the request was
     * withdrawn or refused, if it is not known to be replicated, or if the client was closed before Redis answered.
     */
    public abstract CompletableFuture<T> outcome();

    /**
     * True if the request has taken effect and is not known to be as safe as was asked for: {@link #outcome()} has
     * failed with a {@link ReplicationTimeoutException}.
     */
    public abstract boolean isUnconfirmed();

    /**
     * Waits once more until the request is as safe as was asked for; may be called any number of times. The request is not
     * executed again. After a failover (or where the user may not call {@code INFO}) nobody can tell whether it was undone.
     * Then each further wait fails with a {@link ReplicationTimeoutException}.
     *
     * @return completes with the result of the request, and can fail as this one
     * @throws IllegalStateException if there is nothing to wait for, see {@link #isUnconfirmed()}
     */
    public abstract CompletableFuture<T> confirm();
}
