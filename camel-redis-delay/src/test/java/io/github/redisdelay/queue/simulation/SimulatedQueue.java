// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.simulation;

import io.github.redisdelay.history.RareState;
import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.SettleResult;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.format.StateRecord;
import io.github.redisdelay.queue.internal.format.StoredBody;
import io.github.redisdelay.queue.model.WaitersModel;
import io.github.redisdelay.queue.simulation.SwarmFaults.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * A queue on a Redis on a virtual clock, as far as consumers see it, and the network before it: what is due and leased, and
 * idle consumers.
 */
public final class SimulatedQueue {

    /** A message as Redis has it. */
    public static final class Message {
        public final String id;
        /** Null if it has none. */
        public final String group;

        public long due;
        public final long firstDue;
        /** Since when it can be claimed, or will be. */
        public long availableSince;

        public int attempts;
        public int lost;
        public boolean leased;
        /** When it was leased, by the virtual clock. */
        public long claimedNanos;

        public long leaseEnds;
        public ClaimId claim;
        public SimulatedConsumer holder;
        /** It has failed, and keeps its place in its group. */
        public boolean keepsPlace;

        public Message(String id, String group, long due) {
            this.id = id;
            this.group = group;
            this.due = due;
            this.firstDue = due;
            this.availableSince = due;
        }

        private long at() {
            return leased ? leaseEnds : due;
        }

        private ClaimReply.ClaimedMessage described() {
            return new ClaimReply.ClaimedMessage(
                    id,
                    id.getBytes(StandardCharsets.UTF_8),
                    new StoredBody(firstDue, new byte[0], null),
                    new StateRecord(
                            lost, RedeliveryReason.NONE, 0, attempts, due, firstDue, new byte[0], null, 0, 0, 0, null),
                    false);
        }
    }

    /** A group: its messages that are parked, those that are delayed and have not begun, and how many others have a place. */
    public final class Group {
        public final TreeSet<Message> parked = new TreeSet<>(byTime);
        public final TreeSet<Message> delayedFirst = new TreeSet<>(byTime);
        public int begun;

        /** Messages with a place move to {@code delayed}, and those without one are parked. */
        private void bringIntoLine() {
            while (!parked.isEmpty() && begun + delayedFirst.size() < limit) {
                unpark();
            }
            while (!parked.isEmpty()
                    && !delayedFirst.isEmpty()
                    && byTime.compare(parked.first(), delayedFirst.last()) < 0) {
                Message last = delayedFirst.pollLast();
                delayed.remove(last);
                unpark();
                parked.add(last);
            }
        }

        private void begin(Message message) {
            delayedFirst.remove(message);
            if (++begun > limit || (limit == 1 && !parked.isEmpty() && byTime.compare(parked.first(), message) < 0)) {
                fail(message.id + " begins beside " + (begun - 1)
                        + " of its group, or before one that was due earlier");
            }
        }

        private void unpark() {
            Message first = parked.pollFirst();
            first.availableSince = Math.max(first.due, micros());
            delayedFirst.add(first);
            delayed.add(first);
        }
    }

    public final FakeTimers timers;
    public final Random random;
    /** How long a message takes to get to Redis or from it, in nanoseconds. */
    public final LongSupplier latency;
    /** What goes wrong, but for consumers that have faults of their own. */
    public SwarmFaults faults;

    /** The states that were reached. */
    public RareStates reached = new RareStates();
    /** The server's clock at the beginning, and by how much it was stepped since. */
    private long offsetMicros = 1_700_000_000_000_000L;
    /** When the server's clock was stepped, by the virtual clock. */
    public long steppedNanos = Long.MIN_VALUE / 2;

    public final Map<String, Message> pending = new LinkedHashMap<>();
    /** Acknowledged, or given up. */
    public final Set<String> done = new HashSet<>();

    private final Comparator<Message> byTime =
            Comparator.comparingLong(Message::at).thenComparing(message -> message.id);
    private final TreeSet<Message> delayed = new TreeSet<>(byTime);
    private final TreeSet<Message> leased = new TreeSet<>(byTime);
    /** All of a group, by its name. */
    public final Map<String, Group> groups = new HashMap<>();
    /** How many places a group has. */
    public int limit = 1;
    /** A failed message keeps its place. */
    public boolean strict = true;

    public final WaitersModel waiters = new WaitersModel(this::call);
    private final Map<String, SimulatedConsumer> consumers = new HashMap<>();

    /** How many messages became due, were leased or came back. */
    public int events;

    public long claims;
    public long leaves;
    public long wakeUps;
    /** The first failure. */
    public String failure;

