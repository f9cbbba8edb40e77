// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.github.redisdelay.camel.delivery.ScheduleDeclaration;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.console.MessageRedactor;
import io.github.redisdelay.console.MessageRedactor.Content;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.envelope.Envelope;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RScript;
import org.redisson.client.codec.ByteArrayCodec;

/** Messages as the console shows them, in each state, compared with what was scheduled. */
class MessageViewsIT extends ApiIT {

    private DelayQueue queue;

    @BeforeEach
    void openQueue() {
        queue = client.queue("orders");
    }

    private ContentView.Shown shown(String id) {
        return (ContentView.Shown)
                api.message("orders", id, null).messages().get(0).second();
    }

    private ContentView.Shown shown(Object body, String contentType) {
        get(queue.schedule(ScheduleRequest.of(
                "shown", Envelope.of(body, contentType, Map.of()).encode(), IN_AN_HOUR)));
        ContentView.Shown shown = shown("shown");
        get(queue.cancel("shown"));
        return shown;
    }

    @Test
    void should_page_through_messages_from_anywhere_and_in_both_directions() {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            schedule(queue, "m" + i, new DueTime(false, 4_000_000_000_000_000L + i));
            ids.add("m" + i);
        }
        assertThat(pages(null, false)).isEqualTo(ids);
        assertThat(pages(Times.of(4_000_000_000_000_005L), false)).isEqualTo(ids.subList(5, 25));
        Collections.reverse(ids);
        assertThat(pages(null, true)).isEqualTo(ids);
    }

    private List<String> pages(Instant at, boolean newest) {
        List<String> ids = new ArrayList<>();
        String cursor = null;
        do {
            MessageViews.Page page = cursor == null
                    ? api.messages("orders", "delayed", at, newest, null, 10L)
                    : api.messages("orders", "delayed", null, false, cursor, 10L);
            page.messages().forEach(message -> ids.add(message.id()));
            cursor = page.next();
        } while (cursor != null);
        return ids;
    }

    private MessageViews.ScheduleRow scheduleOf(String id) {
        return ((MessageViews.Message)
                        api.message("orders", id, null).messages().get(0).first())
                .schedule();
    }

    @Test
    void should_show_what_a_group_holds_back() {
        get(queue.schedule(message("first", DueTime.now(), "x", Map.of()).withGroup("acme")));
        get(queue.schedule(message("second", DueTime.now(), "x", Map.of()).withGroup("acme")));
        assertThat(api.messages("orders", "parked", null, false, null, null).messages())
                .extracting(
                        MessageViews.Message::id,
                        MessageViews.Message::state,
                        MessageViews.Message::parked,
                        MessageViews.Message::group)
                .containsExactly(tuple("second", "delayed", true, "acme"));
        FlattenedJson shown = api.queue(ANYBODY, "orders");
        assertThat((QueueViews.Row) shown.first())
                .extracting(QueueViews.Row::overdue, QueueViews.Row::parked)
                .containsExactly(1L, 1L);
        assertThat(((QueueViews.Details) shown.second()).groups())
                .containsExactly(new MessageViews.GroupRow("acme", 1, 2, null));
    }

    @Test
    void should_show_the_rule_of_a_schedule_and_its_times() {
        recur(queue, "poll", Map.of());
        Instant due = Times.of(get(queue.get("poll")).orElseThrow().info().dueMicros());
        MessageViews.ScheduleRow expected =
                new MessageViews.ScheduleRow("every 1h", null, due, due.plus(Duration.ofHours(1)), null, 0, null);
        assertThat(api.messages("orders", "delayed", null, false, null, null).messages())
                .singleElement()
                .extracting(MessageViews.Message::schedule)
                .as("a list reads no body, so it does not know who declares it")
                .isEqualTo(expected);
        assertThat(scheduleOf("poll").declaredBy()).isEqualTo("producer");
        recur(queue, "poll", Map.of(ScheduleDeclaration.DECLARED, true));
        assertThat(scheduleOf("poll").declaredBy()).isEqualTo("route");
        get(queue.schedule(message("nightly", DueTime.now(), "x", Map.of())
                .recurring(Schedule.cron("0 2 * * *", ZoneId.of("Europe/Berlin")), 0)));
        assertThat(scheduleOf("nightly").timeZone()).isEqualTo("Europe/Berlin");
        schedule(queue, "plain", IN_AN_HOUR);
        assertThat(scheduleOf("plain")).isNull();
    }

    @Test
    void should_find_a_message_in_each_state() {
        schedule(queue, "waits", IN_AN_HOUR);
        MessageViews.Found found = api.message("orders", "waits", null);
        MessageViews.Message waits =
                (MessageViews.Message) found.messages().get(0).first();
        assertThat(waits.state()).isEqualTo("delayed");
        assertThat(waits.reason()).isEqualTo("none");
        assertThat(Duration.between(found.time(), waits.due()))
                .isBetween(Duration.ofMinutes(59), Duration.ofMinutes(60));
        assertThat(Duration.between(shown("waits").scheduled(), waits.due())).isEqualTo(Duration.ofHours(1));

        Map<String, FailureRecord> failures = new LinkedHashMap<>();
        failures.put("dead", failure("java.net.ConnectException", "send", "failed"));
        bury(queue, failures);
        MessageViews.Found letters = api.message("orders", "dead", null);
        MessageViews.Message dead =
                (MessageViews.Message) letters.messages().get(0).first();
        assertThat(dead)
                .extracting(
                        MessageViews.Message::messageId,
                        MessageViews.Message::state,
                        MessageViews.Message::reason,
                        MessageViews.Message::attempts)
                .containsExactly("dead", "dead", "failed", 3);
        assertThat(dead.deadAt()).isEqualTo(dead.due());
        assertThat(dead.failure().exception()).isEqualTo("java.net.ConnectException");
        assertThat(letters.deadLetters()).containsExactly(dead.id());
        assertThat(api.message("orders", dead.id(), null).messages().get(0).first())
                .isEqualTo(dead);

        schedule(queue, "works", LONG_AGO);
        Queue<Delivery> held = hold(queue, "app-1", 1);
        await().until(() -> held.size() == 1);
        MessageViews.Message works = (MessageViews.Message)
                api.message("orders", "works", null).messages().get(0).first();
        assertThat(works.state()).isEqualTo("leased");
        assertThat(works.leaseOwner()).isEqualTo("app-1");
        assertThat(works.leaseEnd()).isAfter(found.time());
        // Its lease may be extended between two looks.
        await().untilAsserted(() -> {
            List<MessageViews.Message> working =
                    api.messages("orders", "leased", null, false, null, null).messages();
            assertThat(api.message("orders", "works", null).messages().get(0).first())
                    .isEqualTo(working.get(0));
            assertThat(working).hasSize(1);
        });
        assertThat(api.messages("orders", "dead", null, true, null, null).messages())
                .containsExactly(dead);
    }

    @Test
    void should_show_a_message_and_its_dead_letters_together() {
        for (int i = 0; i < 3; i++) {
            Map<String, FailureRecord> failures = new LinkedHashMap<>();
            failures.put("again", failure("x.Y" + i, "r", "failed"));
            bury(queue, failures);
        }
        schedule(queue, "again", IN_AN_HOUR);
        MessageViews.Found found = api.message("orders", "again", null);
        assertThat(found.messages()).hasSize(2);
        assertThat(found.deadLetters()).hasSize(3);
        MessageViews.Message newest =
                (MessageViews.Message) found.messages().get(1).first();
        assertThat(newest.id()).isEqualTo(found.deadLetters().get(0));
        assertThat(newest.failure().exception()).isEqualTo("x.Y2");
    }

    @Test
    void should_take_any_id_that_a_message_can_have() {
        for (String id : List.of(
                "a/b?c#d%e\"f<g>&h", "😀 ü \u2028", "x".repeat(256), "a@123", "' or 1=1", "..", "a b+c", "%2f")) {
            schedule(queue, id, IN_AN_HOUR);
            MessageViews.Message found = (MessageViews.Message)
                    api.message("orders", id, null).messages().get(0).first();
            assertThat(found.id()).isEqualTo(id);
            assertThat(api.cancel("orders", id, null, "delayed", found.due()).outcome())
                    .isEqualTo("done");
        }
        for (String id : List.of("", "a\nb", "x".repeat(300), "\ud800")) {
            assertThatThrownBy(() -> api.message("orders", id, null))
                    .isInstanceOf(ApiException.class)
                    .hasMessageStartingWith("Parameter 'id': message id '");
        }
        assertThatThrownBy(() -> api.message("orders", "nobody", null))
                .hasMessage("queue 'orders' has no message 'nobody': it was delivered or removed, or was never there");
    }

    @Test
    void should_list_what_others_have_written() {
        String keys = redis.keyPrefix() + ":{orders}:";
        redis.client()
                .getScript(ByteArrayCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_WRITE,
                        "redis.call('HSET', KEYS[1], ARGV[1], 'x', ARGV[2], 'y') "
                                + "return redis.call('ZADD', KEYS[2], -5, ARGV[1], 1e300, ARGV[2])",
                        RScript.ReturnType.VALUE,
                        List.of(keys + "messages", keys + "delayed"),
                        "a\nb\u0001".getBytes(StandardCharsets.UTF_8),
                        new byte[] {(byte) 0xff, (byte) 0xfe});
        MessageViews.Page page = api.messages("orders", "delayed", null, false, null, null);
        assertThat(page.messages()).extracting(MessageViews.Message::id).containsExactly("a\nb\u0001", "\ufffd\ufffd");
        assertThat(api.queues(ANYBODY)).isNotNull();
        assertThat(api.queue(ANYBODY, "orders")).isNotNull();
        for (Span span : Span.values()) {
            assertThat(api.outlook("orders", span.code())).isNotNull();
        }
    }

    @Test
    void should_show_bodies_as_text_made_here() {
        assertThat(shown("plain ü", "text/plain").body())
                .isEqualTo(new ContentView.Body(true, "text", 8, false, "plain ü", "706c61696e20c3bc"));
        String json = "{\"big\":12345678901234567890123,\"a\":[1,2]}";
        assertThat(shown(json, null).body())
                .extracting(ContentView.Body::kind, ContentView.Body::text)
                .containsExactly("json", json);
        assertThat(shown(json.getBytes(StandardCharsets.UTF_8), "application/json")
                        .body())
                .extracting(ContentView.Body::kind, ContentView.Body::text)
                .containsExactly("json", json);
        assertThat(shown("{not json", null).body().kind()).isEqualTo("text");
        assertThat(shown(new byte[] {1, 2, (byte) 0xff}, null).body())
                .isEqualTo(new ContentView.Body(true, "bytes", 3, false, null, "0102ff"));
        assertThat(shown(null, null).body()).isEqualTo(new ContentView.Body(true, "empty", 0, false, null, ""));
        assertThat(shown(new BigInteger("98765432109876543210"), null).body().text())
                .isEqualTo("98765432109876543210");
        assertThat(shown(true, null).body().text()).isEqualTo("true");
        assertThat(shown("\u0000\u001b[31m", null).body().kind()).isEqualTo("text");
    }

    @Test
    void should_show_no_more_than_the_beginning_of_a_large_body() {
        String text = "x".repeat(ContentView.MOST_BODY - 1) + "ü".repeat(100_000);
        ContentView.Body body = shown(text, "text/plain").body();
        assertThat(body.truncated()).isTrue();
        assertThat(body.size()).isEqualTo(ContentView.MOST_BODY - 1 + 200_000);
        assertThat(body.text()).isEqualTo("x".repeat(ContentView.MOST_BODY - 1)); // half of a character is none
        byte[] bytes = new byte[200_000];
        Arrays.fill(bytes, (byte) 0xff);
        body = shown(bytes, null).body();
        assertThat(body.text()).isNull();
        assertThat(HexFormat.of().parseHex(body.hex())).hasSize(ContentView.MOST_BODY);
        get(queue.schedule(ScheduleRequest.of("large", Envelope.of(bytes).encode(), IN_AN_HOUR)));
        assertThat(api.body("orders", "large", null)).isEqualTo(bytes);
    }

    @Test
    void should_survive_json_that_is_nested_deeply() {
        assertThat(shown("[".repeat(30_000) + "]".repeat(30_000), null).body().kind())
                .isIn("json", "text");
    }

    @Test
    void should_show_headers_with_their_types_and_hide_secrets() {
        Map<String, Object> headers = new LinkedHashMap<>();
        headers.put("orderId", 77120);
        headers.put("big", 9007199254740993L);
        headers.put("when", Instant.parse("2026-11-22T14:03:11Z"));
        headers.put("raw", new byte[] {1, (byte) 0xff});
        headers.put("Authorization", "Bearer secret");
        headers.put("x-api-key", "k");
        headers.put("<b>", "</script>");
        get(queue.schedule(message("h", IN_AN_HOUR, "body", headers)));
        assertThat(shown("h").headers())
                .extracting(
                        ContentView.Header::name,
                        ContentView.Header::type,
                        ContentView.Header::value,
                        ContentView.Header::hidden)
                .containsExactly(
                        tuple("orderId", "int", "77120", false),
                        tuple("big", "long", "9007199254740993", false),
                        tuple("when", "time", "2026-11-22T14:03:11Z", false),
                        tuple("raw", "bytes", "01ff", false),
                        tuple("Authorization", "string", null, true),
                        tuple("x-api-key", "string", null, true),
                        tuple("<b>", "string", "</script>", false));
        assertThat(shown("h").contentType()).isEqualTo("text/plain");
    }

    @Test
    void should_show_what_was_scheduled_for_this_message_alone() {
        Envelope.Settings settings =
                new Envelope.Settings(Duration.ofMinutes(5), Duration.ofHours(2), "redeliveryDelays=15s");
        get(queue.schedule(ScheduleRequest.of(
                "p", Envelope.of("x", null, Map.of(), settings).encode(), IN_AN_HOUR)));
        assertThat(shown("p").policy())
                .isEqualTo(new ContentView.Policy(7_200_000_000L, 300_000_000L, "redeliveryDelays=15s"));
    }

    @Test
    void should_show_stored_bytes_that_are_no_message() {
        get(queue.schedule(ScheduleRequest.of("raw", "no envelope".getBytes(StandardCharsets.UTF_8), IN_AN_HOUR)));
        assertThat(shown("raw").unreadable()).contains("it starts with 0x6e");
        assertThat(shown("raw").body().text()).isEqualTo("no envelope");
    }

    @Test
    void should_show_no_body_where_bodies_are_off_and_only_what_the_redactor_leaves() {
        get(queue.schedule(message("m", IN_AN_HOUR, "card 4111", Map.of("iban", "DE1", "b", "2"))));
        try (ConsoleApi silent = console(options(false, null))) {
            ContentView.Body body = ((ContentView.Shown) silent.message("orders", "m", null)
                            .messages()
                            .get(0)
                            .second())
                    .body();
            assertThat(body).isEqualTo(new ContentView.Body(false, "text", 9, false, null, null));
            assertThatThrownBy(() -> silent.body("orders", "m", null)).hasMessage("This console shows no bodies.");
        }
        ConsoleOptions redacting = options(
                true,
                (name, id, content) -> new Content(
                        content.contentType(),
                        Map.of("b", "2"),
                        content.body().toString().replaceAll("[0-9]", "*")));
        try (ConsoleApi redacted = console(redacting)) {
            ContentView.Shown shown = (ContentView.Shown)
                    redacted.message("orders", "m", null).messages().get(0).second();
            assertThat(shown.body().text()).isEqualTo("card ****");
            assertThat(shown.headers()).extracting(ContentView.Header::name).containsExactly("b");
            assertThat(redacted.body("orders", "m", null))
                    .asString(StandardCharsets.UTF_8)
                    .isEqualTo("card ****");
        }
        ConsoleOptions failing = options(true, (name, id, content) -> {
            throw new IllegalStateException("broken");
        });
        try (ConsoleApi broken = console(failing)) {
            ContentView.Shown shown = (ContentView.Shown)
                    broken.message("orders", "m", null).messages().get(0).second();
            assertThat(shown.body().text()).isNull();
            assertThat(shown.headers()).isEmpty();
        }
    }

    private static ConsoleOptions options(boolean bodies, MessageRedactor redactor) {
        ConsoleOptions defaults = ConsoleOptions.DEFAULTS;
        return new ConsoleOptions(
                defaults.host(),
                defaults.port(),
                defaults.hostNames(),
                defaults.access(),
                defaults.actions(),
                bodies,
                defaults.hiddenHeaders(),
                redactor,
                defaults.environment(),
                defaults.queues());
    }

    @Test
    void should_refuse_what_cannot_be_asked_for() {
        assertThatThrownBy(() -> api.messages("orders", "weighting", null, false, null, null))
                .hasMessage("Parameter 'state' is 'weighting': it has to be one of delayed, parked, leased, dead.");
        assertThatThrownBy(() -> api.messages("orders", "delayed", null, false, null, 257L))
                .hasMessage("Parameter 'limit' is '257': it has to be from 1 to 256.");
        assertThatThrownBy(() -> api.messages("orders", "delayed", null, true, "d1:", null))
                .hasMessageStartingWith("Give only one of the parameters");
        assertThatThrownBy(() -> api.messages("orders", "delayed", null, false, "forged", null))
                .isInstanceOf(ApiException.class)
                .hasMessageStartingWith("cursor 'forged' is none that this list has answered");
        assertThatThrownBy(() -> api.outlook("orders", "week")).hasMessageContaining("'span' is 'week'");
        assertThatThrownBy(() -> api.outlook("or{ders", "day")).hasMessageContaining("no queue of this name");
    }
}
