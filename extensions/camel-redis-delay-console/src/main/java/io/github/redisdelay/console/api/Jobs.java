// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.console.ConsoleAction;
import io.github.redisdelay.console.api.ApiException.Kind;
import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.queue.exception.ShownId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The changes of many messages: those under way, and those that have ended within the last hour. Thread-safe. */
final class Jobs {

    /** The most under way. */
    static final int MOST_RUNNING = 4;

    private static final int MOST_ENDED = 100;
    private static final long KEPT_NANOS = Duration.ofHours(1).toNanos();
    private static final String IMPORT = "import";

    private static final Logger LOG = LoggerFactory.getLogger(Jobs.class);

    private final Supplier<List<ImportModule.Run>> imports;
    private final LongSupplier nanoTime;

    private final Deque<Job> jobs = new ArrayDeque<>(); // the latest first; guarded by this
    private long begun; // guarded by this
    private boolean closed; // guarded by this

    /**
     * A job.
     *
     * @param kind {@code redrive}, {@code purge}, {@code cancelAll}, {@code check} or {@code import}; of a group
     *     {@code purge}, {@code cancelGroup}, {@code promote} or {@code reschedule}
     * @param done how many messages it has dealt with
     * @param found how many there were; null if nobody knows
     * @param waits why it waits for Redis now; null if it does not
     * @param stopped whether somebody has stopped it
     * @param result what it did; null while it runs, or if it has failed
     * @param error why it has failed; null if it has not
     */
    public record View(
            String id,
            String kind,
            String queue,
            long done,
            Long found,
            boolean running,
            String waits,
            boolean stopped,
            String result,
            String error)
            implements Accepted {}

    public record Views(List<View> jobs) {}

    Jobs(Supplier<List<ImportModule.Run>> imports, LongSupplier nanoTime) {
        this.imports = imports;
        this.nanoTime = nanoTime;
    }

    /** The dead letters that a user saw: those of a cause, or all if it is null, of a time whose ends may be open. */
    record Seen(String cause, Long since, Long until) {

        private boolean has(MessageInfo letter) {
            long givenUp = DeadLetters.givenUpMicros(letter);
            return (since == null || givenUp >= since)
                    && (until == null || givenUp <= until)
                    && (cause == null || DeadLetters.key(letter).equals(cause));
        }
    }

    /** Redrives the dead letters of a cause, the oldest first, and no more than the user saw. */
    View redrive(ObservedQueue queue, Seen seen, long count) {
        return begin(
                queue,
                ConsoleAction.REDRIVE_ALL,
                "redrive",
                count,
                (asked, job) -> asked.admin().redriveAll(job.counting(seen::has), count),
                "moved back into the queue, due now");
    }

    /** Purges the dead letters of a cause, or all. */
    View purge(ObservedQueue queue, Seen seen, long count) {
        return begin(
                queue,
                ConsoleAction.PURGE_ALL,
                "purge",
                count,
                (asked, job) -> asked.deadLetters().admin().cancelAll(job.counting(seen::has), count),
                "purged");
    }

    /** Purges the dead letters of a group. */
    View purge(ObservedQueue queue, String group) {
        return begin(
                queue,
                ConsoleAction.PURGE_ALL,
                "purge",
                null,
                (asked, job) -> asked.group(group)
                        .queue()
                        .deadLetters()
                        .admin()
                        .cancelAll(job.counting(letter -> group.equals(letter.group())), Long.MAX_VALUE),
                "purged: the dead letters of group '" + ShownId.of(group) + "'");
    }

    /**
     * Cancels all delayed messages.
     *
     * @param schedules whether recurring schedules, too; those that a route of this process declares are spared in any case
     */
    View cancelAll(ObservedQueue queue, boolean schedules) {
        return begin(
                queue,
                ConsoleAction.CANCEL_ALL,
                "cancelAll",
                null,
                (asked, job) -> asked.admin()
                        .cancelAll(job.counting(each -> !queue.isDeclaredHere(each)), Long.MAX_VALUE, schedules),
                "cancelled; leased messages" + (schedules ? "" : " and recurring schedules") + " were left alone");
    }

    /** Changes all messages of a group. Recurring schedules are spared, unless the change says otherwise. */
    View ofGroup(
            ObservedQueue queue,
            ConsoleAction action,
            String kind,
            Function<DelayQueue, CompletableFuture<Long>> change,
            String what) {
        Job job = add(queue, action, kind, null, false);
        follow(queue, job, queue.begin(change).thenApply(changed -> {
            job.done.addAndGet(changed);
            return job.sentence(changed, what);
        }));
        return job.view();
    }

    /** Checks the messages and the dead letters. */
    View check(ObservedQueue queue) {
        Job job = add(queue, ConsoleAction.CHECK, "check", null, false);
        follow(queue, job, queue.begin(asked -> asked.admin().check()).thenCompose(messages -> {
            job.done.addAndGet(messages.messages());
            return queue.begin(asked -> asked.deadLetters().admin().check()).thenApply(letters -> {
                job.done.addAndGet(letters.messages());
                return text(messages, letters);
            });
        }));
        return job.view();
    }