    public SimulatedQueue(FakeTimers timers, Random random, LongSupplier latency, SwarmFaults faults) {
        this.timers = timers;
        this.random = random;
        this.latency = latency;
        this.faults = faults;
    }

    public void add(SimulatedConsumer consumer) {
        consumers.put(consumer.member, consumer);
    }

    public SimulatedConsumer consumer(String member) {
        return consumers.get(member);
    }

    public void fail(String what) {
        if (failure == null) {
            failure = what;
        }
    }

    public long micros() {
        return offsetMicros + Math.floorDiv(timers.nanoTime(), 1_000L);
    }

    /** The server's clock steps forward. */
    public void stepClock(long micros) {
        offsetMicros += micros;
        steppedNanos = timers.nanoTime();
    }

    /** PUBLISH. A connection may stand for a while though nobody is there any more. */
    private boolean call(String member, long micros) {
        SimulatedConsumer consumer = consumers.get(member);
        wakeUps++;
        if (!consumer.happens(Kind.WAKE_UP_LOST)) {
            consumer.timers().schedule(latency.getAsLong(), () -> consumer.loop.wakeUp(0, micros));
        }
        boolean heard = !consumer.dead || consumer.happens(Kind.DEAD_STILL_HEARD);
        if (consumer.dead) {
            reached.count(heard ? RareState.PROMISE_OF_DEAD : RareState.WAKE_UP_UNHEARD);
        }
        return heard;
    }

    private void coverEarlier(long due) {
        waiters.coverEarlier(due, delayed.isEmpty() ? null : (Long) delayed.first().due, micros());
    }

    public void schedule(String id, long delayMicros) {
        schedule(id, null, delayMicros);
    }

    /** @param group null for none */
    public void schedule(String id, String group, long delayMicros) {
        Message message = new Message(id, group, micros() + delayMicros);
        pending.put(id, message);
        events++;
        Long before = firstDue();
        if (group == null) {
            coverEarlier(message.due);
            delayed.add(message);
        } else {
            Group its = groups.computeIfAbsent(group, name -> new Group());
            its.parked.add(message);
            endGroup(its, before);
        }
    }

    /** True if a message is parked behind others of its group. */
    public boolean isParked(Message message) {
        return message.group != null && groups.get(message.group).parked.contains(message);
    }

    /** As {@code group.lua}: somebody is woken if something is due earlier than before, or is late. */
    private void endGroup(Group group, Long before) {
        group.bringIntoLine();
        Long first = firstDue();
        if (first != null && (before == null || first < before || before < micros() - WaitersModel.OVERDUE)) {
            waiters.cover(first, micros());
        }
    }

    private Long firstDue() {
        return delayed.isEmpty() ? null : delayed.first().due;
    }

    /** When the next message is due, which is known, or the next lease ends; null if nothing comes. */
    private Long nextEvent(Long due) {
        Long end = leased.isEmpty() ? null : (Long) leased.first().leaseEnds;
        return due == null ? end : end == null ? due : (Long) Math.min(due, end);
    }

    public ClaimReply claim(SimulatedConsumer consumer, ClaimRequest request, boolean repeat) {
        long now = micros();
        List<ClaimReply.ClaimedMessage> given = new ArrayList<>();
        long again = -1;
        Long complete = repeat ? null : completion(request, now);
        Long next = null;
        if (repeat) {
            for (Message message : leased) {
                if (message.claim.equals(request.claimId())) {
                    given.add(message.described());
                }
            }
            reached.countIf(!given.isEmpty(), RareState.CLAIM_REPEATED);
        } else {
            give(consumer, request, now, complete, given);
            next = firstDue();
            if (complete != null && given.isEmpty()) {
                long woken = next + WaitersModel.OVERDUE + 1;
                next = woken > now ? Math.min(complete, woken) : complete;
            }
            again = waiters.claim(
                    consumer.member,
                    now,
                    nextEvent(next),
                    given.size(),
                    request.messages(),
                    request.quick(),
                    request.safetyMicros());
        }
        return new ClaimReply(
                now,
                next == null ? -1 : Math.max(0, next - now),
                leased.isEmpty() ? -1 : Math.max(0, leased.first().leaseEnds - now),
                again,
                given,
                List.of(),
                false);
    }

    /** When the batch is complete of which messages are due; null if it is, none are, or none is wanted. */
    private Long completion(ClaimRequest request, long now) {
        if (request.batchMicros() == ClaimRequest.NO_BATCH || delayed.isEmpty() || delayed.first().due > now) {
            return null;
        }
        long complete = delayed.stream()
                .skip(request.messages() - 1)
                .findFirst()
                .map(last -> Math.min(last.due, delayed.first().due + request.batchMicros()))
                .orElse(delayed.first().due + request.batchMicros());
        return complete > now ? complete : null;
    }

