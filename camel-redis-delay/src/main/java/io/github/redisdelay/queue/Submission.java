// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import java.util.concurrent.CompletableFuture;

/**
 * A request to a delay queue and its answer.
 *
 * <p>The futures complete on threads that must not be blocked. Where the client waits for replicas or the disk (see {@link
 * Durability}), they fail with a {@link ReplicationTimeoutException} if the request has taken effect and is not known to be
 * as safe as that.
 */
public interface Submission<T> {

    /**
     * The answer within the client's request timeout, after which it fails with a {@link RequestTimeoutException}. A
     * request that was not sent by then is withdrawn and never takes effect. A request that was sent may have taken
     * effect: the client sends the same bytes until Redis answers, and {@link #outcome()} completes with that answer.
     * Redis executes the request once, however often it was sent. Cancelling this future withdraws a request that was not
     * sent yet.
     */
    CompletableFuture<T> result();

    /**
     * The answer without a time limit: completes when the outcome of the request is known. Fails if the request was
     * withdrawn or refused, if it is not known to be replicated, or if the client was closed before Redis answered.
     */
    CompletableFuture<T> outcome();

    /**
     * True if the request has taken effect and is not known to be as safe as was asked for: {@link #outcome()} has
     * failed with a {@link ReplicationTimeoutException}.
     */
    boolean isUnconfirmed();

    /**
     * Waits once more until the request is as safe as was asked for; may be called any number of times. The request is not
     * executed again. After a failover (or where the user may not call {@code INFO}) nobody can tell whether it was undone.
     * Then each further wait fails with a {@link ReplicationTimeoutException}.
     *
     * @return completes with the result of the request, and can fail as this one
     * @throws IllegalStateException if there is nothing to wait for, see {@link #isUnconfirmed()}
     */
    CompletableFuture<T> confirm();
}
