// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import io.github.redisdelay.queue.ChangeResult;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleResult;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.exception.ReplicationTimeoutException;
import io.github.redisdelay.queue.exception.RequestTimeoutException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * The history of one client: its acts and all that it saw, each written down before it is done or as soon as it is seen. Thread-safe.
 *
 * <p>All histories of an experiment use one clock, that of the machine: never the one of a client that may be skewed. In a
 * file each event is one line, handed to the operating system at once, so that a JVM that is killed leaves everything.
 */
public final class History implements AutoCloseable {

    /** The clock of all histories: microseconds since the epoch. */
    public static final LongSupplier MACHINE_CLOCK = () -> ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());

    /** How a route ends, as the detail of {@link What#WORKED} says. */
    public static final String SUCCEEDS = "succeeds";

    public static final String FAILS = "fails";

    /** The reason of a {@link What#FAULT_BEGINS} that can cost nobody a lease. */
    public static final String HARMLESS = "harmless";

    /** The reason of a {@link What#FAULT_BEGINS} with which the server loses what it has confirmed. */
    public static final String LOSES = "loses";

    /** Before the facts about a run of a recurring schedule, in the detail of a {@link What#DELIVERED}. */
    private static final String RUN = "run ";

    private static final int FIELDS = 10;

    /** The kinds of events. */
    public enum What {
        /**
         * A schedule call is about to be made; {@code due} is the earliest due time that it can have by this clock; in the detail
         * the message's time to live in microseconds, if it has one; the reason is its group.
         */
        SCHEDULING,
        /** Redis confirmed a schedule call; {@code due} by its clock, the outcome in the detail. */
        SCHEDULED,
        /** A schedule call failed and took no effect. */
        REFUSED,
        /** A schedule call failed and may have taken effect, or may still do so. */
        UNKNOWN,
        /** A recurring schedule is about to be declared; the claim is a name of the call, and the detail its rule. */
        DECLARING,
        /**
         * Redis confirmed that; {@code due} as the result says, {@code claimed} when that was, both by the server's clock, the
         * outcome in the detail.
         */
        DECLARED,
        /** The next run of a recurring schedule is about to get another time; the claim is a name of the call. */
        MOVING,
        /** Redis confirmed that; {@code due} is the new time, 0 if none was moved. */
        MOVED,
        /** A cancel call is about to be made. */
        CANCELLING,
        /** Redis confirmed a cancel call; the state before in the detail. */
        CANCELLED,
        /**
         * A handler was given a message: with claim id, attempt, the times of due and claim by the server's clock, the reason; in
         * the detail a {@link Receipt}, if the one who recorded it knows more, or the time and the rule of a run.
         */
        DELIVERED,
        /** A route has worked on a delivery and is about to end; in the detail whether it succeeds or fails. */
        WORKED,
        /** A message came with another body than it was scheduled with. */
        GARBLED,
        /** A delivery is about to be finished: how is in the detail; {@code due} is the earliest next delivery of a return. */
        SETTLING,
        /** Redis answered to that; the {@link SettleResult} in the detail. */
        SETTLED,
        /**
         * A cancel call, or with a claim id the finish of a delivery, has ended with an error: which {@link Failure} is the reason,
         * the error in the detail.
         */
        FAILED,
        /** The client whose name is the id dies now, at any rate not earlier. */
        KILLED,
        /** It is dead, and Redis executes nothing any more that it had sent. */
        DEAD,
        /**
         * A fault that the detail names begins. The id are the clients that it hits, with commas between them, or empty if it can
         * hit any; the reason is {@link #HARMLESS} if it cannot cost anybody a lease, {@link #LOSES} if it costs what was stored.
         */
        FAULT_BEGINS,
        /** The fault that the detail names is over. */
        FAULT_ENDS,
        /** The server's clock is about to step; {@code due} is by how many microseconds, less than 0 for back. */
        CLOCK_STEPS
    }

    /** Why a call has no answer although its client lived to see its end. */
    public enum Failure {
        /** Its client was closed meanwhile, or before: it may have taken effect. */
        CLOSED,
        /** It has taken effect, and may be lost with the server. */
        NOT_REPLICATED,
        /** It was never sent. */
        NOT_SENT,
        /** For another reason. */
        OTHER;

        private static Failure of(Throwable error) {
            if (error instanceof ReplicationTimeoutException) {
                return NOT_REPLICATED;
            }
            if (error instanceof RequestTimeoutException timeout && !timeout.isPossiblyStored()) {
                return NOT_SENT;
            }
            String text = String.valueOf(error.getMessage());
            return text.contains("client is closed") || text.contains("client was shut down") ? CLOSED : OTHER;
        }
    }

    /**
     * The facts about a delivery that a Camel route received.
     *
     * @param deadLetter whether it is one, and its id that of a dead letter
     * @param priority of the message
     * @param queue its name
     */
    public record Receipt(boolean deadLetter, int priority, String queue) {

        private static Receipt of(String detail) {
            String[] parts = detail.split(" ", 3);
            return parts.length < 3 || detail.startsWith(RUN)
                    ? null
                    : new Receipt(parts[0].equals("dead"), Integer.parseInt(parts[1]), parts[2]);
        }

        private String text() {
            return (deadLetter ? "dead " : "live ") + priority + " " + queue;
        }
    }

    /**
     * One event; what does not apply is empty or 0.
     *
     * @param micros when, by the clock of all histories
     * @param source the client that wrote it
     * @param id the message, or whom it is about
     * @param claim the claim id of a delivery
     * @param due a due time in microseconds, see {@link What}
     * @param claimed when a message was claimed, in microseconds by the server's clock
     */
    public record Event(
            long micros,
            String source,
            What what,
            String id,
            String claim,
            long due,
            long claimed,
            int attempt,
            String reason,
            String detail) {

        /** The facts about a delivery that a route received; null for one that a plain handler received. */
        public Receipt receipt() {
            return Receipt.of(detail);
        }

        /** The own time of the run that was delivered, in microseconds by the server's clock; -1 of what is no run. */
        public long runMicros() {
            return detail.startsWith(RUN) ? Long.parseLong(detail.split(" ", 3)[1]) : -1;
        }

        /** The rule with which the run was delivered, or that is declared. */
        public Schedule rule() {
            return Schedule.parse(detail.startsWith(RUN) ? detail.split(" ", 3)[2] : detail);
        }

        private String line() {
            String text = String.join(
                    "\t",
                    Long.toString(micros),
                    source,
                    what.name(),
                    id,
                    claim,
                    Long.toString(due),
                    Long.toString(claimed),
                    Integer.toString(attempt),
                    reason,
                    detail.replaceAll("[\\t\\r\\n]", " "));
            return text + "\n";
        }

        private static Event of(String line) {
            String[] fields = line.split("\t", -1);
            if (fields.length != FIELDS) {
                throw new IllegalArgumentException("no event of a history: " + line);
            }
            return new Event(
                    Long.parseLong(fields[0]),
                    fields[1],
                    What.valueOf(fields[2]),
                    fields[3],
                    fields[4],
                    Long.parseLong(fields[5]),
                    Long.parseLong(fields[6]),
                    Integer.parseInt(fields[7]),
                    fields[8],
                    fields[9]);
        }

        @Override
        public String toString() {
            return line().stripTrailing().replace('\t', ' ');
        }
    }

    private final String source;
    private final LongSupplier clock;
    private final AtomicInteger calls = new AtomicInteger();

    // Both guarded by this.
    private final List<Event> events = new ArrayList<>();
    private final FileOutputStream file;

    /**
     * A history in memory.
     *
     * @param source the client's name, without white space
     * @param clock microseconds since the epoch
     */
    public History(String source, LongSupplier clock) {
        this(source, clock, null);
    }

    private History(String source, LongSupplier clock, FileOutputStream file) {
        this.source = source;
        this.clock = clock;
        this.file = file;
    }

    /** A history by the machine's clock that is appended to a file, and not kept in memory. */
    public static History appendingTo(Path path, String source) {
        try {
            return new History(source, MACHINE_CLOCK, new FileOutputStream(path.toFile(), true));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads a file. A last line that its writer did not live to finish is left out. */
    public static List<Event> read(Path path) {
        List<Event> all = new ArrayList<>();
        readOn(path, 0, all);
        return all;
    }

    /**
     * Reads what was written behind a position, so that who looks often reads nothing twice.
     *
     * @param position in bytes, behind a line
     * @param all gets the events
     * @return the position behind the last line that was finished
     */
    public static long readOn(Path path, long position, List<Event> all) {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(path)) {
            in.skipNBytes(position);
            bytes = in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        int from = 0;
        for (int end = 0; end < bytes.length; end++) {
            if (bytes[end] == '\n') {
                all.add(Event.of(new String(bytes, from, end - from, StandardCharsets.UTF_8)));
                from = end + 1;
            }
        }
        return position + from;
    }

    /** The events so far, if they are kept in memory. */
    public synchronized List<Event> events() {
        return List.copyOf(events);
    }

    /** The time by the clock of all histories. */
    public long now() {
        return clock.getAsLong();
    }

    public void scheduling(String id, long delayMicros) {
        scheduling(id, delayMicros, null, null);
    }

    /**
     * The same with all that the judges ask for.
     *
     * @param timeToLive null for ever
     * @param group null if it has none
     */
    public void scheduling(String id, long delayMicros, Duration timeToLive, String group) {
        long now = now();
        String terms = timeToLive == null ? "" : Long.toString(timeToLive.toNanos() / 1000);
        String its = group == null ? "" : group;
        add(new Event(now, source, What.SCHEDULING, id, "", now + delayMicros, 0, 0, its, terms));
    }

    public void scheduled(String id, ScheduleResult result) {
        add(event(
                now(),
                What.SCHEDULED,
                id,
                "",
                result.dueMicros(),
                result.outcome().name()));
    }

    public void refused(String id, String why) {
        add(event(now(), What.REFUSED, id, "", 0, why));
    }

    public void unknown(String id, String why) {
        add(event(now(), What.UNKNOWN, id, "", 0, why));
    }

    /** Returns a name of the call, for its answer. */
    public String declaring(String id, Schedule rule) {
        String call = source + "-" + calls.incrementAndGet();
        add(event(now(), What.DECLARING, id, call, 0, rule.encode()));
        return call;
    }

    public void declared(String call, ScheduleResult result) {
        String outcome = result.outcome().name();
        add(new Event(
                now(),
                source,
                What.DECLARED,
                result.id(),
                call,
                result.dueMicros(),
                result.scheduledMicros(),
                0,
                "",
                outcome));
    }

    /** Returns a name of the call, for its answer. */
    public String moving(String id) {
        String call = source + "-" + calls.incrementAndGet();
        add(event(now(), What.MOVING, id, call, 0, ""));
        return call;
    }

    public void moved(String call, ChangeResult result) {
        add(event(
                now(),
                What.MOVED,
                result.id(),
                call,
                result.dueMicros(),
                result.previousState().name()));
    }

    public void cancelling(String id) {
        add(event(now(), What.CANCELLING, id, "", 0, ""));
    }

    public void cancelled(String id, MessageState previous) {
        add(event(now(), What.CANCELLED, id, "", 0, previous.name()));
    }

    public void delivered(Delivery delivery) {
        delivered(delivery, delivery.rule() == null ? "" : RUN + delivery.firstDueMicros() + " " + delivery.rule());
    }

    /** A delivery that goes to a route. */
    public void delivered(Delivery delivery, boolean deadLetter) {
        delivered(delivery, new Receipt(deadLetter, delivery.priority(), delivery.queue()).text());
    }

    private void delivered(Delivery delivery, String detail) {
        add(new Event(
                now(),
                source,
                What.DELIVERED,
                delivery.id(),
                delivery.claimId().toString(),
                delivery.dueMicros(),
                delivery.claimedMicros(),
                delivery.attempt(),
                delivery.redeliveryReason().name(),
                detail));
    }

    /** To be called before the exchange can end. */
    public void worked(Delivery delivery, boolean succeeds) {
        String how = succeeds ? SUCCEEDS : FAILS;
        add(event(now(), What.WORKED, delivery.id(), delivery.claimId().toString(), 0, how));
    }

    public void garbled(Delivery delivery) {
        add(event(now(), What.GARBLED, delivery.id(), delivery.claimId().toString(), 0, ""));
    }

    /** @param delayMicros after which it may be delivered again, for a return */
    public void settling(Delivery delivery, HistoryChecker.Finish how, long delayMicros) {
        long now = now();
        add(event(now, What.SETTLING, delivery.id(), delivery.claimId().toString(), now + delayMicros, how.name()));
    }

    public void settled(Delivery delivery, SettleResult settlement) {
        add(event(now(), What.SETTLED, delivery.id(), delivery.claimId().toString(), 0, settlement.name()));
    }

    public void failed(Delivery delivery, Throwable error) {
        failed(delivery.id(), delivery.claimId().toString(), error);
    }

    public void cancelFailed(String id, Throwable error) {
        failed(id, "", error);
    }

    private void failed(String id, String claim, Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        add(new Event(
                now(),
                source,
                What.FAILED,
                id,
                claim,
                0,
                0,
                0,
                Failure.of(cause).name(),
                String.valueOf(cause)));
    }

    /** To be called before the client can have died. */
    public void killed(String client, String how) {
        add(event(now(), What.KILLED, client, "", 0, how));
    }

    /** To be called when nothing can be executed any more that the client had sent. */
    public void dead(String client) {
        add(event(now(), What.DEAD, client, "", 0, ""));
    }

    /** It can hit any client, and cost it its leases. */
    public void faultBegins(String name) {
        add(event(now(), What.FAULT_BEGINS, "", "", 0, name));
    }

    /**
     * The same for some clients only.
     *
     * @param hit their names in the histories; empty for any
     */
    public void faultBegins(String name, Collection<String> hit) {
        add(event(now(), What.FAULT_BEGINS, String.join(",", hit), "", 0, name));
    }

    /** One that can cost nobody a lease. */
    public void harmlessFaultBegins(String name) {
        add(new Event(now(), source, What.FAULT_BEGINS, "", "", 0, 0, 0, HARMLESS, name));
    }

    /** One with which the server loses what it has confirmed. */
    public void losingFaultBegins(String name) {
        add(new Event(now(), source, What.FAULT_BEGINS, "", "", 0, 0, 0, LOSES, name));
    }

    public void faultEnds(String name) {
        add(event(now(), What.FAULT_ENDS, "", "", 0, name));
    }

    /** To be called before the clock can have stepped. */
    public void clockSteps(Duration by) {
        add(event(now(), What.CLOCK_STEPS, "", "", by.toNanos() / 1000, ""));
    }

    /**
     * A fault that is over, and that nobody knew of before.
     *
     * @param hit as for one that begins
     */
    public void faultWas(String name, Collection<String> hit, long beginMicros, long endMicros) {
        add(event(beginMicros, What.FAULT_BEGINS, String.join(",", hit), "", 0, name));
        add(event(endMicros, What.FAULT_ENDS, "", "", 0, name));
    }

    private Event event(long now, What what, String id, String claim, long due, String detail) {
        return new Event(now, source, what, id, claim, due, 0, 0, "", detail);
    }

    private synchronized void add(Event event) {
        if (file == null) {
            events.add(event);
            return;
        }
        try {
            // One write of the whole line: what is killed meanwhile leaves it whole, or not at all, or as the last one.
            file.write(event.line().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public synchronized void close() {
        if (file != null) {
            try {
                file.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
