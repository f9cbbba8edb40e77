// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.exception.DuplicateMessageException;
import io.github.redisdelay.queue.fake.FakeHost;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.model.QueueSnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.client.codec.StringCodec;

/**
 * Each operation on a message with a group that is delayed, parked, keeps its place, or is leased. Who has the places is looked at
 * before the next claim, as a claim mends, and before time passes. Then all is delivered, as the rules of the group say.
 */
class GroupOperationsIT extends RealQueueIT {

    private static final Settlement RETRY = new Settlement.Retry(Duration.ofMinutes(30), bytes("failed"));
    private static final long MINUTE = 60_000_000;
    private static final List<String> STATES = List.of("messages", "delayed", "leased", "parked", "groups", "state");

    /** Where a message of the group is. */
    private enum Where {
        DELAYED,
        PARKED,
        KEEPS_ITS_PLACE,
        LEASED
    }

    private enum Operation {
        CANCEL,
        REPLACE,
        REPLACE_INTO_ANOTHER_GROUP,
        REPLACE_WITHOUT_A_GROUP,
        SCHEDULE_AGAIN,
        SUPERSEDE,
        DECLARE,
        RESCHEDULE_LATER,
        RESCHEDULE_EARLIER,
        PROMOTE,
        ACKNOWLEDGE,
        RELEASE,
        FAIL,
        DEAD_LETTER,
        EXPIRE,
        REDRIVE,
        PURGE,
        PAUSE,
        PAUSE_GROUP,
        CHECK,
        CANCEL_ALL,
        PROMOTE_ALL,
        CANCEL_GROUP,
        CANCEL_GROUP_AND_LEASED,
        PROMOTE_GROUP,
        RESCHEDULE_GROUP,
        READ,
        EVICT
    }

    private static final Set<Operation> OF_DELIVERIES = EnumSet.range(Operation.ACKNOWLEDGE, Operation.EXPIRE);
    private static final Set<Operation> OF_ONE_PARTITION =
            EnumSet.of(Operation.REPLACE_INTO_ANOTHER_GROUP, Operation.REPLACE_WITHOUT_A_GROUP);

    private record Rules(int limit, boolean strict, int partitions) {}

    static Stream<Arguments> cases() {
        List<Rules> rules = List.of(new Rules(1, true, 1), new Rules(2, true, 1), new Rules(2, false, 3));
        return Stream.of(Operation.values()).flatMap(operation -> Stream.of(Where.values())
                .filter(where ->
                        !OF_DELIVERIES.contains(operation) || where == Where.KEEPS_ITS_PLACE || where == Where.LEASED)
                .flatMap(where -> rules.stream()
                        .filter(each -> each.partitions == 1 || !OF_ONE_PARTITION.contains(operation))
                        .map(each -> Arguments.of(operation, where, each))));
    }

    private MessageGroup group;
    private Rules rules;
    private long begin;

    // What is expected: the messages of the group with their due times; who of these have begun; and messages that
    // are in no group or in another one.
    private final Map<String, Long> dues = new HashMap<>();
    private final Set<String> leased = new HashSet<>();
    private final Set<String> kept = new HashSet<>();
    private final List<String> outside = new ArrayList<>();

