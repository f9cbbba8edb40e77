// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.message.MessageMapper;
import io.github.redisdelay.camel.producer.StoredMessageReader;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.StoredMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.camel.Exchange;
import org.apache.camel.Message;

/**
 * Reads a queue for Camel's tools, which want exchanges: its delayed messages, its leased ones, or the dead letters. It claims
 * and changes nothing, and keeps nothing of what it has found.
 *
 * @param state of the messages
 * @param exchanges makes an exchange
 */
record QueueBrowser(
        boolean dead, MessageState state, MessageMapper mapper, Supplier<Exchange> exchanges, QueueCalls calls) {

    /** How many bodies are asked for at a time. */
    private static final int PAGE = 32;

    private static final String FAILED = "its messages could not be read";

    private record Page(Stream<StoredMessage> messages, String next) {}

    /**
     * The first messages in the order of a list.
     *
     * @param limit how many are returned at the most; 0 and what is above {@code most} mean that
     * @param most how many are read at the most
     * @param filter which are returned; null for all
     * @throws org.apache.camel.RuntimeCamelException if Redis cannot be asked
     */
    List<Exchange> browse(int limit, int most, Predicate<Exchange> filter) {
        int wanted = limit > 0 ? Math.min(limit, most) : most;
        List<Exchange> found = new ArrayList<>();
        String cursor = null;
        int left = filter == null ? wanted : most;
        Reference<OpenClient> held = calls.client().get(); // for all pages
        try {
            do {
                String from = cursor;
                int size = Math.min(PAGE, left);
                Page page = calls.ask(FAILED, queue -> page(dead ? queue.deadLetters() : queue, from, size));
                page.messages()
                        .map(this::exchange)
                        .filter(exchange -> filter == null || filter.test(exchange))
                        .limit(wanted - found.size())
                        .forEach(found::add);
                left -= size;
                cursor = page.next();
            } while (cursor != null && left > 0 && found.size() < wanted);
            return found;
        } finally {
            held.release();
        }
    }

    private CompletableFuture<Page> page(DelayQueue queue, String from, int size) {
        return queue.admin().list(state, PageStart.next(from), size).thenCompose(page -> {
            List<CompletableFuture<Optional<StoredMessage>>> messages =
                    page.messages().stream().map(info -> get(queue, info)).toList();
            return CompletableFuture.allOf(messages.toArray(CompletableFuture[]::new))
                    .thenApply(all -> new Page(
                            messages.stream()
                                    .flatMap(message -> message.join().stream())
                                    // It may have been claimed, or finished, in between.
                                    .filter(message -> message.info().state() == state),
                            page.next()));
        });
    }

    /** In a queue with partitions the group of a message chooses its one. */
    private static CompletableFuture<Optional<StoredMessage>> get(DelayQueue queue, MessageInfo info) {
        return (info.group() == null ? queue : queue.group(info.group()).queue()).get(info.id());
    }

    private Exchange exchange(StoredMessage stored) {
        Exchange exchange = exchanges.get();
        Message message = exchange.getMessage();
        StoredMessageReader.fill(stored, calls.name(), mapper, message, exchange);
        StoredMessageReader.headersOf(stored.info(), dead).forEach(message::setHeader);
        message.setHeader(Exchange.MESSAGE_TIMESTAMP, stored.scheduledMicros() / 1000);
        return exchange;
    }

    /**
     * The number of messages, of parked ones that of those which are due, without reading one.
     *
     * @throws org.apache.camel.RuntimeCamelException if Redis cannot be asked
     */
    int size() {
        QueueStats stats = calls.ask(
                FAILED, queue -> (dead ? queue.deadLetters() : queue).admin().stats());
        long count =
                switch (state) {
                    case LEASED -> stats.leased();
                    case PARKED -> stats.parked();
                    default -> stats.delayed();
                };
        return (int) Math.min(Integer.MAX_VALUE, count);
    }
}
