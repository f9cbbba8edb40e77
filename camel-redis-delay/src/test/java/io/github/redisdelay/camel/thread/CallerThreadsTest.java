// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.thread;

import static io.github.redisdelay.camel.thread.CallerThreads.EXCHANGES_UNTIL_TRIAL;
import static io.github.redisdelay.camel.thread.CallerThreads.EXCHANGES_WITHOUT_WAIT;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CallerThreadsTest {

    private final CallerThreads callers = new CallerThreads();

    /** An exchange of this thread that is answered before its next one. */
    private void exchange() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        CompletableFuture<?> goOn = callers.await(answer);
        answer.complete("done");
        assertThat(goOn).isDone();
    }

    /** True if this thread waits: then another one answers. */
    private boolean waits() throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        Thread caller = Thread.currentThread();
        AtomicBoolean back = new AtomicBoolean();
        Thread other = new Thread(() -> {
            while (!back.get() && caller.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            if (!back.get()) {
                answer.complete("done");
            }
        });
        other.start();
        // An answer takes more than the longest wait only where this thread is not let run.
        callers.await(answer);
        boolean waited = answer.isDone();
        back.set(true);
        other.join();
        answer.complete("done");
        return waited;
    }

    @Test
    void should_wait_on_a_thread_that_comes_again_only_after_the_answer() throws Exception {
        exchange();

        // A wait that this machine makes too long costs it until the next trial.
        boolean waited = false;
        for (int i = 1; i < 20 * EXCHANGES_UNTIL_TRIAL && !waited; i++) {
            waited = waits();
        }
        assertThat(waited).isTrue();
    }

    @Test
    void should_try_a_thread_again_after_a_number_of_exchanges() {
        exchange();
        for (int i = 1; i < EXCHANGES_UNTIL_TRIAL; i++) {
            callers.await(CompletableFuture.completedFuture(i));
        }

        CompletableFuture<String> trial = new CompletableFuture<>();
        CompletableFuture<?> goOn = callers.await(trial);

        assertThat(goOn).as("so that its end is noticed first").isNotSameAs(trial);
        assertThat(goOn).isNotDone();
    }

    @Test
    void should_not_wait_on_a_thread_that_comes_before_the_answer() throws Exception {
        CompletableFuture<String> first = new CompletableFuture<>();
        callers.await(first);

        assertThat(waits()).as("this one came too soon").isFalse();
        first.complete("too late to tell anything");
        for (int i = 1; i < EXCHANGES_WITHOUT_WAIT; i++) {
            assertThat(callers.await(new CompletableFuture<>())).isNotDone();
        }
        exchange();
        boolean waited = false;
        for (int i = 1; i < 20 * EXCHANGES_UNTIL_TRIAL && !waited; i++) {
            waited = waits();
        }
        assertThat(waited).as("after another trial").isTrue();
    }

    @Test
    void should_wait_again_after_a_wait_that_was_too_long() throws Exception {
        exchange();
        assertThat(callers.await(new CompletableFuture<>())).isNotDone();

        for (int i = 0; i < EXCHANGES_UNTIL_TRIAL; i++) {
            assertThat(waits()).as("exchange %s after it", i).isFalse();
        }
        exchange();
        boolean waited = false;
        for (int i = 1; i < 20 * EXCHANGES_UNTIL_TRIAL && !waited; i++) {
            waited = waits();
        }
        assertThat(waited).as("after another trial").isTrue();
    }

    @Test
    void should_not_wait_long_for_an_answer_that_does_not_come() {
        exchange();

        CompletableFuture<String> answer = new CompletableFuture<>();
        assertThat(callers.await(answer)).isSameAs(answer).isNotDone();
    }

    @Test
    void should_leave_the_outcome_to_who_goes_on() {
        exchange();

        CompletableFuture<String> failed = CompletableFuture.failedFuture(new IllegalStateException("refused"));
        assertThat(callers.await(failed)).isSameAs(failed);
        CompletableFuture<String> cancelled = new CompletableFuture<>();
        cancelled.cancel(false);
        assertThat(callers.await(cancelled)).isSameAs(cancelled);
    }

    @Test
    void should_keep_the_interruption_of_the_thread() {
        exchange();
        Thread.currentThread().interrupt();

        assertThat(callers.await(new CompletableFuture<>())).isNotDone();

        assertThat(Thread.interrupted()).isTrue();
    }
}
