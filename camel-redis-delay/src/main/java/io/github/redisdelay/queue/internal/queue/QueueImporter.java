// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.queue;

import io.github.redisdelay.queue.ConvertedPayload;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ImportOptions;
import io.github.redisdelay.queue.ImportReport;
import io.github.redisdelay.queue.ImportReport.Reason;
import io.github.redisdelay.queue.ImportSource;
import io.github.redisdelay.queue.PayloadConverter;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.format.ImportReply;
import io.github.redisdelay.queue.internal.format.LookReply;
import io.github.redisdelay.queue.internal.format.MessageIdGenerator;
import io.github.redisdelay.queue.internal.format.RedissonElement;
import io.github.redisdelay.queue.internal.redis.ClusterSlot;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.queue.internal.request.CallGate;
import io.github.redisdelay.queue.internal.request.RequestRouter;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import java.util.random.RandomGenerator;

/**
 * The imports of a client from Redisson's delayed queues. An import goes through the queue once: it looks at a slice ({@code
 * look.lua}), converts it, and moves what is still there ({@code import.lua}). It holds no state in Redis. {@link
 * RedissonElement} recognises a pending element; a ready one is the bare payload. Thread-safe.
 */
public final class QueueImporter {

    /** The most messages of a slice. */
    private static final int SLICE = 64;

    private static final int SLICE_BYTES = 256 << 10;
    /** The bounds of the wait after a slice of which others have taken everything. */
    private static final long LEAST_WAIT = TimeUnit.MILLISECONDS.toNanos(10);

    private static final long LONGEST_WAIT = TimeUnit.MILLISECONDS.toNanos(50);

    private final ScriptExecutor redis;
    private final UnbatchedCalls calls;
    private final RequestRouter router;
    private final MessageIdGenerator ids;
    private final Timers timers;
    private final RandomGenerator random;

    /** The imports under way. Thread-safe. */
    private final Set<CompletableFuture<ImportReport>> open = ConcurrentHashMap.newKeySet();
    /** The reason why nothing is imported any more; null until the client is closed. Written before the open ones are failed. */
    private volatile DelayQueueException closed;

    public QueueImporter(
            ScriptExecutor redis,
            UnbatchedCalls calls,
            RequestRouter router,
            MessageIdGenerator ids,
            Timers timers,
            RandomGenerator random) {
        this.redis = redis;
        this.calls = calls;
        this.router = router;
        this.ids = ids;
        this.timers = timers;
        this.random = random;
    }

    /**
     * Imports into a queue.
     *
     * @param partitions where the queue is
     * @param partitionOf the index of the partition of an id
     * @param gate lets the calls pass
     */
    public CompletableFuture<ImportReport> run(
            List<QueueAddress> partitions,
            ToIntFunction<String> partitionOf,
            CallGate gate,
            ImportSource source,
            PayloadConverter converter,
            ImportOptions options) {
        List<QueueAddress> targets;
        try {
            targets = targets(partitions, source);
        } catch (IllegalArgumentException e) {
            return CompletableFuture.failedFuture(e);
        }
        Run run = new Run(targets, partitionOf, converter, options);
        open.add(run.result);
        run.result.whenComplete((report, error) -> open.remove(run.result));
        DelayQueueException reason = closed;
        if (reason != null) {
            run.result.completeExceptionally(reason);
        } else {
            gate.ask(() -> CompletableFuture.completedFuture(null)).whenComplete((passed, error) -> {
                if (error == null) {
                    run.look();
                } else {
                    run.result.completeExceptionally(ErrorText.unwrap(error));
                }
            });
        }
        return run.result;
    }

    /**
     * The addresses of a queue together with that of the queue it imports from.
     *
     * @param partitions where the queue is
     * @throws IllegalArgumentException if no call can name both
     */
    public List<QueueAddress> targets(List<QueueAddress> partitions, ImportSource source) {
        List<QueueAddress> targets = partitions.stream()
                .map(partition -> partition.importing(source.name()))
                .toList();
        targets.forEach(this::checkKeys);
        return targets;
    }

    /** Refuses a Redisson queue whose keys no call can name together with those of the queue. */
    private void checkKeys(QueueAddress target) {
        String source = target.keys().source();
        String what = target + ": cannot import from Redisson's queue '" + source + "': ";
        List<Object> keys = target.keys().of(LuaScript.IMPORT);
        String pending = (String) target.keys().of(LuaScript.LOOK).get(0);
        String named = redis.nameInRedis(pending);
        if (!named.equals(pending)) {
            throw new IllegalArgumentException(what + "the Redisson client has a NameMapper, which makes '" + named
                    + "' of the key '" + pending + "': use a client without one, and the names as they are in Redis");
        }
        if (!redis.canNameTogether(keys)) {
            String tag = source.replaceAll("^[^{]*\\{([^}]+)}.*$", "$1");
            throw new IllegalArgumentException(what + "its keys are in slot " + ClusterSlot.of(pending)
                    + " of the cluster, those of the queue in slot " + ClusterSlot.of((String) keys.get(0))
                    + ": import into a queue with one partition and the name '" + tag
                    + "', if need be with another keyPrefix");
        }
    }

