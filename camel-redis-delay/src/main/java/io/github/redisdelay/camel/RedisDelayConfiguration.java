// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.queue.ClientOptions;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import org.apache.camel.RuntimeCamelException;
import org.apache.camel.spi.HeaderFilterStrategy;
import org.apache.camel.spi.Metadata;
import org.apache.camel.spi.UriParam;
import org.apache.camel.spi.UriParams;
import org.apache.camel.support.jsse.SSLContextParameters;
import org.redisson.api.RedissonClient;

/**
 * The options of the component and of its endpoints, as they were written.
 *
 * <p>Durations are text here and are read and checked by {@link OptionReader} when an endpoint is configured: Camel's own converter would
 * turn what it cannot read into 0.
 */
@UriParams
public class RedisDelayConfiguration implements Cloneable {

    @UriParam(label = "common")
    @Metadata(autowired = true)
    private RedissonClient redisson;

    @UriParam(label = "common")
    private String configurationUri;

    @UriParam(label = "common")
    private String address;

    @UriParam(label = "security", secret = true)
    private String username;

    @UriParam(label = "security", secret = true)
    private String password;

    @UriParam(label = "common", defaultValue = "0")
    private int database;

    @UriParam(label = "security")
    private SSLContextParameters sslContextParameters;

    @UriParam(label = "common", defaultValue = "5s", javaType = "java.time.Duration")
    private String requestTimeout = "5s";

    @UriParam(label = "advanced", defaultValue = ClientOptions.DEFAULT_KEY_PREFIX)
    private String keyPrefix = ClientOptions.DEFAULT_KEY_PREFIX;

    @UriParam(label = "advanced", defaultValue = "1")
    private int partitions = 1;

    @UriParam(label = "advanced")
    private HeaderFilterStrategy headerFilterStrategy;

    @UriParam(label = "producer", javaType = "java.time.Duration")
    private String delay;

    @UriParam(label = "producer")
    private String deliverAt;

    @UriParam(
            label = "producer",
            defaultValue = "schedule",
            enums =
                    "schedule,cancel,reschedule,promote,get,list,stats,outlook,queues,pause,resume,redrive,purge,check,import")
    private String operation = "schedule";

    @UriParam(label = "producer", defaultValue = "reject", enums = "reject,ignore,replace")
    private String onDuplicate = "reject";

    @UriParam(label = "common", defaultValue = "false")
    private boolean batching;

    @UriParam(label = "producer,advanced", defaultValue = "1048576")
    private int maximumMessageSize = 1024 * 1024;

    @UriParam(label = "producer", defaultValue = "0")
    private int priority;

    @UriParam(label = "common")
    private String group;

    @UriParam(label = "consumer", defaultValue = "1")
    private int groupConcurrency = 1;

    @UriParam(label = "consumer", defaultValue = "strict", enums = "strict,relaxed")
    private String groupRetry = "strict";

    @UriParam(label = "consumer")
    private String rate;

    @UriParam(label = "consumer")
    private String groupRate;

    @UriParam(label = "consumer", defaultValue = "0")
    private int queueConcurrency;

    @UriParam(label = "producer", javaType = "java.time.Duration")
    private String timeToLive;

    @UriParam(label = "producer", javaType = "java.time.Duration")
    private String deduplicationPeriod;

    @UriParam(label = "common", javaType = "java.time.Duration")
    private String every;

    @UriParam(label = "common")
    private String cron;

    @UriParam(label = "common", defaultValue = "UTC")
    private String timeZone = "UTC";

    @UriParam(label = "consumer,advanced")
    private String scheduleId;

    @UriParam(label = "producer,advanced", defaultValue = "0")
    private long maximumQueueLength;

    @UriParam(label = "producer", defaultValue = "100")
    private int limit = 100;

    @UriParam(label = "producer", defaultValue = "1m", javaType = "java.time.Duration")
    private String outlookStep = "1m";

    @UriParam(label = "producer", defaultValue = "60")
    private int outlookSteps = 60;

    @UriParam(label = "producer,advanced")
    private String failureException;

    @UriParam(label = "producer,advanced")
    private String deadLetterReason;

    @UriParam(label = "producer,advanced")
    private String failureRouteId;

