// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.history;

import static io.github.redisdelay.history.RareState.Where.BODIES_LOST;
import static io.github.redisdelay.history.RareState.Where.CHANGED_RUNS;
import static io.github.redisdelay.history.RareState.Where.CONSUMERS_KILLED;
import static io.github.redisdelay.history.RareState.Where.CONSUMER_AWAY;
import static io.github.redisdelay.history.RareState.Where.CORE_HEALED;
import static io.github.redisdelay.history.RareState.Where.EVERYTHING_FAILS;
import static io.github.redisdelay.history.RareState.Where.GROUPS_DAMAGED;
import static io.github.redisdelay.history.RareState.Where.GROUPS_DISTURBED;
import static io.github.redisdelay.history.RareState.Where.GROUPS_LOST;
import static io.github.redisdelay.history.RareState.Where.HOSTILE_NETWORK;
import static io.github.redisdelay.history.RareState.Where.IDS_LOST;
import static io.github.redisdelay.history.RareState.Where.MASTERS_LOST;
import static io.github.redisdelay.history.RareState.Where.MASTERS_WITH_GROUPS_LOST;
import static io.github.redisdelay.history.RareState.Where.OPERATIONS;
import static io.github.redisdelay.history.RareState.Where.PROCESSES_KILLED;
import static io.github.redisdelay.history.RareState.Where.PROCESSES_WITH_GROUPS_KILLED;
import static io.github.redisdelay.history.RareState.Where.PROCESSES_WITH_PLACES_KILLED;
import static io.github.redisdelay.history.RareState.Where.PROCESSES_WITH_RATES_KILLED;
import static io.github.redisdelay.history.RareState.Where.SOAKED;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The states that are hard to reach, and in which mistakes hide. Each names the random tests that must reach it, in one of their
 * rounds: a test that does not has proved nothing about it, and is red.
 */
public enum RareState {
    LATE_END(
            "a delivery was to be ended after its lease was lost, and was refused",
            CORE_HEALED,
            OPERATIONS,
            HOSTILE_NETWORK,
            BODIES_LOST,
            IDS_LOST,
            CONSUMER_AWAY,
            SOAKED),
    LEASE_OF_DEAD(
            "a lease of a dead consumer expired, and its message was claimed",
            CONSUMERS_KILLED,
            EVERYTHING_FAILS,
            CORE_HEALED,
            PROCESSES_KILLED,
            PROCESSES_WITH_GROUPS_KILLED,
            PROCESSES_WITH_PLACES_KILLED,
            PROCESSES_WITH_RATES_KILLED,
            SOAKED),
    LEASE_OF_LIVING(
            "a lease expired although its consumer lived, and its message was claimed",
            CORE_HEALED,
            CONSUMER_AWAY,
            SOAKED),
    EXPIRED_LEASE("a message was claimed whose lease had expired", OPERATIONS, HOSTILE_NETWORK),
    TWO_LEASES_LOST("a message was claimed that had lost two leases", CORE_HEALED, OPERATIONS),
    CLAIM_OF_DEAD("a claim was executed after its consumer had died", CONSUMERS_KILLED, EVERYTHING_FAILS, CORE_HEALED),
    CLAIM_REPEATED(
            "a claim whose answer was lost was repeated, and gave the same messages",
            EVERYTHING_FAILS,
            CORE_HEALED,
            HOSTILE_NETWORK),
    CLAIM_REPEATED_TOO_LATE("a claim was repeated, and its messages were others' by then", HOSTILE_NETWORK),
    CALL_REPEATED("a call arrived again, and got its first answer", HOSTILE_NETWORK),
    CALL_SUPERSEDED("a copy of a call arrived after the next call of its session", HOSTILE_NETWORK),
    SESSION_FORGOTTEN("a session went on that Redis had forgotten", IDS_LOST),
    PROMISE_OF_DEAD("a wake-up for a message was promised to a dead consumer", EVERYTHING_FAILS, CORE_HEALED),
    WAKE_UP_UNHEARD(
            "a consumer was woken that did not listen any more",
            CONSUMERS_KILLED,
            EVERYTHING_FAILS,
            CORE_HEALED,
            OPERATIONS),
    GROUP_OF_DEAD(
            "a group waited for the lease of a dead consumer",
            CONSUMERS_KILLED,
            EVERYTHING_FAILS,
            CORE_HEALED,
            PROCESSES_WITH_GROUPS_KILLED,
            PROCESSES_WITH_RATES_KILLED),
    ROOM_FOR_MORE(
            "a claim had room for more, so that all groups, or all places, were asked for",
            PROCESSES_WITH_GROUPS_KILLED,
            PROCESSES_WITH_PLACES_KILLED,
            MASTERS_WITH_GROUPS_LOST,
            GROUPS_DAMAGED,
            GROUPS_DISTURBED),
    LOST_WITH_MASTER("what a master had confirmed was lost with it", MASTERS_LOST, MASTERS_WITH_GROUPS_LOST),
    GIVEN_UP("a message was given up after its last attempt", CORE_HEALED),
    HELD_BY_BROKEN(
            "a lease that a broken consumer kept for as long as it may ended, and its message was claimed",
            CORE_HEALED),
    REPLACED_TOO_LATE(
            "a delivery was to schedule its message anew after its lease was lost, and was refused",
            OPERATIONS,
            HOSTILE_NETWORK),
    CANCELLED_UNDER_LEASE("a message was cancelled that was leased", OPERATIONS, HOSTILE_NETWORK),
    REMEMBERED("an id was refused as a duplicate after its message was finished", OPERATIONS),
    RATE_HELD_BACK("a claim gave fewer messages than were due, by the rate", OPERATIONS),
    LETTER_UNDER_LEASE("a dead letter was moved back by the delivery that had its lease", OPERATIONS),
    RUN_BY_OTHER_RULE("a run ended after its schedule had got another rule", OPERATIONS, CHANGED_RUNS),
    BODY_LOST_UNDER_LEASE("the body of a leased message was lost", BODIES_LOST, GROUPS_LOST),
    ID_LOST_UNDER_LEASE("the id of a leased message was lost from its set", IDS_LOST),
    RECORD_LOST_UNDER_LEASE("the record of a leased message was lost", IDS_LOST),
    LEASE_LOST_BEFORE_PARKED(
            "the id of a leased message was lost from its set while others of its group were parked", GROUPS_LOST),
    PARKED_LOST("a parked message was lost from its set", GROUPS_LOST, GROUPS_DAMAGED),
    PARKED_BODY_LOST("the body of a parked message was lost", GROUPS_LOST),
    PLACES_LOST_UNDER_LEASE(
            "the index of groups was lost while one message of a group was leased and others were parked", GROUPS_LOST),
    LEASES_LOST("the set of leased messages was lost while it had some", GROUPS_LOST),
    RECORDS_LOST_UNDER_LEASE("all records were lost while messages were leased", GROUPS_LOST);