    @ParameterizedTest
    @MethodSource("cases")
    void should_let_the_group_go_on_after_each_operation(Operation operation, Where where, Rules rules) {
        this.rules = rules;
        DelayQueue whole = client.queue(queue.name(), rules.partitions);
        get(whole.admin().limit(new QueueLimits(rules.limit, rules.strict)));
        group = whole.group("g");
        // That of the group, for claims and calls by id.
        queue = group.queue();
        claims.close();
        claims = ClientAccess.consumers(client)
                .newClaims(((RedisDelayQueue) queue).partitions().get(0).address(), error -> {});
        begin = get(queue.admin().stats()).timeMicros();

        String id = where == Where.PARKED ? "m" + (rules.limit + 1) : "m1";
        Set<Operation> ofDeadLetters = EnumSet.of(Operation.REDRIVE, Operation.PURGE);
        List<String> dead = ofDeadLetters.contains(operation) ? List.of(bury(id), bury("dead")) : List.of();
        ClaimedDelivery delivery = prepare(where);
        assertPlaces();

        MessageState was = where == Where.LEASED ? MessageState.LEASED : MessageState.DELAYED;
        int waiting = dues.size() - leased.size();
        List<String> due = dues.entrySet().stream()
                .filter(each -> each.getValue() < begin)
                .map(Map.Entry::getKey)
                .toList();
        ScheduleRequest again = GroupsIT.grouped(id, "g", DueTime.after(Duration.ofMinutes(20)))
                .withOnDuplicate(DuplicatePolicy.REPLACE);
        ScheduleOutcome replaced = was == MessageState.LEASED ? ScheduleOutcome.SUPERSEDED : ScheduleOutcome.REPLACED;
        QueueSnapshot before = snapshot();
        switch (operation) {
            case CANCEL -> {
                assertThat(get(queue.cancel(id)).previousState()).isEqualTo(was);
                leaves(id);
            }
            case REPLACE -> {
                assertThat(get(whole.schedule(again)).outcome()).isEqualTo(replaced);
                moves(id, begin + 20 * MINUTE);
            }
            case REPLACE_INTO_ANOTHER_GROUP, REPLACE_WITHOUT_A_GROUP -> {
                String other = operation == Operation.REPLACE_WITHOUT_A_GROUP ? null : "h";
                assertThat(get(whole.schedule(again.withGroup(other))).outcome())
                        .isEqualTo(replaced);
                leaves(id);
                outside.add(id);
                assertThat(get(queue.get(id)).orElseThrow().info().group()).isEqualTo(other);
            }
            case SCHEDULE_AGAIN -> {
                assertThat(get(whole.schedule(again.withOnDuplicate(DuplicatePolicy.IGNORE)))
                                .outcome())
                        .isEqualTo(ScheduleOutcome.IGNORED);
                assertRejected(whole, again);
            }
            case SUPERSEDE -> {
                ScheduleRequest anew =
                        again.superseding(delivery == null ? FakeHost.randomClaimId() : delivery.claimId());
                if (where == Where.LEASED) {
                    assertThat(get(whole.schedule(anew.withOnDuplicate(DuplicatePolicy.REJECT)))
                                    .outcome())
                            .isEqualTo(ScheduleOutcome.SUPERSEDED);
                    moves(id, begin + 20 * MINUTE);
                } else {
                    assertRejected(whole, anew);
                }
            }
            case DECLARE -> {
                assertThat(get(whole.schedule(again.recurring(Schedule.every(Duration.ofDays(5)), 0)))
                                .outcome())
                        .isEqualTo(replaced);
                moves(id, begin + 20 * MINUTE);
            }
            case RESCHEDULE_LATER, RESCHEDULE_EARLIER -> {
                boolean later = operation == Operation.RESCHEDULE_LATER;
                ChangeResult result =
                        get(queue.reschedule(id, later ? DueTime.after(Duration.ofMinutes(40)) : GroupsIT.at(0)));
                assertThat(result.previousState()).isEqualTo(was);
                if (was == MessageState.DELAYED) {
                    moves(id, later ? begin + 40 * MINUTE : 0);
                }
            }
            case PROMOTE -> {
                assertThat(get(queue.promote(id)).previousState()).isEqualTo(was);
                dues.computeIfPresent(id, (any, time) -> Math.min(time, begin));
            }
            case ACKNOWLEDGE -> settles(delivery, Settlement.ACKNOWLEDGE, where);
            case RELEASE -> settles(delivery, Settlement.RELEASE, where);
            case FAIL -> settles(delivery, RETRY, where);
            case DEAD_LETTER -> settles(delivery, new Settlement.DeadLetter(bytes("why")), where);
            case EXPIRE -> settles(delivery, new Settlement.Drop(Duration.ZERO), where);
            case REDRIVE -> {
                assertThat(get(queue.redrive(dead.get(0), null))).isEqualTo(RedriveOutcome.DUPLICATE);
                assertThat(get(queue.redrive(dead.get(1), null))).isEqualTo(RedriveOutcome.REDRIVEN);
                dues.put("dead", begin);
            }
            case PURGE ->
                assertThat(get(queue.deadLetters().cancel(dead.get(0))).previousState())
                        .isEqualTo(MessageState.DELAYED);
            case PAUSE -> {
                get(whole.admin().pause());
                assertThat(claim(10)).isEmpty();
                get(whole.admin().resume());
            }
            case PAUSE_GROUP -> {
                get(group.pause(DueTime.after(Duration.ofHours(1))));
                assertThat(held("delayed")).containsExactlyInAnyOrderElementsOf(kept);
                assertThat(held("leased")).containsExactlyInAnyOrderElementsOf(leased);
                get(group.resume());
            }
            case CHECK -> assertThat(get(whole.admin().check())).isEqualTo(new CheckResult(dues.size(), 0, 0, 0));
            case CANCEL_ALL -> {
                assertThat(get(whole.admin().cancelAll(info -> info.id().equals(id), Long.MAX_VALUE)))
                        .isEqualTo(was == MessageState.LEASED ? 0 : 1);
                if (was == MessageState.DELAYED) {
                    leaves(id);
                }
            }
            case PROMOTE_ALL, PROMOTE_GROUP -> {
                assertThat(get(
                                operation == Operation.PROMOTE_ALL
                                        ? whole.admin().promoteAll(info -> true, Long.MAX_VALUE)
                                        : group.promoteAll(false)))
                        .isEqualTo(dues.size() - due.size());
                dues.replaceAll((any, time) -> Math.min(time, begin));
            }
            case CANCEL_GROUP, CANCEL_GROUP_AND_LEASED -> {
                boolean all = operation == Operation.CANCEL_GROUP_AND_LEASED;
                assertThat(get(group.cancelAll(false, all))).isEqualTo(all ? dues.size() : waiting);
                List.copyOf(dues.keySet()).stream()
                        .filter(each -> all || !leased.contains(each))
                        .forEach(this::leaves);
            }
            case RESCHEDULE_GROUP -> {
                assertThat(get(group.rescheduleAll(DueTime.after(Duration.ofMinutes(40)))))
                        .isEqualTo(waiting);
                dues.replaceAll((each, time) -> leased.contains(each) ? time : begin + 40 * MINUTE);
                kept.clear();
            }
            case READ -> assertRead(id, where);
            case EVICT -> {
                redis.client()
                        .getMap(keys().key("messages"), StringCodec.INSTANCE)
                        .remove(id);
                leaves(id);
            }
        }
        if (Set.of(Operation.SCHEDULE_AGAIN, Operation.PURGE, Operation.CHECK, Operation.READ)
                .contains(operation)) {
            QueueSnapshot after = snapshot();
            STATES.forEach(key -> assertThat(after.keys().get(key))
                    .as(key)
                    .isEqualTo(before.keys().get(key)));
        }
        if (operation != Operation.EVICT) {
            if (where == Where.LEASED && !leased.contains(id) && !OF_DELIVERIES.contains(operation)) {
                assertThat(get(delivery.settle(Settlement.ACKNOWLEDGE)))
                        .isEqualTo(
                                dues.containsKey(id) || outside.contains(id)
                                        ? SettleResult.STALE_HELD
                                        : SettleResult.STALE_GONE);
            }
            assertPlaces();
        }
        pass(Duration.ofMinutes(61));
        drain(operation == Operation.EVICT);
        if (operation == Operation.DECLARE) {
            assertThat(get(queue.cancel(id)).previousState()).isEqualTo(MessageState.DELAYED);
        }
        QueueSnapshot end = snapshot();
        STATES.forEach(key -> assertThat(end.ids(key)).as(key).isEmpty());
    }

