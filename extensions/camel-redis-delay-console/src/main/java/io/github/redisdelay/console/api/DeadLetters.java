// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueAdmin;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The dead letters of a queue by their cause, as far as they were looked at: the newest ones.
 *
 * @param lookedAt how many were looked at
 * @param complete whether these are all that there are, or all since the time that was asked for
 * @param causes the ones with the most letters first
 * @param more whether there are causes besides these
 */
public record DeadLetters(Instant time, int lookedAt, boolean complete, List<Cause> causes, boolean more) {

    /** The most dead letters that are looked at. */
    static final int MOST = 10_000;

    private static final int MOST_CAUSES = 200;
    private static final int MOST_HOSTS = 10;
    private static final int NEWEST = 3;
    private static final int BARS = 12;
    /** The most characters of a message of an exception that stands for a cause. */
    private static final int MOST_TEXT = 1000;

    /**
     * Dead letters of one cause.
     *
     * @param cause tells it from others; means nothing else
     * @param exception null if there was none
     * @param message the one of the newest letter; may be null
     * @param bars how many there are in each twelfth of the time from the first to the last
     * @param newest the ids of the newest letters
     */
    public record Cause(
            String cause,
            String exception,
            String route,
            String reason,
            String message,
            int count,
            Instant first,
            Instant last,
            List<String> hosts,
            List<Long> bars,
            List<String> newest) {}

    /** A cause while it is made. */
    private static final class Letters {
        final FailureRecord newest;
        final List<Long> times = new ArrayList<>();
        final List<String> ids = new ArrayList<>();
        final Set<String> hosts = new LinkedHashSet<>();

        Letters(FailureRecord newest) {
            this.newest = newest;
        }

        Cause cause(String key) {
            long first = times.stream().mapToLong(Long::longValue).min().orElseThrow();
            long last = times.stream().mapToLong(Long::longValue).max().orElseThrow();
            Long[] bars = new Long[BARS];
            Arrays.fill(bars, 0L);
            double width = (last - first + 1.0) / BARS;
            times.forEach(time -> bars[(int) Math.min(BARS - 1, (time - first) / width)]++);
            String message = newest == null ? null : newest.message();
            return new Cause(
                    key,
                    newest == null ? null : newest.exception(),
                    newest == null ? null : newest.routeId(),
                    newest == null ? null : newest.reason(),
                    message == null || message.length() <= MOST_TEXT ? message : message.substring(0, MOST_TEXT) + "…",
                    times.size(),
                    Times.of(first),
                    Times.of(last),
                    List.copyOf(hosts),
                    List.of(bars),
                    List.copyOf(ids));
        }
    }

    /** A walk over the dead letters of a queue, page by page: one thread at a time is in it. */
    private static final class Walk {
        private final ObservedQueue queue;
        private final Long since;
        private final int most;
        private final Map<String, Letters> causes = new HashMap<>();
        private int lookedAt;
        private boolean ended;

        Walk(ObservedQueue queue, Long since, int most) {
            this.queue = queue;
            this.since = since;
            this.most = most;
        }

        CompletableFuture<DeadLetters> from(PageStart start) {
            return queue.ask(
                            asked -> asked.deadLetters().admin().list(MessageState.DELAYED, start, QueueAdmin.MAX_PAGE))
                    .thenCompose(page -> {
                        look(page);
                        return ended || lookedAt >= most ? done() : from(PageStart.next(page.next()));
                    });
        }

        private void look(MessagePage page) {
            ended = page.next() == null;
            for (MessageInfo letter : page.messages()) {
                // In the order of their due times: a letter that its consumer returned may be older than it looks.
                if (since != null && letter.dueMicros() < since) {
                    ended = true;
                    return;
                }
                if (lookedAt == most) {
                    ended = false;
                    return;
                }
                lookedAt++;
                if (since == null || givenUpMicros(letter) >= since) {
                    add(letter);
                }
            }
        }

        private void add(MessageInfo letter) {
            FailureRecord failure = FailureRecord.decode(letter.lastFailure());
            Letters letters = causes.computeIfAbsent(key(failure), key -> new Letters(failure));
            letters.times.add(givenUpMicros(letter));
            if (letters.ids.size() < NEWEST) {
                letters.ids.add(letter.id());
            }
            if (failure != null && failure.host() != null && letters.hosts.size() < MOST_HOSTS) {
                letters.hosts.add(failure.host());
            }
        }

        private CompletableFuture<DeadLetters> done() {
            return queue.figures()
                    .thenApply(stats -> new DeadLetters(
                            Times.of(stats.timeMicros()),
                            lookedAt,
                            ended,
                            causes.entrySet().stream()
                                    .map(entry -> entry.getValue().cause(entry.getKey()))
                                    .sorted(Comparator.comparingInt(Cause::count)
                                            .reversed()
                                            .thenComparing(Cause::last, Comparator.reverseOrder()))
                                    .limit(MOST_CAUSES)
                                    .toList(),
                            causes.size() > MOST_CAUSES));
        }
    }

    /**
     * Reads them.
     *
     * @param since the time of the oldest one, in microseconds; null for any
     */
    static CompletableFuture<DeadLetters> read(ObservedQueue queue, Long since, int most) {
        return new Walk(queue, since, most).from(PageStart.newest());
    }

    /** The time when a message was given up. */
    static long givenUpMicros(MessageInfo letter) {
        DeadLetterId id = DeadLetterId.parse(letter.id());
        return id == null || id.time().length() > 16 ? letter.dueMicros() : Long.parseLong(id.time());
    }

    /** The cause of a dead letter. */
    static String key(MessageInfo letter) {
        return key(FailureRecord.decode(letter.lastFailure()));
    }

    /** A digest of the cause: it needs no memory, and its name no escapes. */
    private static String key(FailureRecord failure) {
        String cause = failure == null
                ? "none"
                : quoted(failure.exception()) + quoted(failure.routeId()) + quoted(failure.reason());
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(cause.getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(digest, 12));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // each Java has it
        }
    }

    /** Text of which several can stand in a row. */
    private static String quoted(String text) {
        return text == null ? "-" : text.length() + ":" + text;
    }
}
