// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.DelayQueueException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.camel.Message;

/** Changes of messages that were sent at once: one, or one for each id of a list. */
final class SentChanges<T> implements SentRequest {

    /**
     * What a change found and did.
     *
     * @param previousState where the message was
     * @param result what was done, or why nothing was
     * @param dueMillis the new due time; 0 if there is none
     * @param deadLetterId of a message that was found to be dead: its newest dead letter; else null
     * @param deadLetters how many dead letters it has then; else 0
     */
    record Change(String previousState, String result, long dueMillis, String deadLetterId, int deadLetters) {

        static final String DONE = "done";

        Change(String previousState, String result, long dueMillis) {
            this(previousState, result, dueMillis, null, 0);
        }

        private boolean isDone() {
            return result.equals(DONE);
        }
    }

    /** One of the changes. */
    record Part<T>(String id, SentOperation<T> operation) {}

    private final String queue;
    private final boolean list;
    private final boolean deadLetters;
    private final List<Part<T>> parts;
    private final Function<T, Change> change;

    /**
     * @param list whether ids were given as a list, so that results are lists, too
     * @param deadLetters whether the ids are those of dead letters
     */
    SentChanges(String queue, boolean list, boolean deadLetters, List<Part<T>> parts, Function<T, Change> change) {
        this.queue = queue;
        this.list = list;
        this.deadLetters = deadLetters;
        this.parts = parts;
        this.change = change;
    }

    @Override
    public CompletableFuture<?> answered() {
        return CompletableFuture.allOf(
                parts.stream().map(part -> part.operation().answered()).toArray(CompletableFuture[]::new));
    }

    @Override
    public CompletableFuture<?> again(Duration timeout) {
        parts.forEach(part -> part.operation().again(timeout));
        return answered();
    }

    @Override
    public void complete(Message message) throws Exception {
        List<Change> changes = new ArrayList<>(parts.size());
        List<String> failed = new ArrayList<>();
        Throwable first = null;
        for (Part<T> part : parts) {
            Throwable error = part.operation().error();
            if (error == null) {
                changes.add(change.apply(part.operation().result()));
            } else {
                failed.add(part.id());
                first = first == null ? error : first;
            }
        }
        if (first != null) {
            throw list ? partlyFailed(failed, first) : asException(first);
        }
        // What an earlier change answered is no answer to this one.
        message.removeHeader(RedisDelayConstants.DEAD_LETTER_ID);
        message.removeHeader(RedisDelayConstants.DEAD_LETTER_COUNT);
        message.removeHeader(RedisDelayConstants.DUE_TIME);
        message.setHeader(RedisDelayConstants.QUEUE, queue);
        message.setHeader(
                RedisDelayConstants.COUNT,
                changes.stream().filter(Change::isDone).count());
        put(
                message,
                RedisDelayConstants.MESSAGE_ID,
                parts,
                part -> deadLetters ? DeadLetterId.messageIdOf(part.id()) : part.id());
        List<String> letters = new ArrayList<>(parts.size());
        for (int i = 0; i < parts.size(); i++) {
            String found = changes.get(i).deadLetterId();
            String named = deadLetters && DeadLetterId.parse(parts.get(i).id()) != null
                    ? parts.get(i).id()
                    : "";
            letters.add(found == null ? named : found);
        }
        if (letters.stream().anyMatch(each -> !each.isEmpty())) {
            put(message, RedisDelayConstants.DEAD_LETTER_ID, letters, each -> each);
        }
        if (changes.stream().anyMatch(each -> each.deadLetters() > 0)) {
            put(message, RedisDelayConstants.DEAD_LETTER_COUNT, changes, Change::deadLetters);
        }
        put(message, RedisDelayConstants.PREVIOUS_STATE, changes, Change::previousState);
        put(message, RedisDelayConstants.RESULT, changes, Change::result);
        if (changes.stream().anyMatch(each -> each.dueMillis() > 0)) {
            put(message, RedisDelayConstants.DUE_TIME, changes, Change::dueMillis);
        }
    }

    private <E> void put(Message message, String header, List<E> all, Function<E, Object> value) {
        message.setHeader(header, list ? all.stream().map(value).toList() : value.apply(all.get(0)));
    }

    private Exception partlyFailed(List<String> failed, Throwable first) {
        List<String> shown = failed.size() <= 10 ? failed : failed.subList(0, 10);
        return new DelayQueueException(
                failed.size() + " of " + parts.size() + " messages of queue '" + queue + "' could not be changed ("
                        + String.join(", ", shown) + (shown.size() < failed.size() ? ", …" : "")
                        + "), the others were: "
                        + first.getMessage(),
                first);
    }

    private static Exception asException(Throwable error) {
        return error instanceof Exception exception ? exception : new IllegalStateException(error);
    }

    /** A list always: what is done must not be asked for once more because something else failed. */
    @Override
    public boolean isToBeContinued() {
        return list || parts.get(0).operation().isToBeContinued();
    }
}
