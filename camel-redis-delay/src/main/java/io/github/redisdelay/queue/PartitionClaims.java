// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.concurrent.CompletableFuture;

/** The claims from one of several partitions: the first one, and one after a refusal, asks whether their number is right. */
final class PartitionClaims implements Claims {

    private final Claims claims;
    private final Partitioning partitioning;
    private final String queue;

    PartitionClaims(Claims claims, Partitioning partitioning, String queue) {
        this.claims = claims;
        this.partitioning = partitioning;
        this.queue = queue;
    }

    @Override
    public CompletableFuture<ClaimReply> claim(ClaimRequest request) {
        return partitioning.ask(() -> {
            CompletableFuture<ClaimReply> result = new CompletableFuture<>();
            claims.claim(request).whenComplete((reply, error) -> {
                if (error == null) {
                    result.complete(reply);
                } else {
                    result.completeExceptionally(RedisErrors.explained(queue, RedisErrors.unwrap(error)));
                }
            });
            return result;
        });
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
