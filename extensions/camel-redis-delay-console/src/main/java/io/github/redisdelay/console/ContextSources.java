// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayEndpoint;
import io.github.redisdelay.camel.SharedRedis;
import io.github.redisdelay.camel.migration.ImportRun;
import io.github.redisdelay.console.api.QueueSource;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.Durability;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.camel.CamelContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Redis to which endpoints of a context lead, each with a client of the console's own on the connection of the component:
 * requests of the console do not queue up before those of producers. Connects to one if nothing else has yet.
 */
final class ContextSources implements ConsoleSources {

    private static final Logger LOG = LoggerFactory.getLogger(ContextSources.class);

    /** The time after which a Redis that could not be reached is tried again. */
    private static final Duration TRY_AGAIN = Duration.ofSeconds(5);

    /** A page waits no longer for an answer. */
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(3);

    private final CamelContext context;
    private final Map<Place, Opened> opened = new LinkedHashMap<>(); // guarded by this
    private boolean closed; // guarded by this

    /** Endpoints of one place share a client. */
    private record Place(String redis, String keyPrefix) {

        String label() {
            return keyPrefix.equals(ClientOptions.DEFAULT_KEY_PREFIX) ? redis : redis + ", keys " + keyPrefix;
        }
    }

    /** @param client null if Redis could not be reached, at {@code nanoTime} */
    private record Opened(SharedRedis redis, DelayQueueClient client, long nanoTime) {}

    ContextSources(CamelContext context) {
        this.context = context;
    }

    @Override
    public synchronized List<QueueSource> get(List<String> named) {
        Map<Place, Map<String, Integer>> queues = new LinkedHashMap<>();
        Map<Place, RedisDelayEndpoint> ways = new LinkedHashMap<>();
        context.getEndpoints().stream()
                .filter(RedisDelayEndpoint.class::isInstance)
                .map(RedisDelayEndpoint.class::cast)
                .forEach(endpoint -> {
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
                sources.add(new QueueSource(client, place.label(), partitions));
            }
        });
        return sources;
    }

    @Override
    public List<ImportRun> imports() {
        return context.getComponentNames().stream()
                .map(name -> context.hasComponent(name))
                .filter(RedisDelayComponent.class::isInstance)
                .flatMap(component -> ((RedisDelayComponent) component).imports().list().stream())
                .toList();
    }

    private DelayQueueClient client(Place place, RedisDelayEndpoint way) {
        Opened known = opened.get(place);
        if (known != null && (known.client() != null || System.nanoTime() - known.nanoTime() < TRY_AGAIN.toNanos())) {
            return known.client();
        }
        if (closed) {
            return null;
        }
        Opened made = open(place, way);
        opened.put(place, made);
        return made.client();
    }

    private static Opened open(Place place, RedisDelayEndpoint way) {
        try {
            SharedRedis redis = way.shareRedis();
            // What somebody changes here is as safe as what the routes change.
            Durability durability = redis.durability();
            ClientOptions options = new ClientOptions(
                    place.keyPrefix(),
                    REQUEST_TIMEOUT.plus(durability.waits() ? durability.timeout() : Duration.ZERO),
                    durability);
            return new Opened(
                    redis, DelayQueueClient.create(redis.redisson(), options, redis.address()), System.nanoTime());
        } catch (RuntimeException e) {
            LOG.warn("The console cannot reach {}: {}", place.label(), e.getMessage());
            return new Opened(null, null, System.nanoTime());
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        for (Opened each : opened.values()) {
            if (each.client() != null) {
                each.client().close(Duration.ofSeconds(1));
                each.redis().close();
            }
        }
        opened.clear();
    }
}
