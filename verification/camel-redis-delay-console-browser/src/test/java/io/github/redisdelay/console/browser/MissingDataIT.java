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

    /**
     * Keeps each answer and its members, and gives it again with one of them set to null. It looks into the first
     * element of a list. {@code tamper.without} shows a screen once for each member: in the page itself, where nothing
     * waits for the network.
     */
    private static final String TAMPER = """
            (() => {
                const real = window.fetch, kept = new Map();
                window.tamper = { members: {}, drop: null, dropped: 0, fails: false, again: false };
                const NAMES = ['name', 'text', 'id', 'queue', 'cause'];
                const walk = (value, path, found) => Object.entries(value).forEach(([key, member]) => {
                    const at = [...path, key];
                    if (member === null || NAMES.includes(key)) return;
                    if (!Array.isArray(member) || key === 'nextHour') found.push(at);
                    if (Array.isArray(member)) {
                        member.slice(0, 1).forEach((one, i) => { if (one && typeof one === 'object') walk(one, [...at, i], found); });
                    } else if (typeof member === 'object') walk(member, at, found);
                });
                const read = async (address, options) => {
                    const what = String(address);
                    if (!tamper.again || !kept.has(what)) {
                        const response = await real(address, options);
                        kept.set(what, { response, text: await response.text() });
                    }
                    return kept.get(what);
                };
                window.fetch = async (address, options) => {
                    if (tamper.fails) throw new TypeError('no answer');
                    const { response, text } = await read(address, options), answer = JSON.parse(text);
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
                const $ = selector => document.querySelector(selector);
                const show = async (change, seen) => {
                    Object.assign(tamper, { fails: false, drop: null, dropped: 0 }, change);
                    dispatchEvent(new HashChangeEvent('hashchange'));
                    const end = Date.now() + 20000;
                    while (!seen()) {
                        if (Date.now() > end) throw new Error('never shown: ' + JSON.stringify(change));
                        await new Promise(next => setTimeout(next));
                    }
                };
                let problems = [];
                addEventListener('error', event => problems.push(String(event.message)));
                addEventListener('unhandledrejection', event => problems.push(String(event.reason)));
                const log = console.error;
                console.error = (...lines) => { problems.push(lines.join(' ')); log.apply(console, lines); };
                tamper.without = async (screen, answers) => {
                    const here = 'main[aria-busy=false] [data-screen=' + screen + ']', wrong = [];
                    const fail = () => show({ fails: true }, () => $('#banner [data-banner=gone]'));
                    tamper.members = {};
                    if (answers.includes('me')) await fail(); // is read again after a failure
                    tamper.again = false;
                    await show({}, () => $(here) && answers.every(what => tamper.members[what]));
                    tamper.again = true;
                    const members = answers.flatMap(what => tamper.members[what]);
                    for (const member of members) {
                        if (member.startsWith('me ')) await fail();
                        problems = [];
                        tamper.steps++;
                        await show({ drop: member.split(' ') }, () => tamper.dropped
                            && ($('main[aria-busy=false]') || $('#banner [data-banner=page]')));
                        if (problems.length || $('#banner [data-banner]') || !$(here)) {
                            wrong.push(screen + ' without ' + member + ': ' + problems + ' ' + $('#banner').innerText);
                        }
                    }
                    return { members, wrong };
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
        tryAll("#/queue?name=orders&state=leased", "queue", "messages");
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
                        "failures causes 0 exception",
                        "jobs jobs 0 result");
        assertThat(complaints()).isEmpty();
    }

    /** The page's complaints, but for that of the message that is not found. */
    private List<String> complaints() {
        return browser.complaints().stream()
                .filter(complaint -> !complaint.contains("404"))
                .toList();
    }

    /** Shows a screen once for each member of these answers, without it. */
    private void tryAll(String hash, String screen, String... answers) {
        browser.value("(() => { history.replaceState(null, '', " + Browser.quoted(hash)
                + "); tamper.result = null; tamper.steps = 0;"
                + " tamper.without(" + Browser.quoted(screen) + ", " + Browser.quoted(String.join(" ", answers))
                + ".split(' ')).then(found => { tamper.result = found; },"
                + " problem => { tamper.result = { members: [], wrong: [String(problem)] }; }); return true; })()");
        // Each step has its own time: there are hundreds.
        while (browser.value("tamper.result !== null") != Boolean.TRUE) {
            browser.until("tamper.result || tamper.steps > " + browser.value("tamper.steps"));
        }
        List<String> members = List.of(((String) browser.value("tamper.result.members.join('\\n')")).split("\n"));
        for (String answer : answers) {
            assertThat(members).as(hash).anyMatch(member -> member.startsWith(answer + " "));
        }
        tried.addAll(members);
        wrong.addAll(((String) browser.value("tamper.result.wrong.join('\\n')"))
                .lines()
                .toList());
    }
}
