// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisExtension;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.camel.ConsumerTemplate;
import org.apache.camel.Exchange;
import org.apache.camel.Processor;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.ServiceStatus;
import org.apache.camel.component.direct.DirectComponent;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.spi.IdempotentRepository;
import org.apache.camel.spi.RestConsumerFactory;
import org.apache.camel.support.DefaultComponent;
import org.apache.camel.support.DefaultEndpoint;
import org.apache.camel.support.DefaultProducer;
import org.apache.camel.support.PluginHelper;
import org.apache.camel.support.ResourceHelper;
import org.apache.camel.support.processor.idempotent.MemoryIdempotentRepository;
import org.redisson.api.RedissonClient;

/**
 * A Camel context on a real Redis where the routes of a block run: with the queues that they name, under a key prefix of the
 * block's own, and stand-ins for the beans and for what is neither Camel's core nor Redis.
 */
final class Stage implements AutoCloseable {

    private static final Pattern BEAN = Pattern.compile("(?:bean:|method\\(\")(\\w+)");

    private static final Pattern FIGURE = Pattern.compile("\\$\\{body\\[(\\w+)]}");

    private static final Pattern PARTITIONS = Pattern.compile("partitions=(\\d+)");

    final DefaultCamelContext context = new DefaultCamelContext();
    final ProducerTemplate template = context.createProducerTemplate();
    final ConsumerTemplate consumerTemplate = context.createConsumerTemplate();
    final RedisDelayComponent component = new RedisDelayComponent();
    final IdempotentRepository idempotentRepository = new MemoryIdempotentRepository();

    private final Map<String, Processor> producers = new HashMap<>();
    final DelayQueueClient outside;
    final RedissonClient redisson;
    private final ClientOptions options;
    private final Block block;
    private final PageCompiler compiler;

    Stage(RedisExtension redis, PageCompiler compiler, Block block) {
        this.compiler = compiler;
        this.block = block;
        String keyPrefix = redis.keyPrefix();
        redisson = redis.client();
        component.getConfiguration().setRedisson(redisson);
        component.getConfiguration().setKeyPrefix(keyPrefix);
        options = ClientOptions.DEFAULTS.withKeyPrefix(keyPrefix);
        outside = DelayQueueClient.create(redisson, options);
        context.disableJMX();
        context.setApplicationContextClassLoader(compiler.loader());
        context.getShutdownStrategy().setTimeout(10);
        context.addComponent("redis-delay", component);
        context.addComponent("kafka", new DirectComponent());
        context.addComponent("platform-http", new DirectComponent());
        context.addComponent("http", new Producers("http"));
        context.addComponent("https", new Producers("https"));
        context.addComponent("sql", new Producers("sql"));
        bind("rest", (RestConsumerFactory) (camel, processor, verb, base, path, in, out, settings, options) ->
                camel.getEndpoint("direct:" + verb + base + path).createConsumer(processor));
    }

    /** Binds something of the reader's: a bean that a route names. */
    void bind(String name, Object bean) {
        context.getRegistry().bind(name, bean);
    }

    /** Sets the work of the producers of a scheme. */
    void bindProducer(String scheme, Processor producer) {
        producers.put(scheme, producer);
    }

    /**
     * Starts the block's routes, with a bean that does nothing for each that they name and nobody has bound; a block without
     * routes is executed.
     */
    void start() throws Exception {
        Matcher named = BEAN.matcher(block.code());
        while (named.find()) {
            if (context.getRegistry().lookupByName(named.group(1)) == null) {
                bind(named.group(1), (Processor) exchange -> {});
            }
        }
        if (block.isRoutes()) {
            context.addRoutes(routes());
        }
        context.start();
        if (!block.isRoutes()) {
            code().call();
        }
        assertThat(context.getRoutes())
                .allSatisfy(route -> assertThat(context.getRouteController().getRouteStatus(route.getId()))
                        .isEqualTo(ServiceStatus.Started));
    }

    private RoutesBuilder routes() throws Exception {
        if (block.language().equals("java")) {
            return code();
        }
        return PluginHelper.getRoutesLoader(context)
                .findRoutesBuilders(ResourceHelper.fromString("page." + block.language(), block.code()))
                .iterator()
                .next();
    }

    private PageCode code() throws ReflectiveOperationException {
        PageCode code = compiler.code(block);
        code.component = component;
        code.consumerTemplate = consumerTemplate;
        code.producer = template;
        code.redisson = redisson;
        code.options = options;
        code.myIdempotentRepository = idempotentRepository;
        return code;
    }

    /** Sends and returns the exchange; whatever failed is thrown. */
    Exchange send(String uri, Object body, Map<String, Object> headers) throws Exception {
        Exchange exchange = template.request(uri, sent -> {
            sent.getMessage().setBody(body);
            sent.getMessage().setHeaders(new HashMap<>(headers));
        });
        if (exchange.getException() != null) {
            throw exchange.getException();
        }
        return exchange;
    }

    Exchange send(String uri, Object body) throws Exception {
        return send(uri, body, Map.of());
    }

    QueueStats stats(String queue) {
        return outside.queue(queue, partitions()).admin().stats().join();
    }

    private int partitions() {
        Matcher named = PARTITIONS.matcher(block.code());
        return named.find() ? Integer.parseInt(named.group(1)) : 1;
    }

    /** The keys that the block reads of a body that is a map. */
    List<Object> figures() {
        return FIGURE.matcher(block.code())
                .results()
                .map(match -> (Object) match.group(1))
                .toList();
    }

    /** Tells whether the block has this text. */
    boolean shows(String text) {
        return block.code().contains(text);
    }

    /** Waits until so many messages wait in a queue, so many are dead, and none is being worked on. */
    void awaitMessages(String queue, int delayed, int dead) {
        await(queue).untilAsserted(() -> {
            QueueStats stats = stats(queue);
            assertThat(stats.delayed()).as("waiting").isEqualTo(delayed);
            assertThat(stats.leased()).as("leased").isZero();
            assertThat(stats.dead()).as("dead").isEqualTo(dead);
        });
    }

    /** For how long the next message of a queue waits. */
    double secondsToWait(String queue) {
        return stats(queue).nextDueMicros() / 1e6;
    }

    @Override
    public void close() throws IOException {
        context.close();
        outside.close();
    }

    /** Stands in for a component that the component's build does without; takes any option. */
    private final class Producers extends DefaultComponent {
        private final String scheme;

        Producers(String scheme) {
            this.scheme = scheme;
        }

        @Override
        public boolean useRawUri() {
            return true;
        }

        @Override
        protected DefaultEndpoint createEndpoint(String uri, String remaining, Map<String, Object> parameters) {
            parameters.clear();
            return new DefaultEndpoint(uri, this) {
                @Override
                public DefaultProducer createProducer() {
                    return new DefaultProducer(this) {
                        @Override
                        public void process(Exchange exchange) throws Exception {
                            producers.getOrDefault(scheme, nothing -> {}).process(exchange);
                        }
                    };
                }

                @Override
                public org.apache.camel.Consumer createConsumer(Processor processor) {
                    throw new UnsupportedOperationException("no page consumes from " + scheme);
                }
            };
        }
    }
}
