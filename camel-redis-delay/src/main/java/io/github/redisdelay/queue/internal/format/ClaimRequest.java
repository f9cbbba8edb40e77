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
 * @param intent how the consumer goes on
 * @param safetyMicros its safety interval, which the reply may make longer: it comes again by then, whatever it is told
 */
public record ClaimRequest(
        ClaimId claimId, long leaseMicros, int messages, int expired, ClaimIntent intent, long safetyMicros) {

    /** The most bytes of bodies that a claim gives, unless a single one is larger. */
    public static final int MAX_BYTES = 1 << 20;

    /** A claim of nothing, by which a consumer leaves the waiters. */
    public static ClaimRequest leave(ClaimId claimId) {
        return new ClaimRequest(claimId, 1, 0, 0, ClaimIntent.LEAVE, 1);
    }
}
