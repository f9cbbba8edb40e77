// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.DueTime;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The screen of one queue. */
class QueueScreenIT extends PageIT {

    private static final Pattern COUNT = Pattern.compile("\"count\":(\\d+)");

    private void plant() {
        planted.wait("orders", 3, i -> due("early" + i, Duration.ofMinutes(20)));
        planted.wait("orders", 5, i -> due("later" + i, Duration.ofMinutes(40)));
    }

    private static io.github.redisdelay.queue.ScheduleRequest due(String id, Duration delay) {
        return Planted.message(id, DueTime.after(delay), "body", "text/plain", Map.of());
    }

    @Test
    void should_draw_what_the_api_tells() throws Exception {
        plant();
        show("#/queue?name=orders");
        browser.see("g[data-bar]");
        HttpClient http = HttpClient.newHttpClient();
        String drawn = "[...document.querySelectorAll('g[data-bar]')].map(bar => bar.dataset.count).join()";
        Planted.await().untilAsserted(() -> {
            String told = http.send(
                            HttpRequest.newBuilder(URI.create(console.url() + "api/outlook?queue=orders&span=hour"))
                                    .build(),
                            BodyHandlers.ofString())
                    .body();
            String bars = told.substring(told.indexOf("\"bars\""), told.indexOf("\"after\""));
            assertThat(browser.value(drawn))
                    .isEqualTo(COUNT.matcher(bars)
                            .results()
                            .map(found -> found.group(1))
                            .collect(Collectors.joining(",")));
        });
        assertThat(browser.value(drawn).toString()).contains("3").contains("5");
        assertNoComplaints();
    }

    @Test
    void should_list_what_is_due_in_a_bar_that_is_clicked() {
        plant();
        show("#/queue?name=orders");
        browser.see("#messages tr[data-id=early0]");
        // The first picture has a width of its own; the one of the screen comes some frames later.
        browser.until("Number(document.querySelector('svg.bars').getAttribute('width'))"
                + " === Math.round(document.querySelector('.outlook').clientWidth)");
        browser.click("g[data-bar][data-count='5']");
        browser.seeNo("#messages tr[data-id=early0]");
        browser.see("#messages .filter", "Due from");
        browser.until("document.querySelectorAll('#messages tr[data-id^=later]').length === 5");
        browser.click("[data-filter=clear]");
        browser.see("#messages tr[data-id=early0]");
        assertNoComplaints();
    }

    @Test
    void should_pause_and_resume() {
        planted.waits("orders", "o1", Planted.IN_AN_HOUR);
        show("#/queue?name=orders");
        browser.click("[data-action=pause]");
        browser.see("dialog", "Pause orders?");
        assertThat(planted.stats("orders").paused()).isFalse();
        browser.click("dialog [data-dialog=go]");
        browser.see("#told [data-outcome=done]");
        browser.see("[data-screen=queue] .badge", "paused");
        assertThat(planted.stats("orders").paused()).isTrue();
        browser.click("[data-action=resume]");
        browser.click("dialog [data-dialog=go]");
        browser.see("[data-screen=queue] .badge", "on time");
        assertThat(planted.stats("orders").paused()).isFalse();
        assertNoComplaints();
    }

    @Test
    void should_show_rules_and_end_schedules_with_all_only_if_asked() {
        planted.waits("orders", "o1", Planted.IN_AN_HOUR);
        planted.recurs("orders", "poll", Map.of());
        show("#/queue?name=orders");
        browser.see("#messages tr[data-id=poll]", "every 1h");
        cancelAll();
        Planted.await().until(() -> planted.stats("orders").delayed() == 1);
        browser.seeNo("#messages tr[data-id=o1]");
        browser.see("#messages tr[data-id=poll] [data-action=cancel]", "End");
        cancelAll("end");
        Planted.await().until(() -> planted.stats("orders").delayed() == 0);
        assertNoComplaints();
    }

    private void cancelAll(String... choices) {
        browser.click("[data-action=cancelAll]");
        for (String choice : choices) {
            browser.click("dialog [data-choice=" + choice + "]");
        }
        browser.click("dialog input[name=confirm]");
        browser.type("orders");
        browser.key("Enter");
        browser.seeNo("dialog");
    }

    @Test
    void should_lead_from_the_groups_to_a_parked_message_and_pause_and_cancel_its_group() {
        planted.wait(
                "orders", 3, i -> Planted.message("g" + i, new DueTime(false, i + 1L), "body", "text/plain", Map.of())
                        .withGroup("acme & sons"));
        planted.waits("orders", "other", Planted.IN_AN_HOUR);
        show("#/queue?name=orders");
        browser.see("[data-table=groups]", "acme & sons");
        browser.click("[data-table=groups] a");
        browser.see("#messages [data-table=group] tr[data-id=g0]", "delayed");
        browser.see("#messages tr[data-id=g2]", "parked");
        browser.click("#messages tr[data-id=g2] a");
        browser.see("[data-screen=message] .badge", "parked");
        browser.see("#remarks", "2 of its 3 messages come first, and 1 is delivered at a time");
        browser.see("#remarks", "The first one is g0");
        browser.click("[data-figure=group] a");
        browser.click("[data-group=pause]");
        browser.click("dialog [data-choice='3600']");
        browser.click("dialog [data-dialog=go]");
        browser.see("#paused", "The group is paused until ");
        browser.click("#messages tr[data-id=g2] a");
        browser.see("#remarks", "Its group acme & sons is paused until ");
        browser.click("[data-figure=group] a");
        browser.click("[data-group=resume]");
        browser.click("dialog [data-dialog=go]");
        browser.seeNo("#paused");
        browser.click("[data-group=cancelAll]");
        browser.click("dialog input[name=confirm]");
        browser.type("acme & sons");
        browser.key("Enter");
        browser.seeNo("dialog");
        browser.see("#messages [data-empty]", "The group has no message");
        browser.click("[data-group=purgeAll]");
        browser.click("dialog input[name=confirm]");
        browser.type("acme & sons");
        browser.key("Enter");
        browser.seeNo("dialog");
        browser.see(".jobs", "0 messages were purged: the dead letters of group 'acme & sons'.");
        assertThat(planted.stats("orders").delayed()).isOne();
        browser.click("#messages [data-filter=clear]");
        browser.see("#messages tr[data-id=other]");
        assertNoComplaints();
    }

    @Test
    void should_ask_for_the_queue_before_all_is_cancelled() {
        planted.waits("orders", "o1", Planted.IN_AN_HOUR);
        show("#/queue?name=orders");
        browser.click("[data-action=cancelAll]");
        browser.see("dialog input[name=confirm]");
        browser.type("order");
        browser.key("Enter");
        assertThat(browser.value("document.querySelector('dialog [data-dialog=go]').getAttribute('aria-disabled')"))
                .isEqualTo("true");
        browser.type("s");
        browser.key("Enter");
        browser.seeNo("dialog");
        Planted.await().until(() -> planted.stats("orders").delayed() == 0);
        browser.see("[data-job][data-running=false]");
        assertNoComplaints();
    }
}
