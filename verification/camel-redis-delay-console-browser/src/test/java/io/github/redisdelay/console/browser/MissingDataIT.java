// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** An answer of the API may lack any member that is no name and no list: each screen comes without it. */
class MissingDataIT extends PageIT {

    /** Notes the members of each answer, and sets one to null. It looks into the first element of a list. */
    private static final String TAMPER = """
            (() => {
                const real = window.fetch;
                window.tamper = { members: {}, drop: null, dropped: 0, fails: false };
                const NAMES = ['name', 'text', 'id', 'queue', 'group'];
                const walk = (value, path, found) => Object.entries(value).forEach(([key, member]) => {
                    const at = [...path, key];
                    if (member === null || NAMES.includes(key)) return;
                    if (!Array.isArray(member) || key === 'nextHour') found.push(at);
                    if (Array.isArray(member)) {
                        member.slice(0, 1).forEach((one, i) => { if (one && typeof one === 'object') walk(one, [...at, i], found); });
                    } else if (typeof member === 'object') walk(member, at, found);
                });
                window.fetch = async (address, options) => {
                    if (tamper.fails) throw new TypeError('no answer');
                    const response = await real(address, options), answer = await response.json();
                    const what = new URL(address).pathname.slice(5), found = [];
                    walk(answer, [], found);
                    tamper.members[what] = found.map(path => what + ' ' + path.join(' '));
                    if (tamper.drop?.[0] === what) {
                        const path = tamper.drop.slice(1), last = path.pop();
                        const parent = path.reduce((value, key) => value?.[key], answer);
                        if (parent && parent[last] !== undefined) {
                            parent[last] = null;
                            tamper.dropped++;
                        }
                    }
                    return { ok: response.ok, status: response.status, headers: response.headers, json: async () => answer };
                };
            })()""";

    private final Set<String> tried = new TreeSet<>();
    private final List<String> wrong = new ArrayList<>();

    private void plant() {
        long burst =
                planted.stats("orders").timeMicros() + Duration.ofMinutes(30).toNanos() / 1000;
        planted.wait(
                "orders",
                150,
                i -> Planted.message(
                        "burst" + i, new DueTime(false, burst), "{}", "application/json", Map.of("a", "b")));
        byte[] failure = Planted.failure("java.net.ConnectException", "refused", "send", "app-1")
                .encode();
        planted.bury(
                "orders",
                List.of(Planted.message("dead", Planted.LONG_AGO, "body", "text/plain", Map.of())),
                i -> Planted.failure("java.net.ConnectException", "refused", "send", "app-1"));
        planted.fail("orders", List.of("failed"), i -> failure);
        planted.waits("orders", "works", Planted.LONG_AGO);
        Queue<Delivery> held = planted.hold("orders", "app-1", 1);
        Planted.await().until(() -> held.size() == 1);
        planted.waits("orders", "late", Planted.LONG_AGO);
    }

    @Test
    void should_show_each_screen_without_any_member_of_an_answer() {
        plant();
        show("#/queue?name=orders");
        browser.click("[data-action=check]");
        browser.click("dialog [data-dialog=go]");
        browser.see("[data-job][data-running=false]");
        browser.see("#history figure");
        browser.value(TAMPER);
        tryAll("#/queue?name=orders", "queue", "queue", "outlook", "messages", "jobs");
        tryAll("#/queue?name=orders&state=working", "queue", "messages");
        tryAll("#/queue?name=orders&state=dead", "queue", "messages");
        tryAll("#/message?queue=orders&id=failed", "message", "message", "queue");
        tryAll("#/message?queue=orders&id=works", "message", "message");
        tryAll("#/message?queue=orders&id=dead", "message", "message");
        tryAll("#/message?queue=orders&id=late", "message", "message");
        tryAll("#/dead?queue=orders", "dead", "failures", "messages", "queue");
        tryAll("#/find?queue=orders&id=nowhere", "find", "jobs");
        tryAll("#/", "queues", "queues", "jobs", "me");
        assertThat(wrong).isEmpty();
        assertThat(tried)
                .as("members that were there to be dropped")
                .contains(
                        "me server",
                        "me time",
                        "message messages 0 failure at",
                        "message messages 0 leaseEnd",
                        "message messages 0 deadAt",
                        "messages messages 0 failure exception",
                        "outlook burst",
                        "queue history",
                        "queue lastDue",
                        "queues queues 0 nextHour",
                        "failures groups 0 exception",
                        "jobs jobs 0 result");
        assertThat(complaints()).isEmpty();
    }

    /** What the page complains of, but for the message that is not found. */
    private List<String> complaints() {
        return browser.complaints().stream()
                .filter(complaint -> !complaint.contains("404"))
                .toList();
    }

    /** Shows a screen once for each member of these answers, without it. */
    private void tryAll(String hash, String screen, String... answers) {
        if (List.of(answers).contains("me")) {
            readAgain("tamper.fails = true; tamper.drop = null", "#banner [data-banner=gone]");
        }
        readAgain(
                "tamper.fails = false; tamper.drop = null; tamper.members = {}; location.hash = "
                        + Browser.quoted(hash),
                "main[aria-busy=false] [data-screen=" + screen + "]");
        for (String answer : answers) {
            String members = (String) browser.value("(tamper.members." + answer + " || []).join('\\n')");
            assertThat(members).as(hash + " " + answer).isNotEmpty();
            for (String member : members.split("\n")) {
                tryWithout(member, screen);
            }
        }
    }

    private void tryWithout(String member, String screen) {
        if (member.startsWith("me ")) { // is read again after a failure
            readAgain("tamper.fails = true; tamper.drop = null", "#banner [data-banner=gone]");
        }
        int before = complaints().size();
        readAgain(
                "tamper.fails = false; tamper.dropped = 0; tamper.drop = " + Browser.quoted(member) + ".split(' ')",
                null);
        browser.until("tamper.dropped && (document.querySelector('main[aria-busy=false]')"
                + " || document.querySelector('#banner [data-banner=page]'))");
        browser.value("tamper.drop = null");
        tried.add(member);
        List<String> complaints = complaints();
        if (complaints.size() > before
                || browser.has("#banner [data-banner]")
                || !browser.has("main [data-screen=" + screen + "]")) {
            wrong.add(screen + " without " + member + ": " + complaints.subList(before, complaints.size()) + " "
                    + browser.value("document.querySelector('#banner').innerText"));
        }
    }

    private void readAgain(String change, String seen) {
        browser.value("(() => { " + change + "; dispatchEvent(new HashChangeEvent('hashchange')); return true; })()");
        if (seen != null) {
            browser.see(seen);
        }
    }
}
