// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.camel.delivery.ScheduleDeclaration;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.console.api.ApiException.Kind;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.GroupInfo;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.queue.envelope.EnvelopeFormatException;
import io.github.redisdelay.queue.exception.ShownId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The views of messages: pages of them, and one in any state. */
final class MessageViews {

    static final String DELAYED = "delayed";
    static final String PARKED = "parked";
    static final String LEASED = "leased";
    static final String DEAD = "dead";
    static final List<String> STATES = List.of(DELAYED, PARKED, LEASED, DEAD);

    private final ContentView contents;

    /** The last failure of a message. */
    public record FailureRow(
            Instant at, int attempt, String exception, String message, String route, String host, String reason) {

        private static FailureRow of(FailureRecord failure) {
            return new FailureRow(
                    failure.time().equals(Instant.EPOCH) ? null : failure.time(),
                    Math.max(0, failure.attempt()),
                    failure.exception(),
                    failure.message(),
                    failure.routeId(),
                    failure.host(),
                    failure.reason());
        }
    }

    /**
     * The recurring schedule that a message is.
     *
     * @param timeZone of a cron expression; null of an interval
     * @param run the time of the rule for which the next or current run is
     * @param next the time behind that one; null if the rule cannot be evaluated here
     * @param last the time of the rule for which the run was that ended last; null if none has
     * @param runsGivenUp how many runs were given up
     * @param declaredBy {@code route} or {@code producer}; null where that is not known
     */
    public record ScheduleRow(
            String rule, String timeZone, Instant run, Instant next, Instant last, int runsGivenUp, String declaredBy) {

        private static ScheduleRow of(MessageInfo info, String declaredBy, long nowMicros) {
            long next = info.nextRunMicros(nowMicros);
            String rule = info.rule();
            return new ScheduleRow(
                    rule,
                    rule.startsWith("cron ") ? rule.substring(rule.lastIndexOf(' ') + 1) : null,
                    Times.of(info.runMicros()),
                    next < 0 ? null : Times.of(next),
                    info.lastRunMicros() == 0 ? null : Times.of(info.lastRunMicros()),
                    info.runsGivenUp(),
                    declaredBy);
        }
    }

    /**
     * A message without its content.
     *
     * @param messageId of a dead letter, the id of its message; else the same as the id
     * @param parked whether it is due, and its group holds it back; it is delayed, too
     * @param group null if it has none
     * @param deadAt when it was given up; null if it was not
     * @param leaseEnd null if it is not leased, or is a dead letter
     * @param attempts of a dead letter, how many deliveries its message had; 0 if nobody knows
     * @param schedule null if it is no recurring schedule, and of the dead letter of a run
     */
    public record Message(
            String id,
            String messageId,
            String state,
            boolean parked,
            String group,
            Instant due,
            Instant deadAt,
            Instant leaseEnd,
            String leaseOwner,
            int attempts,
            String reason,
            int priority,
            FailureRow failure,
            ScheduleRow schedule) {

        static Message of(ObservedQueue queue, MessageInfo info, boolean dead, long nowMicros) {
            return of(info, dead, queue.isDeclaredHere(info) ? "route" : null, nowMicros);
        }

        /** @param declaredBy of a recurring schedule; null where that is not known */
        private static Message of(MessageInfo info, boolean dead, String declaredBy, long nowMicros) {
            FailureRecord failure = FailureRecord.decode(info.lastFailure());
            boolean held = info.state() == MessageState.LEASED;
            return new Message(
                    info.id(),
                    dead ? DeadLetterId.messageIdOf(info.id()) : info.id(),
                    dead ? DEAD : held ? LEASED : DELAYED,
                    info.state() == MessageState.PARKED,
                    info.group(),
                    Times.of(info.dueMicros()),
                    dead ? Times.of(DeadLetters.givenUpMicros(info)) : null,
                    held ? Times.of(info.leaseEndMicros()) : null,
                    info.leaseOwner(),
                    !dead ? info.attempts() : failure == null ? 0 : failure.attempt(),
                    dead
                            ? failure == null || failure.reason() == null ? "none" : failure.reason()
                            : text(info.redeliveryReason()),
                    info.priority(),
                    failure == null ? null : FailureRow.of(failure),
                    dead || info.rule() == null ? null : ScheduleRow.of(info, declaredBy, nowMicros));
        }

        private static String text(RedeliveryReason reason) {
            return switch (reason) {
                case NONE -> "none";
                case FAILED -> "failed";
                case LEASE_EXPIRED -> "leaseExpired";
                case RELEASED -> "released";
            };
        }
    }

