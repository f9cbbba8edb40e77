// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.time.Instant;
import org.apache.camel.Message;

/** Tells a route about the last failure of a message. */
final class FailureHeaders {

    private FailureHeaders() {}

    /**
     * Sets the headers for what a failure left; none if it cannot be read.
     *
     * @param failure a {@link FailureRecord} as it is stored; empty if there was no failure
     * @param deadLetter whether the message is a dead letter, whose reason is a header, too
     * @return the reason that was set, or null
     */
    static String set(Message message, byte[] failure, boolean deadLetter) {
        FailureRecord record = FailureRecord.decode(failure);
        if (record == null) {
            return null;
        }
        set(message, RedisDelayConstants.FAILURE_EXCEPTION, record.exception());
        set(message, RedisDelayConstants.FAILURE_MESSAGE, record.message());
        set(message, RedisDelayConstants.FAILURE_ROUTE_ID, record.routeId());
        set(message, RedisDelayConstants.FAILURE_HOST, record.host());
        set(message, RedisDelayConstants.FAILURE_ATTEMPTS, record.attempt() > 0 ? record.attempt() : null);
        set(
                message,
                RedisDelayConstants.FAILURE_TIME,
                record.time().equals(Instant.EPOCH) ? null : record.time().toEpochMilli());
        if (!deadLetter) {
            return null;
        }
        set(message, RedisDelayConstants.DEAD_LETTER_REASON, record.reason());
        return record.reason();
    }

    private static void set(Message message, String header, Object value) {
        if (value != null) {
            message.setHeader(header, value);
        }
    }
}
