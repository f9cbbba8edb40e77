// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.ConnectionSettings;
import io.github.redisdelay.camel.connection.RedisConnection;
import io.github.redisdelay.camel.connection.RedisUnusableException;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.delivery.ConsumerSettings;
import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.message.MessageMapper;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.camel.option.MessageScope;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.camel.producer.ProducerSettings;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.QueueNames;
import io.github.redisdelay.queue.QueueStats;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.camel.AfterPropertiesConfigured;
import org.apache.camel.AsyncEndpoint;
import org.apache.camel.CamelContext;
import org.apache.camel.Category;
import org.apache.camel.Consumer;
import org.apache.camel.Exchange;
import org.apache.camel.MultipleConsumersSupport;
import org.apache.camel.PollingConsumer;
import org.apache.camel.Processor;
import org.apache.camel.Producer;
import org.apache.camel.RuntimeCamelException;
import org.apache.camel.api.management.ManagedAttribute;
import org.apache.camel.api.management.ManagedResource;
import org.apache.camel.spi.BrowsableEndpoint;
import org.apache.camel.spi.EndpointServiceLocation;
import org.apache.camel.spi.Metadata;
import org.apache.camel.spi.UriEndpoint;
import org.apache.camel.spi.UriParam;
import org.apache.camel.spi.UriPath;
import org.apache.camel.support.DefaultEndpoint;

/**
 * Schedule messages with a delay and receive them when they are due, kept in Redis.
 *
 * <p>Holds options only, so that any number of endpoints can come and go.
 */
@ManagedResource(description = "Managed Redis Delay Endpoint")
@UriEndpoint(
        firstVersion = "0.1.0",
        scheme = "redis-delay",
        title = "Redis Delay",
        syntax = "redis-delay:queueName",
        category = {Category.MESSAGING, Category.SCHEDULING},
        headersClass = RedisDelayConstants.class)