    /**
     * A page of messages.
     *
     * @param group the group whose messages they are; null for those in a state
     */
    public record Page(Instant time, List<Message> messages, String next, GroupRow group) {}

    /**
     * A group.
     *
     * @param pausedUntil null if it is not paused; in the year 2255 if it is paused until it is resumed
     */
    public record GroupRow(String name, long parked, long messages, Instant pausedUntil) {

        static GroupRow of(GroupInfo group) {
            return new GroupRow(
                    group.name(),
                    group.parked(),
                    group.messages(),
                    group.pausedUntilMicros() == 0 ? null : Times.of(group.pausedUntilMicros()));
        }
    }

    /** A message in full, and its dead letters, the newest first. */
    public record Found(Instant time, List<FlattenedJson> messages, List<String> deadLetters, GroupView group) {}

    /**
     * The group of a message that is there.
     *
     * @param parked how many of its messages are parked, due or not
     * @param places how many of its messages have a place; of a group with parked ones, the limit of the queue's groups
     * @param before how many messages of it are before this one; null if they are more than {@value QueueAdmin#MAX_PAGE}
     * @param first the first message of it
     * @param pausedUntil as of {@link GroupRow}
     */
    public record GroupView(
            String name, long messages, long parked, long places, Integer before, Message first, Instant pausedUntil) {}

    MessageViews(ContentView contents) {
        this.contents = contents;
    }

    /** A page of the messages in a state. */
    Page page(ObservedQueue queue, String state, PageStart start, int limit) {
        boolean dead = state.equals(DEAD);
        CompletableFuture<MessagePage> asked = queue.ask(asking -> (dead ? asking.deadLetters() : asking)
                .admin()
                .list(
                        dead ? MessageState.DELAYED : MessageState.valueOf(state.toUpperCase(Locale.ROOT)),
                        start,
                        limit));
        return page(queue, asked, dead, null);
    }

    /** The message with this id in any state; of its dead letters, or if this is the id of one, the newest. */
    Found message(ObservedQueue queue, String id, String group) {
        long time = Answers.of(queue.figures()).timeMicros();
        List<String> letters = letters(queue, id, group);
        Optional<StoredMessage> live = live(queue, id, group);
        Optional<StoredMessage> letter = letters.isEmpty() ? Optional.empty() : letter(queue, letters.get(0), group);
        if (live.isEmpty() && letter.isEmpty()) {
            live = live(queue, id, group); // it may have been moved back in between
        }
        List<FlattenedJson> found = new ArrayList<>();
        live.ifPresent(stored -> found.add(inFull(queue, stored, false, time)));
        letter.ifPresent(stored -> found.add(inFull(queue, stored, true, time)));
        if (found.isEmpty()) {
            throw notFound(queue, id);
        }
        return new Found(
                Times.of(time),
                found,
                letters,
                live.map(StoredMessage::info)
                        .filter(info -> info.group() != null)
                        .map(info -> group(queue, info, time))
                        .orElse(null));
    }

