// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import org.apache.camel.spi.Metadata;

/**
 * The headers of the component.
 *
 * <p>What a producer reads and what a consumer or a producer's result sets have different names on purpose: a route that
 * receives from one queue and sends to another must not reuse delay, operation or id by accident.
 */
public final class RedisDelayConstants {

    @Metadata(
            label = "producer",
            description =
                    "For how long to delay the message, or to which delay to reschedule it: a java.time.Duration, a number of"
                            + " milliseconds, or text such as 30m, 1h30m or PT30M. Wins over the options delay and deliverAt."
                            + " Removed after the message was stored.",
            javaType = "java.time.Duration")
    public static final String DELAY = "CamelRedisDelay";

    @Metadata(
            label = "producer",
            description =
                    "When to deliver the message: an Instant, Date, ZonedDateTime, OffsetDateTime, a number of milliseconds"
                            + " since 1970, or ISO-8601 text with an offset. A time in the past means now. Wins over the options"
                            + " delay and deliverAt; must not be combined with the header CamelRedisDelay. Removed after the"
                            + " message was stored.",
            javaType = "java.time.Instant")
    public static final String DELIVER_AT = "CamelRedisDelayDeliverAt";

    @Metadata(
            label = "producer",
            description =
                    "The id to schedule, cancel or reschedule a message under, at most 256 bytes. Needed to cancel and"
                            + " reschedule; generated and time-ordered when a message is scheduled without one.",
            javaType = "String")
    public static final String SCHEDULE_ID = "CamelRedisDelayScheduleId";

    @Metadata(
            label = "producer",
            description =
                    "What to do: schedule, cancel or reschedule. Wins over the option operation. Removed after it was done.",
            javaType = "String",
            enums = "schedule,cancel,reschedule")
    public static final String OPERATION = "CamelRedisDelayOperation";

    @Metadata(
            label = "common",
            description =
                    "The id of the message: set by the consumer, and by the producer as a result. After a batch, a List of the"
                            + " ids in the order of the elements.",
            javaType = "String")
    public static final String MESSAGE_ID = "CamelRedisDelayMessageId";

    @Metadata(
            label = "common",
            description = "The name of the queue: set by the consumer, and by the producer as a result.",
            javaType = "String")
    public static final String QUEUE = "CamelRedisDelayQueue";

    @Metadata(
            label = "common",
            description =
                    "When the message was scheduled, by the Redis server's clock, in milliseconds since 1970: set by the consumer,"
                            + " and by the producer as a result. After a batch, a List in the order of the elements.",
            javaType = "long")
    public static final String SCHEDULED_TIME = "CamelRedisDelayScheduledTime";

    @Metadata(
            label = "common",
            description =
                    "When the message is or was due, by the Redis server's clock, in milliseconds since 1970: set by the consumer,"
                            + " and by the producer as a result of schedule and reschedule. After a batch, a List in the order of the"
                            + " elements.",
            javaType = "long")
    public static final String DUE_TIME = "CamelRedisDelayDueTime";

    @Metadata(
            label = "producer",
            description =
                    "Where the message was when it was cancelled or rescheduled: delayed, leased (it is being delivered) or none."
                            + " Set as a result of these operations.",
            javaType = "String",
            enums = "delayed,leased,none")
    public static final String PREVIOUS_STATE = "CamelRedisDelayPreviousState";

    @Metadata(
            label = "consumer",
            description = "Which delivery of the message this is: 1 for the first.",
            javaType = "int")
    public static final String ATTEMPT = "CamelRedisDelayAttempt";

    @Metadata(
            label = "consumer",
            description = "How late the delivery was when it was handed to the route, in milliseconds.",
            javaType = "long")
    public static final String LATENESS = "CamelRedisDelayLateness";

    private RedisDelayConstants() {}
}
