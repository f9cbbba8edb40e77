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
     * A Redisson configuration in YAML to make a client from, for Sentinel, Cluster and whatever else Redisson can connect
     * to: a resource such as classpath:redisson.yaml or file:/etc/app/redisson.yaml. Its codec has no effect.
     */
    public void setConfigurationUri(String configurationUri) {
        this.configurationUri = configurationUri;
    }

    public String getAddress() {
        return address;
    }

    /**
     * The address of a single Redis server to make a client for, such as redis://host:6379; rediss:// connects by TLS. On an
     * endpoint it is used without the component's username, password, database and sslContextParameters.
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
     * The time for which a producer waits for Redis's answer, 1 ms or more. After that the exchange fails, and the message may
     * nevertheless be stored; the same id can safely be sent again, and a redelivery by Camel's error handler waits for the
     * answer instead of sending another message.
     */
    public void setRequestTimeout(String requestTimeout) {
        this.requestTimeout = requestTimeout;
    }

    public String getKeyPrefix() {
        return keyPrefix;
    }

    /**
     * The beginning of the Redis keys of all queues, at most 200 bytes without braces and control characters. Queues of the
     * same name and different prefixes have nothing to do with each other.
     */
    public void setKeyPrefix(String keyPrefix) {
        this.keyPrefix = keyPrefix;
    }

    public int getPartitions() {
        return partitions;
    }

    /**
     * The number of hash tags over which the queue is spread, 1 to 64, so that it can grow past one node of a Redis Cluster. All producers and
     * consumers of the queue must have the same number; it is recorded in Redis, and another one is an error. The number of a queue
     * never changes: for another one take a new queue name.
     */
    public void setPartitions(int partitions) {
        this.partitions = partitions;
    }

    public HeaderFilterStrategy getHeaderFilterStrategy() {
        return headerFilterStrategy;
    }

    /**
     * To use a custom HeaderFilterStrategy to decide which headers are stored with a message and taken from a stored one.
     * Camel's own headers, whose names begin with Camel, are neither stored nor restored whatever it says.
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
     * The time to deliver messages at: ISO-8601 with an offset, such as 2030-01-31T10:15:00Z, or milliseconds since 1970; fewer than
     * 100000000000 look like seconds and are an error. A time in the past means now. Must not be combined with delay; the headers CamelRedisDelayDelay and CamelRedisDelayDeliverAt win over
     * it.
     */
    public void setDeliverAt(String deliverAt) {
        this.deliverAt = deliverAt;
    }

    public String getOperation() {
        return operation;
    }

    /**
     * The operation of the producer: schedule stores a message; cancel removes those with the ids of the header
     * CamelRedisDelayScheduleId, reschedule changes their due time, promote makes them due now; get,
     * list and stats look, outlook counts what becomes due when, queues names all queues; pause and resume hold for all consumers; redrive moves dead letters back, purge removes them (one,
     * several, or with all=true all, as promote); check finds messages that are in no state, and lets them wait again; import moves the messages
     * of a delayed queue of Redisson here. The header CamelRedisDelayOperation wins over it.
     */
    public void setOperation(String operation) {
        this.operation = operation;
    }

    public String getOnDuplicate() {
        return onDuplicate;
    }

    /**
     * The treatment of a message whose id is delayed, leased, or remembered (see deduplicationPeriod): reject fails with a DuplicateMessageException, ignore
     * keeps the stored message, replace puts the new body and due time in its place. An exchange that is itself the delivery
     * of this id always replaces it.
     */
    public void setOnDuplicate(String onDuplicate) {
        this.onDuplicate = onDuplicate;
    }

    public boolean isBatching() {
        return batching;
    }

    /**
     * True for batches. On a consumer: messages are routed in batches, each a List of Messages in one exchange, acknowledged as one (see
     * batchSize and batchTimeout). On a producer: a body that is a List is scheduled element by element in one go. An element is a body, or a Message or Exchange
     * with headers of its own; the header CamelRedisDelayMessageId is then a List of ids. If some fail, the others are
     * scheduled and the exchange fails with a BatchScheduleException that lists them. Other bodies are scheduled as they are.
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
     * The most messages that one look by Camel's tools reads, such as the browse console or JMX, whatever they ask for; 1 or
     * more. All of them are in memory then, bodies included.
     */
    public void setBrowseLimit(int browseLimit) {
        this.browseLimit = browseLimit;
    }

    public boolean isSynchronous() {
        return synchronous;
    }

    /**
     * Whether the calling thread waits until Redis has answered, and then goes on with the exchange itself. With false it only
     * hands the message over, and the exchange goes on on one of at most 32 threads of the component. In a transaction, and on
     * these threads, the thread always waits.
     */
    public void setSynchronous(boolean synchronous) {
        this.synchronous = synchronous;
    }

    public int getWaitForReplicas() {
        return waitForReplicas;
    }

    /**
     * The number of Redis replicas that must have received a producer's change (schedule, cancel, reschedule, promote, redrive, purge,
     * pause, resume, check) before the exchange goes on; 0 waits for none. If they have not within replicationTimeout, the exchange fails with
     * a ReplicationTimeoutException although the change was made; a redelivery by Camel's error handler waits again, and makes no second
     * change. Claims and acknowledgements never wait.
     */
    public void setWaitForReplicas(int waitForReplicas) {
        this.waitForReplicas = waitForReplicas;
    }

    public boolean isWaitForDisk() {
        return waitForDisk;
    }

    /**
     * True if a producer's change must have been written to disk (fsync), on the master and on as many replicas as waitForReplicas
     * says, before the exchange goes on. Needs the append-only file, and Redis 7.2 or newer, or Valkey with appendfsync always.
     * Where the server's answer does not hold, the route does not start; found later, nothing is changed and the exchange
     * fails.
     */
    public void setWaitForDisk(boolean waitForDisk) {
        this.waitForDisk = waitForDisk;
    }

    public String getReplicationTimeout() {
        return replicationTimeout;
    }

    /**
     * The longest wait for the replicas and the disk of waitForReplicas and waitForDisk, from 1 ms to less than requestTimeout, and less than the
     * timeout of Redisson (3s unless configured otherwise). A wait for the disk takes a second or more where the server has
     * appendfsync everysec.
     */
    public void setReplicationTimeout(String replicationTimeout) {
        this.replicationTimeout = replicationTimeout;
    }

    public int getConcurrentConsumers() {
        return concurrentConsumers;
    }

    /** The most exchanges that may be under way at a time. */
    public void setConcurrentConsumers(int concurrentConsumers) {
        this.concurrentConsumers = concurrentConsumers;
    }

    public ExecutorService getExecutorService() {
        return executorService;
    }

    /**
     * A thread pool of your own on which a consumer's exchanges are routed, such as #bean:pool. It is not shut down by Camel.
     * What it does not take goes back to Redis. Without it exchanges run on a pool after the thread pool profile redis-delay,
     * if there is one, else on threads of the component, of which there are as many as are busy.
     */
    public void setExecutorService(ExecutorService executorService) {
        this.executorService = executorService;
    }

    public int getMaxMessagesPerPoll() {
        return maxMessagesPerPoll;
    }

    /**
     * The most messages to claim at a time, 1 to 256. A consumer prefetches beyond its free slots only if
     * its recent throughput justifies it, so a slow one takes nothing away from others.
     */
    public void setMaxMessagesPerPoll(int maxMessagesPerPoll) {
        this.maxMessagesPerPoll = maxMessagesPerPoll;
    }

    public String getVisibilityTimeout() {
        return visibilityTimeout;
    }

    /**
     * The lease, from 100 ms to 365 days: for how long a message that was claimed is hidden from other consumers. It is
     * extended while the work goes on (see maximumVisibilityExtension); if this JVM dies, the message is delivered again when it
     * ends.
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
     * The number of times that a message is delivered again after its first delivery failed; 0 for never, -1 for ever. If it is not set and
     * redeliveryDelays is, their number. What is given up goes to the dead letters.
     */
    public void setMaximumRedeliveries(Integer maximumRedeliveries) {
        this.maximumRedeliveries = maximumRedeliveries;
    }

    public String getRedeliveryDelay() {
        return redeliveryDelay;
    }

    /**
     * The delay before the first redelivery. A message that has been delivered ten times waits for 10 milliseconds at least, so that
     * one that always fails does not keep Redis busy.
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
     * True if a message that is given up is kept among the queue's dead letters. Otherwise it is dropped, counted and logged.
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

    public String getTimeToLive() {
        return timeToLive;
    }

    /**
     * The time after its due time within which a message may be delivered, 1 ms or more; without it for ever. What is not delivered by then
     * is expired (see onExpiry). The header CamelRedisDelayTimeToLive wins over it.
     */
    public void setTimeToLive(String timeToLive) {
        this.timeToLive = timeToLive;
    }

    public String getDeduplicationPeriod() {
        return deduplicationPeriod;
    }

    /**
     * The time for which a message's id stays a duplicate after it was acknowledged or expired, 1 ms or more; without it not at all. A
     * cancelled one is free at once. Takes about 100 bytes of Redis memory and the id for each until the period is over. The header
     * CamelRedisDelayDeduplicationPeriod wins over it.
     */
    public void setDeduplicationPeriod(String deduplicationPeriod) {
        this.deduplicationPeriod = deduplicationPeriod;
    }

    public String getEvery() {
        return every;
    }

    /**
     * The interval of a recurring schedule, from 1 s to 3650 days. A consumer declares a schedule that it receives itself. A
     * producer makes one of its message, whose id is in the header CamelRedisDelayScheduleId. Set on an endpoint only.
     */
    public void setEvery(String every) {
        this.every = every;
    }

    public String getCron() {
        return cron;
    }

    /**
     * The cron expression of a recurring schedule, in the place of every: minute, hour, day of the month, month and day of
     * the week, or these with the second first. Set on an endpoint only.
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
     * The most messages that the queue may hold, delayed and leased; 0 for any number. If it holds as many, the exchange
     * fails with a QueueFullException. Dead letters do not count.
     */
    public void setMaximumQueueLength(long maximumQueueLength) {
        this.maximumQueueLength = maximumQueueLength;
    }

    public int getLimit() {
        return limit;
    }

    /**
     * The most messages that the operation list gives, 1 to 256; set on the endpoint, also the most messages, the first ones, that redrive,
     * purge and promote change if they name none by its id, or the most queues that the operation queues gives. The header CamelRedisDelayLimit wins over it.
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
     * Only messages whose last delivery failed with this exception (the name of its class, such as java.net.ConnectException; without
     * a package, of any package) are redriven, purged or promoted.
     */
    public void setFailureException(String failureException) {
        this.failureException = failureException;
    }

    public String getDeadLetterReason() {
        return deadLetterReason;
    }

    /**
     * Only dead letters that were given up for this reason (failed, retryAfter, leaseExpired, expired, unreadable, or what their route
     * said) are redriven or purged; or promoted, with state=dead.
     */
    public void setDeadLetterReason(String deadLetterReason) {
        this.deadLetterReason = deadLetterReason;
    }

    public String getFailureRouteId() {
        return failureRouteId;
    }

    /**
     * Only messages whose last delivery failed in this route are redriven, purged or promoted.
     */
    public void setFailureRouteId(String failureRouteId) {
        this.failureRouteId = failureRouteId;
    }

    public boolean isAll() {
        return all;
    }

    /**
     * True if redrive, purge and promote mean all messages. Without it they need the id of a message, or one of the options
     * failureException, deadLetterReason, failureRouteId and limit, or the header CamelRedisDelayLimit. Cannot be set on the component.
     */
    public void setAll(boolean all) {
        this.all = all;
    }

    public boolean isSchedules() {
        return schedules;
    }

    /**
     * True if a promote of many messages also runs the recurring schedules among them now, and a cancel of a group ends them.
     * Without it they are spared. Cannot be set on the component.
     */
    public void setSchedules(boolean schedules) {
        this.schedules = schedules;
    }

    public String getState() {
        return state;
    }

    /**
     * The messages that are meant. On a consumer: dead consumes the dead letters of the queue. On a producer: delayed (the default),
     * parked, leased or dead ones for the operation list; and with dead, the operations get, stats, outlook, cancel, reschedule, promote, pause, resume
     * and check are about the dead letters.
     */
    public void setState(String state) {
        this.state = state;
    }

    public String getOnExpiry() {
        return onExpiry;
    }

    /**
     * The treatment of a message that was not delivered within its time to live: dead keeps it among the dead letters, drop drops, counts
     * and logs it.
     */
    public void setOnExpiry(String onExpiry) {
        this.onExpiry = onExpiry;
    }

    public String getDeadLetterRetention() {
        return deadLetterRetention;
    }

    /**
     * The time for which dead letters are kept, 1 ms or more; without it for ever. Older ones are dropped, counted and logged by the
     * consumers that have this option.
     */
    public void setDeadLetterRetention(String deadLetterRetention) {
        this.deadLetterRetention = deadLetterRetention;
    }

    public long getMaximumDeadLetters() {
        return maximumDeadLetters;
    }

    /**
     * The most dead letters that are kept; 0 for any number. The oldest ones beyond it are dropped, counted and logged by the
     * consumers that have this option.
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

    /** The time for which an exchange with batching=true waits for more messages after its first one. */
    public void setBatchTimeout(String batchTimeout) {
        this.batchTimeout = batchTimeout;
    }

    public Map<String, Object> getImportOptions() {
        return importOptions;
    }

    /**
     * The options of an import from a delayed queue of Redisson (RDelayedQueue), such as import.from: by the operation import, or by a
     * consumer while it runs. The artifact camel-redis-delay-import has to be on the class path; its page lists them.
     */
    public void setImportOptions(Map<String, Object> importOptions) {
        this.importOptions = importOptions;
    }
}
