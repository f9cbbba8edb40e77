// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.delivery.ScheduleDeclaration;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.QueueLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** Messages are found by their ids, and changed. */
class MessageScreenIT extends PageIT {

    private static final String ORDERS = "orders";

    private void find(String id) {
        browser.click("#find");
        browser.type(id);
        browser.key("Enter");
    }

    private boolean isThere(String id) {
        return Planted.get(planted.queue(ORDERS).get(id)).isPresent();
    }

    private void showMessage(String id) {
        show("#/message?queue=orders&id=" + id);
        browser.see("article[data-state]");
    }

    @Test
    void should_find_a_message_in_each_state() {
        planted.waits(ORDERS, "works", Planted.LONG_AGO);
        Queue<Delivery> held = planted.hold(ORDERS, "app-1", 1);
        Planted.await().until(() -> held.size() == 1);
        planted.waits(ORDERS, "waits", Planted.IN_AN_HOUR);
        planted.bury(
                "mails",
                List.of(Planted.message("dead", Planted.LONG_AGO, "body", "text/plain", Map.of())),
                i -> Planted.failure("java.net.ConnectException", "refused", "send", "app-1"));

        show("");
        find("waits");
        browser.see("article[data-id=waits][data-state=delayed]");
        assertThat(browser.text("pre[data-body]")).isEqualTo("body of waits");
        find("works");
        browser.see("article[data-id=works][data-state=leased]");
        assertThat(browser.text("article [data-figure='leased by']")).contains("app-1");
        browser.key("Escape");
        browser.see("[data-screen=queue]");
        browser.key("Escape");
        browser.see("[data-screen=queues]");
        find("dead");
        browser.see("article[data-state=dead]");
        assertThat(browser.text(".failure")).contains("java.net.ConnectException: refused", "route send", "on app-1");
        find("nowhere");
        browser.see("[data-empty], #find-status", "It was delivered");
        browser.key("Escape");
        browser.key("Escape");
        browser.see("[data-screen=queues]");
    }

    @Test
    void should_find_a_message_of_another_queue_by_an_id_with_spaces_around_it() {
        planted.waits(ORDERS, "o1", Planted.IN_AN_HOUR);
        planted.waits("mails", "m1", Planted.IN_AN_HOUR);
        show("#/queue?name=mails");
        browser.see("#messages tr[data-id=m1]");
        find(" o1 ");
        browser.see("article[data-id=o1]");
        browser.see("#told [data-outcome=trimmed]", "without the spaces");

        show("#/find?queue=mails&id=o1");
        browser.see("#find-status", "Not found in mails");
        browser.click("#find-everywhere");
        browser.see("article[data-id=o1]");
    }

    @Test
    void should_say_why_a_late_message_waits() {
        planted.waits(ORDERS, "o1", Planted.LONG_AGO);
        showMessage("o1");
        browser.see("article .badge.late");
        browser.see("#remarks", "no consumer is there");
    }

    @Test
    void should_say_that_a_limit_delays_a_due_message_which_is_not_late() {
        planted.queue(ORDERS)
                .admin()
                .limit(new QueueLimits(1, true, null, null, 1))
                .join();
        planted.waits(ORDERS, "o1", Planted.LONG_AGO);
        Queue<Delivery> held = planted.hold(ORDERS, "app-1", 1);
        Planted.await().until(() -> held.size() == 1);
        planted.waits(ORDERS, "o2", Planted.LONG_AGO);
        showMessage("o2");
        browser.see("#remarks", "a limit or a pause delays them");
        browser.see("article .badge.parked");
        assertThat(browser.has("article .late")).isFalse();
        show("#/queue?name=orders");
        browser.see("#messages tr[data-id=o2]");
        assertThat(browser.has("#messages .late")).isFalse();
    }

    @Test
    void should_cancel_only_when_it_is_told_so_twice() {
        planted.waits(ORDERS, "o1", Planted.IN_AN_HOUR);
        showMessage("o1");
        browser.click("[data-action=cancel]");
        browser.see("dialog", "It will never be delivered");
        browser.key("Escape");
        browser.seeNo("dialog");
        assertThat(browser.has("article[data-id=o1]"))
                .as("still on the same screen")
                .isTrue();
        assertThat(isThere("o1")).isTrue();

        browser.click("[data-action=cancel]");
        browser.click("dialog [data-dialog=back]");
        browser.seeNo("dialog");
        assertThat(isThere("o1")).isTrue();

        browser.click("[data-action=cancel]");
        browser.click("dialog [data-dialog=go]");
        browser.see("#told [data-outcome=done]");
        assertThat(isThere("o1")).isFalse();
        browser.see("[data-empty]", "It is not in this queue");
    }