    @UriParam(label = "producer", defaultValue = "false")
    private boolean all;

    @UriParam(label = "producer,advanced", defaultValue = "false")
    private boolean schedules;

    @UriParam(label = "common", enums = "delayed,parked,leased,dead")
    private String state;

    @UriParam(label = "common", prefix = ImportModule.PREFIX, multiValue = true)
    private Map<String, Object> importOptions = new HashMap<>();

    @UriParam(label = "advanced", defaultValue = "100")
    private int browseLimit = 100;

    @UriParam(label = "producer,advanced", defaultValue = "true")
    private boolean synchronous = true;

    @UriParam(label = "producer", defaultValue = "0")
    private int waitForReplicas;

    @UriParam(label = "producer", defaultValue = "false")
    private boolean waitForDisk;

    @UriParam(label = "producer,advanced", defaultValue = "1s", javaType = "java.time.Duration")
    private String replicationTimeout = "1s";

    @UriParam(label = "consumer", defaultValue = "1")
    private int concurrentConsumers = 1;

    @UriParam(label = "consumer,advanced")
    private ExecutorService executorService;

    @UriParam(label = "consumer,advanced", defaultValue = "100")
    private int maxMessagesPerPoll = 100;

    @UriParam(label = "consumer", defaultValue = "30s", javaType = "java.time.Duration")
    private String visibilityTimeout = "30s";

    @UriParam(label = "consumer", defaultValue = "1h", javaType = "java.time.Duration")
    private String maximumVisibilityExtension = "1h";

    @UriParam(label = "consumer", defaultValue = "9")
    private Integer maximumRedeliveries;

    @UriParam(label = "consumer", defaultValue = "10s", javaType = "java.time.Duration")
    private String redeliveryDelay = "10s";

    @UriParam(label = "consumer", defaultValue = "2")
    private double backOffMultiplier = 2;

    @UriParam(label = "consumer", defaultValue = "1h", javaType = "java.time.Duration")
    private String maximumRedeliveryDelay = "1h";

    @UriParam(label = "consumer", defaultValue = "0.15")
    private double redeliveryJitter = 0.15;

    @UriParam(label = "consumer")
    private String redeliveryDelays;

    @UriParam(label = "consumer", defaultValue = "true")
    private boolean deadLetter = true;

    @UriParam(label = "consumer", defaultValue = "dead", enums = "dead,drop")
    private String onExpiry = "dead";

    @UriParam(label = "consumer", javaType = "java.time.Duration")
    private String deadLetterRetention;

    @UriParam(label = "consumer", defaultValue = "0")
    private long maximumDeadLetters;

    @UriParam(label = "consumer", defaultValue = "100")
    private int batchSize = 100;

    @UriParam(label = "consumer", defaultValue = "1s", javaType = "java.time.Duration")
    private String batchTimeout = "1s";

    public RedisDelayConfiguration copy() {
        try {
            return (RedisDelayConfiguration) clone();
        } catch (CloneNotSupportedException e) {
            throw new RuntimeCamelException(e);
        }
    }

    public RedissonClient getRedisson() {
        return redisson;
    }

    /**
     * To use an existing RedissonClient, which is left open when Camel stops. On the component, the one in the registry is
     * used if there is exactly one and neither address nor configurationUri is set.
     */
    public void setRedisson(RedissonClient redisson) {
        this.redisson = redisson;
    }

    public String getConfigurationUri() {
        return configurationUri;
    }

    /**
     * A Redisson configuration in YAML, for Sentinel, Cluster and whatever else Redisson can connect to. It is a
     * resource such as classpath:redisson.yaml or file:/etc/app/redisson.yaml. Its codec has no effect.
     */
    public void setConfigurationUri(String configurationUri) {
        this.configurationUri = configurationUri;
    }

    public String getAddress() {
        return address;
    }

    /**
     * The address of a single Redis server, such as redis://host:6379; rediss:// connects by TLS. On an endpoint it is
     * used without the component's username, password, database and sslContextParameters.
     */
    public void setAddress(String address) {
        this.address = address;
    }

    public String getUsername() {
        return username;
    }

    /** The user to log in to Redis as, where the server has named users. Used with the option address. */
    public void setUsername(String username) {
        this.username = username;
    }

    public String getPassword() {
        return password;
    }

