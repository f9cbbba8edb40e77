// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.ConsumerOptions;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DelayQueueReceiver;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.TestClients;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.test.RedisExtension;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RBucket;
import org.redisson.client.codec.StringCodec;

/**
 * A year in Berlin, in a few seconds: routes declare their schedules each day, each time of the clock on the wall has one run, and
 * what was missed becomes one. Around both changes of the clock each half hour is looked at, else each noon.
 */
class ScheduleYearIT {

    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final ZonedDateTime START = ZonedDateTime.of(2027, 1, 1, 12, 1, 0, 0, BERLIN);
    /** Nobody is there for some days. */
    private static final int OUTAGE = 150;

    /** A rule, and when a clock on the wall shows it. */
    private enum Rule {
        NIGHTLY("30 2 * * *", false) {
            @Override
            boolean shows(LocalDateTime time) {
                return time.getHour() == 2 && time.getMinute() == 30;
            }
        },
        TWICE_AT_NIGHT("*/30 2 * * *", true) {
            @Override
            boolean shows(LocalDateTime time) {
                return time.getHour() == 2 && time.getMinute() % 30 == 0;
            }
        },
        HOURLY("0 * * * *", true) {
            @Override
            boolean shows(LocalDateTime time) {
                return time.getMinute() == 0;
            }
        };

        final Schedule schedule;
        final TreeSet<Instant> times = new TreeSet<>();

        Rule(String cron, boolean repeats) {
            schedule = Schedule.cron(cron, BERLIN);
            LocalDateTime before = START.toLocalDateTime();
            LocalDateTime latest = before;
            for (Instant time = START.toInstant();
                    time.isBefore(START.plusDays(367).toInstant());
                    time = time.plusSeconds(60)) {
                LocalDateTime shown = LocalDateTime.ofInstant(time, BERLIN);
                // Those that the clock leaves out are due now.
                for (LocalDateTime each = before.plusMinutes(1); each.isBefore(shown); each = each.plusMinutes(1)) {
                    if (shows(each)) {
                        times.add(time);
                    }
                }
                if (shows(shown) && (repeats || shown.isAfter(latest))) {
                    times.add(time);
                }
                before = shown;
                latest = shown.isAfter(latest) ? shown : latest;
            }
        }

        abstract boolean shows(LocalDateTime time);
    }

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private final BlockingQueue<Runnable> later = new LinkedBlockingQueue<>();
    private RBucket<String> clock;
    private volatile long aheadSeconds;

    private void set(Instant time) {
        aheadSeconds = time.getEpochSecond() - Instant.now().getEpochSecond();
        clock.set(String.valueOf(aheadSeconds));
    }

    /** All consumers declare what they declare each minute. */
    private void declareAgain() {
        List<Runnable> tasks = new ArrayList<>();
        later.drainTo(tasks);
        tasks.forEach(Runnable::run);
        await().pollInterval(Duration.ofMillis(2)).until(() -> later.size() == Rule.values().length);
    }

    private static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** The times at which somebody looks, in order. */
    private static TreeSet<Instant> looks() {
        TreeSet<Instant> looks = new TreeSet<>();
        for (int day = 1; day <= 365; day++) {
            if (day < OUTAGE || day > OUTAGE + 3) {
                looks.add(START.plusDays(day).toInstant());
            }
        }
        Instant change = START.toInstant();
        for (int i = 0; i < 2; i++) {
            change = BERLIN.getRules().nextTransition(change).getInstant();
            for (int halfHours = -24; halfHours <= 24; halfHours++) {
                looks.add(change.plus(30L * halfHours + 1, ChronoUnit.MINUTES));
            }
        }
        return looks;
    }

    @Test
    void should_run_at_each_time_of_a_year_with_both_changes_of_the_clock() throws Exception {
        clock = redis.client().getBucket("clock-" + redis.uniqueQueue(), StringCodec.INSTANCE);
        set(START.toInstant());
        Timers timers = (delay, task) -> {
            later.add(task);
            return () -> later.remove(task);
        };
        Map<String, Instant> next = new TreeMap<>();
        int runs = 0;
        try (DelayQueueClient client = TestClients.onSteppedClock(
                redis.client(),
                ClientOptions.DEFAULTS,
                clock.getName(),
                () -> System.currentTimeMillis() + 1_000 * aheadSeconds)) {
            DelayQueue queue = client.queue(redis.uniqueQueue());
            for (Rule rule : Rule.values()) {
                new ScheduleDeclaration(
                                queue,
                                new ScheduleDeclaration.Declared(
                                        rule.name(), rule.schedule, null, Envelope.Settings.NONE),
                                timers)
                        .start();
                next.put(rule.name(), rule.times.first());
            }
            await().until(() -> later.size() == Rule.values().length);
            DelayQueueReceiver receiver =
                    queue.receiver(ConsumerOptions.DEFAULTS.withMaxMessagesPerPoll(1), delivery -> {});
            for (Instant look : looks()) {
                set(look);
                declareAgain();
                Map<String, Instant> expected = new TreeMap<>();
                next.forEach((id, time) -> {
                    if (!time.isAfter(look)) {
                        expected.put(id, time);
                    }
                });
                Map<String, Instant> received = new TreeMap<>();
                Delivery run;
                while ((run = receiver.receive(
                                received.size() < expected.size() ? Duration.ofSeconds(20) : Duration.ZERO))
                        != null) {
                    assertThat(received.put(run.id(), instant(run.firstDueMicros())))
                            .as("one run of %s at %s", run.id(), look)
                            .isNull();
                    assertThat(run.settle(Settlement.ACKNOWLEDGE).result().get(20, TimeUnit.SECONDS))
                            .isEqualTo(SettleResult.DONE);
                    runs++;
                }
                assertThat(received).as("at %s", look.atZone(BERLIN)).isEqualTo(expected);
                expected.keySet()
                        .forEach(id -> next.put(id, Rule.valueOf(id).times.higher(look)));
            }
        }
        clock.delete();
        assertThat(runs).isGreaterThan(3 * 365);
    }
}
