// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ClientRegistry;
import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.ConnectionSettings;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.delivery.ConsumerNames;
import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.camel.monitor.NoConsumerReport;
import io.github.redisdelay.camel.monitor.QueueBeans;
import io.github.redisdelay.camel.monitor.StartupLog;
import io.github.redisdelay.camel.monitor.UnusedQueues;
import io.github.redisdelay.camel.option.OncePerName;
import io.github.redisdelay.camel.thread.ComponentThreads;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.QueueNames;
import java.net.URISyntaxException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.camel.CamelContext;
import org.apache.camel.Endpoint;
import org.apache.camel.SSLContextParametersAware;
import org.apache.camel.spi.Metadata;
import org.apache.camel.spi.PropertyConfigurer;
import org.apache.camel.spi.annotations.Component;
import org.apache.camel.support.HealthCheckComponent;
import org.apache.camel.util.PropertiesHelper;
import org.apache.camel.util.URISupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Schedules messages with a delay and receives them when they are due, kept in Redis.
 *
 * <p>Owns what its endpoints share: the clients and the threads on which exchanges are routed. Endpoints, producers and
 * consumers hold neither a thread nor a connection of their own.
 */
@Component("redis-delay")
public class RedisDelayComponent extends HealthCheckComponent implements SSLContextParametersAware {

    @Metadata(description = "The component's options, which are the defaults of its endpoints")
    private RedisDelayConfiguration configuration = new RedisDelayConfiguration();

    @Metadata(
            label = "security",
            defaultValue = "false",
            description =
                    "Whether addresses that begin with rediss:// use the SSLContextParameters of the CamelContext, where"
                            + " the option sslContextParameters is not set")
    private boolean useGlobalSslContextParameters;

    private static final Logger LOG = LoggerFactory.getLogger(RedisDelayComponent.class);

    private static final PropertyConfigurer CONFIGURER = new RedisDelayComponentConfigurer() {
        @Override
        public boolean configure(
                CamelContext context, Object component, String name, Object value, boolean ignoreCase) {
            if (value instanceof String text) {
                EndpointOptions.checkNumber(name, text);
            }
            return super.configure(context, component, name, value, ignoreCase);
        }
    };

    /** The report on queues and servers where a consumer starts. */
    final StartupLog startReport = new StartupLog();

    final UnusedQueues unusedQueues = new UnusedQueues();
    private final OncePerName unusedOptions = new OncePerName();
    /** Its queues in JMX. */
    volatile QueueBeans queueBeans = QueueBeans.NONE; // written when Camel makes the component
    /** Gives names to consumers without a route. */
    final ConsumerNames consumerNames = new ConsumerNames();
    /** Its consumers that are started. Each adds and removes itself. */
    final Set<RedisDelayConsumer> consumers = ConcurrentHashMap.newKeySet();

    private final Object resourcesLock = new Object();
    private volatile Resources resources; // written under resourcesLock
    /** Null before the first endpoint that imports. Written under resourcesLock. */
    private volatile ImportModule imports;
    /** Keeps the client of the component's own settings open from its first use on. */
    private Reference<OpenClient> own; // guarded by resourcesLock

    /** The things that are there from the first use on, until the component stops. */
    private record Resources(
            ClientRegistry clients, ComponentThreads threads, Meters meters, NoConsumerReport deserted) {}

    public RedisDelayComponent() {}

    public RedisDelayComponent(CamelContext context) {
        super(context);
    }

    /** Camel Main and others set its options by this. */
    @Override
    public PropertyConfigurer getComponentPropertyConfigurer() {
        return CONFIGURER;
    }

    @Override
    public Endpoint createEndpoint(String uri, Map<String, Object> properties) throws Exception {
        if (uri.matches("[^:?]*:?/*([?].*)?")) {
            // Java reads no URI with nothing behind its scheme.
            throw new IllegalArgumentException("'" + URISupport.stripQuery(uri)
                    + "' names no queue: write redis-delay:orders for a queue named 'orders'");
        }
        return super.createEndpoint(uri, properties);
    }