    /** The password to log in to Redis with. Used with the option address. */
    public void setPassword(String password) {
        this.password = password;
    }

    public int getDatabase() {
        return database;
    }

    /** The number of the Redis database. Used with the option address. */
    public void setDatabase(int database) {
        this.database = database;
    }

    public SSLContextParameters getSslContextParameters() {
        return sslContextParameters;
    }

    /**
     * TLS trust and key material for an address that begins with rediss://. The trust managers, key managers, certificate alias, protocols and cipher suites are used. Without it, the CAs are those that
     * the JVM trusts. The address must be a name in the server's certificate.
     */
    public void setSslContextParameters(SSLContextParameters sslContextParameters) {
        this.sslContextParameters = sslContextParameters;
    }

    public String getRequestTimeout() {
        return requestTimeout;
    }

    /**
     * How long a producer waits for Redis' answer, 1 ms or more. After that the exchange fails, and the message may
     * nevertheless be stored. Send the same id again, or let Camel's error handler redeliver the step: neither stores a
     * second message.
     */
    public void setRequestTimeout(String requestTimeout) {
        this.requestTimeout = requestTimeout;
    }

    public String getKeyPrefix() {
        return keyPrefix;
    }

    /**
     * The beginning of the Redis keys of all queues, at most 200 bytes without braces and control characters. It
     * separates queues of the same name.
     */
    public void setKeyPrefix(String keyPrefix) {
        this.keyPrefix = keyPrefix;
    }

    public int getPartitions() {
        return partitions;
    }

    /**
     * The number of slots of a Redis Cluster over which the queue is spread, 1 to 64. All producers and consumers of
     * the queue must have the same number, and it never changes.
     */
    public void setPartitions(int partitions) {
        this.partitions = partitions;
    }

    public HeaderFilterStrategy getHeaderFilterStrategy() {
        return headerFilterStrategy;
    }

    /**
     * A custom HeaderFilterStrategy that decides which headers are stored with a message and restored from it. Headers
     * that begin with Camel are never stored or restored.
     */
    public void setHeaderFilterStrategy(HeaderFilterStrategy headerFilterStrategy) {
        this.headerFilterStrategy = headerFilterStrategy;
    }

    public String getDelay() {
        return delay;
    }

    /**
     * The delay of messages, 0 or more: 30m, 1h30m or PT30M; a bare number is milliseconds. Without delay and
     * deliverAt a message is due at once. The headers CamelRedisDelayDelay and CamelRedisDelayDeliverAt win over it.
     */
    public void setDelay(String delay) {
        this.delay = delay;
    }

    public String getDeliverAt() {
        return deliverAt;
    }

    /**
     * The time to deliver messages at: ISO-8601 with an offset, such as 2030-01-31T10:15:00Z, or milliseconds since
     * 1970. A time in the past means now. Must not be combined with delay. The headers CamelRedisDelayDelay and
     * CamelRedisDelayDeliverAt win over it.
     */
    public void setDeliverAt(String deliverAt) {
        this.deliverAt = deliverAt;
    }

    public String getOperation() {
        return operation;
    }

    /**
     * The operation of the producer. schedule stores a message. cancel removes messages by the ids of the header
     * CamelRedisDelayScheduleId, reschedule changes their due time, promote makes them due now. get, list, stats,
     * outlook and queues read. pause and resume apply to all consumers. redrive moves dead letters back, purge removes
     * them. check repairs a queue after keys were lost. import moves messages of an RDelayedQueue here. The header
     * CamelRedisDelayOperation wins over it.
     */
    public void setOperation(String operation) {
        this.operation = operation;
    }

    public String getOnDuplicate() {
        return onDuplicate;
    }

    /**
     * The treatment of a message whose id is delayed, leased, or remembered (see deduplicationPeriod). reject fails
     * with a DuplicateMessageException, ignore keeps the stored message, replace stores the new body and due time. A
     * route always replaces the message that it has received.
     */
    public void setOnDuplicate(String onDuplicate) {
        this.onDuplicate = onDuplicate;
    }

    public boolean isBatching() {
        return batching;
    }

