// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.format;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ConsumerOptions;
/**
 * What a claim asks for.
 *
 * @param claimId the token of its deliveries
 * @param leaseMicros the length of the leases
 * @param messages how many messages, 1 to {@link ConsumerOptions#MAX_MESSAGES}; 0: none, and the consumer leaves the waiting
 *     room
 * @param ended how many of them may be ones whose lease ended
 * @param afterwards how the consumer goes on
 * @param safetyMicros its safety interval, which the reply may make longer: it comes again by then, whatever it is told
 */
public record ClaimRequest(
        ClaimId claimId, long leaseMicros, int messages, int ended, Afterwards afterwards, long safetyMicros) {

    /** How many bytes of bodies a claim gives at the most, unless a single one is larger. */
    public static final int MAX_BYTES = 1 << 20;

    /** How a consumer goes on after a claim: with its letter in {@code claim.lua}. */
    public enum Afterwards {
        /** It does not wait for more: it leaves the waiting room. */
        DONE('d'),
        /** It waits until it is given what it asks for. */
        WAITS_UNTIL_GIVEN('l'),
        /** It waits if it is given less than it asks for, and else comes again when it has room. */
        WAITS_IF_GIVEN_LESS('w'),
        /** It has room for more than it asks for. */
        KEEPS_WAITING('k'),
        /** Its work is short: it has room again in a moment. */
        QUICK('q');

        private final byte[] letter;

        Afterwards(char letter) {
            this.letter = new byte[] {(byte) letter};
        }

        public byte[] letter() {
            return letter;
        }
    }

    /** A claim of nothing, by which a consumer leaves the waiting room. */
    public static ClaimRequest leave(ClaimId claimId) {
        return new ClaimRequest(claimId, 1, 0, 0, Afterwards.DONE, 1);
    }
}
