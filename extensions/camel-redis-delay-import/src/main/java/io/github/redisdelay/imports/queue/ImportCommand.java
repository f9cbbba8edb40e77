// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.Request;
import java.nio.charset.StandardCharsets;

/** A call of {@code import.lua} for one message. */
final class ImportCommand extends Request<ImportReply> {

    /**
     * @param queue with the keys of the Redisson queue
     * @param words where the message is, and what differs from the defaults
     * @param element the element, or the payload of one that is ready
     */
    ImportCommand(QueueAddress queue, String id, String words, byte[] element, byte[] body) {
        super(
                queue,
                ImportScripts.IMPORT,
                id,
                id.length() + words.length() + element.length + body.length + 20,
                id.getBytes(StandardCharsets.UTF_8),
                words.getBytes(StandardCharsets.US_ASCII),
                element,
                body);
    }

    @Override
    protected boolean stores() {
        return true;
    }

    @Override
    protected ImportReply read(long timeMicros, int outcome, long valueMicros) {
        return ImportReply.of(outcome);
    }
}
