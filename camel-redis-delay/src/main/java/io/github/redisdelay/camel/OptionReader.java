// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ConnectionSettings;
import io.github.redisdelay.camel.delivery.ConsumerSettings;
import io.github.redisdelay.camel.delivery.DeadLetterTrimmer;
import io.github.redisdelay.camel.delivery.ScheduleDeclaration;
import io.github.redisdelay.camel.message.MessageMapper;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.camel.option.MessageScope;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.camel.option.Rates;
import io.github.redisdelay.camel.option.Rules;
import io.github.redisdelay.camel.producer.IdHeaders;
import io.github.redisdelay.camel.producer.MessageChoice;
import io.github.redisdelay.camel.producer.ProducerSettings;
import io.github.redisdelay.camel.producer.ScheduleHeaders;
import io.github.redisdelay.camel.redelivery.RetryPolicy;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.QueueNames;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.camel.spi.HeaderFilterStrategy;

/**
 * Reads the options into the settings that the parts of the component work with. Each method throws an {@link
 * IllegalArgumentException} that names the option, its value and what would be right.
 */
public record OptionReader(RedisDelayConfiguration options) {

    /** Options for messages that are given up: a dead letter never is. */
    private static final List<String> NOT_FOR_DEAD_LETTERS = List.of(
            "maximumRedeliveries",
            "deadLetter",
            "onExpiry",
            "deadLetterRetention",
            "maximumDeadLetters",
            "every",
            "cron");

    private static final String NONE = "; leave it out for none";

    private enum OnExpiry {
        DEAD,
        DROP
    }

    private enum GroupRetry {
        STRICT,
        RELAXED
    }

    /**
     * Checks the options of a component as its endpoints will, so that an application can refuse them when it starts.
     * Those that contradict each other only on some endpoints are left to the endpoints.
     */
    public void checkComponent() {
        OptionReader endpoint = new OptionReader(EndpointOptions.inherit(options, Set.of()));
        endpoint.connection();
        endpoint.client();
        endpoint.partitions();
        endpoint.mapper("");
        endpoint.producer(Set.of());
        endpoint.options.setState(null); // that of lists: no consumer has to have it
        endpoint.options.setBatching(false);
        endpoint.consumer("", Set.of());
        endpoint.batch();
    }

    /** The connection to Redis; credentials are not shown in errors. */
    ConnectionSettings connection() {
        return new ConnectionSettings(
                        options.getRedisson(),
                        options.getConfigurationUri(),
                        options.getAddress(),
                        options.getUsername(),
                        options.getPassword(),
                        options.getDatabase(),
                        options.getSslContextParameters())
                .checked();
    }

    ClientOptions client() {
        QueueNames.check("option 'keyPrefix'", options.getKeyPrefix());
        Duration timeout = positive("requestTimeout", options.getRequestTimeout(), "");
        return ClientOptions.DEFAULTS
                .withKeyPrefix(options.getKeyPrefix())
                .withRequestTimeout(timeout)
                .withDurability(durability(timeout));
    }

    private Durability durability(Duration requests) {
        int replicas = options.getWaitForReplicas();
        OptionValues.check("waitForReplicas", replicas, 0, Integer.MAX_VALUE, "1 or more, or 0 to wait for none");
        Duration timeout = positive("replicationTimeout", options.getReplicationTimeout(), "");
        if (replicas == 0 && !options.isWaitForDisk()) {
            return Durability.NONE; // equal to those of other endpoints, which then share a client
        }
        if (timeout.compareTo(requests) >= 0) {
            throw new IllegalArgumentException("option 'replicationTimeout' is " + options.getReplicationTimeout()
                    + ": it must be shorter than option 'requestTimeout', which is " + options.getRequestTimeout()
                    + " (a bare number is milliseconds)");
        }
        return new Durability(replicas, options.isWaitForDisk(), timeout);
    }

    int partitions() {
        int most = DelayQueueClient.MAX_PARTITIONS;
        OptionValues.check("partitions", options.getPartitions(), 1, most, "from 1 to " + most);
        return options.getPartitions();
    }

    int browseLimit() {
        OptionValues.check("browseLimit", options.getBrowseLimit(), 1, Integer.MAX_VALUE, "1 or more");
        return options.getBrowseLimit();
    }

    MessageMapper mapper(String queue) {
        HeaderFilterStrategy filter = options.getHeaderFilterStrategy();
        return new MessageMapper(
                queue, filter == null ? new RedisDelayHeaderFilterStrategy() : filter, options.getMaximumMessageSize());
    }

