// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.camel.Exchange;
import org.apache.camel.Header;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.Test;

class RecurringWorkIT extends RecipeIT {

    /** Stands for the reports. */
    public static class Reports {
        final BlockingQueue<Instant> made = new LinkedBlockingQueue<>();
        volatile boolean broken;

        public void make(String name, @Header("planned") Instant planned) {
            if (broken) {
                throw new IllegalStateException("the database is away");
            }
            made.add(planned);
        }
    }

    private static final Duration HOUR = Duration.ofHours(1);

    private final Instant first =
            Instant.now().truncatedTo(ChronoUnit.MILLIS).plus(HOUR).minusMillis(1);
    private volatile Instant now = first.minus(HOUR); // that of the rhythm
    private final Reports reports = new Reports();

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new RecurringWork();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("reports", reports);
        registry.bind("rhythm", new RecurringWork.Rhythm(HOUR, () -> now));
    }

    private void start() {
        template.sendBodyAndHeader("direct:startReport", "turnover", "planned", first);
    }

    private Instant nextBeat() {
        Exchange found = template.request("redis-delay:beats?operation=get", exchange -> exchange.getMessage()
                .setHeader("CamelRedisDelayScheduleId", "turnover"));
        return Instant.ofEpochMilli(found.getMessage().getHeader("CamelRedisDelayDueTime", Long.class));
    }

    private void beat(Instant planned) {
        now = planned.plusSeconds(3); // a little late
        makeDue("beats");
        await().until(() -> stats("beats").delayed() == 1 && nextBeat().isAfter(planned));
    }

    @Test
    void should_keep_the_rhythm_however_late_a_round_is() {
        start();
        for (int round = 0; round < 3; round++) {
            Instant planned = first.plus(HOUR.multipliedBy(round));
            assertThat(nextBeat()).isEqualTo(planned);
            beat(planned);
        }
        await().untilAsserted(() ->
                assertThat(reports.made).containsExactly(first, first.plus(HOUR), first.plus(HOUR.multipliedBy(2))));
    }

    @Test
    void should_run_once_however_many_start_it() {
        start();
        start();
        assertThat(stats("beats").delayed()).isOne();
    }

    @Test
    void should_leave_out_what_was_missed() {
        start();
        beat(first.plus(HOUR.multipliedBy(5)));
        assertThat(nextBeat()).isEqualTo(first.plus(HOUR.multipliedBy(6)));
        await().untilAsserted(() -> assertThat(reports.made).containsExactly(first));
    }

    @Test
    void should_go_on_while_a_round_fails() {
        reports.broken = true;
        start();
        beat(first);
        await().until(() -> stats("reports").delayed() == 1 && minutesToWait("reports") > 0);
        reports.broken = false;
        beat(first.plus(HOUR));
        await().until(() -> reports.made.contains(first.plus(HOUR)));
        makeDue("reports");
        await().untilAsserted(() -> assertThat(reports.made).containsExactly(first.plus(HOUR), first));
    }

    /** A round that comes again after a crash finds its work scheduled, or done. */
    @Test
    void should_make_a_report_once_where_a_round_comes_twice() {
        start();
        beat(first);
        await().until(() -> reports.made.size() == 1);
        template.sendBody("direct:stopReport", "turnover");
        start();
        beat(first);
        await().until(() -> isEmpty("reports"));
        assertThat(reports.made).hasSize(1);
    }

    @Test
    void should_end_when_it_is_stopped() {
        start();
        template.sendBody("direct:stopReport", "turnover");
        assertThat(isEmpty("beats")).isTrue();
    }
}
