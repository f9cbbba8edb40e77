// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The screen of dead letters, by cause. */
class DeadLettersIT extends PageIT {

    @Test
    void should_redrive_a_group_when_the_queue_is_typed() {
        planted.bury(
                "mails",
                IntStream.range(0, 5)
                        .mapToObj(i -> Planted.message("m" + i, Planted.LONG_AGO, "body", "text/plain", Map.of()))
                        .toList(),
                i -> i < 3
                        ? Planted.failure("java.net.ConnectException", "refused", "send", "app-1")
                        : Planted.failure("java.lang.IllegalStateException", "no template", "render", "app-2"));

        show("#/dead?queue=mails");
        browser.see("#causes tr[data-cause]");
        assertThat(
                        browser.value(
                                "[...document.querySelectorAll('#causes tr[data-cause]')]"
                                        + ".map(row => row.querySelector('b').innerText + ' ' + row.querySelector('th bdi').innerText).join()"))
                .isEqualTo("3 java.net.ConnectException,2 java.lang.IllegalStateException");
        browser.click("#causes tr[data-cause] [data-action=redriveCause]");
        browser.see("dialog", "Redrive 3 of mails?");
        browser.type("other");
        browser.key("Enter");
        browser.key("Escape");
        browser.seeNo("dialog");
        assertThat(planted.stats("mails").dead()).isEqualTo(5);

        browser.click("#causes tr[data-cause] [data-action=redriveCause]");
        browser.see("dialog input[name=confirm]");
        browser.type("mails");
        browser.click("dialog [data-dialog=go]");
        browser.seeNo("dialog");
        Planted.await().until(() -> planted.stats("mails").dead() == 2);
        assertThat(planted.stats("mails").delayed()).isEqualTo(3);
        browser.until("document.querySelectorAll('#causes tr[data-cause]').length === 1");
        browser.see("#causes", "IllegalStateException");
        browser.see("[data-job][data-running=false]", "3");
        assertNoComplaints();
    }

    @Test
    void should_offer_no_action_when_it_is_read_only() {
        planted.waits("mails", "waits", Planted.IN_AN_HOUR);
        planted.bury(
                "mails",
                Stream.of("dead")
                        .map(id -> Planted.message(id, Planted.LONG_AGO, "body", "text/plain", Map.of()))
                        .toList(),
                i -> Planted.failure("java.net.ConnectException", "refused", "send", "app-1"));
        console.close();
        console = start(false);
        for (String screen : new String[] {
            "#/",
            "#/queue?name=mails",
            "#/message?queue=mails&id=waits",
            "#/message?queue=mails&id=dead",
            "#/dead?queue=mails"
        }) {
            show(screen);
            browser.see("#readonly");
            assertThat(browser.count("[data-action]")).as(screen).isZero();
        }
        browser.click("#readonly summary");
        browser.see("#readonly p", "actions");
        assertNoComplaints();
    }
}