    /** @param own the names of the options that the endpoint's own URI sets */
    ProducerSettings producer(Set<String> own) {
        RedisDelayOperation operation =
                OptionValues.constant(RedisDelayOperation.class, "option 'operation'", options.getOperation());
        return new ProducerSettings(
                ScheduleHeaders.due("option 'delay'", options.getDelay(), "option 'deliverAt'", options.getDeliverAt()),
                own.contains("delay") || own.contains("deliverAt"),
                operation,
                OptionValues.constant(DuplicatePolicy.class, "option 'onDuplicate'", options.getOnDuplicate()),
                options.isBatching(),
                options.getPriority(),
                group(),
                message(),
                rule(),
                options.getCron(),
                zone(),
                options.getMaximumQueueLength(),
                options.getLimit(),
                positive("outlookStep", options.getOutlookStep(), ""),
                options.getOutlookSteps(),
                // The component's limit is meant for lists.
                new MessageChoice(
                        options.isAll(),
                        options.isSchedules(),
                        options.getFailureException(),
                        options.getDeadLetterReason(),
                        options.getFailureRouteId(),
                        own.contains("limit") ? options.getLimit() : null),
                MessageScope.of(options.getState()));
    }

    ConsumerOptions claims() {
        int concurrent = options.getConcurrentConsumers();
        OptionValues.check("concurrentConsumers", concurrent, 1, Integer.MAX_VALUE, "1 or more");
        int messages = options.getMaxMessagesPerPoll();
        int most = ConsumerOptions.MAX_MESSAGES;
        OptionValues.check("maxMessagesPerPoll", messages, 1, most, "from 1 to " + most);
        String text = options.getVisibilityTimeout();
        Duration lease = duration("visibilityTimeout", text);
        if (lease.compareTo(ConsumerOptions.MIN_VISIBILITY_TIMEOUT) < 0
                || lease.compareTo(ConsumerOptions.MAX_VISIBILITY_TIMEOUT) > 0) {
            throw new IllegalArgumentException("option 'visibilityTimeout' is '" + text
                    + "': it must be from 100 milliseconds to 365 days (a bare number is milliseconds)");
        }
        Duration extension = duration("maximumVisibilityExtension", options.getMaximumVisibilityExtension());
        return ConsumerOptions.DEFAULTS
                .withConcurrentConsumers(concurrent)
                .withMaxMessagesPerPoll(messages)
                .withVisibilityTimeout(lease)
                .withMaximumVisibilityExtension(extension);
    }

    private Envelope.Settings message() {
        return new Envelope.Settings(
                positiveOrNull("deduplicationPeriod", options.getDeduplicationPeriod(), NONE),
                positiveOrNull("timeToLive", options.getTimeToLive(), NONE),
                null);
    }

    /** The rule of a recurring schedule; null if there is none. */
    private Schedule rule() {
        return Rules.of("option 'every'", options.getEvery(), "option 'cron'", options.getCron(), zone());
    }

    private ZoneId zone() {
        return Rules.zone("option 'timeZone'", options.getTimeZone());
    }

    public RetryPolicy retries() {
        List<Duration> steps = options.getRedeliveryDelays() == null
                ? List.of()
                : Durations.list("option 'redeliveryDelays'", options.getRedeliveryDelays());
        int otherwise = steps.isEmpty() ? RetryPolicy.DEFAULT_MAXIMUM_REDELIVERIES : steps.size();
        return new RetryPolicy(
                options.getMaximumRedeliveries() == null ? otherwise : options.getMaximumRedeliveries(),
                duration("redeliveryDelay", options.getRedeliveryDelay()),
                options.getBackOffMultiplier(),
                duration("maximumRedeliveryDelay", options.getMaximumRedeliveryDelay()),
                options.getRedeliveryJitter(),
                steps);
    }

    /**
     * @param queue the name of its queue
     * @param own the names of the options that the endpoint's own URI sets
     */
    public ConsumerSettings consumer(String queue, Set<String> own) {
        MessageScope consumed = MessageScope.of(options.getState());
        if (consumed == MessageScope.LEASED || consumed == MessageScope.PARKED) {
            throw new IllegalArgumentException("option 'state' is '" + OptionValues.lower(consumed)
                    + "': a consumer receives the due messages of its"
                    + " queue (leave the option out) or its dead letters (dead)");
        }
        boolean deadLetters = consumed == MessageScope.DEAD;
        checkDeadLetters(deadLetters, own);
        RetryPolicy retries = retries();
        Schedule rule = rule();
        String id = rule == null ? null : scheduleId(queue);
        String alone = Stream.of("scheduleId", "timeZone", "group")
                .filter(own::contains)
                .findFirst()
                .orElse(null);
        if (rule == null && alone != null) {
            throw new IllegalArgumentException(
                    "option '" + alone + "' belongs to a recurring schedule, and this consumer"
                            + " declares none: set 'every' or 'cron', too, or leave it out");
        }
        return new ConsumerSettings(
                deadLetters,
                claims(),
                deadLetters ? retries.withoutLimit() : retries,
                options.isDeadLetter(),
                OptionValues.constant(OnExpiry.class, "option 'onExpiry'", options.getOnExpiry()) == OnExpiry.DEAD,
                deadLetters ? new DeadLetterTrimmer.Limits(Duration.ZERO, 0) : limits(),
                options.isBatching() ? batch() : null,
                rule == null ? null : new ScheduleDeclaration.Declared(id, rule, group(), message()),
                deadLetters ? null : limitsOfQueue(),
                options.getExecutorService());
    }

