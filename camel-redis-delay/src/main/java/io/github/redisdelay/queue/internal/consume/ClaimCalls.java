// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import java.util.concurrent.CompletableFuture;

/** Claims messages: one claim at a time. */
public interface ClaimCalls {

    /**
     * Claims messages; repeats the call until Redis answers.
     *
     * @return the reply; fails only if Redis refused the call
     */
    CompletableFuture<ClaimReply> claim(ClaimRequest request);

    /**
     * Leaves the waiting room: nobody counts on this consumer until its next claim. Sent once, and not waited for; not while
     * a claim is under way.
     */
    void leave(ClaimId claimId);

    /** Gives back what the claims used, once the last one is answered. */
    void close();
}
