// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The screen of all queues. */
class OverviewIT extends PageIT {

    @Test
    void should_show_the_queues_worst_first() {
        planted.waits("late", "l1", Planted.LONG_AGO);
        planted.waits("paused", "p1", Planted.IN_AN_HOUR);
        Planted.get(planted.queue("paused").admin().pause());
        planted.hold("punctual", "app-1", 1);
        planted.waits("punctual", "o1", Planted.IN_AN_HOUR);
        planted.waits("vacant", "v1", Planted.IN_AN_HOUR);
        Planted.get(planted.queue("vacant").cancel("v1"));

        show("");
        browser.until("document.querySelectorAll('#queues tbody tr').length === 4");

        assertThat(browser.value("[...document.querySelectorAll('#queues tbody tr')]"
                        + ".map(row => row.dataset.queue + ' ' + row.dataset.state).join()"))
                .isEqualTo("late late,paused paused,punctual onTime,vacant empty");
        assertThat(browser.text("tr[data-queue=late] [data-label=Overdue]")).startsWith("1 oldest ");
        assertThat(browser.text("#remarks")).contains("late ");
        assertThat(browser.value("document.title")).isEqualTo("1 overdue · redis-delay");

        browser.click("tr[data-queue=paused] a");
        browser.see("[data-screen=queue] h1", "paused");
        assertNoComplaints();
    }

    @Test
    void should_say_that_an_address_names_no_screen() {
        planted.waits("orders", "o1", Planted.IN_AN_HOUR);
        for (String address : List.of(
                "#/nonsense",
                "#/constructor",
                "#/queue",
                "#/queue?x",
                "#/queue?name=",
                "#/message?queue=orders",
                "#/message?id=o1",
                "#/dead",
                "#/find?queue=orders")) {
            browser.open(console.url() + address);
            browser.see(
                    "main[aria-busy=false] [data-screen=queues] #lost", "No screen has the address " + address + ".");
            browser.see("tr[data-queue=orders]");
        }
        browser.click("tr[data-queue=orders] a");
        browser.see("main[aria-busy=false] [data-screen=queue]");
        assertThat(browser.has("#lost")).isFalse();
        assertNoComplaints();
    }
}
