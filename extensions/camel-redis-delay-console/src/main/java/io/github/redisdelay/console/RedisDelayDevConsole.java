// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConsumer;
import io.github.redisdelay.camel.RedisDelayEndpoint;
import io.github.redisdelay.camel.delivery.ScheduleDeclaration;
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
 * Camel's developer console {@code redis-delay}: the figures of each queue that an endpoint of the context leads to, and what
 * its consumers do. It shows no message. It waits two seconds at the most for Redis, and connects to none. Camel finds it by
 * its service file.
 */
@DevConsole(
        name = "redis-delay",
        displayName = "Redis Delay",
        description = "Display the queues of delayed messages and their consumers")
public final class RedisDelayDevConsole extends AbstractDevConsole {

    @Metadata(label = "query", description = "Shows queues whose names match; ends with * for what they begin with")
    public static final String FILTER = "filter";

    @Metadata(label = "query", description = "How many queues, and how many consumers, are shown at most; 100 if unset")
    public static final String LIMIT = "limit";

    private static final int DEFAULT_LIMIT = 100;
    private static final long PATIENCE_MILLIS = 2000;

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
        int limit = limit(options);
        JsonObject root = new JsonObject();
        root.put("queues", queues(options, limit));
        root.put(
                "consumers",
                RedisDelayComponent.consumers(getCamelContext())
                        .filter(consumer -> isShown(consumer.getEndpoint().getQueueName(), options))
                        .sorted(Comparator.comparing(RedisDelayConsumer::name))
                        .limit(limit)
                        .map(RedisDelayDevConsole::json)
                        .toList());
        root.put(
                "imports",
                ContextSources.imports(getCamelContext())
                        .filter(run -> isShown(run.queue(), options))
                        .limit(limit)
                        .map(ImportModule.Run::figures)
                        .map(JsonObject::new)
                        .toList());
        return root;
    }

    /** The queues in the order of their names, each once. All are asked at the same time. */
    private List<JsonObject> queues(Map<String, Object> options, int limit) {
        Map<String, RedisDelayEndpoint> queues = new TreeMap<>();
        ContextSources.endpoints(getCamelContext())
                .filter(endpoint -> isShown(endpoint.getQueueName(), options))
                .forEach(endpoint -> queues.put(endpoint.identity(), endpoint));
        List<CompletableFuture<JsonObject>> asked = queues.values().stream()
                .limit(limit)
                .map(RedisDelayDevConsole::ask)
                .toList();
        return asked.stream().map(CompletableFuture::join).toList();
    }

    private static CompletableFuture<JsonObject> ask(RedisDelayEndpoint endpoint) {
        long begun = System.nanoTime();
        CompletableFuture<QueueStats> figures = endpoint.figures().orElse(null);
        if (figures == null) {
            return CompletableFuture.completedFuture(json(endpoint, Map.of("error", "not connected")));
        }
        return figures.thenApply(stats -> {
                    JsonObject row = json(endpoint, QueueFigure.of(stats));
                    row.put("roundTripMicros", TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begun));
                    return row;
                })
                .exceptionally(error -> json(endpoint, Map.of("error", ErrorText.of(error))))
                .completeOnTimeout(
                        json(endpoint, Map.of("error", "no answer within " + PATIENCE_MILLIS + " ms")),
                        PATIENCE_MILLIS,
                        TimeUnit.MILLISECONDS);
    }

    private static JsonObject json(RedisDelayEndpoint endpoint, Map<String, Object> answer) {
        JsonObject json = new JsonObject();
        json.put("queue", endpoint.getQueueName());
        json.put("keyPrefix", endpoint.getKeyPrefix());
        json.put("partitions", endpoint.getPartitions());
        json.put("address", endpoint.getServiceUrl());
        json.putAll(answer);
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
        Throwable error = failing.isZero() ? null : claims.lastError(); // null also if it just receives again
        if (error != null) {
            json.put("error", ErrorText.of(error));
        }
        ScheduleDeclaration.Declared schedule = consumer.schedule();
        if (schedule != null) {
            json.put("schedule", schedule.id());
            json.put("rule", schedule.rule().encode());
            if (!schedule.rule().isGrid()) {
                // By this machine's clock. That of an interval is in Redis alone: the next due time of its queue.
                long now = 1000 * System.currentTimeMillis();
                json.put("nextRunTime", schedule.rule().next(now, now) / 1000);
            }
        }
        ImportModule.Bridge bridge = consumer.bridge();
        if (bridge != null) {
            json.put("import", new JsonObject(bridge.figures()));
        }
        return json;
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