    /** Fails the imports under way, and all that come later. */
    public void close(DelayQueueException reason) {
        closed = reason;
        open.forEach(result -> result.completeExceptionally(reason));
    }

    /** A message that may be moved. */
    private record Candidate(LookReply.Entry entry, String words, ConvertedPayload message, String id) {

        /** The same message under an id that no other has. */
        Candidate renamed(String generated) {
            String longer = id + "#" + generated;
            boolean fits = longer.getBytes(StandardCharsets.UTF_8).length <= ScheduleRequest.MAX_ID_BYTES;
            return new Candidate(entry, words, message, fits ? longer : generated);
        }
    }

    /** One import. Its slices follow one another: no two threads use its fields at a time. */
    private final class Run {
        final CompletableFuture<ImportReport> result = new CompletableFuture<>();
        private final List<QueueAddress> targets;
        private final ToIntFunction<String> partitionOf;
        private final PayloadConverter converter;
        private final ImportOptions options;
        private final String limit;
        private final ImportCounts counts = new ImportCounts();

        /** Up to when pending messages are looked at: at first as the options say, then the score that Redis has named. */
        private byte[] until;
        /** The index in the list of ready messages behind those that were left there. */
        private long readyAt;
        /** How many ready messages are to be looked at: those that are there when it begins. */
        private long readyLeft = -1;
        /** The pending message behind which the next slice begins. */
        private byte[] score = ascii("-inf");

        private byte[] element = {};
        /** How many pending messages in a row had the same time, without the first of them. */
        private int sameTime;

        private boolean full;

        Run(
                List<QueueAddress> targets,
                ToIntFunction<String> partitionOf,
                PayloadConverter converter,
                ImportOptions options) {
            this.targets = targets;
            this.partitionOf = partitionOf;
            this.converter = converter;
            this.options = options;
            // A partition knows only its own messages: it has its share of a limit, rounded up.
            long share = (options.maximumQueueLength() + targets.size() - 1) / targets.size();
            limit = share == 0 ? "" : " limit=" + share;
            until = ascii(options.ahead() == null ? "all" : "ahead=" + DueTime.toMicros(options.ahead()));
        }

        private static byte[] ascii(String text) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }

        /** Begins the next slice. */
        void look() {
            if (result.isDone()) {
                return; // cancelled, or the client is closed
            }
            calls.untilAnswered(
                            targets.get(0),
                            LuaScript.LOOK,
                            until,
                            Digits.of(SLICE),
                            Digits.of(SLICE_BYTES),
                            Digits.of(readyAt),
                            Digits.of(readyLeft < 0 ? DueTime.MAX_MICROS : readyLeft),
                            score,
                            element)
                    .thenComposeAsync(reply -> slice(LookReply.parse((List<?>) reply)), options.executor())
                    .exceptionally(error -> {
                        result.completeExceptionally(ErrorText.unwrap(error));
                        return null;
                    });
        }

        private CompletableFuture<Void> slice(LookReply look) {
            long movedBefore = counts.countOfMoved();
            long goneBefore = counts.countOfGone();
            List<Candidate> candidates = new ArrayList<>();
            until = concat(ascii("until="), look.until());
            readyLeft = readyLeft < 0 ? look.ready() : readyLeft;
            int ready = 0;
            for (LookReply.Entry entry : look.messages()) {
                counts.found(entry, look.timeMicros());
                if (entry.isReady()) {
                    add(candidates, entry, "ready=" + (readyAt + ready), entry.bytes());
                    ready++;
                } else {
                    pending(candidates, entry);
                }
            }
            readyLeft -= ready;
            int inList = ready;
            CompletableFuture<Integer> taken = options.dryRun() || candidates.isEmpty()
                    ? CompletableFuture.completedFuture(0)
                    : move(candidates, false);
            return taken.thenAcceptAsync(
                    fromList -> {
                        readyAt += inList - fromList;
                        long moved = counts.countOfMoved() - movedBefore;
                        long gone = counts.countOfGone() - goneBefore;
                        goOn(look, look.ready() + look.pending() - moved - gone, moved == 0 && gone > 0);
                    },
                    options.executor());
        }

