// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The requests of a {@link RequestBatcher} that wait for a call, in their order. It decides which of them one call takes.
 *
 * <p>Guarded by the batcher's lock.
 */
final class WaitingRequests {

    /** How many requests a call passes over at most, because they are for another script or must keep their order. */
    private static final int MAX_PASSED_OVER = 4 * RequestBatcher.MAX_REQUESTS_PER_CALL;

    private final ArrayDeque<Request<?>> waiting = new ArrayDeque<>();
    private long bytes;
    /** How many of them waited when none could go beside the call under way; 0 if some could. They are not looked at again at once. */
    private int heldBack;
    /** Requests that were left out of a call. Their callers are told once the lock is free. */
    private final List<Request<?>> cancelled = new ArrayList<>();

    void add(Request<?> request) {
        waiting.add(request);
        bytes += request.bytes();
    }

    int size() {
        return waiting.size();
    }

    long bytes() {
        return bytes;
    }

    Stream<Request<?>> stream() {
        return waiting.stream();
    }

    /** How many came since none could go beside the call under way. */
    int ready() {
        return waiting.size() - heldBack;
    }

    /** Returns whether they fill their bounds, multiplied by a factor, so that a further one has no space. */
    boolean isFull(Request<?> request, int factor) {
        return waiting.size() >= factor * RequestBatcher.MAX_WAITING_REQUESTS
                || (bytes + request.bytes() > factor * RequestBatcher.MAX_WAITING_BYTES && !waiting.isEmpty());
    }

    /**
     * Takes those that one call can carry: those for the script of the first one that may go. The others stay in their
     * order, and so does whatever is about the same message as one that stays or is under way.
     *
     * @param held the messages of the call under way; those of the requests that stay are added
     */
    List<Request<?>> take(Set<String> held) {
        LuaScript script = null;
        List<Request<?>> requests = new ArrayList<>(Math.min(waiting.size(), RequestBatcher.MAX_REQUESTS_PER_CALL));
        List<Request<?>> staying = new ArrayList<>(0);
        int taken = 0;
        while (requests.size() < RequestBatcher.MAX_REQUESTS_PER_CALL
                && staying.size() < MAX_PASSED_OVER
                && !waiting.isEmpty()) {
            Request<?> request = waiting.peek();
            boolean isCancelled = request.submission().result().isCancelled();
            boolean stays = !isCancelled
                    && ((script != null && request.script() != script)
                            || (!held.isEmpty() && held.contains(request.messageId())));
            if (!isCancelled
                    && !stays
                    && !requests.isEmpty()
                    && taken + request.bytes() > RequestBatcher.MAX_BYTES_PER_CALL) {
                break;
            }
            waiting.poll();
            if (stays) {
                staying.add(request);
                held.add(request.messageId());
                continue;
            }
            bytes -= request.bytes();
            if (isCancelled) {
                cancelled.add(request); // such as an extension whose delivery has finished meanwhile
                continue;
            }
            script = request.script();
            taken += request.bytes();
            requests.add(request);
        }
        for (int i = staying.size() - 1; i >= 0; i--) {
            waiting.addFirst(staying.get(i));
        }
        heldBack = requests.isEmpty() ? waiting.size() : 0;
        return requests;
    }

    /** Takes the requests that were left out because they were cancelled. */
    List<Request<?>> takeCancelled() {
        List<Request<?>> leftOut = List.copyOf(cancelled);
        cancelled.clear();
        return leftOut;
    }

    /** Takes all of which this is true. */
    List<Request<?>> take(Predicate<Request<?>> condition) {
        List<Request<?>> taken = waiting.stream().filter(condition).toList();
        waiting.removeIf(condition);
        taken.forEach(request -> bytes -= request.bytes());
        return taken;
    }
}