    /**
     * True for batches. A consumer routes messages in batches, each a List of Messages in one exchange, acknowledged as
     * one (see batchSize and batchTimeout). A producer schedules a body that is a List element by element. An element
     * is a body, or a Message or Exchange with headers of its own. The header CamelRedisDelayMessageId is then a List
     * of ids. If some fail, the others are scheduled and the exchange fails with a BatchScheduleException that lists
     * them.
     */
    public void setBatching(boolean batching) {
        this.batching = batching;
    }

    public int getMaximumMessageSize() {
        return maximumMessageSize;
    }

    /** The largest message to store, in bytes with its headers. A larger one is an error. */
    public void setMaximumMessageSize(int maximumMessageSize) {
        this.maximumMessageSize = maximumMessageSize;
    }

    public int getBrowseLimit() {
        return browseLimit;
    }

    /**
     * The most messages that Camel's tools, such as the browse console or JMX, read at a time, 1 or more. All of them
     * are in memory then, bodies included.
     */
    public void setBrowseLimit(int browseLimit) {
        this.browseLimit = browseLimit;
    }

    public boolean isSynchronous() {
        return synchronous;
    }

    /**
     * True if the calling thread waits until Redis has answered, and then continues the exchange. With false one of at
     * most 32 threads of the component continues it. In a transaction, and on these threads, the thread always waits.
     */
    public void setSynchronous(boolean synchronous) {
        this.synchronous = synchronous;
    }

    public int getWaitForReplicas() {
        return waitForReplicas;
    }

    /**
     * The number of Redis replicas that must have a producer's change before the exchange continues; 0 waits for none.
     * If too few have it within replicationTimeout, the exchange fails with a ReplicationTimeoutException although the
     * change was made. A redelivery by Camel's error handler waits again, and makes no second change. Claims and
     * acknowledgements never wait.
     */
    public void setWaitForReplicas(int waitForReplicas) {
        this.waitForReplicas = waitForReplicas;
    }

    public boolean isWaitForDisk() {
        return waitForDisk;
    }

    /**
     * True if a producer's change must be on the disk (fsync) before the exchange continues, on the master and on as
     * many replicas as waitForReplicas says. Needs the append-only file, and Redis 7.2 or newer, or Valkey with
     * appendfsync always. Without it the route does not start, or the exchange fails, perhaps with its change stored.
     */
    public void setWaitForDisk(boolean waitForDisk) {
        this.waitForDisk = waitForDisk;
    }

    public String getReplicationTimeout() {
        return replicationTimeout;
    }

    /**
     * The longest wait of waitForReplicas and waitForDisk, from 1 ms to less than requestTimeout and the timeout of
     * Redisson (3 s by default). With appendfsync everysec a wait for the disk takes a second or more.
     */
    public void setReplicationTimeout(String replicationTimeout) {
        this.replicationTimeout = replicationTimeout;
    }

    public int getConcurrentConsumers() {
        return concurrentConsumers;
    }

    /** The most exchanges of the consumer at a time. */
    public void setConcurrentConsumers(int concurrentConsumers) {
        this.concurrentConsumers = concurrentConsumers;
    }

    public ExecutorService getExecutorService() {
        return executorService;
    }

    /**
     * A thread pool of your own that routes a consumer's exchanges, such as #bean:pool. Camel does not shut it down. A
     * message that it does not take is released. Without it exchanges run on the thread pool profile redis-delay, if
     * there is one, or else on threads of the component.
     */
    public void setExecutorService(ExecutorService executorService) {
        this.executorService = executorService;
    }

    public int getMaxMessagesPerPoll() {
        return maxMessagesPerPoll;
    }

    /**
     * The most messages to claim at a time, 1 to 256. A consumer prefetches beyond its free slots only if its recent
     * throughput justifies it.
     */
    public void setMaxMessagesPerPoll(int maxMessagesPerPoll) {
        this.maxMessagesPerPoll = maxMessagesPerPoll;
    }

    public String getVisibilityTimeout() {
        return visibilityTimeout;
    }

    /**
     * The length of the lease, from 100 ms to 365 days: how long a claimed message is hidden from other consumers. It
     * is extended while the exchange runs (see maximumVisibilityExtension). If this JVM dies, the message is delivered
     * again when it ends.
     */
    public void setVisibilityTimeout(String visibilityTimeout) {
        this.visibilityTimeout = visibilityTimeout;
    }

