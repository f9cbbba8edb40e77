// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.fake;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.internal.consume.ConsumerHost;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;

/** Numbers claims, and leaves it to the test to answer with figures. */
public final class FakeHost implements ConsumerHost {

    public final List<CompletableFuture<QueueStats>> statsAsked = new ArrayList<>();
    public int stopped;
    public boolean prefetches = true;
    private byte claimNumber;

    /** A claim id that nobody else has. */
    public static ClaimId randomClaimId() {
        byte[] bytes = new byte[ClaimId.LENGTH];
        ThreadLocalRandom.current().nextBytes(bytes);
        return ClaimId.of(bytes);
    }

    @Override
    public ClaimId nextClaimId() {
        byte[] bytes = new byte[ClaimId.LENGTH];
        bytes[0] = ++claimNumber;
        return ClaimId.of(bytes);
    }

    @Override
    public boolean prefetches() {
        return prefetches;
    }

    @Override
    public CompletableFuture<Void> listen() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<QueueStats> stats() {
        CompletableFuture<QueueStats> answer = new CompletableFuture<>();
        statsAsked.add(answer);
        return answer;
    }

    @Override
    public CompletableFuture<Void> stopped(CompletableFuture<Void> left) {
        stopped++;
        return left;
    }
}
