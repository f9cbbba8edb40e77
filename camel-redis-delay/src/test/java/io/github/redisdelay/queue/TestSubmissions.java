// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.exception.RequestTimeoutException;
import io.github.redisdelay.queue.internal.request.SubmissionPromise;

/** Makes submissions for tests of other packages. */
public final class TestSubmissions {

    private TestSubmissions() {}

    public static <T> Submission<T> answered(T value) {
        SubmissionPromise<T> submission = new SubmissionPromise<>();
        submission.succeed(value);
        return submission;
    }

    public static <T> Submission<T> failed(Throwable error) {
        return SubmissionPromise.failed(error);
    }

    /** One whose wait is over, and whose outcome is not known yet. */
    public static <T> Submission<T> timedOut(String id) {
        SubmissionPromise<T> submission = new SubmissionPromise<>();
        submission
                .result()
                .completeExceptionally(new RequestTimeoutException("message '" + id + "' may be stored", true, null));
        return submission;
    }

    /** The answer comes at last. */
    public static <T> void answer(Submission<T> submission, T value) {
        ((SubmissionPromise<T>) submission).succeed(value);
    }
}
