// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.exception.DelayQueueException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.camel.Message;

/**
 * The headers with the results of changes.
 *
 * @param list true if ids were given as a list, so that results are lists, too
 * @param deadLetters true if the ids are those of dead letters
 */
record ChangeHeaders(String queue, boolean list, boolean deadLetters) {

    /**
     * A change of one message.
     *
     * @param previousState the state before the change
     * @param result {@link #DONE}, or the reason why nothing was done
     * @param dueMillis the new due time; 0 if there is none
     * @param deadLetterId the newest dead letter of a message that was given up; else null
     */
    record Change(String previousState, String result, long dueMillis, String deadLetterId) {

        static final String DONE = "done";

        Change(String previousState, String result, long dueMillis) {
            this(previousState, result, dueMillis, null);
        }

        private boolean isDone() {
            return result.equals(DONE);
        }
    }

    /** @param change reads an answer */
    <T> PendingRequest.Results<List<PendingChange<T>>> results(Function<T, Change> change) {
        return (all, message) -> put(all, change, message);
    }

    private <T> void put(List<PendingChange<T>> all, Function<T, Change> change, Message message) {
        List<PendingChange<T>> failed =
                all.stream().filter(each -> each.error() != null).toList();
        if (!failed.isEmpty()) {
            throw partlyFailed(failed, all.size());
        }
        List<String> ids = all.stream().map(PendingChange::id).toList();
        List<Change> changes =
                all.stream().map(each -> change.apply(each.result())).toList();
        // The answers to an earlier change are none to this one.
        message.removeHeader(RedisDelayConstants.DEAD_LETTER_ID);
        message.removeHeader(RedisDelayConstants.DUE_TIME);
        message.setHeader(RedisDelayConstants.QUEUE, queue);
        message.setHeader(
                RedisDelayConstants.COUNT,
                changes.stream().filter(Change::isDone).count());
        put(message, RedisDelayConstants.MESSAGE_ID, ids, id -> deadLetters ? DeadLetterId.messageIdOf(id) : id);
        List<String> letters = new ArrayList<>(ids.size());
        for (int i = 0; i < ids.size(); i++) {
            String found = changes.get(i).deadLetterId();
            letters.add(found == null ? named(ids.get(i)) : found);
        }
        if (letters.stream().anyMatch(each -> !each.isEmpty())) {
            put(message, RedisDelayConstants.DEAD_LETTER_ID, letters, each -> each);
        }
        put(message, RedisDelayConstants.PREVIOUS_STATE, changes, Change::previousState);
        put(message, RedisDelayConstants.RESULT, changes, Change::result);
        if (changes.stream().anyMatch(each -> each.dueMillis() > 0)) {
            put(message, RedisDelayConstants.DUE_TIME, changes, Change::dueMillis);
        }
    }

    private String named(String id) {
        return deadLetters && DeadLetterId.parse(id) != null ? id : "";
    }

    private <E> void put(Message message, String header, List<E> all, Function<E, Object> value) {
        message.setHeader(header, list ? all.stream().map(value).toList() : value.apply(all.get(0)));
    }

    private <T> DelayQueueException partlyFailed(List<PendingChange<T>> failed, int all) {
        Exception first = failed.get(0).error();
        String shown = failed.stream().limit(10).map(PendingChange::id).collect(Collectors.joining(", "));
        return new DelayQueueException(
                failed.size() + " of " + all + " messages of queue '" + queue + "' could not be changed (" + shown
                        + (failed.size() > 10 ? ", …" : "") + "), the others were: " + first.getMessage(),
                first);
    }
}
