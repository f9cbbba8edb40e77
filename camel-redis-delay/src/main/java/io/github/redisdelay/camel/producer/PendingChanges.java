// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.camel.Message;

/**
 * The changes of one step, sent at once: one, or one for each message of a list.
 *
 * @param list true for the changes of a list
 * @param sent completes when they have been sent
 * @param results puts the answers into a message; for a list, throws an error if one has failed
 */
record PendingChanges<T>(
        boolean list, CompletableFuture<List<PendingChange<T>>> sent, Results<List<PendingChange<T>>> results)
        implements PendingRequest {

    /** Changes that have been sent. */
    PendingChanges(boolean list, List<PendingChange<T>> changes, Results<List<PendingChange<T>>> results) {
        this(list, CompletableFuture.completedFuture(changes), results);
    }

    @Override
    public CompletableFuture<?> answered() {
        if (!list && sent.isDone() && !sent.isCompletedExceptionally()) {
            return sent.join().get(0).answered();
        }
        return sent.thenCompose(changes -> CompletableFuture.allOf(
                changes.stream().map(PendingChange::answered).toArray(CompletableFuture[]::new)));
    }

    @Override
    public void resume(Duration timeout) {
        sent.join().forEach(change -> change.resume(timeout));
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
        return !sent.isCompletedExceptionally() && (list || sent.join().get(0).mustResume());
    }
}
