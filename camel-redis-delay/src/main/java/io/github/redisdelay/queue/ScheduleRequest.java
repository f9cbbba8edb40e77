// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.exception.ShownId;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** A message to schedule. Immutable: begin with {@link #of}. */
public final class ScheduleRequest {

    /** The highest priority. */
    public static final int MAX_PRIORITY = 9;

    /** The longest id, in bytes of UTF-8. */
    public static final int MAX_ID_BYTES = 256;

    /** The longest name of a group, in bytes of UTF-8. */
    public static final int MAX_GROUP_BYTES = 200;

    /** The longest id of a dead letter: a message's id, {@code @} and a time in microseconds. */
    public static final int MAX_DEAD_LETTER_ID_BYTES = MAX_ID_BYTES + 1 + 16;

    /** The longest id of a recurring schedule: a run of it that is redriven has the id of its dead letter. */
    public static final int MAX_SCHEDULE_ID_BYTES = MAX_ID_BYTES - 1 - 16;

    private final String id;
    private final DueTime due;
    private final byte[] body;
    private final DuplicatePolicy onDuplicate;
    private final ClaimId supersedes;
    private final Order order;
    private final long maximumQueueLength;
    private final Recurrence recurrence;

    /** The rule that makes it a recurring schedule, and when that was declared first. */
    private record Recurrence(Schedule schedule, long declaredMicros) {}

    /** Before which others it comes: by its priority, or by the order of its group, which is null if it has none. */
    private record Order(int priority, String group) {
        Order {
            if (group != null && priority > 0) {
                throw new IllegalArgumentException("priority is " + priority + " and group is '" + ShownId.of(group)
                        + "': a group has an order, which a priority breaks; leave out one of them");
            }
        }
    }

    private ScheduleRequest(
            String id,
            DueTime due,
            byte[] body,
            DuplicatePolicy onDuplicate,
            ClaimId supersedes,
            Order order,
            long maximumQueueLength,
            Recurrence recurrence) {
        this.id = id;
        this.due = Objects.requireNonNull(due, "due");
        this.body = Objects.requireNonNull(body, "body");
        this.onDuplicate = id == null ? DuplicatePolicy.REJECT : Objects.requireNonNull(onDuplicate, "onDuplicate");
        this.supersedes = supersedes;
        this.order = order;
        this.maximumQueueLength = maximumQueueLength;
        this.recurrence = recurrence;
    }

    /**
     * A message of priority 0 for a queue without a limit; an id in use is an error.
     *
     * @param id the id, 1 to {@link #MAX_ID_BYTES} bytes of UTF-8 without control characters, or null to have one generated
     * @param body the bytes to store; the array must not be changed afterwards
     * @param due when it is due
     */
    public static ScheduleRequest of(String id, byte[] body, DueTime due) {
        if (id != null) {
            checkId(id, MAX_ID_BYTES);
        }
        return new ScheduleRequest(id, due, body, DuplicatePolicy.REJECT, null, new Order(0, null), 0, null);
    }

    /**
     * The same message with another policy for an id that is in use. It stays {@link DuplicatePolicy#REJECT} for a generated
     * id: one that is in use is another message's, which must be neither replaced nor taken for this one.
     */
    public ScheduleRequest withOnDuplicate(DuplicatePolicy policy) {
        return policy == onDuplicate
                ? this
                : new ScheduleRequest(id, due, body, policy, supersedes, order, maximumQueueLength, recurrence);
    }

    /**
     * The same message in the place of a delivery of the same id, whatever the policy says.
     *
     * @param claim the claim id of the caller's delivery; null if there is none. One that no longer holds the lease grants
     *     nothing, and if the message is gone (cancelled, or finished by another delivery), this one is refused.
     */
    public ScheduleRequest superseding(ClaimId claim) {
        return claim == supersedes
                ? this
                : new ScheduleRequest(id, due, body, onDuplicate, claim, order, maximumQueueLength, recurrence);
    }

    /** The same message with a priority, 0 to {@value #MAX_PRIORITY}: among due messages, the highest is delivered first. */
    public ScheduleRequest withPriority(int number) {
        checkPriority(number);
        return number == order.priority ? this : ordered(new Order(number, order.group));
    }

    /**
     * The same message with a limit: how many messages the queue may hold, delayed or leased, for this one to be added; 0 for
     * any number. A message that takes the place of another one is not refused.
     */
    public ScheduleRequest withMaximumQueueLength(long limit) {
        checkMaximumQueueLength(limit);
        return limit == maximumQueueLength
                ? this
                : new ScheduleRequest(id, due, body, onDuplicate, supersedes, order, limit, recurrence);
    }

    /**
     * The same message in a group: at most so many of a group are leased at a time as the queue's {@link QueueLimits} says.
     *
     * @param name 1 to {@value #MAX_GROUP_BYTES} bytes of UTF-8 without control characters; null for none
     * @throws IllegalArgumentException if the name is no such one, or the message has a priority
     */
    public ScheduleRequest withGroup(String name) {
        String group = name == null ? null : requireGroup(name);
        return Objects.equals(group, order.group) ? this : ordered(new Order(order.priority, group));
    }