    @Override
    protected Endpoint createEndpoint(String uri, String remaining, Map<String, Object> parameters) throws Exception {
        EndpointOptions.removeUnset(getCamelContext(), parameters);
        EndpointOptions.check(remaining, parameters);
        QueueNames.check("queueName", remaining);
        RedisDelayConfiguration options = EndpointOptions.inherit(configuration, parameters.keySet());
        options.setImportOptions(PropertiesHelper.extractProperties(parameters, ImportModule.PREFIX));
        RedisDelayEndpoint endpoint =
                new RedisDelayEndpoint(maskable(uri, parameters.get("address")), this, remaining, options);
        endpoint.setOwnOptions(parameters);
        return endpoint;
    }

    /**
     * An endpoint's URI in which Camel finds the password of an address, to show it nowhere. Where it has sorted the
     * options it has encoded them, and finds a password no more; what is {@code RAW} stays as it is.
     *
     * @param address the option, decoded; null if it is not set
     */
    private static String maskable(String uri, Object address) throws URISyntaxException {
        if (!(address instanceof String text) || text.indexOf('@') < 0) {
            return uri;
        }
        Map<String, Object> query = new LinkedHashMap<>(URISupport.parseQuery(URISupport.extractQuery(uri)));
        String raw = URISupport.RAW_TOKEN_PREFIX + (text.indexOf(')') < 0 ? "(" + text + ")" : "{" + text + "}");
        query.replaceAll((name, value) -> name.equalsIgnoreCase("address") ? raw : value);
        return URISupport.stripQuery(uri) + "?" + URISupport.createQueryString(query, false);
    }

    /**
     * The client for these settings.
     *
     * @return to be released when it is not needed any more
     */
    Reference<OpenClient> acquireClient(ConnectionSettings connection, ClientOptions options) throws Exception {
        Reference<OpenClient> reference = clients().acquire(connection, options);
        OptionReader defaults = new OptionReader(configuration);
        if (connection.equals(defaults.connection()) && options.equals(defaults.client())) {
            synchronized (resourcesLock) {
                if (own == null && isStarted()) {
                    own = reference.retain();
                }
            }
        }
        return reference;
    }

    /** A share in the client for these settings, to be released, if it is connected. Does not block. */
    Optional<Reference<OpenClient>> connectedClient(ConnectionSettings connection, ClientOptions options) {
        Resources open = resources;
        return open == null ? Optional.empty() : open.clients().acquireOpen(connection, options);
    }

    /**
     * Warns of options without effect. One line for each endpoint: where it is used on both sides, each option has an effect on
     * one of them. An endpoint may be made anew for each message, as by toD with cacheSize=-1.
     *
     * @param options null if there are none
     */
    void warnOfUnused(RedisDelayEndpoint endpoint, String options) {
        if (options != null && unusedOptions.note(endpoint.getEndpointUri()) != null) {
            LOG.warn("queue '{}': {}", endpoint.getQueueName(), options);
        }
    }

    /** The started consumers of all components of a context. */
    public static Stream<RedisDelayConsumer> consumers(CamelContext context) {
        return context.getComponentNames().stream()
                .map(context::hasComponent)
                .filter(RedisDelayComponent.class::isInstance)
                .flatMap(component -> ((RedisDelayComponent) component).consumers.stream());
    }

    ImportModule.Site importSite(Meters.MeteredQueue queue, String routeId, long maximumQueueLength) {
        return new ImportModule.Site(
                queue.queue(),
                queue,
                meters(),
                routeId,
                threads()::goOn,
                threads().timers(),
                maximumQueueLength);
    }

    /** Its imports by the operation {@code import}: those under way, and those that have ended within the last hour. */
    public List<ImportModule.Run> imports() {
        ImportModule found = imports;
        return found == null ? List.of() : found.runs();
    }

