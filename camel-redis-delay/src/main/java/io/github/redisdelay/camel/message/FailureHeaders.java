// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.message;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** The headers that tell a route about the last failure of a message. */
public final class FailureHeaders {

    private FailureHeaders() {}

    /**
     * The headers for a failure; none if it cannot be read.
     *
     * @param failure a {@link FailureRecord} as it is stored; empty if there was no failure
     * @param deadLetter whether the message is a dead letter, whose reason is a header, too
     */
    public static Map<String, Object> of(byte[] failure, boolean deadLetter) {
        Map<String, Object> headers = new LinkedHashMap<>();
        FailureRecord record = FailureRecord.decode(failure);
        if (record != null) {
            headers.put(RedisDelayConstants.FAILURE_EXCEPTION, record.exception());
            headers.put(RedisDelayConstants.FAILURE_MESSAGE, record.message());
            headers.put(RedisDelayConstants.FAILURE_ROUTE_ID, record.routeId());
            headers.put(RedisDelayConstants.FAILURE_HOST, record.host());
            headers.put(RedisDelayConstants.FAILURE_ATTEMPTS, record.attempt() > 0 ? record.attempt() : null);
            headers.put(
                    RedisDelayConstants.FAILURE_TIME,
                    record.time().equals(Instant.EPOCH) ? null : record.time().toEpochMilli());
            headers.put(RedisDelayConstants.DEAD_LETTER_REASON, deadLetter ? record.reason() : null);
            headers.values().removeIf(Objects::isNull);
        }
        return headers;
    }
}