    private String scheduleId(String queue) {
        String id = options.getScheduleId() == null ? queue : options.getScheduleId();
        try {
            ScheduleRequest.checkId(id, ScheduleRequest.MAX_SCHEDULE_ID_BYTES);
            return id;
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("option 'scheduleId': " + e.getMessage(), e);
        }
    }

    private String group() {
        return options.getGroup() == null ? null : IdHeaders.group("option 'group'", options.getGroup());
    }

    private QueueLimits limitsOfQueue() {
        int most = QueueLimits.MAX_GROUP_CONCURRENCY;
        OptionValues.check(
                "groupConcurrency",
                options.getGroupConcurrency(),
                0,
                most,
                "from 1 to " + most + ", or 0 for any number, without an order");
        GroupRetry retry = OptionValues.constant(GroupRetry.class, "option 'groupRetry'", options.getGroupRetry());
        QueueLimits.Rate rate = Rates.of("option 'rate'", options.getRate());
        int atATime = options.getQueueConcurrency();
        OptionValues.check("queueConcurrency", atATime, 0, Integer.MAX_VALUE, "1 or more, or 0 for any number");
        String whole = rate != null
                ? "option 'rate' is '" + options.getRate() + "', and option '"
                : atATime > 0 ? "option 'queueConcurrency' is " + atATime + ", and option '" : null;
        if (whole != null && options.getPartitions() > 1) {
            throw new IllegalArgumentException(whole + "partitions' is " + options.getPartitions()
                    + ": partitions do not know of each other's deliveries. Set the limit of each group (groupRate,"
                    + " groupConcurrency), or partitions=1");
        }
        if (whole != null && options.isBatching()) {
            throw new IllegalArgumentException(whole
                    + "batching' is true: this limit counts messages, and would tear batches. Remove one of them");
        }
        return new QueueLimits(
                options.getGroupConcurrency(),
                retry == GroupRetry.STRICT,
                rate,
                Rates.of("option 'groupRate'", options.getGroupRate()),
                atATime);
    }

    private void checkDeadLetters(boolean deadLetters, Set<String> own) {
        for (String option : Stream.of(NOT_FOR_DEAD_LETTERS, EndpointOptions.LIMITS)
                .flatMap(List::stream)
                .toList()) {
            if (deadLetters && own.contains(option)) {
                throw new IllegalArgumentException("option '" + option + "' is set on a consumer of dead letters"
                        + " (state=dead), which gives none up: set it on the consumer of the queue itself");
            }
        }
        if (deadLetters) {
            EndpointOptions.checkNoImport(
                    options, "a consumer of dead letters (state=dead): set it on the consumer of the queue itself");
        }
    }

    private DeadLetterTrimmer.Limits limits() {
        Duration retention = positiveOrNull(
                "deadLetterRetention",
                options.getDeadLetterRetention(),
                "; leave it out to keep dead letters for ever, or set deadLetter=false to keep none");
        long most = options.getMaximumDeadLetters();
        OptionValues.check("maximumDeadLetters", most, 0, Long.MAX_VALUE, "1 or more, or 0 for any number");
        return new DeadLetterTrimmer.Limits(retention == null ? Duration.ZERO : retention, most);
    }

    private ConsumerOptions.Batch batch() {
        OptionValues.check(
                "batchSize",
                options.getBatchSize(),
                1,
                ConsumerOptions.MAX_MESSAGES,
                "from 1 to " + ConsumerOptions.MAX_MESSAGES);
        return new ConsumerOptions.Batch(options.getBatchSize(), duration("batchTimeout", options.getBatchTimeout()));
    }

    private static Duration duration(String option, String text) {
        return Durations.of("option '" + option + "'", text);
    }

    private static Duration positiveOrNull(String option, String text, String hint) {
        return text == null ? null : positive(option, text, hint);
    }

    private static Duration positive(String option, String text, String hint) {
        return Durations.positive("option '" + option + "'", text, hint);
    }
}