    /** Gives up a message of the group; answers the dead letter's id. */
    private String bury(String id) {
        get(queue.schedule(GroupsIT.grouped(id, "g", LONG_AGO)));
        get(claim(1).get(0).settle(new Settlement.DeadLetter(bytes("why"))));
        return get(queue.admin().deadLettersOf(id)).get(0).toString();
    }

    /** Schedules two messages more than the group has places; returns the delivery of the first one, if there was one. */
    private ClaimedDelivery prepare(Where where) {
        long first = where == Where.DELAYED ? begin + 10 * MINUTE : 0;
        for (int i = 1; i <= rules.limit + 2; i++) {
            get(queue.schedule(GroupsIT.grouped("m" + i, "g", GroupsIT.at(first + i))));
            dues.put("m" + i, first + i);
        }
        if (where == Where.DELAYED || where == Where.PARKED) {
            return null;
        }
        List<ClaimedDelivery> claimed = claim(10);
        leased.addAll(ids(claimed));
        assertThat(leased)
                .isEqualTo(Set.copyOf(IntStream.rangeClosed(1, rules.limit)
                        .mapToObj(i -> "m" + i)
                        .toList()));
        if (where == Where.KEEPS_ITS_PLACE) {
            settles(claimed.get(0), RETRY, Where.LEASED);
        }
        return claimed.get(0);
    }

