// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerOptions;
import java.nio.charset.StandardCharsets;

/**
 * What a claim asks for.
 *
 * @param claimId the token of its deliveries
 * @param leaseMicros the length of the leases
 * @param messages how many messages, 1 to {@link ConsumerOptions#MAX_MESSAGES}; 0: none, and the consumer leaves the
 *     waiters
 * @param ended how many of them may be ones whose lease ended
 * @param afterwards how the consumer goes on
 * @param safetyMicros its safety interval, which the reply may make longer: it comes again by then, whatever it is told
 */
public record ClaimRequest(
        ClaimId claimId, long leaseMicros, int messages, int ended, Afterwards afterwards, long safetyMicros) {

    /** How many bytes of bodies a claim gives at the most, unless a single one is larger. */
    public static final int MAX_BYTES = 1 << 20;

    /** What a consumer intends to do after a claim. */
    public enum Afterwards {
        /** It does not wait for more: it leaves the waiters. */
        DONE("leave"),
        /** It waits until it is given what it asks for. Then it comes again when it wants to. */
        WAITS_IF_GIVEN_LESS("fill"),
        /** It keeps waiting, as it has room for more than it asks for. */
        KEEPS_WAITING("stay"),
        /** It keeps waiting, as its work is short: it has room again in a moment. */
        QUICK("quick");

        private final byte[] word;

        Afterwards(String word) {
            this.word = word.getBytes(StandardCharsets.US_ASCII);
        }

        /** Its word in {@code claim.lua}. */
        public byte[] word() {
            return word;
        }
    }

    /** A claim of nothing, by which a consumer leaves the waiters. */
    public static ClaimRequest leave(ClaimId claimId) {
        return new ClaimRequest(claimId, 1, 0, 0, Afterwards.DONE, 1);
    }
}
