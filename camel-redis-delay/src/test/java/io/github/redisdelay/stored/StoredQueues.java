// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.stored;

import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** All that can be seen of queues without changing them, as text. */
final class StoredQueues {

    private StoredQueues() {}

    static List<String> describe(DelayQueueClient client, Map<String, Integer> partitions) {
        List<String> lines = new ArrayList<>();
        new TreeMap<>(partitions).forEach((name, number) -> {
            DelayQueue queue = client.queue(name, number);
            describe(name, queue, lines);
            describe(name + " dead", queue.deadLetters(), lines);
        });
        return lines;
    }

    private static void describe(String name, DelayQueue queue, List<String> lines) {
        lines.add(name + (queue.admin().stats().join().paused() ? " is paused" : " is not paused"));
        for (MessageState state : List.of(MessageState.DELAYED, MessageState.LEASED)) {
            String from = null;
            do {
                MessagePage page =
                        queue.admin().list(state, PageStart.next(from), 2).join();
                for (MessageInfo info : page.messages()) {
                    lines.add(name + " " + message(queue.get(info.id()).join().orElseThrow()));
                }
                from = page.next();
            } while (from != null);
        }
    }

    private static String message(StoredMessage stored) {
        MessageInfo info = stored.info();
        Envelope envelope = Envelope.decode(stored.body());
        return info.state() + " " + info.id() + ", scheduled " + time(stored.scheduledMicros()) + ", due "
                + time(info.dueMicros())
                + (info.leaseEndMicros() > 0 ? ", leased until " + time(info.leaseEndMicros()) : "")
                + ", priority " + info.priority() + ", attempts " + info.attempts() + ", redelivery "
                + info.redeliveryReason() + ", " + envelope.settings() + ", content type " + envelope.contentType()
                + ", headers " + values(envelope.headers()) + ", body " + value(envelope.body()) + ", failure "
                + new String(info.lastFailure(), StandardCharsets.UTF_8);
    }

    private static Instant time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    static String values(Map<String, ?> headers) {
        return headers.entrySet().stream()
                .map(header -> header.getKey() + "=" + value(header.getValue()))
                .sorted()
                .collect(Collectors.joining(", ", "{", "}"));
    }

    /** With its type, so that 1 is another value than 1.0 or "1". */
    static String value(Object value) {
        if (value == null) {
            return "null";
        }
        String text = value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : value.toString();
        return value.getClass().getSimpleName() + " " + text;
    }
}
