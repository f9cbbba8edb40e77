// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import java.util.Map;

/**
 * Decides what the console shows of a message's content: a hook that takes away what nobody may see. It is asked for
 * each message that is shown or downloaded, on the request's thread. One that throws shows nothing.
 */
@FunctionalInterface
public interface MessageRedactor {

    /**
     * The content of a message.
     *
     * @param contentType the body's media type; may be null
     * @param headers names and values, in their order
     * @param body null, {@code byte[]}, text, a number or a boolean
     */
    record Content(String contentType, Map<String, Object> headers, Object body) {}

    /**
     * Makes the content that is shown in the place of another one.
     *
     * @param id the message's id; of a dead letter, the dead letter's
     */
    Content redact(String queue, String id, Content content);
}
