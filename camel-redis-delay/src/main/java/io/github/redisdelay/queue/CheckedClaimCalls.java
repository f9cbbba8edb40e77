// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.util.concurrent.CompletableFuture;

/** The claims of a consumer from one of several partitions, behind a gate. */
final class CheckedClaimCalls implements Claims {

    private final Claims claims;
    private final CallGate gate;

    CheckedClaimCalls(Claims claims, CallGate gate) {
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