    private void settles(ClaimedDelivery delivery, Settlement how, Where where) {
        String id = delivery.id();
        assertThat(get(delivery.settle(how)))
                .isEqualTo(where == Where.LEASED ? SettleResult.DONE : SettleResult.STALE_HELD);
        if (where != Where.LEASED) {
            return;
        }
        if (how == RETRY) {
            moves(id, begin + 30 * MINUTE);
            kept.addAll(rules.strict ? Set.of(id) : Set.of());
        } else if (how == Settlement.RELEASE) {
            moves(id, dues.get(id));
        } else {
            leaves(id);
        }
    }

    private static void assertRejected(DelayQueue whole, ScheduleRequest request) {
        assertThatThrownBy(() -> get(whole.schedule(request.withOnDuplicate(DuplicatePolicy.REJECT))))
                .isInstanceOf(DuplicateMessageException.class);
    }

    private void assertRead(String id, Where where) {
        List<String> parked = held("parked");
        MessageInfo info = get(queue.get(id)).orElseThrow().info();
        assertThat(info.group()).isEqualTo("g");
        assertThat(info.state())
                .isEqualTo(
                        where == Where.LEASED
                                ? MessageState.LEASED
                                : where == Where.PARKED ? MessageState.PARKED : MessageState.DELAYED);
        assertThat(get(queue.admin().list(MessageState.DELAYED, PageStart.first(), 10))
                        .messages())
                .extracting(MessageInfo::id)
                .containsExactlyInAnyOrderElementsOf(dues.keySet().stream()
                        .filter(each -> !leased.contains(each))
                        .toList());
        assertThat(get(queue.admin().list(MessageState.PARKED, PageStart.first(), 10))
                        .messages())
                .extracting(MessageInfo::id)
                .containsExactlyInAnyOrderElementsOf(parked);
        long waiting = dues.size() - leased.size();
        long due = parked.stream().filter(each -> dues.get(each) < begin).count();
        long overdue =
                held("delayed").stream().filter(each -> dues.get(each) < begin).count();
        assertThat(get(queue.admin().stats()))
                .extracting(QueueStats::delayed, QueueStats::parked, QueueStats::overdue, QueueStats::leased)
                .containsExactly(waiting, due, overdue, (long) leased.size());
        assertThat(get(group.info())).isEqualTo(new GroupInfo("g", parked.size(), dues.size(), 0));
        Outlook outlook = get(queue.admin().outlook(List.of(begin, begin + 20 * MINUTE, begin + 40 * MINUTE)));
        assertThat(outlook.before()).isEqualTo(due + overdue);
        assertThat(outlook.counts())
                .containsExactly(where == Where.DELAYED ? waiting : 0L, where == Where.KEEPS_ITS_PLACE ? 1L : 0L);
    }