        /** Looks at a pending message. */
        private void pending(List<Candidate> candidates, LookReply.Entry entry) {
            sameTime = Arrays.equals(score, entry.score()) ? Math.min(sameTime + 1, ImportCounts.MICROS_BEHIND) : 0;
            score = entry.score();
            element = entry.bytes();
            RedissonElement parsed = RedissonElement.parse(element);
            if (parsed == null) {
                counts.left(Reason.UNREADABLE, entry, "this is not what Redisson writes");
                return;
            }
            counts.format(parsed.newFormat());
            if (ImportCounts.isInRange(entry.millis())) {
                add(candidates, entry, "pending=" + sameTime, parsed.payload());
            } else {
                counts.left(Reason.OUT_OF_RANGE, entry, "its time is not from 1970 to 2255 in whole milliseconds");
            }
        }

        /** Converts a message. */
        private void add(List<Candidate> candidates, LookReply.Entry entry, String place, byte[] payload) {
            ConvertedPayload message;
            try {
                message = convert(payload);
            } catch (Exception | LinkageError | StackOverflowError e) {
                counts.left(Reason.NOT_CONVERTIBLE, entry, ErrorText.of(e));
                return;
            }
            String priority = message.priority() == 0 ? "" : " priority=" + message.priority();
            String id = message.id() == null ? ids.next() : message.id();
            candidates.add(new Candidate(entry, place + priority + limit, message, id));
        }

        private ConvertedPayload convert(byte[] payload) throws Exception {
            try {
                return ofConverter(converter, payload);
            } catch (Exception | LinkageError | StackOverflowError e) {
                if (options.fallback() == null) {
                    throw e;
                }
                return ofConverter(options.fallback(), payload);
            }
        }

        private ConvertedPayload ofConverter(PayloadConverter one, byte[] payload) throws Exception {
            ConvertedPayload message = one.convert(payload);
            if (message == null) {
                throw new DelayQueueException("the converter made nothing of it, and did not say why");
            }
            return message;
        }

        /**
         * Moves messages; those whose ids are in use once more under other ids.
         *
         * @return how many of them are not in the list of ready messages any more
         */
        private CompletableFuture<Integer> move(List<Candidate> candidates, boolean renamed) {
            List<Submission<ImportReply>> sent =
                    router.together(() -> candidates.stream().map(this::submit).toList());
            return CompletableFuture.allOf(sent.toArray(new CompletableFuture<?>[0]))
                    .thenComposeAsync(
                            done -> {
                                int fromList = 0;
                                List<Candidate> inUse = new ArrayList<>();
                                for (int i = 0; i < candidates.size(); i++) {
                                    Candidate candidate = candidates.get(i);
                                    ImportReply reply = sent.get(i).join();
                                    if (reply == ImportReply.IN_USE) {
                                        inUse.add(candidate.renamed(ids.next()));
                                    } else if (count(candidate, reply, renamed)) {
                                        fromList += candidate.entry().isReady() ? 1 : 0;
                                    }
                                }
                                int soFar = fromList;
                                return inUse.isEmpty()
                                        ? CompletableFuture.completedFuture(soFar)
                                        : move(inUse, true).thenApply(more -> soFar + more);
                            },
                            options.executor());
        }

        private Submission<ImportReply> submit(Candidate one) {
            QueueAddress target = targets.get(partitionOf.applyAsInt(one.id()));
            return router.submit(new ImportCommand(
                    target,
                    one.id(),
                    one.words(),
                    one.entry().bytes(),
                    one.message().body()));
        }

        /** Counts an answer; true if the message is not where it was. */
        private boolean count(Candidate candidate, ImportReply reply, boolean renamed) {
            switch (reply) {
                case MOVED -> counts.moved(renamed);
                case GONE -> counts.gone();
                case FULL -> {
                    full = true;
                    counts.left(Reason.QUEUE_FULL, candidate.entry(), "the queue holds as many as it may");
                }
                default -> counts.left(Reason.OUT_OF_RANGE, candidate.entry(), "its time has changed, and is none");
            }
            return reply == ImportReply.MOVED || reply == ImportReply.GONE;
        }

        /**
         * Begins the next slice, or ends.
         *
         * @param onlyGone true if others have taken all that could be moved: it gives way to them for a moment
         */
        private void goOn(LookReply look, long remaining, boolean onlyGone) {
            boolean end = !look.more() && !full;
            ImportReport report = counts.report(Math.max(0, remaining), end ? untilNext(look) : 0);
            boolean wanted = options.goOn().test(report);
            if (end || full || !wanted) {
                result.complete(report);
            } else if (onlyGone) {
                timers.schedule(LEAST_WAIT + random.nextLong(LONGEST_WAIT - LEAST_WAIT), this::look);
            } else {
                look();
            }
        }

        private static long untilNext(LookReply look) {
            double millis = look.nextMillis();
            return Double.isNaN(millis)
                    ? -1
                    : Math.max(0, (long) Math.min(millis * 1000, DueTime.MAX_MICROS) - look.timeMicros());
        }

        private static byte[] concat(byte[] one, byte[] other) {
            byte[] both = Arrays.copyOf(one, one.length + other.length);
            System.arraycopy(other, 0, both, one.length, other.length);
            return both;
        }
    }
}
