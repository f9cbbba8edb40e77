// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.delivery.ExchangeFiller;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.camel.message.MessageMapper;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.envelope.EnvelopeFormatException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.camel.Exchange;
import org.apache.camel.Message;

/** The way from a stored message that somebody looks at to an exchange. Nobody holds its lease. */
public final class StoredMessageReader {

    private StoredMessageReader() {}

    /** Fills a message with body and headers, as a consumer would, and with the time of scheduling. */
    public static void fill(
            StoredMessage stored, String queue, MessageMapper mapper, Message message, Exchange exchange) {
        try {
            mapper.fill(Envelope.decode(stored.body()), message, exchange);
        } catch (EnvelopeFormatException e) {
            message.setBody(stored.body()); // as it is, so that somebody can look at it
        }
        message.setHeader(RedisDelayConstants.QUEUE, queue);
        message.setHeader(RedisDelayConstants.SCHEDULED_TIME, stored.scheduledMicros() / 1000);
    }

    /**
     * The headers of a message, without its priority: that would be the priority of what a route sends next.
     *
     * @param dead whether it is a dead letter
     */
    public static Map<String, Object> headersOf(MessageInfo info, boolean dead) {
        Map<String, Object> failure = FailureRecord.headers(info.lastFailure(), dead);
        Map<String, Object> headers = new LinkedHashMap<>();
        headers.put(RedisDelayConstants.MESSAGE_ID, dead ? DeadLetterId.messageIdOf(info.id()) : info.id());
        if (dead) {
            DeadLetterId letter = DeadLetterId.parse(info.id());
            headers.put(RedisDelayConstants.DEAD_LETTER_ID, info.id());
            headers.put(RedisDelayConstants.DEAD_LETTER_TIME, letter == null ? null : letter.millis());
        }
        headers.put(RedisDelayConstants.MESSAGE_STATE, dead ? "dead" : OptionValues.lower(info.state()));
        headers.put(RedisDelayConstants.DUE_TIME, info.dueMicros() / 1000);
        headers.put(RedisDelayConstants.RULE, info.rule());
        if (dead || info.rule() == null) {
            headers.put(RedisDelayConstants.RUN_TIME, millis(info.lastRunMicros()));
        } else {
            headers.put(RedisDelayConstants.LAST_RUN_TIME, millis(info.lastRunMicros()));
            headers.put(RedisDelayConstants.RUN_TIME, millis(info.runMicros()));
            headers.put(
                    RedisDelayConstants.NEXT_RUN_TIME, millis(info.nextRunMicros(1_000 * System.currentTimeMillis())));
        }
        headers.put(RedisDelayConstants.MESSAGE_GROUP, info.group());
        // For a dead letter, the attempts of the original message, which may be unknown: not those of the dead letter.
        headers.put(
                RedisDelayConstants.ATTEMPT,
                dead ? failure.get(RedisDelayConstants.FAILURE_ATTEMPTS) : (Object) info.attempts());
        if (info.redeliveryReason() != RedeliveryReason.NONE) {
            headers.put(RedisDelayConstants.REDELIVERY_REASON, ExchangeFiller.text(info.redeliveryReason()));
        }
        if (info.state() == MessageState.LEASED) {
            headers.put(RedisDelayConstants.LEASE_END, info.leaseEndMicros() / 1000);
            headers.put(RedisDelayConstants.LEASE_OWNER, info.leaseOwner());
        }
        headers.putAll(failure);
        headers.values().removeIf(Objects::isNull);
        return headers;
    }

    /** Null if there is no such time. */
    private static Long millis(long micros) {
        return micros <= 0 ? null : Long.valueOf(micros / 1000);
    }
}