    public String getMaximumVisibilityExtension() {
        return maximumVisibilityExtension;
    }

    /**
     * The longest time after its start for which an exchange's lease is extended; 0 to extend none. After that a warning names
     * the exchange, and its message is delivered again when the lease expires.
     */
    public void setMaximumVisibilityExtension(String maximumVisibilityExtension) {
        this.maximumVisibilityExtension = maximumVisibilityExtension;
    }

    public Integer getMaximumRedeliveries() {
        return maximumRedeliveries;
    }

    /**
     * How often a message is delivered again after its first delivery failed; 0 for never, -1 for ever. Without it the
     * number of redeliveryDelays, if there are any. After that the message goes to the dead letters.
     */
    public void setMaximumRedeliveries(Integer maximumRedeliveries) {
        this.maximumRedeliveries = maximumRedeliveries;
    }

    public String getRedeliveryDelay() {
        return redeliveryDelay;
    }

    /**
     * The delay before the first redelivery. A message that has been delivered ten times waits for 10 milliseconds at
     * least.
     */
    public void setRedeliveryDelay(String redeliveryDelay) {
        this.redeliveryDelay = redeliveryDelay;
    }

    public double getBackOffMultiplier() {
        return backOffMultiplier;
    }

    /** The factor by which the redelivery delay grows with each redelivery, 1 or more. */
    public void setBackOffMultiplier(double backOffMultiplier) {
        this.backOffMultiplier = backOffMultiplier;
    }

    public String getMaximumRedeliveryDelay() {
        return maximumRedeliveryDelay;
    }

    /** The longest redelivery delay, before it is spread by redeliveryJitter. Does not limit redeliveryDelays. */
    public void setMaximumRedeliveryDelay(String maximumRedeliveryDelay) {
        this.maximumRedeliveryDelay = maximumRedeliveryDelay;
    }

    public double getRedeliveryJitter() {
        return redeliveryJitter;
    }

    /**
     * Random jitter as a fraction of the redelivery delay, 0 to 1, so that messages which failed together do not come back
     * together. Applies to redeliveryDelays, too; 0 keeps them exact.
     */
    public void setRedeliveryJitter(double redeliveryJitter) {
        this.redeliveryJitter = redeliveryJitter;
    }

    public String getRedeliveryDelays() {
        return redeliveryDelays;
    }

    /**
     * The delays before the first redelivery, the second and so on, separated by commas, such as 15s,3m,10m,30m,1h. Takes the
     * place of redeliveryDelay, backOffMultiplier and maximumRedeliveryDelay. If maximumRedeliveries is set as well, the last delay
     * repeats.
     */
    public void setRedeliveryDelays(String redeliveryDelays) {
        this.redeliveryDelays = redeliveryDelays;
    }

    public boolean isDeadLetter() {
        return deadLetter;
    }

    /**
     * True if a message that is given up is kept among the queue's dead letters. Otherwise it is dropped, counted and
     * logged.
     */
    public void setDeadLetter(boolean deadLetter) {
        this.deadLetter = deadLetter;
    }

    public int getPriority() {
        return priority;
    }

    /**
     * The priority of messages, 0 to 9: among due messages, the highest is delivered first. The header CamelRedisDelayPriority
     * wins over it.
     */
    public void setPriority(int priority) {
        this.priority = priority;
    }

    public String getGroup() {
        return group;
    }

    /**
     * The group of messages, 1 to 200 bytes without control characters. Only as many of a group are delivered at a time as the
     * consumer's groupConcurrency says. Other operations than schedule are about the messages of this group. The header
     * CamelRedisDelayGroup wins over it. A consumer has it with every or cron only: the group of the schedule that it declares.
     * Set on an endpoint only.
     */
    public void setGroup(String group) {
        this.group = group;
    }

    public int getGroupConcurrency() {
        return groupConcurrency;
    }

    /**
     * The most messages of a group that are leased at a time, by all consumers of the queue together, 0 to 1000. With 1 they are
     * delivered in the order of their due times. With 0 there is no limit and no order: a group is a key only. It is stored
     * with the queue, where the consumer that starts last sets it.
     */
    public void setGroupConcurrency(int groupConcurrency) {
        this.groupConcurrency = groupConcurrency;
    }

