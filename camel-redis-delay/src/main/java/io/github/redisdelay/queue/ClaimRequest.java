// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

/**
 * What a claim asks for.
 *
 * @param claimId the token of its deliveries
 * @param leaseMicros the length of the leases
 * @param messages how many messages, 1 to {@link ConsumerOptions#MAX_MESSAGES}
 * @param ended how many of them may be ones whose lease ended
 */
record ClaimRequest(ClaimId claimId, long leaseMicros, int messages, int ended) {

    /** How many bytes of bodies a claim gives at the most, unless a single one is larger. */
    static final int MAX_BYTES = 1 << 20;
}
