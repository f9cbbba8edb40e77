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

    /**
     * The delay of the message to schedule or to reschedule; of pause, for how long a group is paused. It is a
     * java.time.Duration, a number of milliseconds, or text such as 30m, 1h30m or PT30M. Wins over the options delay and
     * deliverAt. Removed after the message was stored.
     */
    @Metadata(label = "producer", javaType = "java.time.Duration")
    public static final String DELAY = "CamelRedisDelayDelay";

    /**
     * The time to deliver the message at, or until which a group is paused. It is an Instant, Date, ZonedDateTime,
     * OffsetDateTime, a number of milliseconds since 1970, or ISO-8601 text with an offset. A time in the past means now.
     * Wins over the options delay and deliverAt; must not be combined with the header CamelRedisDelayDelay. Removed after
     * the message was stored.
     */
    @Metadata(label = "producer", javaType = "java.time.Instant")
    public static final String DELIVER_AT = "CamelRedisDelayDeliverAt";

    /**
     * The id of the message to schedule or to find, at most 256 bytes without control characters. Without one, schedule
     * generates a time-ordered id. For cancel, reschedule, promote, redrive and purge it may be a Collection of ids.
     */
    @Metadata(label = "producer", javaType = "String")
    public static final String SCHEDULE_ID = "CamelRedisDelayScheduleId";

    /** The operation to do. Wins over the option operation. Removed after it was done. */
    @Metadata(
            label = "producer",
            javaType = "String",
            enums =
                    "schedule,cancel,reschedule,promote,get,list,stats,outlook,queues,pause,resume,redrive,purge,check,import")
    public static final String OPERATION = "CamelRedisDelayOperation";

    /**
     * The id of the message: set by the consumer, and by the producer as a result. After a batch, a List of the ids in
     * the order of the elements.
     */
    @Metadata(label = "common", javaType = "String")
    public static final String MESSAGE_ID = "CamelRedisDelayMessageId";

    /** The name of the queue: set by the consumer, and by the producer as a result. */
    @Metadata(label = "common", javaType = "String")
    public static final String QUEUE = "CamelRedisDelayQueue";

    /**
     * When the message was scheduled, by the Redis server's clock, in milliseconds since 1970. Set by the consumer, and
     * by the producer as a result. After a batch, a List in the order of the elements.
     */
    @Metadata(label = "common", javaType = "long")
    public static final String SCHEDULED_TIME = "CamelRedisDelayScheduledTime";

    /**
     * When the message is or was due, by the Redis server's clock, in milliseconds since 1970. Set by the consumer, and
     * by the producer as a result of schedule, reschedule, promote and get. After a batch, a List in the order of the
     * elements.
     */
    @Metadata(label = "common", javaType = "long")
    public static final String DUE_TIME = "CamelRedisDelayDueTime";

    /**
     * The state of the message when it was cancelled, rescheduled, promoted, redriven or purged: delayed, leased, dead or
     * none. Set as a result of these operations; for several ids a List in their order.
     */
    @Metadata(label = "producer", javaType = "String", enums = "delayed,leased,dead,none")
    public static final String PREVIOUS_STATE = "CamelRedisDelayPreviousState";

    /**
     * The number of this delivery of the message, 1 for the first; for a consumer of dead letters, of the dead letter.
     * The operation get sets how many deliveries the message had.
     */
    @Metadata(label = "common", javaType = "int")
    public static final String ATTEMPT = "CamelRedisDelayAttempt";

    /** The lateness of the delivery when it was handed to the route, in milliseconds. */
    @Metadata(label = "consumer", javaType = "long")
    public static final String LATENESS = "CamelRedisDelayLateness";

    /**
     * The priority of the message to schedule, 0 to 9: among due messages, the highest is delivered first. Wins over
     * the option priority. Removed after the message was stored.
     */
    @Metadata(label = "producer", javaType = "int")
    public static final String PRIORITY = "CamelRedisDelayPriority";

    /**
     * The group of the message to schedule, 1 to 200 bytes without control characters: a String, a number or a UUID. The
     * operations get, list, stats, cancel, reschedule, promote, pause, resume, redrive and purge are about this group. In a
     * queue with partitions, a message with a group is found by its id and this header only. Wins over the option group. A
     * delivery that is scheduled anew keeps its group without it. Removed after it was done.
     */
    @Metadata(label = "producer", javaType = "String")
    public static final String GROUP = "CamelRedisDelayGroup";

    /** The group of the message: set by the consumer, and by the operation get. Missing where it has none. */
    @Metadata(label = "common", javaType = "String")
    public static final String MESSAGE_GROUP = "CamelRedisDelayMessageGroup";

    /**
     * The time after its due time within which the message may be delivered: a java.time.Duration, a number of
     * milliseconds, or text such as 30m. After that it is expired. Wins over the option timeToLive. Removed after the
     * message was stored.
     */
    @Metadata(label = "producer", javaType = "java.time.Duration")
    public static final String TIME_TO_LIVE = "CamelRedisDelayTimeToLive";

    /**
     * The interval of a recurring schedule, at least 1 s: a java.time.Duration, a number of milliseconds, or text such as
     * 15m. Needs CamelRedisDelayScheduleId. Wins over the options every and cron. Removed after the message was stored.
     */
    @Metadata(label = "producer", javaType = "java.time.Duration")
    public static final String EVERY = "CamelRedisDelayEvery";

    /**
     * The cron expression of a recurring schedule: five fields as in crontab, or six with the second first. Needs
     * CamelRedisDelayScheduleId. Wins over the options every and cron. Removed after the message was stored.
     */
    @Metadata(label = "producer", javaType = "String")
    public static final String CRON = "CamelRedisDelayCron";

    /**
     * The time zone of the cron expression: a ZoneId, or text such as Europe/Berlin. Wins over the option timeZone.
     * Removed after the message was stored.
     */
    @Metadata(label = "producer", javaType = "String")
    public static final String TIME_ZONE = "CamelRedisDelayTimeZone";

    /**
     * The rule of a recurring schedule, such as every 15m: set by the consumer, and by the operations get and list.
     */
    @Metadata(label = "common", javaType = "String")
    public static final String RULE = "CamelRedisDelayRule";

    /**
     * The nominal time of this run of a recurring schedule, in milliseconds since 1970. Set by the consumer, and by the
     * operations get and list, also of a dead letter. It is the same in each delivery of the run, also after a redrive.
     */
    @Metadata(label = "common", javaType = "long")
    public static final String RUN_TIME = "CamelRedisDelayRunTime";

    /**
     * The nominal time of the next run of a recurring schedule after this one, in milliseconds since 1970. Set by the
     * consumer, get and list. A run that ends later leaves it out.
     */
    @Metadata(label = "common", javaType = "long")
    public static final String NEXT_RUN_TIME = "CamelRedisDelayNextRunTime";

    /**
     * The nominal time of the last run of a recurring schedule that has ended, in milliseconds since 1970. Set by the
     * operations get and list.
     */
    @Metadata(label = "producer", javaType = "long")
    public static final String LAST_RUN_TIME = "CamelRedisDelayLastRunTime";

    /**
     * How long the message's id stays a duplicate after it was acknowledged or expired. It is a java.time.Duration, a
     * number of milliseconds, or text such as 1h. Wins over the option deduplicationPeriod. Removed after the message
     * was stored.
     */
    @Metadata(label = "producer", javaType = "java.time.Duration")
    public static final String DEDUPLICATION_PERIOD = "CamelRedisDelayDeduplicationPeriod";

    /**
     * The maximumRedeliveries of the message to schedule, instead of its consumer's option. Removed after the message
     * was stored.
     */
    @Metadata(label = "producer", javaType = "int")
    public static final String MAXIMUM_REDELIVERIES = "CamelRedisDelayMaximumRedeliveries";

    /**
     * The redeliveryDelay of the message to schedule, instead of its consumer's option. Removed after the message was
     * stored.
     */
    @Metadata(label = "producer", javaType = "java.time.Duration")
    public static final String REDELIVERY_DELAY = "CamelRedisDelayRedeliveryDelay";

    /**
     * The backOffMultiplier of the message to schedule, instead of its consumer's option. Removed after the message was
     * stored.
     */
    @Metadata(label = "producer", javaType = "double")
    public static final String BACK_OFF_MULTIPLIER = "CamelRedisDelayBackOffMultiplier";

    /**
     * The maximumRedeliveryDelay of the message to schedule, instead of its consumer's option. Removed after the
     * message was stored.
     */
    @Metadata(label = "producer", javaType = "java.time.Duration")
    public static final String MAXIMUM_REDELIVERY_DELAY = "CamelRedisDelayMaximumRedeliveryDelay";

    /**
     * The redeliveryDelays of the message to schedule, such as 15s,3m,10m, instead of its consumer's options. Without
     * CamelRedisDelayMaximumRedeliveries their number is the maximum. Removed after the message was stored.
     */
    @Metadata(label = "producer", javaType = "String")
    public static final String REDELIVERY_DELAYS = "CamelRedisDelayRedeliveryDelays";

    /**
     * Set by a route, as header or exchange property: deliver this message again after this delay, whether the exchange
     * failed or not. It replaces the delay of the redelivery policy; attempts count.
     */
    @Metadata(label = "consumer", javaType = "java.time.Duration")
    public static final String RETRY_AFTER = "CamelRedisDelayRetryAfter";

    /**
     * Set by a route, as header or exchange property: pause this message's group for so long. The message is delivered again
     * then, whether the exchange failed or not; attempts count. CamelRedisDelayRetryAfter may say a longer delay for it.
     * Never shortens a pause.
     */
    @Metadata(label = "consumer", javaType = "java.time.Duration")
    public static final String PAUSE_GROUP = "CamelRedisDelayPauseGroup";

    /**
     * Set by a route, as header or exchange property: give this message up and keep it among the dead letters, for this
     * reason. On a dead letter: the reason why its message was given up.
     */
    @Metadata(label = "consumer", javaType = "String")
    public static final String DEAD_LETTER_REASON = "CamelRedisDelayDeadLetterReason";

    /**
     * The reason why the message is delivered again. failed: its route failed or asked for it. leaseExpired: its
     * consumer died, was cut off or worked for too long. released: it was not begun. Missing in a first delivery. Set
     * by the consumer, and by the operation get.
     */
    @Metadata(label = "common", javaType = "String", enums = "failed,leaseExpired,released")
    public static final String REDELIVERY_REASON = "CamelRedisDelayRedeliveryReason";

    /**
     * The state of the message, set by the operation get: delayed, parked by its group, leased, dead or none.
     */
    @Metadata(label = "producer", javaType = "String", enums = "delayed,parked,leased,dead,none")
    public static final String MESSAGE_STATE = "CamelRedisDelayState";

    /**
     * Until when the message's group is paused, by the Redis server's clock, in milliseconds since 1970; in 2255 if it has
     * no end. Set by the operation get; missing if it is not paused.
     */
    @Metadata(label = "producer", javaType = "long")
    public static final String PAUSED_UNTIL = "CamelRedisDelayPausedUntil";

    /**
     * When the lease of a leased message expires, by the Redis server's clock, in milliseconds since 1970. Set by the
     * operation get.
     */
    @Metadata(label = "producer", javaType = "long")
    public static final String LEASE_END = "CamelRedisDelayLeaseEnd";

    /**
     * The host, route and process of the owner of a lease; empty text if it is unknown, as for a polled message. Set by
     * the operation get.
     */
    @Metadata(label = "producer", javaType = "String")
    public static final String LEASE_OWNER = "CamelRedisDelayLeaseOwner";

    /**
     * The outcome of cancel, reschedule, promote, redrive or purge for the message. It is done, or why nothing was
     * done: leased, duplicate (its id is in use), dead (it was given up, see CamelRedisDelayDeadLetterId), none (there
     * is no such message). For several ids a List in their order.
     */
    @Metadata(label = "producer", javaType = "String", enums = "done,leased,duplicate,dead,none")
    public static final String RESULT = "CamelRedisDelayResult";

    /**
     * How many messages cancel, reschedule, promote, redrive, purge or check changed, how many list returned, or how
     * many queues. Of a group, the number that stats counted.
     */
    @Metadata(label = "producer", javaType = "long")
    public static final String COUNT = "CamelRedisDelayCount";

    /**
     * The position of the next page of the operation list. Set as a result while there are more, and read by the next
     * list. Without it, a list begins with the first message.
     */
    @Metadata(label = "producer", javaType = "String")
    public static final String CURSOR = "CamelRedisDelayCursor";

    /**
     * The most messages that list returns, or that redrive, purge and promote change without an id, or the most queues,
     * 1 to 256. Wins over the option limit. Removed after it was done.
     */
    @Metadata(label = "producer", javaType = "int")
    public static final String LIMIT = "CamelRedisDelayLimit";

    /**
     * The id of a dead letter. Set by a consumer of dead letters, by the operation get, and as a result of operations
     * on dead letters (then CamelRedisDelayMessageId is the id of the message). Without CamelRedisDelayScheduleId,
     * redrive, purge and get use it as their id. For several ids a List, empty text where there is none.
     */
    @Metadata(label = "common", javaType = "String")
    public static final String DEAD_LETTER_ID = "CamelRedisDelayDeadLetterId";

    /**
     * When the message of a dead letter was given up, by the Redis server's clock, in milliseconds since 1970. Set by a
     * consumer of dead letters, and by the operation get.
     */
    @Metadata(label = "common", javaType = "long")
    public static final String DEAD_LETTER_TIME = "CamelRedisDelayDeadLetterTime";

    /**
     * The class of the exception of the last failed delivery. Set by the consumer on a message that failed before and
     * on a dead letter, and by the operation get.
     */
    @Metadata(label = "common", javaType = "String")
    public static final String FAILURE_EXCEPTION = "CamelRedisDelayFailureException";

    /** The message of the exception of the last failed delivery. */
    @Metadata(label = "common", javaType = "String")
    public static final String FAILURE_MESSAGE = "CamelRedisDelayFailureMessage";

    /** The route in which the last delivery failed. */
    @Metadata(label = "common", javaType = "String")
    public static final String FAILURE_ROUTE_ID = "CamelRedisDelayFailureRouteId";

    /** The host on which the last delivery failed. */
    @Metadata(label = "common", javaType = "String")
    public static final String FAILURE_HOST = "CamelRedisDelayFailureHost";

    /** The number of the delivery of the message that failed: the attempts until then. */
    @Metadata(label = "common", javaType = "int")
    public static final String FAILURE_ATTEMPTS = "CamelRedisDelayFailureAttempts";

    /** The time when the last delivery failed, by the clock of its host, in milliseconds since 1970. */
    @Metadata(label = "common", javaType = "long")
    public static final String FAILURE_TIME = "CamelRedisDelayFailureTime";

    private RedisDelayConstants() {}
}
