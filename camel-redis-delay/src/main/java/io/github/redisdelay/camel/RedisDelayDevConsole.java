// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.monitor.QueueFigure;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.exception.ErrorText;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.camel.spi.Metadata;
import org.apache.camel.spi.annotations.DevConsole;
import org.apache.camel.support.PatternHelper;
import org.apache.camel.support.console.AbstractDevConsole;
import org.apache.camel.util.json.JsonObject;

/**
 * The developer console {@code redis-delay}: the figures of each queue that an endpoint of the context leads to, and what its
 * consumers do. It shows no message. It waits two seconds at the most for Redis, and connects to none.
 */
@DevConsole(
        name = "redis-delay",
        displayName = "Redis Delay",
        description = "Display the queues of delayed messages and their consumers")
public class RedisDelayDevConsole extends AbstractDevConsole {

    @Metadata(label = "query", description = "Shows queues whose names match; ends with * for what they begin with")
    public static final String FILTER = "filter";

    @Metadata(
            label = "query",
            description = "How many queues, and how many consumers, are shown at the most; 100 if unset")
    public static final String LIMIT = "limit";

    private static final int DEFAULT_LIMIT = 100;
    private static final long PATIENCE_MILLIS = 2000;

    /**
     * A queue and the answer about it.
     *
     * @param stats null if there is none
     * @param problem why there is none
     */
    private record Row(RedisDelayEndpoint endpoint, QueueStats stats, Duration roundTrip, String problem) {}

    public RedisDelayDevConsole() {
        super("camel", "redis-delay", "Redis Delay", "Display the queues of delayed messages and their consumers");
    }

    /** The same as JSON, a line for each queue, consumer and import. */
    @Override
    protected String doCallText(Map<String, Object> options) {
        StringBuilder text = new StringBuilder();
        doCallJson(options).forEach((kind, rows) -> {
            for (Object row : (List<?>) rows) {
                text.append(kind).append(' ').append(row).append('\n');
            }
        });
        return text.toString();
    }

    @Override
    protected JsonObject doCallJson(Map<String, Object> options) {
        JsonObject root = new JsonObject();
        root.put(
                "queues", rows(options).stream().map(RedisDelayDevConsole::json).toList());
        root.put(
                "consumers",
                consumers(options).stream().map(RedisDelayDevConsole::json).toList());
        root.put(
                "imports",
                imports(options).stream()
                        .map(run -> new JsonObject(run.figures()))
                        .toList());
        return root;
    }

    private static JsonObject json(Row row) {
        JsonObject json = new JsonObject();
        json.put("queue", row.endpoint().getQueueName());
        json.put("keyPrefix", row.endpoint().getKeyPrefix());
        json.put("partitions", row.endpoint().getPartitions());
        json.put("address", row.endpoint().getServiceUrl());
        QueueStats stats = row.stats();
        if (stats == null) {
            json.put("error", row.problem());
            return json;
        }
        json.putAll(QueueFigure.of(stats));
        json.put(
                "roundTripMicros", TimeUnit.NANOSECONDS.toMicros(row.roundTrip().toNanos()));
        return json;
    }

    private static JsonObject json(RedisDelayConsumer consumer) {
        JsonObject json = new JsonObject();
        json.put("name", consumer.name());
        json.put("queue", consumer.getEndpoint().getQueueName());
        json.put("deadLetters", consumer.isOfDeadLetters());
        json.put("suspended", consumer.isSuspended());
        json.put("concurrentConsumers", consumer.getConcurrentConsumers());
        json.put("processing", consumer.getProcessing());
        json.put("longestRunningMillis", consumer.longestRunning().toMillis());
        DelayQueueConsumer claims = consumer.claims();
        Duration failing = claims == null ? Duration.ZERO : claims.failingFor();
        json.put("failingMillis", failing.toMillis());
        if (!failing.isZero()) {
            json.put("error", ErrorText.of(claims.lastError()));
        }
        if (consumer.bridge() != null) {
            json.put("import", new JsonObject(consumer.bridge().figures()));
        }
        return json;
    }

    /** The queues in the order of their names, each once. All are asked at the same time. */
    private List<Row> rows(Map<String, Object> options) {
        Map<String, RedisDelayEndpoint> queues = new TreeMap<>();
        endpoints().forEach(endpoint -> queues.put(endpoint.identity(), endpoint));
        List<CompletableFuture<Row>> rows = queues.values().stream()
                .filter(endpoint -> isShown(endpoint, options))
                .limit(limit(options))
                .map(RedisDelayDevConsole::ask)
                .toList();
        return rows.stream().map(CompletableFuture::join).toList();
    }

    private static CompletableFuture<Row> ask(RedisDelayEndpoint endpoint) {
        long begun = System.nanoTime();
        CompletableFuture<QueueStats> figures = endpoint.figures().orElse(null);
        if (figures == null) {
            return CompletableFuture.completedFuture(new Row(endpoint, null, null, "not connected"));
        }
        return figures.thenApply(stats -> new Row(endpoint, stats, Duration.ofNanos(System.nanoTime() - begun), null))
                .exceptionally(error -> new Row(endpoint, null, null, ErrorText.of(error)))
                .completeOnTimeout(
                        new Row(endpoint, null, null, "no answer within " + PATIENCE_MILLIS + " ms"),
                        PATIENCE_MILLIS,
                        TimeUnit.MILLISECONDS);
    }

    private List<RedisDelayConsumer> consumers(Map<String, Object> options) {
        return endpoints().stream()
                .filter(endpoint -> isShown(endpoint, options))
                .map(RedisDelayEndpoint::getComponent)
                .distinct()
                .flatMap(component -> component.consumers().stream())
                .filter(consumer -> isShown(consumer.getEndpoint(), options))
                .sorted(Comparator.comparing(RedisDelayConsumer::name))
                .limit(limit(options))
                .toList();
    }

    /** Of the components whose endpoints there are, also where an endpoint of its own has gone. */
    private List<ImportModule.Run> imports(Map<String, Object> options) {
        return endpoints().stream()
                .map(RedisDelayEndpoint::getComponent)
                .distinct()
                .flatMap(component -> component.imports().stream())
                .filter(run -> isShown(run.queue(), options))
                .limit(limit(options))
                .toList();
    }

    private List<RedisDelayEndpoint> endpoints() {
        return getCamelContext().getEndpoints().stream()
                .filter(RedisDelayEndpoint.class::isInstance)
                .map(RedisDelayEndpoint.class::cast)
                .toList();
    }

    private static boolean isShown(RedisDelayEndpoint endpoint, Map<String, Object> options) {
        return isShown(endpoint.getQueueName(), options);
    }

    private static boolean isShown(String queue, Map<String, Object> options) {
        Object filter = options.get(FILTER);
        return filter == null || PatternHelper.matchPattern(queue, filter.toString());
    }

    private static int limit(Map<String, Object> options) {
        Object limit = options.get(LIMIT);
        if (limit == null) {
            return DEFAULT_LIMIT;
        }
        try {
            int most = Integer.parseInt(limit.toString());
            OptionValues.check(LIMIT, most, 1, Integer.MAX_VALUE, "1 or more");
            return most;
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "option 'limit' is '" + OptionValues.shown(limit) + "': give a whole number, 1 or more", e);
        }
    }
}
