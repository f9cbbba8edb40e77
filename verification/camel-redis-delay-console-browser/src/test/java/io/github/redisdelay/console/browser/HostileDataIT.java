// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.Delivery;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whoever may write a message chooses names and texts; all of them are shown, and none of them does anything. */
class HostileDataIT extends PageIT {

    private static final List<String> TEXTS = List.of(
            "<script>window.pwned=1</script>",
            "<img src=x onerror=window.pwned=1>",
            "\"><svg onload=window.pwned=1>",
            "'-window.pwned=1-'",
            "</title><script>window.pwned=1</script>",
            "javascript:window.pwned=1",
            "<iframe srcdoc='<script>parent.pwned=1</script>'>",
            "<a href=javascript:window.pwned=1>click</a>",
            "${window.pwned=1}",
            "[constructor.constructor('window.pwned=1')()]",
            "<style>*{display:none}</style>",
            "<base href=//example.invalid/>",
            "__proto__",
            "&lt;b onmouseover=window.pwned=1&gt;x",
            "--><!-- <details open ontoggle=window.pwned=1>");

    /** Elements that neither the page's own code makes, nor anything that it shows. */
    private static final String FOREIGN = "[...document.querySelectorAll('*')].filter(e =>"
            + " /^(iframe|object|embed|base|style|math|video|audio|marquee|template)$/i.test(e.tagName)"
            + " || e.tagName === 'SCRIPT' && e.getAttribute('src') !== 'app.js'"
            + " || e.tagName === 'IMG' && e.getAttribute('src') !== 'favicon.svg'"
            + " || [...e.attributes].some(a => /^on/i.test(a.name) || /^(href|src|action|formaction|xlink:href)$/i.test(a.name)"
            + " && !/^(#\\/|api\\/body\\?|app\\.js$|style\\.css$|favicon\\.svg$)/.test(a.value))).map(e => e.outerHTML).join()";

    private static String queueOf(String text) {
        return text.replaceAll("[{}]", "("); // which no queue's name can have
    }

    private void assertHarmless(List<String> texts) {
        texts.forEach(text -> browser.until("document.body.textContent.includes(" + Browser.quoted(text) + ")"));
        assertThat(browser.value(FOREIGN)).isEqualTo("");
        assertThat(browser.is("'pwned' in window")).isFalse();
    }

    /** Goes to a screen as a link does, which has this for its heading. */
    private void follow(String hash, String heading) {
        browser.value("location.hash = " + Browser.quoted(hash));
        browser.until("document.querySelector('main[aria-busy=false] h1')?.textContent === " + Browser.quoted(heading));
    }

    @Test
    void should_show_names_of_queues_and_consumers() {
        for (String text : TEXTS) {
            planted.waits(queueOf(text), "now", Planted.LONG_AGO);
            Queue<Delivery> held = planted.hold(queueOf(text), text, 1);
            Planted.await().until(() -> held.size() == 1);
        }
        show("");
        browser.until("document.querySelectorAll('#queues tbody tr').length === " + TEXTS.size());
        assertHarmless(TEXTS.stream().map(HostileDataIT::queueOf).toList());
        for (String text : TEXTS) {
            follow("#/queue?state=leased&name=" + encoded(queueOf(text)), queueOf(text));
            browser.until("document.querySelector('#consumers tbody th bdi')?.textContent === " + Browser.quoted(text));
            browser.until("document.querySelector('#messages .why')?.textContent === " + Browser.quoted(text));
            assertHarmless(List.of(queueOf(text), text));
        }
        assertNoComplaints();
    }

    @Test
    void should_show_what_is_in_messages() {
        for (String text : TEXTS) {
            Planted.get(planted.queue("orders")
                    .schedule(Planted.message(
                            text, Planted.IN_AN_HOUR, text, "text/" + text, Map.of(text, text, "second", text))));
        }
        show("#/queue?name=orders");
        browser.until("document.querySelectorAll('#messages tbody tr').length === " + TEXTS.size());
        assertHarmless(TEXTS);
        for (String text : TEXTS) {
            follow("#/message?queue=orders&id=" + encoded(text), text);
            assertThat(browser.value("document.querySelector('pre').textContent"))
                    .isEqualTo(text);
            assertThat(browser.value("[...document.querySelectorAll('[data-table=headers] tbody tr')]"
                            + ".map(row => row.querySelector('th').textContent + ' ' + row.querySelector('td').textContent)"
                            + ".sort().join('\\n')"))
                    .isEqualTo(Stream.of("second " + text, text + " " + text)
                            .sorted()
                            .collect(Collectors.joining("\n")));
            assertHarmless(List.of("text/" + text));
        }
        assertNoComplaints();
        for (String text : TEXTS) {
            follow("#/find?queue=nowhere&id=" + encoded(text), "Find " + text);
            assertHarmless(List.of("Not found"));
        }
        assertThat(browser.complaints()).allMatch(complaint -> complaint.contains("404"));
    }

