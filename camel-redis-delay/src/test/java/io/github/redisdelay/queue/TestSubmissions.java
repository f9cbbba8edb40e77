// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.exception.RequestTimeoutException;
/** Makes submissions for tests of other packages. */
public final class TestSubmissions {

    private TestSubmissions() {}

    public static <T> Submission<T> answered(T value) {
        Submission<T> submission = new Submission<>();
        submission.succeed(value);
        return submission;
    }

    public static <T> Submission<T> failed(Throwable error) {
        return Submission.failed(error);
    }

    /** One whose wait is over, and whose outcome is not known yet. */
    public static <T> Submission<T> timedOut(String id) {
        Submission<T> submission = new Submission<>();
        submission.completeExceptionally(new RequestTimeoutException("message '" + id + "' may be stored", true, null));
        return submission;
    }

    /** The answer comes at last. */
    public static <T> void answer(Submission<T> submission, T value) {
        submission.succeed(value);
    }
}
