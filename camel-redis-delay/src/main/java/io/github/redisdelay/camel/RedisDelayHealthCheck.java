// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueConsumer;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.RedisErrors;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.camel.health.HealthCheck;
import org.apache.camel.health.HealthCheckResultBuilder;

/**
 * Readiness of a consumer: down when its claims have been failing for longer than the interval at which it would look at
 * Redis without any other reason. Camel calls it through its repository of consumer checks.
 */
final class RedisDelayHealthCheck implements HealthCheck {

    /** How long claims may fail: a short break is not worth taking an application out of service. */
    static final Duration TOLERANCE = Duration.ofSeconds(30);

    private static final long STATS_TIMEOUT_MILLIS = 1000;

    private final RedisDelayConsumer consumer;
    private final Duration tolerance;
    private volatile boolean enabled = true; // set by whoever configures Camel's checks

    RedisDelayHealthCheck(RedisDelayConsumer consumer, Duration tolerance) {
        this.consumer = consumer;
        this.tolerance = tolerance;
    }

    @Override
    public String getGroup() {
        return "camel";
    }

    @Override
    public String getId() {
        return "redis-delay-consumer:" + consumer.name();
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
        result.detail("redis.queue", consumer.getEndpoint().getQueueName());
        result.detail("redis.address", consumer.address());
        DelayQueueConsumer claims = consumer.claims();
        Duration failing = claims == null ? Duration.ZERO : claims.failingFor();
        if (failing.compareTo(tolerance) > 0) {
            Throwable error = claims.lastError();
            return result.down()
                    .message("queue '" + consumer.getEndpoint().getQueueName() + "': no message could be received from "
                            + consumer.address() + " for " + QueueReport.text(failing)
                            + (error == null ? "" : ": " + RedisErrors.text(error)))
                    .error(error)
                    .build();
        }
        result.up();
        if (failing.isZero()) {
            addOverdue(result);
        }
        return result.build();
    }

    private void addOverdue(HealthCheckResultBuilder result) {
        DelayQueue queue = consumer.queue();
        if (queue == null) {
            return;
        }
        try {
            QueueStats stats = queue.stats().get(STATS_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
            result.detail("redis.oldest.overdue.millis", stats.oldestOverdueMicros() / 1000);
            result.detail("redis.overdue", stats.overdue());
            result.detail("redis.consumers", stats.consumers());
            result.detail("redis.paused", stats.paused());
            if (stats.paused() || (stats.overdue() > 0 && stats.consumers() == 0)) {
                result.message("queue '" + consumer.getEndpoint().getQueueName() + "': "
                        + (stats.paused() ? "paused, " : "") + QueueReport.overdue(stats, "nobody listens"));
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
