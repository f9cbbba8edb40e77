// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayEndpoint;
import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.console.api.QueueSource;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.camel.CamelContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Redis to which endpoints of a context lead, each with a client of the console's own on the connection of the
 * component: requests of the console do not queue up before those of producers. Connects to one if nothing else has
 * yet.
 */
final class ContextSources implements ConsoleSources {

    private static final Logger LOG = LoggerFactory.getLogger(ContextSources.class);

    /** The time after which a Redis that could not be reached is tried again. */
    private static final Duration TRY_AGAIN = Duration.ofSeconds(5);

    /** A page waits no longer for a connection: it shows the queues of the others meanwhile. */
    private static final Duration CONNECT_PATIENCE = Duration.ofSeconds(1);

    /** A page waits no longer for an answer. */
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(3);

    private final CamelContext context;
    private final Map<Place, Opening> opened = new LinkedHashMap<>(); // guarded by this
    private boolean closed; // guarded by this

    /** Endpoints of one place share a client. */
    private record Place(String redis, String keyPrefix) {

        String label() {
            return keyPrefix.equals(ClientOptions.DEFAULT_KEY_PREFIX) ? redis : redis + ", keys " + keyPrefix;
        }
    }

    private record Opened(Reference<OpenClient> share, DelayQueueClient client) {

        void close() {
            client.close(Duration.ofSeconds(1));
            share.release();
        }
    }

    /**
     * A connection, or the attempt to make one.
     *
     * @param result fails if Redis cannot be reached
     * @param again the {@link System#nanoTime} from which a failed one is tried again
     */
    private record Opening(CompletableFuture<Opened> result, AtomicLong again) {

        boolean isOver() {
            return result.isCompletedExceptionally() && System.nanoTime() - again.get() > 0;
        }
    }

    ContextSources(CamelContext context) {
        this.context = context;
    }

    @Override
    public List<QueueSource> get(List<String> named) {
        Map<Place, Map<String, Integer>> queues = new LinkedHashMap<>();
        Map<Place, RedisDelayEndpoint> ways = new LinkedHashMap<>();
        endpoints(context).forEach(endpoint -> {
            Place place = new Place(endpoint.place(), endpoint.getKeyPrefix());
            queues.computeIfAbsent(place, any -> new LinkedHashMap<>())
                    .put(endpoint.getQueueName(), endpoint.getPartitions());
            ways.putIfAbsent(place, endpoint);
        });
        List<QueueSource> sources = new ArrayList<>();
        queues.forEach((place, partitions) -> {
            named.forEach(name -> partitions.putIfAbsent(name, 0));
            DelayQueueClient client = client(place, ways.get(place));
            if (client != null) {
                sources.add(new QueueSource(client, place.label(), partitions, (queue, id) -> endpoints(context)
                        .anyMatch(each -> each.getQueueName().equals(queue)
                                && place.equals(new Place(each.place(), each.getKeyPrefix()))
                                && each.declares(id))));
            }
        });
        return sources;
    }

    @Override
    public List<ImportModule.Run> imports() {
        return imports(context).toList();
    }

    /** The endpoints of all components of a context. */
    static Stream<RedisDelayEndpoint> endpoints(CamelContext context) {
        return context.getEndpoints().stream()
                .filter(RedisDelayEndpoint.class::isInstance)
                .map(RedisDelayEndpoint.class::cast);
    }

    /** The imports of all components of a context. */
    static Stream<ImportModule.Run> imports(CamelContext context) {
        return context.getComponentNames().stream()
                .map(context::hasComponent)
                .filter(RedisDelayComponent.class::isInstance)
                .flatMap(component -> ((RedisDelayComponent) component).imports().stream());
    }

    /** Returns null if there is no connection yet. */
    private DelayQueueClient client(Place place, RedisDelayEndpoint way) {
        try {
            return opening(place, way)
                    .result()
                    .get(CONNECT_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                    .client();
        } catch (ExecutionException | TimeoutException e) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    private synchronized Opening opening(Place place, RedisDelayEndpoint way) {
        Opening known = opened.get(place);
        if (known != null && !known.isOver()) {
            return known;
        }
        Opening made = new Opening(new CompletableFuture<>(), new AtomicLong());
        if (closed) {
            made.result().completeExceptionally(new IllegalStateException("the console is closed"));
            return made;
        }
        opened.put(place, made);
        context.getExecutorServiceManager()
                .newThread("RedisDelayConsoleConnect", () -> connect(place, way, made))
                .start();
        return made;
    }

    private static void connect(Place place, RedisDelayEndpoint way, Opening made) {
        try {
            made.result().complete(open(place, way));
        } catch (Throwable e) {
            made.again().set(System.nanoTime() + TRY_AGAIN.toNanos());
            made.result().completeExceptionally(e);
            LOG.warn("The console cannot reach {}: {}", place.label(), e.getMessage());
        }
    }

    private static Opened open(Place place, RedisDelayEndpoint way) {
        Reference<OpenClient> share = way.acquireClient();
        // A change from the console is as safe as one by the routes.
        Durability durability = way.clientOptions().durability();
        ClientOptions options = ClientOptions.DEFAULTS
                .withKeyPrefix(place.keyPrefix())
                .withRequestTimeout(REQUEST_TIMEOUT.plus(durability.waits() ? durability.timeout() : Duration.ZERO))
                .withDurability(durability);
        OpenClient routes = share.get();
        return new Opened(
                share, DelayQueueClient.create(routes.connection().get().redisson(), options, routes.address()));
    }

    /** Does not wait for connections that are being made: they close when they are there. */
    @Override
    public void close() {
        List<Opening> all;
        synchronized (this) {
            closed = true;
            all = List.copyOf(opened.values());
            opened.clear();
        }
        all.forEach(each -> each.result().thenAccept(Opened::close));
    }
}
