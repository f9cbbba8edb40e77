// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.thread;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that call producers, and which of them would only wait for the answer. Such a thread waits in the producer: then
 * its exchange goes on without a change of threads, which would take a third of a lone call's time.
 *
 * <p>A thread is tried: at its first exchange, and at each 64th, it does not wait. If it comes with another exchange before that
 * one is answered, it has other things to do, and does not wait for the next 1 000. A wait is short, in case that the thread
 * was misjudged: an exchange whose answer takes longer goes on elsewhere, as it does by default, and so do the thread's next 64.
 */
public final class CallerThreads {

    static final int EXCHANGES_UNTIL_TRIAL = 64;
    static final int EXCHANGES_WITHOUT_WAIT = 1000;
    private static final long LONGEST_WAIT_MILLIS = 5;

    /** The state of a thread on trial. Above 0: in how many exchanges it waits. Below: in how many it does not. */
    private static final int TRIAL = -1;

    /**
     * The state of each thread. Written by the thread itself, and at the end of a trial by the one that has the answer. Of a class
     * of the JDK's, so that a thread that lives longer than this component's class loader does not keep that.
     */
    private final ThreadLocal<AtomicInteger> states = ThreadLocal.withInitial(AtomicInteger::new);

    /**
     * Waits for the answer to an exchange, if this thread would do nothing else.
     *
     * @return to go on with: done if the answer is there
     */
    public CompletableFuture<?> await(CompletableFuture<?> answered) {
        AtomicInteger state = states.get();
        int now = state.get();
        if (now > 0) {
            state.set(now - 1);
            try {
                answered.get(LONGEST_WAIT_MILLIS, TimeUnit.MILLISECONDS);
            } catch (ExecutionException | CancellationException e) {
                // The producer looks for the outcome.
            } catch (TimeoutException e) {
                state.set(TRIAL - EXCHANGES_UNTIL_TRIAL);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return answered;
        }
        if (now == 0) {
            state.set(TRIAL);
            return answered.whenComplete((result, error) -> state.compareAndSet(TRIAL, EXCHANGES_UNTIL_TRIAL - 1));
        }
        // The first of these is the one that came too soon.
        int left = now == TRIAL ? EXCHANGES_WITHOUT_WAIT : TRIAL - now - 1;
        state.set(left == 0 ? 0 : TRIAL - left);
        return answered;
    }
}
