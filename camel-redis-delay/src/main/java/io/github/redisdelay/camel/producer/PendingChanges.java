// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.camel.Message;

/** The changes of one step, sent at once: one, or one for each message of a list. */
final class PendingChanges<T> implements PendingRequest {

    /** Puts the results into a message; for a list, throws an error if one has failed. */
    interface Results<T> {
        void put(List<PendingChange<T>> changes, Message message) throws Exception;
    }

    private final Supplier<CompletableFuture<List<PendingChange<T>>>> send; // null if they have been sent
    private final boolean list;
    private final Results<T> results;

    // Used by one thread at a time.
    private CompletableFuture<List<PendingChange<T>>> sent;

    /**
     * Sends changes that can be made only when something has been looked up.
     *
     * @param list true for the changes of a list
     * @param send looks up and sends; is called again only if it failed
     */
    static <T> PendingChanges<T> send(
            boolean list, Supplier<CompletableFuture<List<PendingChange<T>>>> send, Results<T> results) {
        return new PendingChanges<>(list, send, send.get(), results);
    }

    /** Changes that have been sent. */
    static <T> PendingChanges<T> of(boolean list, List<PendingChange<T>> changes, Results<T> results) {
        return new PendingChanges<>(list, null, CompletableFuture.completedFuture(changes), results);
    }

    private PendingChanges(
            boolean list,
            Supplier<CompletableFuture<List<PendingChange<T>>>> send,
            CompletableFuture<List<PendingChange<T>>> sent,
            Results<T> results) {
        this.list = list;
        this.send = send;
        this.sent = sent;
        this.results = results;
    }

    private boolean isSent() {
        return sent.isDone() && !sent.isCompletedExceptionally();
    }

    @Override
    public CompletableFuture<?> answered() {
        return isSent() ? allAnswered(sent.join()) : sent.thenCompose(PendingChanges::allAnswered);
    }

    private static CompletableFuture<?> allAnswered(List<? extends PendingChange<?>> changes) {
        return changes.size() == 1
                ? changes.get(0).answered()
                : CompletableFuture.allOf(
                        changes.stream().map(PendingChange::answered).toArray(CompletableFuture[]::new));
    }

    @Override
    public void resume(Duration timeout) {
        if (isSent()) {
            sent.join().forEach(change -> change.resume(timeout));
        } else {
            sent = send.get();
        }
    }

    @Override
    public void complete(Message message) throws Exception {
        List<PendingChange<T>> changes = PendingRequest.value(sent);
        Exception error = list ? null : changes.get(0).error();
        if (error != null) {
            throw error;
        }
        results.put(changes, message);
    }

    /** A list always: what is done must not be asked for once more because something else failed. */
    @Override
    public boolean mustResume() {
        return isSent() && (list || sent.join().get(0).mustResume());
    }
}