    /**
     * The module for imports.
     *
     * @param asked what asks for it, for the error
     */
    ImportModule imports(String asked) {
        synchronized (resourcesLock) {
            if (imports == null) {
                imports = ImportModule.find(getCamelContext(), asked);
            }
            return imports;
        }
    }

    private Resources resources() {
        Resources open = resources;
        if (open != null) {
            return open; // without the lock: each exchange comes by here
        }
        synchronized (resourcesLock) {
            if (resources == null) {
                ComponentThreads threads =
                        new ComponentThreads(this, getCamelContext().getExecutorServiceManager(), this::close);
                Meters meters = Meters.of(getCamelContext(), name(), threads::timers);
                resources = new Resources(
                        new ClientRegistry(
                                getCamelContext(),
                                this::retrieveGlobalSslContextParameters,
                                (place, options) -> meters.calls(place, options.keyPrefix())),
                        threads,
                        meters,
                        new NoConsumerReport(threads::timers));
            }
            return resources;
        }
    }

    /** The name under which its context knows it, which is the scheme of its endpoints; the default one if it does not. */
    private String name() {
        return getCamelContext().getComponentNames().stream()
                .filter(name -> getCamelContext().hasComponent(name) == this)
                .findFirst()
                .orElse("redis-delay");
    }

    ClientRegistry clients() {
        return resources().clients();
    }

    /** The meters of its queues, in the registry that was bound at the first use of the component. */
    Meters meters() {
        return resources().meters();
    }

    /** The report on what its producers schedule and nobody receives. */
    NoConsumerReport deserted() {
        return resources().deserted();
    }

    /** The threads of its consumers and producers. */
    ComponentThreads threads() {
        return resources().threads();
    }

    /**
     * Runs what closes a client, on a thread of its own: it waits for the client's threads, and whoever gives the last
     * share back may be one of them. That may be after the component's threads have been stopped.
     */
    void close(Runnable task) {
        getCamelContext()
                .getExecutorServiceManager()
                .newThread("RedisDelayClose", task)
                .start();
    }

    /** Goes on with the exchange of an asynchronous producer on a thread of the component; on this one if those have been stopped. */
    void goOnBehindProducer(Runnable exchange) {
        Resources open = isStoppingOrStopped() ? resources : resources();
        if (open == null) {
            exchange.run();
        } else {
            open.threads().goOnBehindProducer(exchange);
        }
    }

    @Override
    protected void doBuild() throws Exception {
        super.doBuild();
        // Camel makes a new component for a call that comes too late, and fails at its options with a
        // NullPointerException.
        if (getCamelContext().isStopped() && getCamelContext().getTypeConverter() == null) {
            throw new IllegalStateException("CamelContext '" + getCamelContext().getName()
                    + "' is stopped: stop the threads that call redis-delay before it stops");
        }
        queueBeans = QueueBeans.of(getCamelContext());
    }

    @Override
    protected void doStop() throws Exception {
        super.doStop();
        Resources open;
        synchronized (resourcesLock) {
            open = resources;
            own = null;
            resources = null;
        }
        if (open != null) {
            // Closing the clients sends the last acknowledgements and ends what waits for an answer.
            open.threads().stop(open.clients()::close);
            open.meters().close();
        }
    }

    public RedisDelayConfiguration getConfiguration() {
        return configuration;
    }

    /** The component's options, which are the defaults of its endpoints. */
    public void setConfiguration(RedisDelayConfiguration configuration) {
        this.configuration = configuration;
    }

    @Override
    public boolean isUseGlobalSslContextParameters() {
        return useGlobalSslContextParameters;
    }

    @Override
    public void setUseGlobalSslContextParameters(boolean useGlobalSslContextParameters) {
        this.useGlobalSslContextParameters = useGlobalSslContextParameters;
    }
}
