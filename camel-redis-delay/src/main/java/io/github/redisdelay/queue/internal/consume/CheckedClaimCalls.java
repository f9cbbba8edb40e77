// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.consume;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.request.CallGate;
import java.util.concurrent.CompletableFuture;

/** The claims of a consumer from one of several partitions, behind a gate. */
final class CheckedClaimCalls implements ClaimCalls {

    private final ClaimCalls claims;
    private final CallGate gate;

    CheckedClaimCalls(ClaimCalls claims, CallGate gate) {
        this.claims = claims;
        this.gate = gate;
    }

    @Override
    public CompletableFuture<ClaimReply> claim(ClaimRequest request) {
        return gate.ask(() -> claims.claim(request));
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