    private ScheduleRequest ordered(Order other) {
        return new ScheduleRequest(id, due, body, onDuplicate, supersedes, other, maximumQueueLength, recurrence);
    }

    /**
     * The same message as a recurring schedule: it is never finished, and after each run it is delayed until the next time of the
     * rule. A new schedule has its first run at the first time of the rule that is not before {@link #due()}; an interval counts
     * from there, and where that is now, the first run is due after one interval. As clocks differ, a first run within the next
     * minute may be left out. The policy for an id in use does not matter:
     *
     * <ul>
     *   <li>The same rule changes no time; another body is taken over. The result is {@link ScheduleOutcome#IGNORED}. But if a
     *       wrong clock has put the next run beyond the next times of the rule, it is put right.
     *   <li>Another rule is {@link ScheduleOutcome#REPLACED}: the next run is due at its first time.
     *   <li>A run that is under way goes on under its lease.
     *   <li>A message with this id that is no schedule is replaced.
     * </ul>
     *
     * @param rule at which times it is due
     * @param declaredMicros when the caller declared it first, as {@link ScheduleResult#scheduledMicros()} said then: if others
     *     have declared the id since with another rule or body, nothing is changed. 0 to declare it now
     * @throws IllegalStateException without an id
     * @throws IllegalArgumentException for one of more than {@value #MAX_SCHEDULE_ID_BYTES} bytes
     */
    public ScheduleRequest recurring(Schedule rule, long declaredMicros) {
        if (id == null) {
            throw new IllegalStateException(
                    "a recurring schedule needs an id, by which it is declared again and cancelled");
        }
        checkId(id, MAX_SCHEDULE_ID_BYTES);
        Recurrence made = new Recurrence(rule, declaredMicros);
        return new ScheduleRequest(id, due, body, DuplicatePolicy.IGNORE, null, order, maximumQueueLength, made);
    }

    /** The rule of a recurring schedule, or null. */
    public Schedule schedule() {
        return recurrence == null ? null : recurrence.schedule;
    }

    /** When the recurring schedule was declared first; 0 for now. */
    public long declaredMicros() {
        return recurrence == null ? 0 : recurrence.declaredMicros;
    }

    /** The group, or null. */
    public String group() {
        return order.group;
    }

    public String id() {
        return id;
    }

    public DueTime due() {
        return due;
    }

    public byte[] body() {
        return body;
    }

    public DuplicatePolicy onDuplicate() {
        return onDuplicate;
    }

    /** The claim id of the delivery whose place the message takes, or null. */
    public ClaimId supersedes() {
        return supersedes;
    }

    public int priority() {
        return order.priority;
    }

    public long maximumQueueLength() {
        return maximumQueueLength;
    }

    public static void checkPriority(int priority) {
        if (priority < 0 || priority > MAX_PRIORITY) {
            throw new IllegalArgumentException("priority is " + priority + ": it must be from 0 to " + MAX_PRIORITY);
        }
    }

    public static void checkMaximumQueueLength(long maximumQueueLength) {
        if (maximumQueueLength < 0 || maximumQueueLength > DueTime.MAX_MICROS) {
            throw new IllegalArgumentException(
                    "maximumQueueLength is " + maximumQueueLength + ": it must be 1 or more, or 0 for no limit");
        }
    }

    /**
     * Checks the id of a message.
     *
     * @param deadLetter whether it is that of a dead letter, which may be longer
     * @return the id
     * @throws IllegalArgumentException saying what is wrong with it
     */
    public static String requireId(String id, boolean deadLetter) {
        checkId(id, deadLetter ? MAX_DEAD_LETTER_ID_BYTES : MAX_ID_BYTES);
        return id;
    }

    /**
     * Checks the name of a group.
     *
     * @return the name
     * @throws IllegalArgumentException saying what is wrong with it
     */
    public static String requireGroup(String name) {
        checkText("group", name, MAX_GROUP_BYTES);
        return name;
    }

    /**
     * Checks an id.
     *
     * @param maximum how many bytes it may have
     * @return its bytes
     * @throws IllegalArgumentException saying what is wrong with it
     */
    public static byte[] checkId(String id, int maximum) {
        return checkText("message id", id, maximum);
    }

    private static byte[] checkText(String what, String id, int maximum) {
        byte[] bytes = id.getBytes(StandardCharsets.UTF_8);
        if (!new String(bytes, StandardCharsets.UTF_8).equals(id)) {
            throw new IllegalArgumentException(
                    what + " '" + abbreviate(id) + "' has half of a surrogate pair: it cannot be written as UTF-8");
        }
        if (bytes.length == 0 || bytes.length > maximum) {
            throw new IllegalArgumentException(what + " '" + abbreviate(id) + "' has " + bytes.length
                    + " bytes: it must have 1 to " + maximum + " bytes of UTF-8");
        }
        for (int i = 0; i < id.length(); i++) {
            if (Character.isISOControl(id.charAt(i))) {
                throw new IllegalArgumentException(
                        what + " '" + ShownId.of(id) + "' has a control character at position " + i + ": remove it");
            }
        }
        return bytes;
    }

    private static String abbreviate(String id) {
        return ShownId.of(id.length() <= 40 ? id : id.substring(0, 40) + "…");
    }
}
