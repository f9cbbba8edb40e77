// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.RedisErrors;
import java.util.concurrent.CancellationException;

/** The errors that end requests of a queue, with their words for people. */
final class RequestErrors {

    private final QueueAddress address;
    private final String queue;
    private final String server;

    /** @param server the server's name, for people */
    RequestErrors(QueueAddress address, String server) {
        this.address = address;
        this.queue = address.name();
        this.server = server;
    }

    /** Too many requests wait, or too many bytes. */
    RequestTimeoutException noSpace(Request<?> request, int requests, long bytes, Throwable cause) {
        return new RequestTimeoutException(
                "queue '" + queue + "': " + requests + " requests (" + bytes + " bytes) wait for Redis already; "
                        + notSent(request) + because(cause),
                request.isDone(),
                cause);
    }

    /** The request's deadline has passed before it was sent. */
    RequestTimeoutException withdrawn(Request<?> request, Throwable cause) {
        return new RequestTimeoutException(noAnswer() + notSent(request) + because(cause), request.isDone(), cause);
    }

    /** The request's deadline has passed after it was sent. */
    RequestTimeoutException unanswered(Request<?> request, Throwable cause) {
        return new RequestTimeoutException(noAnswer() + perhapsDone(request) + because(cause), true, cause);
    }

    CancellationException cancelled(Request<?> request) {
        return new CancellationException(
                "queue '" + queue + "': message '" + request.id() + "' was not sent, its request was cancelled");
    }

    /** @param repeated whether the call was sent before, so that an earlier copy may be executed yet */
    DelayQueueException refused(Throwable error, boolean repeated) {
        if (RedisErrors.isClosed(error)) {
            return new DelayQueueException(
                    "queue '" + queue + "': the Redis client was shut down; the request may have taken effect", error);
        }
        if (repeated) {
            return new RequestTimeoutException(
                    "queue '" + queue
                            + "': Redis refused a repeated request, an earlier copy of it may have taken effect: "
                            + ErrorText.of(error),
                    true,
                    error);
        }
        return RedisErrors.refused(address, error);
    }

    private String noAnswer() {
        return "queue '" + queue + "': " + server + " did not answer in time; ";
    }

    private static String notSent(Request<?> request) {
        if (request.isDone()) {
            return unsafe(request);
        }
        return request.stores()
                ? "message '" + request.id() + "' was not sent, nothing was stored"
                : request.change() + " was not sent, nothing was changed";
    }

    private static String perhapsDone(Request<?> request) {
        if (request.isDone()) {
            return unsafe(request);
        }
        return request.stores()
                ? "message '" + request.id() + "' may be stored: the same id can safely be sent again"
                : request.change() + " may have taken effect: it can safely be asked for again";
    }

    private static String unsafe(Request<?> request) {
        return request.done() + ", not known to be replicated";
    }

    private static String because(Throwable error) {
        return error == null ? "" : " (" + ErrorText.of(error) + ")";
    }
}
