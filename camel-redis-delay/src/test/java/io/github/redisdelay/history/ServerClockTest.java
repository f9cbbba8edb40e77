// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker.Report;
import io.github.redisdelay.history.HistoryChecker.Rule;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The events that a step of the server's clock excuses, and those that it does not. Times are in seconds here, the lease is 3. */
class ServerClockTest {

    private static final long SECOND = 1_000_000;
    private static final long TEN_MINUTES = 600;

    private static Event event(long at, What what, String claim, long due, String detail) {
        return new Event(at * SECOND, "client", what, "m", claim, due * SECOND, 0, 0, "", detail);
    }

    private static Event fault(long at, What what) {
        return new Event(at * SECOND, "test", what, "", "", 0, 0, 0, "", "step");
    }

    private static Event step(long at, long by) {
        return event(at, What.CLOCK_STEPS, "", by, "");
    }

    private static Event delivered(long at, String claim, long due, long claimed, int attempt) {
        String reason = attempt == 1 ? "NONE" : "LEASE_EXPIRED";
        return new Event(
                at * SECOND, "client", What.DELIVERED, "m", claim, due * SECOND, claimed * SECOND, attempt, reason, "");
    }

    private static Report check(Event... events) {
        List<Event> all = List.of(events);
        return HistoryChecker.check(ServerClock.of(all).inMachineTime(all), Duration.ofSeconds(3), List.of());
    }

    private static Event[] acknowledged(long at, String claim) {
        return new Event[] {
            event(at, What.SETTLING, claim, at, "ACKNOWLEDGE"), event(at, What.SETTLED, claim, 0, "DONE")
        };
    }

    @Test
    void should_tell_server_times_before_a_step_from_those_after_it() {
        List<Event> events = List.of(
                step(100, TEN_MINUTES),
                step(200, -TEN_MINUTES),
                step(300, -TEN_MINUTES),
                event(50, What.SCHEDULED, "", 51, "SCHEDULED"),
                event(150, What.SCHEDULED, "", 751, "SCHEDULED"),
                event(250, What.SCHEDULED, "", 251, "SCHEDULED"),
                delivered(350, "a", -249, -250, 1));
        List<Event> machine = ServerClock.of(events).inMachineTime(events);
        assertThat(machine.stream()
                        .filter(event -> event.what() == What.SCHEDULED)
                        .map(Event::due))
                .containsExactly(51 * SECOND, 151 * SECOND, 251 * SECOND);
        assertThat(machine.get(6).claimed()).isEqualTo(350 * SECOND);
        assertThat(machine.get(6).due()).isEqualTo(351 * SECOND);
    }

    @Test
    void should_excuse_what_came_early_by_a_step_forward() {
        Event[] end = acknowledged(104, "a");
        check(
                        event(90, What.SCHEDULING, "", 110, ""),
                        event(91, What.SCHEDULED, "", 110, "SCHEDULED"),
                        step(100, TEN_MINUTES),
                        delivered(103, "a", 110, 702, 1),
                        end[0],
                        end[1])
                .assertClean();
    }

    @Test
    void should_not_excuse_what_came_before_it_was_due_by_the_servers_clock() {
        Event[] end = acknowledged(114, "a");
        Report report = check(
                step(100, TEN_MINUTES),
                event(105, What.SCHEDULING, "", 125, ""),
                event(106, What.SCHEDULED, "", 725, "SCHEDULED"),
                delivered(113, "a", 725, 712, 1),
                end[0],
                end[1]);
        assertThat(report.problems()).extracting(HistoryChecker.Problem::rule).containsOnly(Rule.EARLY);
    }

    @Test
    void should_not_excuse_what_comes_early_after_a_step_back() {
        Event[] end = acknowledged(104, "a");
        Report report = check(
                event(90, What.SCHEDULING, "", 110, ""),
                event(91, What.SCHEDULED, "", 110, "SCHEDULED"),
                step(100, -TEN_MINUTES),
                delivered(103, "a", -500, -498, 1),
                end[0],
                end[1]);
        assertThat(report.problems()).extracting(HistoryChecker.Problem::rule).containsOnly(Rule.EARLY);
    }

    @Test
    void should_ask_for_a_fault_where_a_lease_ended_early() {
        Event[] end = acknowledged(104, "b");
        Event[] events = {
            event(90, What.SCHEDULING, "", 90, ""),
            event(91, What.SCHEDULED, "", 90, "SCHEDULED"),
            delivered(99, "a", 90, 98, 1),
            step(100, TEN_MINUTES),
            delivered(101, "b", 90, 700, 2),
            end[0],
            end[1]
        };
        assertThat(check(events).problems())
                .extracting(HistoryChecker.Problem::rule)
                .contains(Rule.TWICE);
        Event[] withFault = new Event[events.length + 2];
        System.arraycopy(events, 0, withFault, 2, events.length);
        withFault[0] = fault(100, What.FAULT_BEGINS);
        withFault[1] = fault(103, What.FAULT_ENDS);
        Report report = check(withFault);
        report.assertClean();
        assertThat(report.duplicates()).isOne();
    }
}
