// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.monitor.QueueFigure;
import io.github.redisdelay.camel.monitor.StatsText;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.exception.ErrorText;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.camel.health.HealthCheck;
import org.apache.camel.health.HealthCheckResultBuilder;

/**
 * Readiness of a consumer: down when its claims have been failing for longer than the interval at which it would look at
 * Redis without any other reason. Camel calls it through its repository of consumer checks.
 */
final class RedisDelayHealthCheck implements HealthCheck {

    /** The longest time for which claims may fail. A short break is not worth taking an application out of service. */
    static final Duration CLAIMS_MAY_FAIL = Duration.ofSeconds(30);

    private static final long STATS_TIMEOUT_MILLIS = 1000;

    private final Supplier<State> consumer;
    private final Duration tolerance;
    private volatile boolean enabled = true; // set by the configuration of Camel's checks

    /**
     * The state of a consumer.
     *
     * @param address where Redis is
     * @param claims null unless it runs
     * @param queue null unless it is started
     * @param bridge its imports; null if there are none
     */
    record State(
            String name,
            String queueName,
            String address,
            DelayQueueConsumer claims,
            DelayQueue queue,
            ImportModule.Bridge bridge) {}

    /** @param tolerance how long claims may fail */
    RedisDelayHealthCheck(Supplier<State> consumer, Duration tolerance) {
        this.consumer = consumer;
        this.tolerance = tolerance;
    }

    @Override
    public String getGroup() {
        return "camel";
    }

    @Override
    public String getId() {
        return "redis-delay-consumer:" + consumer.get().name();
    }

    @Override
    public boolean isEnabled() {
        return enabled;
    }

    @Override
    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    @Override
    public Result call(Map<String, Object> options) {
        HealthCheckResultBuilder result = HealthCheckResultBuilder.on(this);
        if (!enabled) {
            return result.message("Disabled").unknown().build();
        }
        State state = consumer.get();
        result.detail("redis.queue", state.queueName());
        result.detail("redis.address", state.address());
        DelayQueueConsumer running = state.claims();
        Duration failing = running == null ? Duration.ZERO : running.failingFor();
        if (failing.compareTo(tolerance) > 0) {
            Throwable error = running.lastError();
            return result.down()
                    .message("queue '" + state.queueName() + "': no message could be received from "
                            + state.address() + " for " + Durations.text(failing)
                            + (error == null ? "" : ": " + ErrorText.of(error)))
                    .error(error)
                    .build();
        }
        result.up();
        addImport(state, result);
        if (failing.isZero()) {
            addOverdue(state, result);
        }
        return result.build();
    }

    /** Camel has no state between up and down. The consumer does its other work, so it is up and says what is amiss. */
    private static void addImport(State state, HealthCheckResultBuilder result) {
        ImportModule.Bridge importing = state.bridge();
        if (importing == null) {
            return;
        }
        importing.figures().forEach((name, value) -> result.detail("redis.import." + name, value));
        String problem = importing.problem();
        if (problem != null) {
            result.message(
                    "queue '" + state.queueName() + "': Redisson's queue '" + importing.source() + "': " + problem);
        }
    }

    private static void addOverdue(State state, HealthCheckResultBuilder result) {
        if (state.queue() == null) {
            return;
        }
        try {
            QueueStats stats = state.queue().admin().stats().get(STATS_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
            QueueFigure.of(stats).forEach((name, value) -> result.detail("redis." + name, value));
            String loss = StatsText.loss(stats);
            if (loss != null || stats.paused() || (stats.overdue() > 0 && stats.consumers() == 0)) {
                result.message("queue '" + state.queueName() + "': " + (loss == null ? "" : loss + "; ")
                        + (stats.paused() ? "paused, " : "") + StatsText.overdue(stats, "no consumer"));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            // A detail is not worth being down for: claims tell whether Redis works.
            result.detail(
                    "redis.stats.error",
                    e instanceof TimeoutException
                            ? "no answer within " + STATS_TIMEOUT_MILLIS + " ms"
                            : String.valueOf(e.getMessage()));
        }
    }
}
