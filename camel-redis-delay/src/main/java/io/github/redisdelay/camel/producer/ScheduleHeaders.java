// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.RedisDelayOperation;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.camel.option.HeaderValues;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.camel.option.Rules;
import io.github.redisdelay.camel.redelivery.MessageRetryPolicy;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.time.ZoneId;
import org.apache.camel.Message;

/**
 * The headers by which a message directs the producer. Its own headers override those of its batch, which override the
 * options.
 *
 * @param own the message
 * @param outer the message whose body is the batch; {@code own} if there is no batch
 * @param options the settings without headers
 */
public record ScheduleHeaders(Message own, Message outer, ProducerSettings options) {

    private static final String DELAY = "header '" + RedisDelayConstants.DELAY + "'";
    private static final String EVERY = "header '" + RedisDelayConstants.EVERY + "'";
    private static final String TIME_ZONE = "header '" + RedisDelayConstants.TIME_ZONE + "'";
    private static final String CRON = "header '" + RedisDelayConstants.CRON + "'";
    private static final String DELIVER_AT = "header '" + RedisDelayConstants.DELIVER_AT + "'";

    /**
     * The delivery time of the message.
     *
     * @throws IllegalArgumentException naming the header and its value
     */
    public DueTime due() {
        DueTime due = due(own);
        if (due == null && own != outer) {
            due = due(outer);
        }
        if (due == null) {
            due = options.due();
        }
        return due == null ? DueTime.now() : due;
    }

    /**
     * The delivery time that the headers of a message name, or null.
     *
     * @throws IllegalArgumentException naming the header and its value
     */
    public static DueTime due(Message message) {
        Object delay = HeaderValues.of(message, RedisDelayConstants.DELAY);
        Object deliverAt = HeaderValues.of(message, RedisDelayConstants.DELIVER_AT);
        return due(DELAY, delay, DELIVER_AT, deliverAt);
    }

    /**
     * The delivery time that a delay or a time names.
     *
     * @param delayName the option or header of the delay, for errors
     * @param atName the option or header of the time, for errors
     * @return null if both values are null
     * @throws IllegalArgumentException naming the option or header and its value
     */
    public static DueTime due(String delayName, Object delay, String atName, Object at) {
        OptionValues.checkOne(delayName, delay, atName, at);
        if (delay != null) {
            return DueTime.after(Durations.of(delayName, delay));
        }
        return at == null ? null : DueTime.at(Durations.instant(atName, at));
    }

    /**
     * The message's priority.
     *
     * @throws IllegalArgumentException naming the header and its value
     */
    public int priority() {
        Object value = header(RedisDelayConstants.PRIORITY);
        if (value == null) {
            return options.priority();
        }
        return OptionValues.wholeNumber(
                "header '" + RedisDelayConstants.PRIORITY + "'",
                value,
                0,
                ScheduleRequest.MAX_PRIORITY,
                "from 0 to " + ScheduleRequest.MAX_PRIORITY);
    }

    /**
     * The message's group; null if it has none.
     *
     * @throws IllegalArgumentException naming the header and its value
     */
    public String group() {
        return options.group(header(RedisDelayConstants.GROUP));
    }

    /**
     * The settings that the message brings along.
     *
     * @throws IllegalArgumentException naming the header and its value
     */
    public Envelope.Settings settings() {
        Duration period = positive(RedisDelayConstants.DEDUPLICATION_PERIOD);
        Duration timeToLive = positive(RedisDelayConstants.TIME_TO_LIVE);
        MessageRetryPolicy retries = MessageRetryPolicy.ofHeaders(own);
        if (retries == null && own != outer) {
            retries = MessageRetryPolicy.ofHeaders(outer);
        }
        Envelope.Settings otherwise = options.message();
        if (period == null && timeToLive == null && retries == null) {
            return otherwise;
        }
        return new Envelope.Settings(
                period == null ? otherwise.deduplicationPeriod() : period,
                timeToLive == null ? otherwise.timeToLive() : timeToLive,
                retries == null ? null : retries.encode());
    }

    /**
     * The rule of the recurring schedule that the message is; null if it is none.
     *
     * @throws IllegalArgumentException naming the header and its value
     */
    public Schedule rule() {
        Object named = header(RedisDelayConstants.TIME_ZONE);
        ZoneId zone = named == null ? options.timeZone() : Rules.zone(TIME_ZONE, named);
        Schedule rule = rule(own, zone);
        if (rule == null && own != outer) {
            rule = rule(outer, zone);
        }
        if (rule == null && named != null && options.cron() != null) {
            return Rules.of(EVERY, null, "option 'cron'", options.cron(), zone);
        }
        return rule == null ? options.rule() : rule;
    }

    private static Schedule rule(Message from, ZoneId zone) {
        Object every = HeaderValues.of(from, RedisDelayConstants.EVERY);
        Object cron = HeaderValues.of(from, RedisDelayConstants.CRON);
        return Rules.of(EVERY, every, CRON, cron, zone);
    }

    private Duration positive(String name) {
        Object value = header(name);
        if (value == null) {
            return null;
        }
        return Durations.positive("header '" + name + "'", value, "; remove it for none");
    }

    private Object header(String name) {
        Object value = HeaderValues.of(own, name);
        return value == null && own != outer ? HeaderValues.of(outer, name) : value;
    }

    /** The operation, or the given one if the headers name none. */
    public static RedisDelayOperation operation(Message message, RedisDelayOperation otherwise) {
        Object operation = HeaderValues.of(message, RedisDelayConstants.OPERATION);
        return operation == null
                ? otherwise
                : OptionValues.constant(
                        RedisDelayOperation.class, "header '" + RedisDelayConstants.OPERATION + "'", operation);
    }
}
