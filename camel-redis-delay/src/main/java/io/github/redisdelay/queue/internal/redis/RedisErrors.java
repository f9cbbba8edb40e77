// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.DurabilityUnavailableException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.PartitionMismatchException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.redisson.RedissonShutdownException;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisTimeoutException;

/** The meaning of an error for the call that met it. {@link ErrorText} has the words for it. */
public final class RedisErrors {

    /** The words of our scripts about a call that is wrong, and those of Redis about a key that is not ours. */
    private static final Pattern PERMANENT =
            Pattern.compile("REDISDELAY (argument|needs|superseded|partitions)|WRONGTYPE Operation against");

    private static final Pattern REFUSAL =
            Pattern.compile("(ERR|WRONGTYPE|CROSSSLOT|NOPERM|MISCONF|NOAUTH|WRONGPASS) ");
    private static final Pattern PARTITIONS = Pattern.compile("REDISDELAY partitions: (\\d{1,9})");

    private static final Pattern NEEDS = Pattern.compile("REDISDELAY needs:(( [\\w-]+=[\\w.-]+)+)");
    private static final Pattern FEATURE = Pattern.compile("([\\w-]+)=([\\w.-]+)");

    private RedisErrors() {}

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
                && (REFUSAL.matcher(text).lookingAt() || isPermanent(error));
    }

    /**
     * True if the call was not executed and may be soon: there is no connection, or the server says that it is loading,
     * failing over or moving the slot. False where no answer came.
     */
    public static boolean isNotYet(Throwable error) {
        return error instanceof RedisException && !(error instanceof RedisTimeoutException) && !isRefusal(error);
    }

    /** True if Redis says itself that it has not executed the call, and may do so soon. A call that was cut off may be done. */
    public static boolean isPutOff(Throwable error) {
        return isNotYet(error) && !(error instanceof RedisConnectionException);
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
        return noAnswer ? "" : ErrorText.said(error);
    }

    /** True if a script has refused a call that left out the keys of the priorities. */
    static boolean isForWantOfKeys(Throwable error) {
        return reply(error).contains("REDISDELAY keys:");
    }

    /** True if the Redis client was shut down. */
    public static boolean isClosed(Throwable error) {
        return error instanceof RedissonShutdownException;
    }

    /** True if Redis has reached {@code maxmemory}. Redisson cuts the word OOM off the text. */
    private static boolean isOutOfMemory(Throwable error) {
        return error instanceof RedisOutOfMemoryException;
    }

    /** The error itself, or a better one if a script has refused a queue that this client must not use, or not in this way. */
    public static Throwable explained(QueueAddress queue, Throwable error) {
        Matcher partitions = PARTITIONS.matcher(reply(error));
        return partitions.find()
                ? new PartitionMismatchException(
                        queue.name(), queue.keys().wholeQueue(), Integer.parseInt(partitions.group(1)), 1, error)
                : needing(queue, error);
    }

    private static Throwable needing(QueueAddress queue, Throwable error) {
        Matcher needs = NEEDS.matcher(reply(error));
        return needs.find()
                ? new DelayQueueException("queue '" + queue.name() + "' needs"
                        + FEATURE.matcher(needs.group(1)).replaceAll("'$1' (since version $2)")
                        + ", which this version of camel-redis-delay does not know; nothing was changed: let all that"
                        + " use the queue have a version that does")
                : error;
    }

    /** The error for a caller, saying what Redis said. */
    public static DelayQueueException refused(QueueAddress address, Throwable error) {
        String queue = address.name();
        Throwable explained = explained(address, error);
        if (explained != error) {
            return (DelayQueueException) explained;
        }
        String text = ErrorText.of(error);
        if (error instanceof DurabilityUnavailableException) {
            return new DelayQueueException("queue '" + queue + "': " + text, error);
        }
        if (isOutOfMemory(error)) {
            return new DelayQueueException(
                    "queue '" + queue
                            + "': Redis has no memory left (maxmemory is reached), nothing was stored: raise maxmemory, or"
                            + " let consumers free memory and send it again: " + text,
                    error);
        }
        return new DelayQueueException("queue '" + queue + "': Redis refused the request: " + text, error);
    }
}