    public String getGroupRetry() {
        return groupRetry;
    }

    /**
     * The place of a message of a group before its redelivery. With strict it keeps its place, and the others of its group
     * wait. With relaxed they pass. It is stored with the queue, as groupConcurrency.
     */
    public void setGroupRetry(String groupRetry) {
        this.groupRetry = groupRetry;
    }

    public String getRate() {
        return rate;
    }

    /**
     * The rate at which deliveries of the queue begin, over all of its consumers, such as 100/1s. It is from 1/1d to 10000/1s.
     * With 100/1s:5 up to 5 begin at once after a rest, otherwise one. It is stored with the queue, as groupConcurrency. It
     * needs partitions=1.
     */
    public void setRate(String rate) {
        this.rate = rate;
    }

    public String getGroupRate() {
        return groupRate;
    }

    /**
     * The rate at which deliveries of each group begin, written as rate. Messages of a group whose rate is used up are parked,
     * and others are delivered.
     */
    public void setGroupRate(String groupRate) {
        this.groupRate = groupRate;
    }

    public int getQueueConcurrency() {
        return queueConcurrency;
    }

    /**
     * The most messages of the queue that are leased at a time, by all of its consumers together, 1 or more. With 0 there is no
     * limit. It is stored with the queue, as groupConcurrency. It needs partitions=1.
     */
    public void setQueueConcurrency(int queueConcurrency) {
        this.queueConcurrency = queueConcurrency;
    }

    public String getTimeToLive() {
        return timeToLive;
    }

    /**
     * How long after its due time a message may be delivered, 1 ms or more; without it for ever. After that it is
     * expired (see onExpiry). The header CamelRedisDelayTimeToLive wins over it.
     */
    public void setTimeToLive(String timeToLive) {
        this.timeToLive = timeToLive;
    }

    public String getDeduplicationPeriod() {
        return deduplicationPeriod;
    }

    /**
     * How long a message's id stays a duplicate after the message was acknowledged or expired, 1 ms or more. A
     * cancelled one is free at once. Each takes about 100 bytes of Redis memory, and its length. The header
     * CamelRedisDelayDeduplicationPeriod wins over it.
     */
    public void setDeduplicationPeriod(String deduplicationPeriod) {
        this.deduplicationPeriod = deduplicationPeriod;
    }

    public String getEvery() {
        return every;
    }

    /**
     * The interval of a recurring schedule, from 1 s to 3650 days. A consumer declares a schedule that it receives
     * itself. A producer makes one of its message, whose id is in the header CamelRedisDelayScheduleId. On an endpoint
     * only.
     */
    public void setEvery(String every) {
        this.every = every;
    }

    public String getCron() {
        return cron;
    }

    /**
     * The cron expression of a recurring schedule, instead of every. Five fields, as in crontab, or six with the second
     * first. On an endpoint only.
     */
    public void setCron(String cron) {
        this.cron = cron;
    }

    public String getTimeZone() {
        return timeZone;
    }

    /** The time zone of cron expressions, such as Europe/Berlin or UTC. */
    public void setTimeZone(String timeZone) {
        this.timeZone = timeZone;
    }

    public String getScheduleId() {
        return scheduleId;
    }

    /**
     * The id of the schedule that a consumer with cron or every declares; without it the queue's name. Set on an endpoint
     * only.
     */
    public void setScheduleId(String scheduleId) {
        this.scheduleId = scheduleId;
    }

    public long getMaximumQueueLength() {
        return maximumQueueLength;
    }

    /**
     * The most messages of the queue, delayed and leased; 0 for any number. If it has as many, the exchange fails with
     * a QueueFullException. Dead letters do not count.
     */
    public void setMaximumQueueLength(long maximumQueueLength) {
        this.maximumQueueLength = maximumQueueLength;
    }

    public int getLimit() {
        return limit;
    }

    /**
     * The most messages in the result of the operation list, 1 to 256. Set on the endpoint, also the most messages that
     * redrive, purge and promote change without an id, and the most queues in the result of queues. The header
     * CamelRedisDelayLimit wins over it.
     */
    public void setLimit(int limit) {
        this.limit = limit;
    }

    public String getOutlookStep() {
        return outlookStep;
    }