    /** @param complete when the batch will be; null if it is, or none is wanted */
    private void give(
            SimulatedConsumer consumer,
            ClaimRequest request,
            long now,
            Long complete,
            List<ClaimReply.ClaimedMessage> given) {
        boolean batch = request.batchMicros() != ClaimRequest.NO_BATCH;
        List<Message> left = new ArrayList<>();
        int ended = 0;
        boolean full = false;
        while (given.size() < request.messages() && !full && (complete == null || left.size() < 8)) {
            Message due = delayed.isEmpty() ? null : delayed.first();
            Message end = leased.isEmpty() || ended == request.expired() ? null : leased.first();
            Message next = due == null || (end != null && end.leaseEnds < due.due) ? end : due;
            if (next == null || next.at() > now) {
                break;
            }
            boolean begins = !next.leased && !next.keepsPlace && next.group != null;
            (next.leased ? leased : delayed).remove(next);
            ended += next.leased ? 1 : 0;
            // One that comes again is a batch of its own.
            full = batch && next.attempts > 0;
            if (batch && (full ? !given.isEmpty() : complete != null)) {
                full = false;
                left.add(next);
                continue;
            }
            if (begins) {
                groups.get(next.group).begin(next);
            }
            next.keepsPlace = false;
            if (next.leased) {
                next.lost++;
                countExpired(next);
            }
            reached.countIf(next.lost >= 2, RareState.TWO_LEASES_LOST);
            next.leased = true;
            next.claimedNanos = timers.nanoTime();
            next.leaseEnds = now + request.leaseMicros();
            next.claim = request.claimId();
            next.holder = consumer;
            next.attempts++;
            leased.add(next);
            events++;
            given.add(next.described());
        }
        left.forEach(message -> (message.leased ? leased : delayed).add(message));
    }

    private void countExpired(Message message) {
        boolean dead = message.holder.dead;
        reached.count(dead ? RareState.LEASE_OF_DEAD : RareState.LEASE_OF_LIVING);
        boolean othersWait =
                message.group != null && !groups.get(message.group).parked.isEmpty();
        reached.countIf(dead && othersWait, RareState.GROUP_OF_DEAD);
        reached.countIf(!dead && message.holder.isStuck(), RareState.HELD_BY_BROKEN);
    }

    /** A claim of nothing. */
    public void leave(SimulatedConsumer consumer) {
        leaves++;
        waiters.claim(consumer.member, micros(), nextEvent(firstDue()), 0, 0, false, 1_900_000);
    }

    public SettleResult settle(String id, ClaimId claim, Settlement how) {
        Message message = pending.get(id);
        SettleResult stale = stale(message, claim);
        if (stale != null) {
            reached.countIf(how != Settlement.RELEASE, RareState.LATE_END);
            return stale;
        }
        leased.remove(message);
        Group group = groups.get(message.group);
        Long before = firstDue();
        if (how == Settlement.ACKNOWLEDGE || how instanceof Settlement.DeadLetter) {
            pending.remove(id);
            if (!done.add(id)) {
                fail(id + " is ended twice");
            }
            reached.countIf(how != Settlement.ACKNOWLEDGE, RareState.GIVEN_UP);
            if (group != null) {
                group.begun--;
                endGroup(group, before);
            }
            return SettleResult.DONE;
        }
        if (how instanceof Settlement.Retry retry) {
            message.lost = 0;
            message.due = micros() + DueTime.toMicros(retry.delay());
        } else {
            message.attempts--;
        }
        events++;
        coverEarlier(message.due);
        message.leased = false;
        message.availableSince = Math.max(message.due, micros());
        message.keepsPlace = group != null && strict && message.attempts > 0;
        if (group != null && !message.keepsPlace) {
            group.begun--;
            group.parked.add(message);
            endGroup(group, before);
        } else {
            delayed.add(message);
        }
        return SettleResult.DONE;
    }

    public SettleResult extend(String id, ClaimId claim, long micros) {
        Message message = pending.get(id);
        SettleResult stale = stale(message, claim);
        if (stale != null) {
            return stale;
        }
        leased.remove(message);
        message.leaseEnds = micros() + micros;
        leased.add(message);
        return SettleResult.DONE;
    }

    /** Null if the message is leased under this claim id. */
    private static SettleResult stale(Message message, ClaimId claim) {
        if (message == null) {
            return SettleResult.STALE_GONE;
        }
        return message.leased && message.claim.equals(claim) ? null : SettleResult.STALE_HELD;
    }
}
