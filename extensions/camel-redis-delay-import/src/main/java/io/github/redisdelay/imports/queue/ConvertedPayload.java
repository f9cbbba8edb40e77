// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import io.github.redisdelay.queue.ScheduleRequest;
import java.util.Objects;

/**
 * A payload of another queue as the message that an import stores.
 *
 * @param body the bytes to store; the array must not be changed afterwards
 * @param id the id, as of {@link ScheduleRequest#id()}, or null to have one generated. If the id is in use, the message
 *     gets this id with a {@code #} and a generated one behind it
 * @param priority 0 to {@value ScheduleRequest#MAX_PRIORITY}
 */
public record ConvertedPayload(byte[] body, String id, int priority) {

    public ConvertedPayload {
        Objects.requireNonNull(body, "body");
        if (id != null) {
            ScheduleRequest.requireId(id, false);
        }
        ScheduleRequest.checkPriority(priority);
    }

    /** A message with a generated id and priority 0. */
    public static ConvertedPayload of(byte[] body) {
        return new ConvertedPayload(body, null, 0);
    }
}