    /**
     * The length of each step of the operation outlook, 1 ms or more. All steps together must be within 100 years.
     */
    public void setOutlookStep(String outlookStep) {
        this.outlookStep = outlookStep;
    }

    public int getOutlookSteps() {
        return outlookSteps;
    }

    /** The number of steps of the operation outlook, 1 to 240. */
    public void setOutlookSteps(int outlookSteps) {
        this.outlookSteps = outlookSteps;
    }

    public String getFailureException() {
        return failureException;
    }

    /**
     * redrive, purge and promote change only messages whose last delivery failed with this exception. It is the name of
     * its class, such as java.net.ConnectException; without a package, of any package.
     */
    public void setFailureException(String failureException) {
        this.failureException = failureException;
    }

    public String getDeadLetterReason() {
        return deadLetterReason;
    }

    /**
     * redrive and purge (with state=dead, promote) change only dead letters that were given up for this reason: failed,
     * retryAfter, leaseExpired, expired, unreadable, or one that a route set.
     */
    public void setDeadLetterReason(String deadLetterReason) {
        this.deadLetterReason = deadLetterReason;
    }

    public String getFailureRouteId() {
        return failureRouteId;
    }

    /** redrive, purge and promote change only messages whose last delivery failed in this route. */
    public void setFailureRouteId(String failureRouteId) {
        this.failureRouteId = failureRouteId;
    }

    public boolean isAll() {
        return all;
    }

    /**
     * True if redrive, purge and promote change all messages. Without it they need an id, one of the options
     * failureException, deadLetterReason, failureRouteId and limit, or the header CamelRedisDelayLimit. On an endpoint
     * only.
     */
    public void setAll(boolean all) {
        this.all = all;
    }

    public boolean isSchedules() {
        return schedules;
    }

    /**
     * True if a promote of many messages also runs the recurring schedules among them now, and a cancel of a group ends
     * them. On an endpoint only.
     */
    public void setSchedules(boolean schedules) {
        this.schedules = schedules;
    }

    public String getState() {
        return state;
    }

    /**
     * The messages of an endpoint. On a consumer, dead consumes the dead letters of the queue. On a producer, the
     * messages of the operation list: delayed (the default), parked, leased or dead. With dead, get, stats, outlook,
     * cancel, reschedule, promote, pause, resume and check are about the dead letters.
     */
    public void setState(String state) {
        this.state = state;
    }

    public String getOnExpiry() {
        return onExpiry;
    }

    /**
     * The treatment of a message that was not delivered within its time to live. dead keeps it among the dead letters;
     * drop drops, counts and logs it.
     */
    public void setOnExpiry(String onExpiry) {
        this.onExpiry = onExpiry;
    }

    public String getDeadLetterRetention() {
        return deadLetterRetention;
    }

    /**
     * How long dead letters are kept, 1 ms or more; without it for ever. The consumers that have this option drop,
     * count and log older ones.
     */
    public void setDeadLetterRetention(String deadLetterRetention) {
        this.deadLetterRetention = deadLetterRetention;
    }

    public long getMaximumDeadLetters() {
        return maximumDeadLetters;
    }

    /**
     * The most dead letters that are kept; 0 for any number. The consumers that have this option drop, count and log
     * the oldest ones beyond it.
     */
    public void setMaximumDeadLetters(long maximumDeadLetters) {
        this.maximumDeadLetters = maximumDeadLetters;
    }

    public int getBatchSize() {
        return batchSize;
    }

    /** The most messages in an exchange with batching=true, 1 to 256. */
    public void setBatchSize(int batchSize) {
        this.batchSize = batchSize;
    }

    public String getBatchTimeout() {
        return batchTimeout;
    }

    /** How long the first due message of a batch waits for more, with batching=true. */
    public void setBatchTimeout(String batchTimeout) {
        this.batchTimeout = batchTimeout;
    }

    public Map<String, Object> getImportOptions() {
        return importOptions;
    }

    /**
     * The options of an import from an RDelayedQueue of Redisson, such as import.from, by the operation import or by a
     * running consumer. They need the artifact camel-redis-delay-import.
     */
    public void setImportOptions(Map<String, Object> importOptions) {
        this.importOptions = importOptions;
    }
}
