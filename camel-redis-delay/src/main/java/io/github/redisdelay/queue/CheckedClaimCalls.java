// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.concurrent.CompletableFuture;

/** The claims from one of several partitions, which pass when Redis has agreed on the number of partitions. */
final class CheckedClaimCalls implements Claims {

    private final Claims claims;
    private final PartitionCount count;

    CheckedClaimCalls(Claims claims, PartitionCount count) {
        this.claims = claims;
        this.count = count;
    }

    @Override
    public CompletableFuture<ClaimReply> claim(ClaimRequest request) {
        return count.ask(() -> claims.claim(request));
    }

    @Override
    public void leave(ClaimId claimId) {
        claims.leave(claimId);
    }

    @Override
    public void close() {
        claims.close();
    }
}
