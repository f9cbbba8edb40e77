// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;
import java.util.Properties;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.apache.camel.test.junit5.CamelTestSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RedissonClient;

/** Plans that arrive in another order than they were made, as they do when one is delivered again after a crash. */
class ReminderRoutesIT extends CamelTestSupport {

    @RegisterExtension
    static RedisForTests redis = new RedisForTests();

    @RegisterExtension
    final StoryLog log = new StoryLog();

    @TempDir
    Path folder;

    private ShopDatabase database;

    @Override
    protected void bindToRegistry(Registry registry) {
        database = ShopDatabase.open(folder);
        registry.bind("redisson", RedissonClient.class, redis.client());
        registry.bind("stories", database.dataSource());
    }

    @Override
    protected Properties useOverridePropertiesWithPropertiesComponent() {
        Properties properties = new Properties();
        properties.setProperty("consume", "true");
        return properties;
    }

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new ReminderRoutes(new ShopTime(1), Clock.systemUTC());
    }

    @AfterEach
    void stop() {
        context.stop();
        database.close();
    }

    @Test
    void anOlderPlanDoesNotUndoAMove() {
        plan(2, "2035-01-01T12:00:00Z");

        plan(1, "2030-01-01T12:00:00Z");

        assertThat(starts()).startsWith("2035");
        assertThat(log.lines("event    E-1  an older plan is passed by")).hasSize(1);
    }

    @Test
    void anOlderPlanDoesNotUndoACancel() {
        plan(1, "2030-01-01T12:00:00Z");
        template.sendBodyAndHeaders("direct:cancel-event", null, Map.of("id", "E-1", ReminderRoutes.VERSION, 2));

        plan(1, "2030-01-01T12:00:00Z");

        assertThat(new ShopRows(folder).column("SELECT cancelled FROM event")).containsExactly("true");
        assertThat(redis.client().getMap("redis-delay:{reminders}:messages").isEmpty())
                .isTrue();
    }

    @Test
    void theSamePlanAgainIsTaken() {
        plan(1, "2030-01-01T12:00:00Z");

        plan(1, "2030-01-01T12:00:00Z");

        assertThat(log.lines("event    E-1  an older plan")).isEmpty();
        assertThat(redis.client().getMap("redis-delay:{reminders}:messages").size())
                .isOne();
    }

    @Test
    void aReminderIsLateUntilItsEventBeginsAndThenOfNoUse() {
        Instant now = Instant.now();
        plan("E-1", 1, now.plusSeconds(1_800).toString());
        plan("E-2", 1, now.minusSeconds(60).toString());

        await().until(() -> log.lines("reminder E-1").size() == 1);
        await().until(() ->
                redis.client().getMap("redis-delay:{reminders}:messages").isEmpty());
        assertThat(new ShopRows(folder).column("SELECT event_id FROM reminder")).containsExactly("E-1");
    }

    private void plan(int version, String startsAt) {
        plan("E-1", version, startsAt);
    }

    private void plan(String event, int version, String startsAt) {
        template.sendBodyAndHeaders(
                "direct:plan-event",
                "{\"title\":\"Chess\",\"startsAt\":\"" + startsAt + "\"}",
                Map.of("id", event, ReminderRoutes.VERSION, version));
    }

    private String starts() {
        return new ShopRows(folder).column("SELECT starts_at FROM event").get(0);
    }
}
