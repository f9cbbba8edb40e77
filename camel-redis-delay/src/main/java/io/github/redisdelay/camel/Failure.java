// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.MessageInfo;
import java.time.Instant;
import java.util.Optional;

/**
 * The failure record that the last failed delivery of a message left: for tools that look at a queue by {@link
 * io.github.redisdelay.queue.DelayQueue}. Routes have it in the headers {@code CamelRedisDelayFailure…}.
 *
 * <p>Whoever may write to Redis may have written it: do not trust the texts. Together they have at most 4096 bytes.
 *
 * @param exception the class of the exception; null if there was none
 * @param message the exception's message; may be null
 * @param routeId the route that received the message; may be null
 * @param host the host on which it failed; null if unknown
 * @param attempt which delivery failed, 1 for the first; 0 if unknown
 * @param time when, by the clock of that host; null if unknown
 * @param reason why the message was given up: {@code failed}, {@code retryAfter}, {@code leaseExpired}, {@code expired}, {@code
 *     unreadable}, or what its route said; null if it was not
 */
public record Failure(
        String exception, String message, String routeId, String host, int attempt, Instant time, String reason) {

    /** The last failure of a message or a dead letter; empty if there is none, or it cannot be read. */
    public static Optional<Failure> of(MessageInfo info) {
        return Optional.ofNullable(FailureRecord.decode(info.lastFailure()))
                .map(record -> new Failure(
                        record.exception(),
                        record.message(),
                        record.routeId(),
                        record.host(),
                        Math.max(0, record.attempt()),
                        record.time().equals(Instant.EPOCH) ? null : record.time(),
                        record.reason()));
    }
}