    /** The random tests. */
    public enum Where {
        /** {@code ConsumersSimulationTest}, without faults. */
        NOTHING_FAILS,
        /** {@code ConsumersSimulationTest}, with consumers that die. */
        CONSUMERS_KILLED,
        /** {@code ConsumersSimulationTest}, with all faults. */
        EVERYTHING_FAILS,
        /** {@code ConsumersSimulationTest}, until a core of the fleet is healed. */
        CORE_HEALED,
        /** {@code QueueModelIT}. */
        OPERATIONS,
        /** {@code QueueModelIT}, where bodies get lost. */
        BODIES_LOST,
        /** {@code QueueModelIT}, where ids, records and sessions get lost. */
        IDS_LOST,
        /** {@code QueueModelIT}, where all that groups have gets lost. */
        GROUPS_LOST,
        /** {@code LostAnswerIT}. */
        HOSTILE_NETWORK,
        /** {@code SchedulesIT}, with changes of schedules that run. */
        CHANGED_RUNS,
        /** {@code GroupsFaultsIT}, with what is deleted by hand. */
        GROUPS_DAMAGED,
        /** {@code KilledProcessesIT} and {@code PartitionsFaultsIT}, with consumers that die. */
        PROCESSES_KILLED,
        /** {@code GroupsFaultsIT}, with consumers that die. */
        PROCESSES_WITH_GROUPS_KILLED,
        /** {@code GroupsFaultsIT}, with consumers that die, where several messages of a group, or of the queue, have places. */
        PROCESSES_WITH_PLACES_KILLED,
        /** {@code GroupsFaultsIT}, with consumers that die, and rates: a claim may give less than it has room for. */
        PROCESSES_WITH_RATES_KILLED,
        /** {@code GroupsFaultsIT}, with restarts of Redis and steps of its clock. */
        GROUPS_DISTURBED,
        /** {@code ConnectionFaultsIT}, with one consumer that is held up or cut for longer than the lease. */
        CONSUMER_AWAY,
        /** {@code SentinelIT}, with a master that was not replicated. */
        MASTERS_LOST,
        /** {@code GroupsFaultsIT}, with a master that was not replicated. */
        MASTERS_WITH_GROUPS_LOST,
        /** {@code SoakIT}, where it takes long enough for each fault to come again. */
        SOAKED
    }

    private final String sentence;
    private final Set<Where> where;

    RareState(String sentence, Where... where) {
        this.sentence = sentence;
        this.where = EnumSet.copyOf(Arrays.asList(where));
    }

    /** The states that a test must reach. */
    public static Set<RareState> of(Where test) {
        return Arrays.stream(values())
                .filter(state -> state.where.contains(test))
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(RareState.class)));
    }

    /** With the sentence that says what it is. */
    public String described() {
        return name() + " (" + sentence + ")";
    }
}
