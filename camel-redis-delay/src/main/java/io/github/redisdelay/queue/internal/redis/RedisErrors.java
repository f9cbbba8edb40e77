// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.DurabilityUnavailableException;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.redisson.RedissonShutdownException;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisTimeoutException;

/** The meaning of errors: for the call that met them, and in words for people. */
public final class RedisErrors {

    /** The words of our scripts about a call that is wrong, and those of Redis about a key that is not ours. */
    private static final Pattern PERMANENT =
            Pattern.compile("REDISDELAY (argument|format|superseded|partitions)|WRONGTYPE Operation against");

    private static final Pattern PARTITIONS = Pattern.compile("REDISDELAY partitions: (\\d{1,9})");

    /** The beginning of the advice and of the call that Redisson's own errors quote. A call may have anything in it. */
    private static final Pattern QUOTED = Pattern.compile(
            "! |\\.? Check |[.,;]? ?\\b(?:Command|command|params|channel|connection): | occurred after | to channel: ");

    /** Netty's name for an address that it could not connect to. */
    private static final Pattern RESOLVED = Pattern.compile("(?<!/)([^\\s/]*)/([0-9a-fA-F.:%\\[\\]]+)(:\\d+)");

    /** Redisson's words for whatever it was. */
    private static final String GENERIC = "Unexpected exception while processing command";

    private static final int MAX_CAUSES = 20;

    private RedisErrors() {}

    public static Throwable unwrap(Throwable error) {
        Throwable e = error;
        while ((e instanceof CompletionException || e instanceof ExecutionException) && e.getCause() != null) {
            e = e.getCause();
        }
        return e;
    }

    /**
     * True if the answer is Redis's last word: the call was not executed, and repeating it would not help soon. All else
     * (no connection, no answer, loading, failing over, a slot being moved) is worth another try.
     */
    public static boolean isRefusal(Throwable error) {
        if (isClosed(error) || isOutOfMemory(error) || error instanceof DurabilityUnavailableException) {
            return true;
        }
        String text = reply(error);
        // Redis 6 reports what a command in a script met as an ERR with the real error inside.
        return !text.contains("READONLY You can't write")
                && !text.contains("NOREPLICAS Not enough")
                && (text.startsWith("ERR ")
                        || text.startsWith("WRONGTYPE ")
                        || text.startsWith("NOPERM ")
                        || text.startsWith("MISCONF ")
                        || text.startsWith("NOAUTH ")
                        || text.startsWith("WRONGPASS ")
                        || isPermanent(error));
    }

    /**
     * True if the call was not executed and may be soon: there is no connection, or the server says that it is loading,
     * failing over or moving the slot. False where no answer came.
     */
    public static boolean isNotYet(Throwable error) {
        return error instanceof RedisException && !(error instanceof RedisTimeoutException) && !isRefusal(error);
    }

    /** True if repeating the call will never help: the data is not ours, or the call itself is wrong. */
    public static boolean isPermanent(Throwable error) {
        return isClosed(error) || PERMANENT.matcher(reply(error)).find();
    }

    /**
     * Redis's answer; empty if this is no answer. Redisson's own errors, such as a time-out, quote the call, and a key may
     * have any name.
     */
    private static String reply(Throwable error) {
        boolean noAnswer = error instanceof RedisTimeoutException || error instanceof RedisConnectionException;
        return noAnswer ? "" : said(error);
    }

    /** True if the Redis client was shut down. */
    public static boolean isClosed(Throwable error) {
        return error instanceof RedissonShutdownException;
    }

    /** True if Redis has reached {@code maxmemory}. Redisson cuts the word OOM off the text. */
    private static boolean isOutOfMemory(Throwable error) {
        return error instanceof RedisOutOfMemoryException;
    }

    /**
     * A few words about an error, without call and channel: those of Redis, or else those of the root cause, such as {@code
     * Connection refused: localhost:6379}. An error of our own keeps its text.
     */
    public static String text(Throwable error) {
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
    private static String said(Throwable error) {
        String text = String.valueOf(error.getMessage());
        int added = text.indexOf(". channel: [");
        return added < 0 ? text : text.substring(0, added);
    }

    /** The error itself, or a better one if a script has refused the call of a client without partitions. */
    public static Throwable explained(String queue, Throwable error) {
        Matcher partitions = PARTITIONS.matcher(reply(error));
        return partitions.find()
                ? new PartitionMismatchException(queue, Integer.parseInt(partitions.group(1)), 1, error)
                : error;
    }

    /** The error for a caller, saying what Redis said. */
    public static DelayQueueException refused(String queue, Throwable error) {
        if (explained(queue, error) instanceof PartitionMismatchException mismatch) {
            return mismatch;
        }
        String text = text(error);
        if (error instanceof DurabilityUnavailableException) {
            return new DelayQueueException("queue '" + queue + "': " + text, error.getCause());
        }
        if (isOutOfMemory(error)) {
            return new DelayQueueException(
                    "queue '" + queue
                            + "': Redis has no memory left (maxmemory is reached), nothing was stored: raise maxmemory, or"
                            + " let consumers make room and send it again: " + text,
                    error);
        }
        return new DelayQueueException("queue '" + queue + "': Redis refused the request: " + text, error);
    }
}
