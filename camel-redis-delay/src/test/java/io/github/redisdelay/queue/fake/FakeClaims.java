// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.fake;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.internal.consume.ClaimCalls;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.format.StateRecord;
import io.github.redisdelay.queue.internal.format.StoredBody;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** Claims that a test answers, one by one. */
public final class FakeClaims implements ClaimCalls {

    /** A claim that was sent. */
    public record Sent(ClaimRequest request, long atNanos, CompletableFuture<ClaimReply> answer) {}

    public static final Duration SAFETY = Duration.ofSeconds(30);
    public static final long TIME = 1_700_000_000_000_000L;

    private final Timers timers;
    public final List<Sent> sent = new ArrayList<>();
    /** Answers each claim with an empty hand at once. */
    public boolean answerEmpty;

    public RuntimeException failure;
    public int closed;
    /** How often the consumer has left the idle consumers. */
    public int left;

    public Runnable onLeave = () -> {};

    public FakeClaims(Timers timers) {
        this.timers = timers;
    }

    @Override
    public CompletableFuture<ClaimReply> claim(ClaimRequest request, CompletableFuture<ClaimReply> answer) {
        sent.add(new Sent(request, timers.nanoTime(), answer));
        if (failure != null) {
            throw failure;
        }
        if (answerEmpty) {
            answer.complete(reply(null, null));
        }
        return answer;
    }

    @Override
    public Runnable leave(ClaimId claimId) {
        left++;
        return onLeave;
    }

    @Override
    public CompletableFuture<Void> close() {
        closed++;
        return CompletableFuture.completedFuture(null);
    }

    public int count() {
        return sent.size();
    }

    public Sent last() {
        return sent.get(sent.size() - 1);
    }

    public void answer(ClaimReply reply) {
        assertThat(last().answer().complete(reply)).as("a claim is under way").isTrue();
    }

    /** The claim under way is refused. */
    public void refuse(String message) {
        assertThat(last().answer().completeExceptionally(new IllegalStateException(message)))
                .as("a claim is under way")
                .isTrue();
    }

    /** A reply; null means that there is no such thing. */
    public static ClaimReply reply(Duration nextDue, Duration nextExpiry, ClaimReply.ClaimedMessage... messages) {
        return new ClaimReply(
                TIME,
                micros(nextDue),
                micros(nextExpiry),
                again(nextDue, nextExpiry),
                List.of(messages),
                List.of(),
                false);
    }

    /** As of one that comes by the next event. */
    private static long again(Duration nextDue, Duration nextExpiry) {
        return Stream.of(nextDue, nextExpiry, SAFETY)
                .filter(Objects::nonNull)
                .mapToLong(FakeClaims::micros)
                .min()
                .orElseThrow();
    }

    public static ClaimReply.ClaimedMessage message(String id) {
        return message(id, 0);
    }

    public static ClaimReply.ClaimedMessage message(String id, int lostLeases) {
        return new ClaimReply.ClaimedMessage(
                id,
                id.getBytes(java.nio.charset.StandardCharsets.UTF_8),
                new StoredBody(TIME - 10, new byte[0], null),
                new StateRecord(
                        lostLeases,
                        lostLeases == 0 ? RedeliveryReason.NONE : RedeliveryReason.LEASE_EXPIRED,
                        0,
                        1 + lostLeases,
                        TIME - 5,
                        TIME - 5,
                        new byte[0],
                        null,
                        0,
                        0,
                        0,
                        null),
                false);
    }

    public static ClaimReply.ClaimedMessage[] messages(int from, int to) {
        ClaimReply.ClaimedMessage[] all = new ClaimReply.ClaimedMessage[to - from];
        for (int i = from; i < to; i++) {
            all[i - from] = message("m" + i);
        }
        return all;
    }

    private static long micros(Duration duration) {
        return duration == null ? -1 : duration.toNanos() / 1000;
    }
}
