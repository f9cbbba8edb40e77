// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import io.github.redisdelay.imports.queue.ConvertedPayload;
import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportReport;
import io.github.redisdelay.imports.queue.ImportScripts;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.imports.queue.PayloadConverter;
import io.github.redisdelay.imports.queue.RedissonImport;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The vectors of imports, as {@link ConformanceIT} has those of queues. */
class ConformanceOfImportsIT extends RecordedIT {

    private static final String SOURCE = "orders-before";
    private static final ImportOptions EVERYTHING = ImportOptions.EVERYTHING.withExecutor(Runnable::run);
    private static final long START_MILLIS = RecordedClient.START / 1000;
    private static final long IN_AN_HOUR = START_MILLIS + 3_600_000;

    /** A message whose id is its text. */
    private static final PayloadConverter BY_TEXT = payload -> new ConvertedPayload(payload, text(payload), 0);

    @BeforeAll
    static void start() throws IOException {
        start(Stream.concat(Stream.of(LuaScript.values()), Stream.of(ImportScripts.LOOK, ImportScripts.IMPORT))
                .toArray(LuaScript[]::new));
    }

    private static String text(byte[] payload) {
        return new String(payload, StandardCharsets.UTF_8);
    }

    private static String key(String name) {
        return VectorRecorder.BASE + ":" + name;
    }

    /** An element as Redisson 4.7.0 packs it, or 3.12.5, whose random id is text. */
    private static String element(boolean newFormat, String payload) {
        return (newFormat ? "\b" : "") + "randomid" + (char) payload.length() + "\0".repeat(7) + payload;
    }

    private static void offer(RecordedClient client, String element, long dueMillis) {
        client.redis("ZADD", key("source"), String.valueOf(dueMillis), element);
        client.redis("RPUSH", key("order"), element);
    }

    private static void run(RecordedClient client, PayloadConverter converter, ImportOptions options) {
        client.call(
                "import",
                Json.object(
                        "ahead",
                        options.ahead() == null ? null : DueTime.toMicros(options.ahead()),
                        "maximumQueueLength",
                        options.maximumQueueLength() == 0 ? null : options.maximumQueueLength()),
                () -> RedissonImport.into(client.queue)
                        .run(new ImportSource(SOURCE), converter, options)
                        .thenApply(ConformanceOfImportsIT::told));
    }

    private static Map<String, Object> told(ImportReport report) {
        return Json.object(
                "found", report.found(),
                "moved", report.moved(),
                "gone", report.gone(),
                "renamed", report.renamed(),
                "left", report.leftInAll(),
                "remaining", report.remaining(),
                "nextDue", report.nextDueMicros());
    }

    @Test
    void should_send_and_answer_these_calls_about_imports() {
        vector("Ready and pending messages, in both formats", client -> {
            client.redis("RPUSH", key("ready"), "ready-1", "ready-2");
            offer(client, element(true, "order-1"), IN_AN_HOUR);
            offer(client, element(true, "order-2"), IN_AN_HOUR);
            offer(client, element(false, "order-3"), START_MILLIS - 1);
            run(client, BY_TEXT, EVERYTHING);
            client.again();
            client.claim(10);
        });
        vector("What is due, and when the next one is", client -> {
            offer(client, element(true, "order-1"), START_MILLIS - 1);
            offer(client, element(true, "order-2"), IN_AN_HOUR);
            run(client, BY_TEXT, ImportOptions.DUE.withExecutor(Runnable::run));
        });
        vector("An id that is in use, a priority, and a generated id", client -> {
            client.schedule(message("order-1", DueTime.now()));
            offer(client, element(true, "order-1"), IN_AN_HOUR);
            offer(client, element(true, "order-2"), IN_AN_HOUR);
            client.redis("RPUSH", key("ready"), "ready-1");
            run(
                    client,
                    payload -> new ConvertedPayload(payload, text(payload).startsWith("o") ? text(payload) : null, 3),
                    EVERYTHING);
        });
        vector("A full queue", client -> {
            client.redis("RPUSH", key("ready"), "ready-1", "ready-2");
            run(client, BY_TEXT, EVERYTHING.withMaximumQueueLength(1));
        });
        vector("Messages that change between both calls: one is gone, and one has another time", client -> {
            offer(client, element(true, "order-1"), IN_AN_HOUR);
            offer(client, element(true, "order-2"), IN_AN_HOUR);
            run(
                    client,
                    payload -> {
                        if (text(payload).equals("order-1")) {
                            client.redis("ZREM", key("source"), element(true, "order-1"));
                            client.redis("ZADD", key("source"), "-1", element(true, "order-2"));
                        }
                        return BY_TEXT.convert(payload);
                    },
                    EVERYTHING);
        });
        vector("What stays: no element, a time before 1970, and one that nobody can convert", client -> {
            offer(client, "something else", IN_AN_HOUR);
            offer(client, element(true, "order-1"), -1);
            client.redis("RPUSH", key("ready"), "ready-1");
            run(
                    client,
                    payload -> {
                        throw new IllegalStateException("an unknown class");
                    },
                    EVERYTHING);
        });
        vector("Arguments that are none", client -> {
            refused(client, ImportScripts.LOOK, "all", 257, 1, 0, 1, "-inf", "");
            refused(client, ImportScripts.LOOK, "ahead=1h", 1, 1, 0, 1, "-inf", "");
            refused(client, ImportScripts.LOOK, "all", 1, 1, 0, 1, "soon", "");
            Object[] call = {"a client in Javas0", 1, VectorRecorder.BASE, "order-1", "waiting=0", "element", "body"};
            refused(client, ImportScripts.IMPORT, call);
            call[4] = "pending=1000";
            refused(client, ImportScripts.IMPORT, call);
            call[3] = "";
            refused(client, ImportScripts.IMPORT, call);
        });
        VectorFiles.assertVectors("imports.json", vectors);
    }

    private static void refused(RecordedClient client, LuaScript script, Object... arguments) {
        client.call(
                "refused",
                Map.of(),
                () -> recorder.send(
                        script,
                        ImportScripts.keys(client.address().keys(), SOURCE).of(script),
                        arguments));
    }

    @Test
    void should_have_these_scripts() {
        VectorFiles.assertScripts(
                "import-scripts.json",
                "extensions/camel-redis-delay-import/src/main/resources/io/github/redisdelay/imports/queue/lua",
                ImportScripts.LOOK,
                ImportScripts.IMPORT);
    }
}