    private static GroupView group(ObservedQueue queue, MessageInfo message, long time) {
        String name = message.group();
        GroupInfo figures = Answers.of(queue.ask(asked -> asked.group(name).info()));
        List<MessageInfo> first = Answers.of(
                        queue.ask(asked -> asked.group(name).list(null, QueueAdmin.MAX_PAGE)))
                .messages();
        int before = first.stream().map(MessageInfo::id).toList().indexOf(message.id());
        return new GroupView(
                name,
                figures.messages(),
                figures.parked(),
                figures.messages() - figures.parked(),
                before < 0 ? null : before,
                first.isEmpty() ? null : Message.of(queue, first.get(0), false, time),
                GroupRow.of(figures).pausedUntil());
    }

    /** A page of the messages of a group, those with a place first. */
    Page page(ObservedQueue queue, String group, String cursor, int limit) {
        CompletableFuture<MessagePage> asked =
                queue.ask(asking -> asking.group(group).list(cursor, limit));
        GroupInfo figures = Answers.of(queue.ask(asking -> asking.group(group).info()));
        return page(queue, asked, false, GroupRow.of(figures));
    }

    private static Page page(ObservedQueue queue, CompletableFuture<MessagePage> asked, boolean dead, GroupRow group) {
        long time = Answers.of(queue.figures()).timeMicros();
        MessagePage page = Answers.of(asked);
        return new Page(
                Times.of(time),
                page.messages().stream()
                        .map(info -> Message.of(queue, info, dead, time))
                        .toList(),
                page.next(),
                group);
    }

    /** The stored content of a message, or of the newest of its dead letters. */
    byte[] body(ObservedQueue queue, String id, String group) {
        Optional<StoredMessage> found = live(queue, id, group)
                .or(() ->
                        letters(queue, id, group).stream().findFirst().flatMap(letter -> letter(queue, letter, group)));
        return contents.bytes(queue.name(), found.orElseThrow(() -> notFound(queue, id)));
    }

    private FlattenedJson inFull(ObservedQueue queue, StoredMessage stored, boolean dead, long nowMicros) {
        String declaredBy = isOfRoute(queue, stored) ? "route" : "producer";
        return new FlattenedJson(
                Message.of(stored.info(), dead, declaredBy, nowMicros), contents.of(queue.name(), stored));
    }

    /** Returns whether a route has declared this recurring schedule, here or elsewhere; it may be gone by now. */
    static boolean isOfRoute(ObservedQueue queue, StoredMessage stored) {
        if (stored.info().rule() == null || queue.isDeclaredHere(stored.info())) {
            return stored.info().rule() != null;
        }
        try {
            return Envelope.decode(stored.body()).headers().containsKey(ScheduleDeclaration.DECLARED);
        } catch (EnvelopeFormatException e) {
            return false;
        }
    }

    static ApiException notFound(ObservedQueue queue, String id) {
        return new ApiException(
                Kind.NOT_FOUND,
                "queue '" + queue.name() + "' has no message '" + ShownId.of(id)
                        + "': it was delivered or removed, or was never there");
    }

    /** A delayed or leased message. */
    Optional<StoredMessage> live(ObservedQueue queue, String id, String group) {
        // Only a dead letter's id may be longer than an id can be.
        return id.getBytes(StandardCharsets.UTF_8).length > ScheduleRequest.MAX_ID_BYTES
                ? Optional.empty()
                : Answers.of(queue.ask(group, asked -> asked.get(id)));
    }

    Optional<StoredMessage> letter(ObservedQueue queue, String deadLetterId, String group) {
        return Answers.of(queue.ask(group, asked -> asked.deadLetters().get(deadLetterId)));
    }

    /** The dead letters that an id means, the newest first. */
    private List<String> letters(ObservedQueue queue, String id, String group) {
        List<DeadLetterId> indexed =
                Answers.of(queue.ask(group, (DelayQueue asked) -> asked.admin().deadLettersOf(id)));
        if (indexed.isEmpty()) {
            // Another client may give dead letters any id.
            return letter(queue, id, group).isPresent() ? List.of(id) : List.of();
        }
        return indexed.stream().map(DeadLetterId::toString).toList();
    }
}
