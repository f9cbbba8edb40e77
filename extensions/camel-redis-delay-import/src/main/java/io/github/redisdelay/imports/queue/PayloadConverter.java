// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

/** Converts payloads that Redisson has stored into messages, for an import. */
@FunctionalInterface
public interface PayloadConverter {

    /**
     * Makes a message of a payload. It is asked once for each payload of an import, by one thread at a time; what it
     * was asked for may be taken by somebody else before it is moved.
     *
     * @param payload the bytes that the codec of the Redisson queue made; they may be kept
     * @throws Exception if it can make nothing of the payload, saying why: the message stays where it is
     */
    ConvertedPayload convert(byte[] payload) throws Exception;
}
