// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.api;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.console.ConsoleAction;
import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.console.api.ApiException.Kind;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.MessageGroup;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.exception.ShownId;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The views of queues and the actions on them. A member that is null, and an empty list, mean that there is none.
 * The right of a user to see or change a queue is checked before, but for what names no queue. Each call waits for Redis
 * for a few seconds at the most. Thread-safe.
 */
public final class ConsoleApi implements AutoCloseable {

    private final ConsoleOptions options;
    private final Directory directory;
    private final QueueViews queues = new QueueViews(System::nanoTime);
    private final MessageViews messages;
    private final Actions actions;
    private final Jobs jobs;
    /** Takes the samples of histories. */
    private final ScheduledExecutorService sampler = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "RedisDelayConsoleHistory");
        thread.setDaemon(true);
        return thread;
    });

    /**
     * @param sources is asked with each call
     * @param imports the imports of this process
     */
    public ConsoleApi(
            Supplier<List<QueueSource>> sources, Supplier<List<ImportModule.Run>> imports, ConsoleOptions options) {
        this.options = options;
        directory = new Directory(Objects.requireNonNull(sources, "sources"), System::nanoTime);
        messages = new MessageViews(new ContentView(options.hiddenHeaders(), options.bodies(), options.redactor()));
        actions = new Actions(messages);
        jobs = new Jobs(imports, System::nanoTime);
        sampler.scheduleAtFixedRate(
                () -> directory.watched().forEach(ObservedQueue::sample),
                History.STEP.toMillis(),
                History.STEP.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    /**
     * The console, and what a user may do here.
     *
     * @param actions the rights that the user has in any queue
     * @param time by the Redis server's clock; null if it does not answer
     * @param zone the time zone of this process
     */
    public record Me(
            String version,
            String environment,
            String user,
            boolean readOnly,
            String readOnlyBecause,
            List<String> actions,
            boolean bodies,
            Instant time,
            Server server,
            String zone) {}

    /**
     * A Redis server; all but the address is null if it does not answer.
     *
     * @param appendOnly null where the server does not tell
     */
    public record Server(String address, String product, String version, String evictionPolicy, Boolean appendOnly) {}

    /** Returns a user's rights here, in any queue. */
    public Me me(ConsoleUser user) {
        Directory.Server server;
        List<String> rights;
        try {
            server = directory.server();
            rights = directory.list(user::canRead).queues().stream()
                    .flatMap(queue -> user.actions(queue.name()).stream())
                    .distinct()
                    .sorted()
                    .map(ConsoleAction::code)
                    .toList();
        } catch (ApiException e) {
            server = null; // the page has to begin also without Redis
            rights = List.of();
        }
        String because = user.readOnly()
                ? "This console changes nothing: it was started without actions."
                : rights.isEmpty() ? "You may read, but change nothing." : null;
        return new Me(
                version(),
                options.environment(),
                user.name(),
                because != null,
                because,
                rights,
                options.bodies(),
                server == null || server.time() == null ? null : Times.of(server.time()),
                server == null ? null : server(server),
                ZoneId.systemDefault().getId());
    }

    private static Server server(Directory.Server server) {
        return server.info() == null
                ? new Server(server.address(), null, null, null, null)
                : new Server(
                        server.address(),
                        server.info().product(),
                        server.info().version(),
                        server.info().evictionPolicy(),
                        server.info().appendOnly());
    }

    private static String version() {
        String version = ConsoleApi.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    /** All queues that a user may see, the worst first. */
    public QueueViews.Queues queues(ConsoleUser user) {
        Directory.Listed listed = directory.list(user::canRead);
        if (listed.queues().isEmpty()) {
            Long time = directory.server().time();
            return new QueueViews.Queues(time == null ? null : Times.of(time), List.of(), false);
        }
        return queues.queues(listed.queues(), user, listed.more());
    }

    /** A queue in full. */
    public FlattenedJson queue(ConsoleUser user, String queue) {
        return queues.queue(directory.queue(queue), user, () -> directory.isKnown(queue));
    }

    /**
     * Returns how many messages of a queue become due when.
     *
     * @param span {@code minute}, {@code hour}, {@code day}, {@code month} or {@code all}
     */
    public QueueViews.Ahead outlook(String queue, String span) {
        if (!Span.CODES.contains(span)) {
            throw bad("span", span, "one of " + String.join(", ", Span.CODES));
        }
        return queues.ahead(directory.queue(queue), Span.of(span));
    }

    /**
     * A page of messages.
     *
     * @param state {@code delayed}, {@code parked}, {@code leased} or {@code dead}
     * @param at the due time of the first one; null for any
     * @param newest whether those that are due last come first
     * @param cursor of the page before; null for the first page
     * @param limit the most messages, 1 to {@value QueueAdmin#MAX_PAGE}; null for 100
     */
    public MessageViews.Page messages(
            String queue, String state, Instant at, boolean newest, String cursor, Long limit) {
        if (!MessageViews.STATES.contains(state)) {
            throw bad("state", state, "one of " + String.join(", ", MessageViews.STATES));
        }
        int most = limit(limit);
        if ((at == null ? 0 : 1) + (newest ? 1 : 0) + (cursor == null ? 0 : 1) > 1) {
            throw new ApiException(Kind.BAD_REQUEST, "Give only one of the parameters 'at', 'newest' and 'cursor'.");
        }
        PageStart start =
                at != null ? PageStart.at(micros("at", at)) : newest ? PageStart.newest() : PageStart.next(cursor);
        return messages.page(directory.queue(queue), state, start, most);
    }

    /**
     * A page of the messages of a group in any state, those that are leased or keep their place first.
     *
     * @param cursor of the page before; null for the first page
     * @param limit the most messages, 1 to {@value QueueAdmin#MAX_PAGE}; null for 100
     */
    public MessageViews.Page messages(String queue, String group, String cursor, Long limit) {
        return messages.page(directory.queue(queue), group(group), cursor, limit(limit));
    }

    private static int limit(Long limit) {
        if (limit != null && (limit < 1 || limit > QueueAdmin.MAX_PAGE)) {
            throw bad("limit", limit.toString(), "from 1 to " + QueueAdmin.MAX_PAGE);
        }
        return limit == null ? 100 : limit.intValue();
    }

    /**
     * The message with an id in any state, and its dead letters.
     *
     * @param group that of the message, which a queue with partitions needs; null for none
     */
    public MessageViews.Found message(String queue, String id, String group) {
        return messages.message(directory.queue(queue), checked(id), group(group));
    }

    /**
     * The body of a message, or of the newest of its dead letters.
     *
     * @throws ApiException if bodies are not shown, or there is no such message
     */
    public byte[] body(String queue, String id, String group) {
        if (!options.bodies()) {
            throw new ApiException(Kind.FORBIDDEN, "This console shows no bodies.");
        }
        return messages.body(directory.queue(queue), checked(id), group(group));
    }

    /**
     * The dead letters of a queue by cause.
     *
     * @param since when the oldest one was given up; null for any
     */
    public DeadLetters failures(String queue, Instant since) {
        ObservedQueue asked = directory.queue(queue);
        return Answers.of(
                since == null
                        ? asked.deadLetters()
                        : DeadLetters.read(asked, micros("since", since), DeadLetters.MOST));
    }

    /**
     * Removes a message.
     *
     * @param group that of the message, which a queue with partitions needs; null for none
     * @param state the one that the user saw, {@code delayed} or {@code leased}
     * @param due the due time that the user saw
     * @throws ApiException of {@link Kind#CHANGED} if it is not so any more; nothing is changed then
     */
    public ActionResult cancel(String queue, String id, String group, String state, Instant due) {
        return actions.cancel(directory.queue(queue), new Actions.Seen(checked(id), group(group), state, due));
    }

    /** Makes a message due now; otherwise as {@link #cancel}. */
    public ActionResult promote(String queue, String id, String group, String state, Instant due) {
        return actions.promote(directory.queue(queue), new Actions.Seen(checked(id), group(group), state, due));
    }

    /**
     * Moves a message to another time; otherwise as {@link #cancel}.
     *
     * @param to the time; null for one from now on
     * @param inMicros in how many microseconds; null for a time
     */
    public ActionResult reschedule(
            String queue, String id, String group, String state, Instant due, Instant to, Long inMicros) {
        return actions.reschedule(
                directory.queue(queue), new Actions.Seen(checked(id), group(group), state, due), moved(to, inMicros));
    }

    private static DueTime moved(Instant to, Long inMicros) {
        if ((to == null) == (inMicros == null)) {
            throw new ApiException(Kind.BAD_REQUEST, "Give one of the parameters 'to' and 'inMicros'.");
        }
        if (inMicros != null && (inMicros < 0 || inMicros > DueTime.MAX_MICROS)) {
            throw bad("inMicros", inMicros.toString(), "from 0 to " + DueTime.MAX_MICROS);
        }
        return to == null ? new DueTime(true, inMicros) : new DueTime(false, micros("to", to));
    }

    /** Begins to make all messages of a group due now. */
    public Jobs.View promoteGroup(String queue, String group) {
        String named = group(group);
        return jobs.ofGroup(
                directory.queue(queue),
                ConsoleAction.PROMOTE,
                "promote",
                asked -> asked.group(named).promoteAll(false),
                "made due now");
    }

    /** Begins to move all messages of a group to another time, as {@link #reschedule}. */
    public Jobs.View rescheduleGroup(String queue, String group, Instant to, Long inMicros) {
        DueTime moved = moved(to, inMicros);
        String named = group(group);
        return jobs.ofGroup(
                directory.queue(queue),
                ConsoleAction.RESCHEDULE,
                "reschedule",
                asked -> asked.group(named).rescheduleAll(moved),
                "moved");
    }

    /**
     * Begins to cancel all messages of a group, in any state.
     *
     * @param confirm the group's name
     * @param schedules whether recurring schedules, too
     */
    public Jobs.View cancelGroup(String queue, String group, String confirm, boolean schedules) {
        confirm("group", group(group), confirm);
        return jobs.ofGroup(
                directory.queue(queue),
                ConsoleAction.CANCEL_ALL,
                "cancelGroup",
                asked -> asked.group(group).cancelAll(schedules, true),
                "cancelled, leased ones included");
    }

    /**
     * Begins to purge all dead letters of a group.
     *
     * @param confirm the group's name
     */
    public Jobs.View purgeGroup(String queue, String group, String confirm) {
        confirm("group", group(group), confirm);
        return jobs.purge(directory.queue(queue), group);
    }

    /** Moves a dead letter back into its queue. */
    public ActionResult redrive(String queue, String deadLetterId, String group) {
        return actions.redrive(directory.queue(queue), checked(deadLetterId), group(group));
    }

    /** Purges a dead letter. */
    public ActionResult purge(String queue, String deadLetterId, String group) {
        return actions.purge(directory.queue(queue), checked(deadLetterId), group(group));
    }

    /**
     * Pauses a group until a time.
     *
     * @param to the time; null for one from now on
     * @param inMicros in how many microseconds; null for a time. If both are null, until the group is resumed
     */
    public ActionResult pauseGroup(String queue, String group, Instant to, Long inMicros) {
        DueTime until = to == null && inMicros == null ? MessageGroup.UNTIL_RESUMED : moved(to, inMicros);
        return actions.pause(directory.queue(queue), group(group), until);
    }

    /** Ends the pause of a group. */
    public ActionResult resumeGroup(String queue, String group) {
        return actions.resume(directory.queue(queue), group(group));
    }

    public ActionResult pause(String queue) {
        return actions.pause(directory.queue(queue));
    }

    public ActionResult resume(String queue) {
        return actions.resume(directory.queue(queue));
    }

    /**
     * Begins to move the dead letters of a cause back.
     *
     * @param cause as {@link #failures} names it
     * @param since when the oldest one was given up; null for any
     * @param until when the newest one that the user saw was given up; null for any
     * @param count how many the user saw: no more are moved
     */
    public Jobs.View redriveAll(String queue, String cause, Instant since, Instant until, Long count) {
        return jobs.redrive(directory.queue(queue), seen(cause, since, until), checked(count));
    }

    /**
     * Begins to purge the dead letters of a cause, or all.
     *
     * @param cause as {@link #failures} names it; null for all
     * @param since when the oldest one was given up; null for any
     * @param until when the newest one that the user saw was given up; null for any
     * @param count how many the user saw: no more are purged
     * @param confirm the queue's name
     */
    public Jobs.View purgeAll(String queue, String cause, Instant since, Instant until, Long count, String confirm) {
        confirm("queue", queue, confirm);
        return jobs.purge(directory.queue(queue), seen(cause, since, until), checked(count));
    }

    /**
     * Begins to cancel all delayed messages.
     *
     * @param confirm the queue's name
     * @param schedules whether recurring schedules, too
     */
    public Jobs.View cancelAll(String queue, String confirm, boolean schedules) {
        confirm("queue", queue, confirm);
        return jobs.cancelAll(directory.queue(queue), schedules);
    }

    /** Begins to look for messages that an eviction or a lost key has left behind, and to let them wait again. */
    public Jobs.View check(String queue) {
        return jobs.check(directory.queue(queue));
    }

    /** A job in a queue that a user may see. */
    public Jobs.View job(ConsoleUser user, String id) {
        return jobs.get(id, user::canRead);
    }

    /** The jobs in queues that a user may see. */
    public Jobs.Views jobs(ConsoleUser user) {
        return jobs.list(user::canRead);
    }

    /** The right that a user needs to stop a job. */
    public ConsoleAction actionOf(String jobId) {
        return jobs.action(jobId);
    }

    /** Stops a job behind the step under way. */
    public ActionResult stop(String jobId) {
        return jobs.stop(jobId);
    }

    /** For tests: the next view asks Redis. */
    void forget(String queue) {
        directory.queue(queue).changed();
    }

    private static Jobs.Seen seen(String cause, Instant since, Instant until) {
        return new Jobs.Seen(
                cause, since == null ? null : micros("since", since), until == null ? null : micros("until", until));
    }

    private static void confirm(String of, String name, String confirm) {
        if (!name.equals(confirm)) {
            throw new ApiException(
                    Kind.BAD_REQUEST, "Parameter 'confirm' has to be the " + of + "'s name. Nothing was changed.");
        }
    }

    private static String checked(String id) {
        try {
            return ScheduleRequest.requireId(id, true);
        } catch (IllegalArgumentException e) {
            throw new ApiException(Kind.BAD_REQUEST, "Parameter 'id': " + e.getMessage());
        }
    }

    private static String group(String group) {
        try {
            return group == null ? null : ScheduleRequest.requireGroup(group);
        } catch (IllegalArgumentException e) {
            throw new ApiException(Kind.BAD_REQUEST, "Parameter 'group': " + e.getMessage());
        }
    }

    private static long checked(Long count) {
        if (count == null) {
            throw new ApiException(Kind.BAD_REQUEST, "Parameter 'count' is missing.");
        }
        if (count < 1) {
            throw bad("count", String.valueOf(count), "how many messages you saw, 1 or more");
        }
        return count;
    }

    private static long micros(String name, Instant time) {
        try {
            return DueTime.at(time).micros();
        } catch (IllegalArgumentException e) {
            throw bad(name, time.toString(), "from 1970-01-01 to 2255-06-05");
        }
    }

    private static ApiException bad(String name, String value, String right) {
        return new ApiException(
                Kind.BAD_REQUEST,
                "Parameter '" + name + "' is '" + ShownId.of(value) + "': it has to be " + right + ".");
    }

    /** Ends what runs in the background: the changes of many messages behind the steps under way. */
    @Override
    public void close() {
        jobs.close();
        sampler.shutdownNow();
    }
}
