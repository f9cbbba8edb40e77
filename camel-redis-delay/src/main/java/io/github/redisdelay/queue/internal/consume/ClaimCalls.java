// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import java.util.concurrent.CompletableFuture;

/** The claims of one consumer from one partition, one at a time. */
public interface ClaimCalls {

    /**
     * Claims messages. The call is repeated until Redis answers.
     *
     * @param reply gets the reply, and fails only if Redis refuses the call. What hangs on it has been done before the session
     *     is given back
     * @return the same
     */
    CompletableFuture<ClaimReply> claim(ClaimRequest request, CompletableFuture<ClaimReply> reply);

    /**
     * Leaves the waiters: Redis does not count on this consumer until its next claim. Not allowed while a claim is under way.
     *
     * @return sends the call, once; to be run without a lock. A claim that was made before it is sent counts as later
     */
    Runnable leave(ClaimId claimId);

    /**
     * Gives back the session of the claims as soon as the last one is answered.
     *
     * @return completes when that is done, and the consumer has left the waiters; never fails
     */
    CompletableFuture<Void> close();
}
