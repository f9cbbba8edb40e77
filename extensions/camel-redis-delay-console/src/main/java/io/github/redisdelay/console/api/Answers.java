// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.console.api.ApiException.Kind;
import io.github.redisdelay.queue.exception.ErrorText;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/** The waits for answers of Redis, each of which has an end. */
final class Answers {

    /** The longest wait, also where a client has a longer request timeout of its own. */
    static final Duration PATIENCE = Duration.ofSeconds(10);

    /** The beginning of the component's errors. */
    private static final Pattern QUEUE = Pattern.compile("^queue '[^']*': ");

    private static final Pattern ISO = Pattern.compile("\\bPT(?=\\d)(?:\\d+H)?(?:\\d+M)?(?:[0-9.]+S)?");

    private Answers() {}

    /** The answer, or the reason why there is none. */
    static <T> T of(CompletableFuture<T> answer) {
        try {
            return answer.get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApiException(Kind.UNREACHABLE, "the console is being stopped");
        } catch (TimeoutException e) {
            throw new ApiException(Kind.UNREACHABLE, "Redis did not answer in time: try again");
        } catch (ExecutionException e) {
            throw refused(e);
        }
    }

    private static ApiException refused(ExecutionException failed) {
        Throwable error = ErrorText.unwrap(failed);
        if (error instanceof ApiException refusal) {
            return refusal;
        }
        return new ApiException(
                error instanceof IllegalArgumentException ? Kind.BAD_REQUEST : Kind.UNREACHABLE, text(error));
    }

    /** An error for people, who see beside it which queue it is. */
    static String text(Throwable error) {
        String text = QUEUE.matcher(ErrorText.of(error)).replaceFirst("");
        text = ISO.matcher(text)
                .replaceAll(length -> Times.words(Duration.parse(length.group()).toNanos() / 1000));
        return text.startsWith("Connection ") ? "Redis cannot be reached: " + text : text;
    }

    /** Waits until all have ended, well or not, but no longer than this; zero or less is no wait. */
    static void await(Collection<? extends CompletableFuture<?>> answers, Duration patience) {
        try {
            CompletableFuture.allOf(answers.stream()
                            .map(answer -> answer.exceptionally(error -> null))
                            .toArray(CompletableFuture[]::new))
                    .get(Math.max(0, patience.toNanos()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException e) {
            // Whoever asks looks at what is there.
        }
    }

    /** Why there is no answer. */
    static String problem(CompletableFuture<?> answer) {
        return answer.isCompletedExceptionally()
                ? answer.handle((done, error) -> text(error)).join()
                : "Redis has not answered in time";
    }

    /** The answer if it is there and none of failure; else null. */
    static <T> T now(CompletableFuture<T> answer) {
        return answer.isDone() && !answer.isCompletedExceptionally() ? answer.join() : null;
    }
}