public class RedisDelayEndpoint extends DefaultEndpoint
        implements AsyncEndpoint,
                BrowsableEndpoint,
                MultipleConsumersSupport,
                EndpointServiceLocation,
                AfterPropertiesConfigured {

    @UriPath(
            description =
                    "Name of the queue, at most 200 bytes; may have colons, dots, dashes, underscores and slashes, but no"
                            + " braces or control characters")
    @Metadata(required = true)
    private final String queueName;

    @UriParam
    private final RedisDelayConfiguration configuration;

    /** The options that this endpoint's own URI sets, as they are written there. */
    private final Map<String, Object> ownOptions = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

    // The meaning of the options: read once, before the endpoint is used.
    private Resolved resolved;

    /** All options, checked. */
    private record Resolved(
            ConnectionSettings connection,
            ClientOptions clientOptions,
            int partitions,
            ProducerSettings producer,
            MessageMapper mapper,
            ImportModule.Options imports,
            Function<ImportModule.Site, ImportModule.Operation> importOperation) {}

    public RedisDelayEndpoint(
            String uri, RedisDelayComponent component, String queueName, RedisDelayConfiguration configuration) {
        super(uri, component);
        this.queueName = QueueNames.check("queueName", queueName);
        this.configuration = configuration;
    }

    /** Notes which options the URI sets; the others are the component's. */
    void setOwnOptions(Map<String, Object> options) {
        ownOptions.putAll(options);
    }

    @Override
    public void afterPropertiesConfigured(CamelContext camelContext) {
        resolve();
    }

    @Override
    protected void doInit() throws Exception {
        // Before Camel looks for a RedissonClient to autowire: it would take the place of the endpoint's own address.
        if (resolved == null) {
            resolve();
        }
        super.doInit();
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        getComponent().queueBeans.add(this);
    }

    @Override
    protected void doStop() throws Exception {
        getComponent().queueBeans.remove(this);
        super.doStop();
    }

    private void resolve() {
        OptionReader options = new OptionReader(configuration);
        // A consumer may be made later. What is wrong with its options is said now.
        options.browseLimit();
        options.claims();
        options.retries();
        ProducerSettings producer = options.producer(ownOptions.keySet());
        Map<String, Object> defaults = getComponent().getConfiguration().getImportOptions();
        ImportModule.Options imports = new ImportModule.Options(
                getCamelContext(), configuration.getImportOptions(), defaults, ownOptions.keySet());
        resolved = new Resolved(
                options.connection(),
                options.client(),
                options.partitions(),
                producer,
                options.mapper(queueName),
                imports,
                producer.operation() == RedisDelayOperation.IMPORT
                        ? getComponent()
                                .imports("option 'operation' is 'import'")
                                .operation(imports)
                        : null);
    }

    @Override
    public Producer createProducer() {
        getComponent().warnOfUnused(this, EndpointOptions.unused(EndpointOptions.PRODUCER, ownOptions));
        if (importOperation() == null) {
            EndpointOptions.checkNoImport(
                    configuration,
                    "a producer whose operation is '" + producerSettings().operation()
                            + "': set operation=import, or remove it");
        }
        return new RedisDelayProducer(this);
    }

    @Override
    public Consumer createConsumer(Processor processor) throws Exception {
        getComponent().warnOfUnused(this, EndpointOptions.unused(EndpointOptions.CONSUMER, ownOptions));
        RedisDelayConsumer consumer = new RedisDelayConsumer(this, processor);
        configureConsumer(consumer);
        return consumer;
    }

    /** Makes a consumer that claims when it is asked, and never reads ahead. */
    @Override
    public PollingConsumer createPollingConsumer() {
        getComponent().warnOfUnused(this, EndpointOptions.unused(EndpointOptions.CONSUMER, ownOptions));
        return new RedisDelayPollingConsumer(this);
    }

    @Override
    public RedisDelayComponent getComponent() {
        return (RedisDelayComponent) super.getComponent();
    }

    /**
     * The client, connected.
     *
     * @return a share in it, which the caller releases
     * @throws RuntimeCamelException if it cannot connect
     */
    public Reference<OpenClient> acquireClient() {
        try {
            return getComponent().acquireClient(resolved.connection(), resolved.clientOptions());
        } catch (RedisUnusableException e) {
            throw new RedisUnusableException("queue '" + queueName + "': " + e.getMessage(), e.getCause());
        } catch (Exception e) {
            throw new RuntimeCamelException("queue '" + queueName + "': " + e.getMessage(), e);
        }
    }

    /** Its queue for those who measure. */
    Meters.MeteredQueue metered(Reference<OpenClient> client) {
        return new Meters.MeteredQueue(getKeyPrefix(), place(), queue(client), client);
    }

    /** The identity of its queue: its name, key prefix and place, in this order. */
    public String identity() {
        return queueName + "\n" + getKeyPrefix() + "\n" + place();
    }

    /** Returns whether a route of its context declares the recurring schedule of this id in its queue. */
    public boolean declares(String id) {
        return RedisDelayComponent.consumers(getCamelContext())
                .anyMatch(each -> each.side().declares(identity(), id));
    }

    DelayQueue queue(Reference<OpenClient> client) {
        return client.get().queues().queue(queueName, resolved.partitions());
    }

    /**
     * Asks whether the queue has as many partitions as this endpoint says, and records this number if none is recorded.
     *
     * @return fails with a {@link io.github.redisdelay.queue.exception.PartitionMismatchException} if it has another number
     */
    CompletableFuture<Void> usePartitions(Reference<OpenClient> client) {
        return client.get().queues().usePartitions(queueName, resolved.partitions());
    }

    /** Asks for the figures of its queue, if its client is connected; waits neither for that nor for the answer. */
    public Optional<CompletableFuture<QueueStats>> figures() {
        return getComponent()
                .connectedClient(resolved.connection(), clientOptions())
                .map(own -> queue(own).admin().stats().whenComplete((done, e) -> own.release(getComponent()::close)));
    }

    @Override
    public List<Exchange> getExchanges() {
        return getExchanges(0, null);
    }

    /**
     * Looks at the messages of its queue, or of those that option {@code state} names. Nothing is claimed or changed.
     *
     * @param limit how many are returned at the most; 0 and what is above the browse limit mean that
     * @param filter asked for each; of more than the browse limit none is looked at
     * @throws RuntimeCamelException if Redis cannot be asked
     */
    @Override
    @SuppressWarnings({"rawtypes", "unchecked"}) // as in Camel's interface
    public List<Exchange> getExchanges(int limit, Predicate filter) {
        return browser().browse(limit, getBrowseLimit(), filter);
    }

    /** The number of messages, also of more than the limit. Their times are not known without reading them. */
    @Override
    public BrowseStatus getBrowseStatus(int limit) {
        return new BrowseStatus(browser().size(), 0, 0);
    }

    /** The options of its client. */
    public ClientOptions clientOptions() {
        return resolved.clientOptions();
    }

    ProducerSettings producerSettings() {
        return resolved.producer();
    }

    /**
     * The settings of a consumer.
     *
     * @throws IllegalArgumentException if the options are not possible for one
     */
    ConsumerSettings consumerSettings() {
        return new OptionReader(configuration).consumer(queueName, ownOptions.keySet());
    }

    /**
     * The settings of a polling consumer.
     *
     * @throws IllegalArgumentException if the options are not possible for one
     */
    ConsumerSettings pollingSettings() {
        EndpointOptions.checkNoImport(
                configuration, "an endpoint that is polled: consume from it in a route, or import by operation=import");
        if (configuration.isBatching() && ownOptions.containsKey("batching")) {
            throw new IllegalArgumentException("option 'batching' is set on an endpoint that is polled, which gives one"
                    + " message at a time: remove it, or consume from the endpoint in a route");
        }
        EndpointOptions.checkPolled(ownOptions);
        ConsumerSettings settings = consumerSettings();
        if (settings.schedule() != null) {
            throw new IllegalArgumentException("option '" + (configuration.getCron() == null ? "every" : "cron")
                    + "' is set on an endpoint that is polled, which declares no schedule: consume from it in a route");
        }
        return settings;
    }

    /** Makes the operation import of a producer that is started; null if its operation is another one. */
    Function<ImportModule.Site, ImportModule.Operation> importOperation() {
        return resolved.importOperation();
    }

    /** The imports of a consumer while it runs, if it is started; null if it imports nothing. */
    Function<ImportModule.Site, ImportModule.Bridge> importBridge() {
        return resolved.imports().imports().keySet().stream()
                .findFirst()
                .map(option -> getComponent()
                        .imports("option '" + ImportModule.PREFIX + OptionValues.shown(option) + "' is set")
                        .bridge(resolved.imports()))
                .orElse(null);
    }

    /** Calls to its queue, which wait for the answer. */
    public QueueCalls calls() {
        return new QueueCalls(queueName, clientOptions().requestTimeout(), this::acquireClient, this::queue);
    }

    private QueueBrowser browser() {
        return new QueueBrowser(
                isOfDeadLetters(), producerSettings().listed(), mapper(), this::createExchange, calls());
    }

    MessageMapper mapper() {
        return resolved.mapper();
    }

    @ManagedAttribute(description = "Name of the queue")
    public String getQueueName() {
        return queueName;
    }

    @ManagedAttribute(description = "What the Redis keys of the queue begin with")
    public String getKeyPrefix() {
        return configuration.getKeyPrefix();
    }

    @ManagedAttribute(description = "Over how many hash tags the queue is spread")
    public int getPartitions() {
        return configuration.getPartitions();
    }

    /** Returns whether it leads to the dead letters of its queue. */
    public boolean isOfDeadLetters() {
        return producerSettings().state() == MessageScope.DEAD;
    }

    public RedisDelayConfiguration getConfiguration() {
        return configuration;
    }

    @Override
    public boolean isMultipleConsumersSupported() {
        return true;
    }

    @Override
    public int getBrowseLimit() {
        return configuration.getBrowseLimit();
    }

    @Override
    public void setBrowseLimit(int browseLimit) {
        configuration.setBrowseLimit(browseLimit);
    }

    @Override
    @ManagedAttribute(description = "Where Redis is")
    public String getServiceUrl() {
        if (resolved == null) {
            return null;
        }
        ConnectionSettings connection = resolved.connection();
        if (connection.address() != null) {
            return connection.address();
        }
        return connection.redisson() == null
                ? connection.toString()
                : RedisConnection.describe(connection.redisson().getConfig());
    }

    /** The server and the database of the queue, as text without credentials: they tell queues of the same name apart. */
    public String place() {
        return RedisConnection.place(resolved.connection());
    }

    @Override
    public String getServiceProtocol() {
        return "redis";
    }

    @Override
    public Map<String, String> getServiceMetadata() {
        return Map.of("queueName", queueName, "keyPrefix", configuration.getKeyPrefix());
    }
}