    @Test
    void should_show_what_failed_deliveries_left() {
        planted.bury(
                "orders",
                TEXTS.stream()
                        .map(text -> Planted.message(text, Planted.LONG_AGO, text, "text/plain", Map.of()))
                        .toList(),
                i -> new FailureRecord(
                        TEXTS.get(i), TEXTS.get(i), TEXTS.get(i), TEXTS.get(i), 1, Instant.now(), "failed"));
        show("#/dead?queue=orders");
        browser.until("document.querySelectorAll('#causes tbody tr').length === " + TEXTS.size());
        browser.until("document.querySelectorAll('#messages tbody tr').length === " + TEXTS.size());
        assertHarmless(TEXTS);
        for (String text : TEXTS) {
            browser.value(
                    "location.hash = '#/message?queue=orders&id=' + encodeURIComponent(" + Browser.quoted(text) + ")");
            browser.until("document.querySelector('.failure .exception')?.textContent === "
                    + Browser.quoted(text + ": " + text));
            assertHarmless(List.of(" on " + text, " · route " + text));
        }
        assertNoComplaints();
    }

    @Test
    void should_show_any_bytes_that_a_failed_delivery_left() {
        byte[] random = new byte[4096];
        new Random(29).nextBytes(random);
        List<byte[]> failures = Stream.concat(
                        Stream.of(
                                        "no JSON",
                                        "{}",
                                        "[]",
                                        "{\"exception\":\"x.Y\",\"message\":\"without a time\"}",
                                        "{\"attempt\":\"3\",\"time\":12345,\"exception\":7,\"message\":null,\"host\":[],\"routeId\":{}}",
                                        "{\"attempt\":1e999999999,\"time\":\"+999999999-12-31T23:59:59Z\"}",
                                        "{\"exception\":\"x.Y\",\"time\":\"+12000-01-01T00:00:00Z\"}",
                                        "{\"exception\":\"x.Y\",\"time\":\"-0500-01-01T00:00:00Z\"}",
                                        "{\"exception\":\"__proto__\",\"reason\":\"constructor\"}",
                                        "{\"exception\":\"\\ud800\"}",
                                        "{".repeat(4096),
                                        "[".repeat(4096))
                                .map(text -> text.getBytes(StandardCharsets.UTF_8)),
                        Stream.of(random))
                .toList();
        List<String> ids =
                IntStream.range(0, failures.size()).mapToObj(i -> "m" + i).toList();
        planted.buryWith(
                "orders",
                ids.stream()
                        .map(id -> Planted.message(id, Planted.LONG_AGO, id, "text/plain", Map.of()))
                        .toList(),
                failures::get);
        planted.fail("retried", ids, failures::get);
        show("");
        browser.until("document.querySelectorAll('#queues tbody tr').length === 2");
        follow("#/dead?queue=orders", "Dead letters");
        browser.until("document.querySelectorAll('#messages tbody tr').length === " + ids.size());
        follow("#/queue?name=retried", "retried");
        browser.until("document.querySelectorAll('#messages tbody tr').length === " + ids.size());
        for (String queue : List.of("orders", "retried")) {
            for (String id : ids) {
                String state = queue.equals("orders") ? "dead" : "delayed";
                browser.value("location.hash = '#/message?queue=" + queue + "&id=" + id + "'");
                browser.see("main[aria-busy=false] article[data-state=" + state + "][data-id^=" + id
                        + "] [aria-label='Its way']");
                assertThat(browser.has("#banner [data-banner]"))
                        .as(queue + " " + id)
                        .isFalse();
            }
        }
        assertNoComplaints();
    }

    @Test
    void should_spell_out_what_cannot_be_seen() {
        planted.waits("orders", "a\u202eb", Planted.IN_AN_HOUR);
        show("#/queue?name=orders");
        browser.see("tr[data-id]", "a\\u202eb");
        assertThat(browser.is("document.body.textContent.includes('\\u202e')")).isFalse();
    }
}