    /** It has no place any more, unless its due time gives it one. */
    private void moves(String id, long due) {
        leased.remove(id);
        kept.remove(id);
        dues.put(id, due);
    }

    private void leaves(String id) {
        moves(id, 0);
        dues.remove(id);
    }

    /** The messages that have the places, by their due times, and the others behind them. */
    private List<String> order(List<MessageInfo> all) {
        return all.stream()
                .sorted(Comparator.<MessageInfo, Boolean>comparing(info -> !begun(info.id()))
                        .thenComparing(MessageInfo::dueMicros)
                        .thenComparing(MessageInfo::id))
                .map(MessageInfo::id)
                .toList();
    }

    private boolean begun(String id) {
        return kept.contains(id) || leased.contains(id);
    }

    private void assertPlaces() {
        List<MessageInfo> all = get(group.list(null, 256)).messages();
        Map<String, Long> found = new HashMap<>();
        all.forEach(info -> found.put(info.id(), info.dueMicros()));
        assertThat(found).containsOnlyKeys(dues.keySet());
        // A time from now on is that of a call.
        found.forEach((id, due) -> assertThat(due)
                .as(id)
                .isBetween(dues.get(id), dues.get(id) < begin ? dues.get(id) : dues.get(id) + MINUTE));
        List<String> order = order(all);
        List<String> placed = order.subList(0, Math.min(rules.limit, order.size()));
        List<String> parked = order.subList(placed.size(), order.size());
        List<String> delayed = new ArrayList<>(outside);
        placed.stream().filter(id -> !leased.contains(id)).forEach(delayed::add);
        QueueSnapshot now = snapshot();
        assertThat(now.ids("leased")).containsExactlyInAnyOrderElementsOf(leased);
        assertThat(now.ids("parked")).containsExactlyInAnyOrderElementsOf(parked);
        assertThat(now.ids("delayed")).containsExactlyInAnyOrderElementsOf(delayed);
        assertThat(now.ids("groups"))
                .as("an entry for each message that has a group")
                .hasSize((int) now.messages().keySet().stream()
                        .filter(id -> !now.groupOf(id).isEmpty())
                        .count());
        assertThat(all)
                .extracting(MessageInfo::id)
                .isEqualTo(all.stream()
                        .sorted(Comparator.<MessageInfo, Boolean>comparing(info -> parked.contains(info.id()))
                                .thenComparing(info -> !kept.contains(info.id()))
                                .thenComparing(MessageInfo::dueMicros)
                                .thenComparing(MessageInfo::id))
                        .map(MessageInfo::id)
                        .toList());
    }

    /** Each claim gives as many of the group as it has places, in their order; but one that meets an evicted body may give fewer. */
    private void drain(boolean evicted) {
        boolean may = evicted;
        boolean again;
        do {
            long now = get(queue.admin().stats()).timeMicros();
            List<MessageInfo> due = get(group.list(null, 256)).messages().stream()
                    .filter(info -> info.dueMicros() <= now && dues.containsKey(info.id()))
                    .toList();
            List<String> next = order(due).subList(0, Math.min(rules.limit, due.size()));
            List<ClaimedDelivery> claimed = claim(10);
            List<String> given = claimed.stream()
                    .filter(each -> "g".equals(each.group()))
                    .map(ClaimedDelivery::id)
                    .toList();
            boolean fewer = may && given.size() < next.size();
            again = fewer || !claimed.isEmpty();
            if (fewer) {
                may = false;
                assertThat(next).containsAll(given);
            } else {
                assertThat(given).containsExactlyInAnyOrderElementsOf(next);
            }
            claimed.forEach(each -> {
                assertThat(get(each.settle(Settlement.ACKNOWLEDGE))).isEqualTo(SettleResult.DONE);
                assertThat(dues.containsKey(each.id()) || outside.remove(each.id()))
                        .as("%s, once", each.id())
                        .isTrue();
                leaves(each.id());
            });
        } while (again);
        assertThat(dues).isEmpty();
        assertThat(outside).isEmpty();
    }
}
