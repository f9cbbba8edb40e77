// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.exception;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisTimeoutException;

/** The words for an error: short, and without the calls and channels that Redisson quotes, which may show what messages hold. */
public final class ErrorText {

    /** The beginning of the advice and of the call that Redisson's own errors quote. A call may have anything in it. */
    private static final Pattern QUOTED = Pattern.compile(
            "! |\\.? Check |[.,;]?(?: for)? ?\\b(?:Command|command|params|channel|connection): | occurred after | to channel: ");

    /** Netty's name for an address that it could not connect to. */
    private static final Pattern RESOLVED = Pattern.compile("(?<!/)([^\\s/]*)/([0-9a-fA-F.:%\\[\\]]+)(:\\d+)");

    /** Redisson's words for whatever it was. */
    private static final String GENERIC = "Unexpected exception while processing command";

    private static final int MAX_CAUSES = 20;

    private ErrorText() {}

    public static Throwable unwrap(Throwable error) {
        Throwable e = error;
        while ((e instanceof CompletionException || e instanceof ExecutionException) && e.getCause() != null) {
            e = e.getCause();
        }
        return e;
    }

    /**
     * A few words about an error, without call and channel: those of Redis, or else those of the root cause, such as {@code
     * Connection refused: localhost:6379}. An error of our own keeps its text.
     */
    public static String of(Throwable error) {
        Throwable e = unwrap(error);
        String text = message(e);
        for (int i = 0; i < MAX_CAUSES && e.getCause() != null && !(e instanceof DelayQueueException); i++) {
            e = e.getCause();
            String cause = message(e);
            // Netty says the same as the JDK below it, and where; and a name alone is no better than words.
            if (!text.startsWith(cause) && (hasWords(e) || text.equals(GENERIC))) {
                text = cause;
            }
        }
        Matcher resolved = RESOLVED.matcher(text);
        return resolved.replaceAll(where -> Matcher.quoteReplacement(
                (where.group(1).isEmpty() ? where.group(2) : where.group(1)) + where.group(3)));
    }

    private static boolean hasWords(Throwable error) {
        return error.getMessage() != null && !error.getMessage().isBlank();
    }

    private static String message(Throwable error) {
        if (!hasWords(error)) {
            String name = error.getClass().getName();
            return name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
        }
        boolean redissons = error instanceof RedisTimeoutException || error instanceof RedisConnectionException;
        Matcher quoted = QUOTED.matcher(error.getMessage());
        return redissons && quoted.find() ? error.getMessage().substring(0, quoted.start()) : said(error);
    }

    /** Redis's words, without the channel and the command with its arguments that Redisson adds. */
    public static String said(Throwable error) {
        String text = String.valueOf(error.getMessage());
        int added = text.indexOf(". channel: [");
        return added < 0 ? text : text.substring(0, added);
    }
}
