// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import io.github.redisdelay.imports.queue.ImportReport.Reason;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.exception.DelayQueueException;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.internal.command.Partition;
import io.github.redisdelay.queue.internal.format.Digits;
import io.github.redisdelay.queue.internal.format.MessageIdGenerator;
import io.github.redisdelay.queue.internal.partition.PartitionHash;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.ClusterSlot;
import io.github.redisdelay.queue.internal.redis.QueueAddress;
import io.github.redisdelay.queue.internal.request.CallGate;
import io.github.redisdelay.queue.internal.request.RequestRouter;
import io.github.redisdelay.queue.internal.request.UnbatchedCalls;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The import of messages of a delayed queue of Redisson's into a queue, each due when it was due there. An import goes
 * through Redisson's queue once, the ready messages first, then the pending ones by their time: it looks at a slice
 * ({@code look.lua}), converts it, and moves what is still there ({@code import.lua}). It holds no state in Redis: a
 * message is in one of both queues at any time, because one script takes away there what it stores here. So an import
 * can be killed, repeated, and run at several places and beside old consumers and producers. A handle, as the queue
 * itself. Thread-safe.
 *
 * <p>{@link RedissonElement} recognises a pending element; a ready one is the bare payload.
 */
public final class RedissonImport {

    /** The most messages of a slice. */
    private static final int SLICE = 64;

    private static final int SLICE_BYTES = 256 << 10;
    /** The bounds of the wait after a slice of which others have taken everything. */
    private static final long LEAST_WAIT = TimeUnit.MILLISECONDS.toNanos(10);

    private static final long LONGEST_WAIT = TimeUnit.MILLISECONDS.toNanos(50);

    private final List<Partition> partitions;
    private final CallGate gate;
    private final UnbatchedCalls calls;
    private final RequestRouter router;
    private final MessageIdGenerator ids;

    private RedissonImport(RedisDelayQueue queue) {
        this.partitions = queue.partitions();
        this.gate = queue.gate();
        this.calls = partitions.get(0).calls();
        this.router = partitions.get(0).router();
        this.ids = queue.ids();
    }

    /**
     * Imports into a queue.
     *
     * @param queue one of a {@link io.github.redisdelay.queue.client.DelayQueueClient}
     * @throws IllegalArgumentException if it is a queue of your own making
     * @throws IllegalStateException if it is one of dead letters
     */
    public static RedissonImport into(DelayQueue queue) {
        if (!(queue instanceof RedisDelayQueue whole)) {
            throw new IllegalArgumentException(
                    "an import into a " + queue.getClass().getName() + ": give a queue of a DelayQueueClient");
        }
        RedissonImport made = new RedissonImport(whole);
        if (made.partitions.get(0).isDeadLetters()) {
            throw new IllegalStateException(
                    "queue '" + queue.name() + "': an import is a call to the queue, not to its dead letters");
        }
        return made;
    }

    /**
     * Checks whether messages can be moved into the queue at all. Asks nobody, and says nothing of what is there.
     *
     * @throws IllegalArgumentException if no call can name the keys of both queues (another slot of the cluster, a
     *     NameMapper); it says what to do
     */
    public void check(ImportSource source) {
        targets(source);
    }

    /**
     * Moves messages, in slices of at most 64.
     *
     * <p>What others add behind its back is in {@link ImportReport#remaining()}, and is moved by the next import. To go
     * on with what becomes due, import {@link ImportOptions#DUE} again and again, each time after
     * {@link ImportReport#nextDueMicros()} or 200 ms, whichever is sooner.
     *
     * <p>Where the client waits for replicas or the disk, each slice does. If that fails, the import fails with a {@link
     * io.github.redisdelay.queue.exception.ReplicationTimeoutException}; the slice is moved, and another import goes on behind it.
     *
     * @param converter makes a message of each payload
     * @return fails with an {@link IllegalArgumentException} as {@link #check}, or with a {@link
     *     io.github.redisdelay.queue.exception.DelayQueueException}: what was moved until then is moved, and nothing is lost. When it
     *     is cancelled it ends after the slice under way
     */
    public CompletableFuture<ImportReport> run(ImportSource source, PayloadConverter converter, ImportOptions options) {
        List<QueueAddress> targets;
        try {
            targets = targets(source);
        } catch (IllegalArgumentException e) {
            return CompletableFuture.failedFuture(e);
        }
        Run run = new Run(targets, converter, options);
        calls.failOnClose(run.result);
        gate.ask(() -> CompletableFuture.completedFuture(null)).whenComplete((passed, error) -> {
            if (error == null) {
                run.look();
            } else {
                run.result.completeExceptionally(ErrorText.unwrap(error));
            }
        });
        return run.result;
    }

    /** The addresses of the queue together with that of the queue it imports from. */
    private List<QueueAddress> targets(ImportSource source) {
        List<Object> foreign = ImportScripts.foreign(source.name());
        List<QueueAddress> targets = partitions.stream()
                .map(partition -> partition.address().with(foreign))
                .toList();
        targets.forEach(target -> checkKeys(target, source.name()));
        return targets;
    }

    /** Refuses a Redisson queue whose keys no call can name together with those of the queue. */
    private void checkKeys(QueueAddress target, String source) {
        String what = target + ": cannot import from Redisson's queue '" + source + "': ";
        List<Object> keys = target.keys().of(ImportScripts.IMPORT);
        String pending = (String) target.keys().of(ImportScripts.LOOK).get(0);
        String named = calls.redis().nameInRedis(pending);
        if (!named.equals(pending)) {
            throw new IllegalArgumentException(what + "the Redisson client has a NameMapper, which makes '" + named
                    + "' of the key '" + pending + "': use a client without one, and the names in Redis");
        }
        if (!calls.redis().canNameTogether(keys)) {
            String tag = source.replaceAll("^[^{]*\\{([^}]+)}.*$", "$1");
            throw new IllegalArgumentException(what + "its keys are in slot " + ClusterSlot.of(pending)
                    + " of the cluster, those of the queue in slot " + ClusterSlot.of((String) keys.get(0))
                    + ": import into a queue with one partition and the name '" + tag
                    + "', if need be with another keyPrefix");
        }
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
        private final PayloadConverter converter;
        private final ImportOptions options;
        private final String limit;
        private final ImportCounts counts = new ImportCounts();

        /**
         * Up to when pending messages are looked at: at first as the options say, then the score that Redis has named.
         */
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

        Run(List<QueueAddress> targets, PayloadConverter converter, ImportOptions options) {
            this.targets = targets;
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
                            ImportScripts.LOOK,
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
            return CompletableFuture.allOf(sent.stream().map(Submission::result).toArray(CompletableFuture<?>[]::new))
                    .thenComposeAsync(
                            done -> {
                                int fromList = 0;
                                List<Candidate> inUse = new ArrayList<>();
                                for (int i = 0; i < candidates.size(); i++) {
                                    Candidate candidate = candidates.get(i);
                                    ImportReply reply = sent.get(i).result().join();
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
            QueueAddress target = targets.get(PartitionHash.of(one.id(), targets.size()));
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
                    counts.left(Reason.QUEUE_FULL, candidate.entry(), "the queue has as many as it may");
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
                long more = calls.random().nextLong(LONGEST_WAIT - LEAST_WAIT);
                calls.timers().schedule(LEAST_WAIT + more, this::look);
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
