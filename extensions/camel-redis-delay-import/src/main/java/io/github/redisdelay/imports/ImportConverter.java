// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

/**
 * A converter of payloads that another queue wrote, such as Redisson's {@code RDelayedQueue}, into messages of the component. {@link
 * ImportCodec} has the built-in ones; a bean of your own can read whatever your application wrote.
 *
 * <p>An implementation is called by several threads at the same time, and again for a payload whose import did not come
 * to an end: it should do nothing but convert. What it throws never loses a message: the payload stays where it is.
 */
@FunctionalInterface
public interface ImportConverter {

    /**
     * Converts a payload.
     *
     * @param payload the bytes that the codec of the old queue wrote, without what the old queue stored around them;
     *     never null
     * @return the message; never null
     * @throws ImportRefusedException if it cannot be converted; the exception's message is the reason that operators
     *     see
     */
    ImportedMessage convert(byte[] payload);
}