    private static String text(CheckResult messages, CheckResult letters) {
        long restored = messages.restored() + letters.restored();
        long missing = messages.bodiesMissing() + letters.bodiesMissing();
        long records = messages.recordsDropped() + letters.recordsDropped();
        String looked = messages.messages() + " messages and " + letters.messages() + " dead letters were checked: ";
        return restored + missing + records == 0
                ? looked + "all is well."
                : looked + restored + " were neither delayed nor leased and are delayed again, " + missing
                        + " ids have no message any more (it is lost), and " + records
                        + " records of no message were dropped.";
    }

    private View begin(
            ObservedQueue queue,
            ConsoleAction action,
            String kind,
            Long count,
            BiFunction<DelayQueue, Job, CompletableFuture<Long>> change,
            String what) {
        Job job = add(queue, action, kind, count, true);
        follow(
                queue,
                job,
                job.run(() -> queue.begin(asked -> change.apply(asked, job)))
                        .thenApply(changed -> job.sentence(changed, what)));
        return job.view();
    }

    private synchronized Job add(ObservedQueue queue, ConsoleAction action, String kind, Long found, boolean stops) {
        if (closed) {
            throw new ApiException(Kind.UNREACHABLE, "The console is being stopped.");
        }
        forget();
        List<Job> running = jobs.stream().filter(job -> job.endedNanos == null).toList();
        if (running.stream().anyMatch(job -> job.queue.equals(queue.name()) && job.kind.equals(kind))) {
            throw new ApiException(
                    Kind.BUSY, "Such a change is going on in this queue already: wait until it has ended, or stop it.");
        }
        if (running.size() >= MOST_RUNNING) {
            throw new ApiException(
                    Kind.BUSY,
                    MOST_RUNNING + " changes of many messages are running already: wait for one, or stop one.");
        }
        begun++;
        Job job = new Job(Long.toString(begun), action, kind, queue.name(), found, stops);
        jobs.addFirst(job);
        return job;
    }

    private void follow(ObservedQueue queue, Job job, CompletableFuture<String> change) {
        change.whenComplete((result, error) -> {
            job.result = result;
            job.error = error == null
                    ? null
                    : "It has failed after " + job.done.get() + " messages; what was done stays done: "
                            + ErrorText.of(error);
            job.endedNanos = nanoTime.getAsLong();
            LOG.info(
                    "console: {} in queue '{}' has ended: {}",
                    job.kind,
                    queue.name(),
                    error == null ? result : ShownId.of(job.error));
            queue.changed();
        });
    }

    private void forget() {
        long now = nanoTime.getAsLong();
        jobs.removeIf(job -> job.endedNanos != null && now - job.endedNanos > KEPT_NANOS);
        int[] ended = {0};
        jobs.removeIf(job -> job.endedNanos != null && ++ended[0] > MOST_ENDED);
    }

    /** Those of queues that may be seen, the latest first, and the imports of this process. */
    synchronized Views list(Predicate<String> visible) {
        forget();
        List<View> views = new ArrayList<>();
        jobs.forEach(job -> views.add(job.view()));
        imports.get().forEach(run -> views.add(view(run)));
        views.removeIf(view -> !visible.test(view.queue()));
        return new Views(views);
    }

    View get(String id, Predicate<String> visible) {
        return list(visible).jobs().stream()
                .filter(view -> view.id().equals(id))
                .findFirst()
                .orElseThrow(Jobs::unknown);
    }

    private static ApiException unknown() {
        return new ApiException(
                Kind.NOT_FOUND, "There is no such job: it ended more than an hour ago, or the console was restarted.");
    }

    /** The action that a job does, and so the right to stop it; an import is one that puts a queue in order. */
    synchronized ConsoleAction action(String id) {
        return jobs.stream()
                .filter(job -> job.id.equals(id))
                .map(job -> job.action)
                .findFirst()
                .orElse(ConsoleAction.CHECK);
    }

    /** Has a job end behind the step under way. */
    ActionResult stop(String id) {
        for (ImportModule.Run run : imports.get()) {
            if (id.equals(id(run))) {
                run.stop();
                return stopping(run.isRunning());
            }
        }
        Job job;
        synchronized (this) {
            job = jobs.stream().filter(each -> each.id.equals(id)).findFirst().orElseThrow(Jobs::unknown);
        }
        if (!job.stops) {
            return new ActionResult(
                    "nothing",
                    "A check, and a change of a group's messages, cannot be stopped. They end by themselves.");
        }
        boolean running = job.endedNanos == null;
        job.stopped |= running;
        return stopping(running);
    }

    private static ActionResult stopping(boolean running) {
        return running
                ? new ActionResult("done", "It ends after the current step; what was done stays done.")
                : new ActionResult("nothing", "It had ended already.");
    }

    private static String id(ImportModule.Run run) {
        return IMPORT + "-" + run.id();
    }

    private static View view(ImportModule.Run run) {
        boolean running = run.isRunning();
        long moved = run.moved();
        return new View(
                id(run),
                IMPORT,
                run.queue(),
                moved,
                run.remaining() < 0 ? null : moved + run.remaining(),
                running,
                null,
                run.isStopped(),
                running || run.problem() != null
                        ? null
                        : moved + (run.isDryRun() ? " messages would be moved from" : " messages were moved from")
                                + " Redisson's queue '" + run.source() + "'.",
                run.problem());
    }

    /** Has all end behind the steps under way, and begins no more. */
    synchronized void close() {
        closed = true;
        jobs.forEach(job -> job.stopped |= job.endedNanos == null);
    }
}
