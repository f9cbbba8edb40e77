// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerOptions;

/**
 * A claim: the request for messages.
 *
 * @param claimId the token of its deliveries
 * @param leaseMicros the length of the leases
 * @param messages how many messages, 1 to {@link ConsumerOptions#MAX_MESSAGES}; 0: none, and the consumer leaves the
 *     waiters
 * @param expired how many of them may be ones whose lease expired
 * @param quick whether the consumer can take more in a moment, as its work is short: it remains a waiter also if it is given
 *     all that it asks for
 * @param safetyMicros the safety interval of the queue: how far apart the turns of idle consumers are
 * @param batchMicros how long the first message of a batch waits until there are so many; {@link #NO_BATCH}: not at all, as
 *     they are no batch
 */
public record ClaimRequest(
        ClaimId claimId,
        long leaseMicros,
        int messages,
        int expired,
        boolean quick,
        long safetyMicros,
        long batchMicros) {

    public static final long NO_BATCH = -1;

    /** The most bytes of bodies that a claim gives, unless a single one is larger. */
    public static final int MAX_BYTES = 1 << 20;

    /** A claim of nothing, by which a consumer leaves the waiters. */
    public static ClaimRequest leave(ClaimId claimId, long safetyMicros) {
        return new ClaimRequest(claimId, 1, 0, 0, false, safetyMicros, NO_BATCH);
    }
}