    @Test
    void should_show_live_that_a_moved_message_becomes_due() {
        planted.waits(ORDERS, "o1", Planted.IN_AN_HOUR);
        planted.hold(ORDERS, "app-1", 1);
        showMessage("o1");
        assertThat(browser.text("[data-figure=due]")).contains("in 59 min");
        browser.click("[data-action=reschedule]");
        browser.click("dialog [data-choice=time]");
        browser.fill(
                "dialog input[name=to]",
                "(() => { const at = new Date(Date.now() + 4000), two = n => String(n).padStart(2, '0');"
                        + " return at.getFullYear() + '-' + two(at.getMonth() + 1) + '-' + two(at.getDate()) + 'T' + two(at.getHours())"
                        + " + ':' + two(at.getMinutes()) + ':' + two(at.getSeconds()); })()");
        browser.click("dialog [data-dialog=go]");
        browser.see("#told [data-outcome=done]");
        browser.see("article[data-id=o1][data-state=leased]");
        assertThat(browser.text("[data-figure='leased by']")).contains("app-1");
        assertNoComplaints();
    }

    @Test
    void should_deliver_a_message_now() {
        planted.waits(ORDERS, "o1", Planted.IN_AN_HOUR);
        showMessage("o1");
        browser.click("[data-action=promote]");
        browser.click("dialog [data-dialog=go]");
        browser.see("#told [data-outcome=done]");
        browser.see("[data-figure=due].late");
        assertThat(planted.stats(ORDERS).overdue()).isEqualTo(1);
        assertNoComplaints();
    }

    @Test
    void should_run_a_schedule_now_and_end_it() {
        planted.recurs(ORDERS, "poll", Map.of(ScheduleDeclaration.DECLARED, true));
        showMessage("poll");
        assertThat(browser.text("[data-figure=rule]")).contains("every 1h", "declared by a route");
        browser.see("[data-figure='next run']", "in 119 min");
        browser.see("#remarks", "Was its route removed?");
        browser.click("[data-action=promote]");
        browser.see("dialog", "its rule goes on from now");
        browser.click("dialog [data-dialog=go]");
        browser.see("#told [data-outcome=done]", "runs now");
        Planted.await().until(() -> planted.stats(ORDERS).overdue() == 1);
        assertNoComplaints();

        browser.click("[data-action=cancel]");
        browser.see("dialog", "back within a minute");
        browser.click("dialog [data-dialog=go]");
        browser.see("[data-empty]", "It is not in this queue");
        assertThat(isThere("poll")).isFalse();
        // A browser may say that the message is not found.
        assertThat(browser.complaints()).allMatch(complaint -> complaint.contains("404"));
    }

    @Test
    void should_ask_again_when_the_message_has_changed_meanwhile() {
        planted.waits(ORDERS, "o1", Planted.IN_AN_HOUR);
        showMessage("o1");
        browser.click("[data-action=cancel]");
        browser.see("dialog .facts", "in 59 min");
        // Not a round time: the page's clock is late by the age of the answer it was read from, so "in 30 h" could
        // stand here.
        Duration later = Duration.ofHours(30).minusMinutes(1);
        Planted.get(planted.queue(ORDERS).reschedule("o1", DueTime.after(later)));
        browser.click("dialog [data-dialog=go]");
        browser.see("dialog [role=alert]", "decide again");
        browser.see("dialog .facts", "in 29 h 5");
        assertThat(isThere("o1")).isTrue();
        browser.click("dialog [data-dialog=go]");
        browser.see("#told [data-outcome=done]");
        assertThat(isThere("o1")).isFalse();
    }

    @Test
    void should_need_no_mouse() {
        planted.waits(ORDERS, "o1", Planted.IN_AN_HOUR);
        show("");
        browser.key("/");
        browser.type("o1");
        browser.key("Enter");
        browser.see("article[data-id=o1]");
        tabTo("[data-action=cancel]");
        browser.key("Enter");
        browser.see("dialog");
        tabTo("dialog [data-dialog=go]");
        browser.key("Escape");
        browser.seeNo("dialog");
        browser.until("document.activeElement.matches('[data-action=cancel]')");

        browser.key("Escape");
        browser.see("[data-screen=queue]");
        tabTo("g[data-bar]");
        browser.key("ArrowRight");
        browser.until("document.activeElement.matches('g[data-bar=\"1\"]')");
        browser.key("Enter");
        browser.see("#messages .filter");

        browser.key("g");
        browser.key("q");
        browser.see("[data-screen=queues]");
        assertThat(isThere("o1")).isTrue();
        assertNoComplaints();
    }

    private void tabTo(String selector) {
        for (int i = 0; i < 60; i++) {
            if (browser.is("document.activeElement.matches(" + Browser.quoted(selector) + ")")) {
                return;
            }
            browser.key("Tab");
        }
        throw new AssertionError("60 tabs do not lead to " + selector);
    }
}
