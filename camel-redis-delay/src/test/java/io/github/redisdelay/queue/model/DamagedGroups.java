// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.history.RareState;
import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.queue.RedeliveryReason;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/**
 * Takes away what a queue with groups holds, as eviction or a hand does, and judges what comes after that. A model would have to
 * know how each loss is mended; this asks what everybody may rely on: nothing is given early, and a group has no more leases than
 * its limit, those apart that were there when its places were lost.
 */
final class DamagedGroups {

    /** A loss. */
    enum Damage {
        PARKED_ID("parked", true),
        PARKED_BODY("messages", true),
        LEASED_ID("leased", false),
        LEASED_BODY("messages", true),
        RECORD("state", true),
        INDEX_ENTRY("groups", false),
        INDEX("groups", true),
        PARKED("parked", true),
        GATES("gates", true),
        OPENING_GATES("opens", true),
        RECORDS("state", true),
        SESSIONS("sessions", true),
        DELAYED("delayed", false),
        LEASED("leased", false),
        CONFIG("config", false);

        final String part;
        /** Claims mend it, without a check. */
        final boolean heals;

        Damage(String part, boolean heals) {
            this.part = part;
            this.heals = heals;
        }

        /**
         * A schedule finds by the counts that bodies are lost, and then takes an id out of all sets: ids that are lost from these as
         * well hide it. So a history has one or the other.
         */
        boolean hides(boolean bodies) {
            return bodies ? part.matches("parked|leased|delayed") : part.equals("messages");
        }

        /** After it nobody knows who has a place. */
        boolean takesPlaces() {
            return part.equals("groups") || part.equals("leased") || part.equals("config");
        }
    }

    private final RedissonClient redisson;
    private final QueueKeys keys;
    /** How many of a group may be leased; 0 for any number. */
    private final int limit;

    private final RareStates reached;
    private final Set<Damage> damages = EnumSet.noneOf(Damage.class);
    /** Those that were leased when places were lost, and were not given since. */
    private final Set<String> placesLost = new HashSet<>();

    DamagedGroups(RedissonClient redisson, QueueKeys keys, int limit, RareStates reached) {
        this.redisson = redisson;
        this.keys = keys;
        this.limit = limit;
        this.reached = reached;
    }

    /** True if nothing was lost. */
    boolean isNot() {
        return damages.isEmpty();
    }

    /** True if the queue goes on by itself after all that was lost. */
    boolean heals() {
        return damages.size() < 2 && damages.stream().allMatch(damage -> damage.heals);
    }

    /** True if each message comes in the order of its group, once the queue was checked: but one that may have begun before. */
    boolean hasOrder() {
        return limit == 1 && damages.stream().noneMatch(damage -> damage.part.equals("state"));
    }

    /** A delivery, and how much time was let pass before it, by which its due time came nearer. */
    record Given(ClaimedDelivery delivery, long passed) {

        boolean isFirst() {
            return delivery.attempt() == 1 && delivery.redeliveryReason() == RedeliveryReason.NONE;
        }

        long due() {
            return delivery.dueMicros() + passed;
        }
    }

    /** First deliveries came in the order of their group. */
    void assertOrder(List<Given> all) {
        Map<String, List<Given>> its = all.stream()
                .filter(given -> given.delivery.group() != null && given.isFirst())
                .collect(Collectors.groupingBy(given -> given.delivery.group()));
        assertThat(its).as("groups after " + damages).allSatisfy((group, given) -> assertThat(given)
                .isSortedAccordingTo(Comparator.comparingLong(Given::due).thenComparing(each -> each.delivery.id())));
    }

    void lose(Damage damage, QueueSnapshot held, Random random) {
        List<String> ids =
                switch (damage) {
                    case PARKED_ID, PARKED_BODY -> held.ids("parked");
                    case LEASED_ID -> isOneLeasedBeforeOthers(held) ? leasedBeforeOthers(held) : held.ids("leased");
                    case LEASED_BODY -> held.ids("leased");
                    case RECORD -> held.ids(held.ids("leased").isEmpty() ? "state" : "leased");
                    case INDEX_ENTRY -> held.ids("groups");
                    default -> List.of("");
                };
        if (ids.isEmpty() || held.ids(damage.part).isEmpty()) {
            return;
        }
        String id = ids.get(random.nextInt(ids.size()));
        if (!id.isEmpty() && !held.ids(damage.part).contains(id)) {
            return; // it was lost before
        }
        count(damage, id, held);
        damages.add(damage);
        if (damage.takesPlaces()) {
            placesLost.addAll(held.ids("leased"));
        }
        String key = keys.key(damage.part);
        byte[] bytes = id.getBytes(StandardCharsets.ISO_8859_1);
        switch (damage) {
            case PARKED_ID, LEASED_ID, INDEX_ENTRY ->
                redisson.<byte[]>getScoredSortedSet(key, ByteArrayCodec.INSTANCE)
                        .remove(bytes);
            case PARKED_BODY, LEASED_BODY, RECORD ->
                redisson.<byte[], byte[]>getMap(key, ByteArrayCodec.INSTANCE).fastRemove(bytes);
            default -> redisson.getKeys().delete(key);
        }
    }

    /** The leased messages in whose groups others are parked. */
    private static List<String> leasedBeforeOthers(QueueSnapshot held) {
        Set<String> waiting = groups(held, held.ids("parked")).keySet();
        return held.ids("leased").stream()
                .filter(id -> waiting.contains(held.groupOf(id)))
                .toList();
    }

    static boolean isOneLeasedBeforeOthers(QueueSnapshot held) {
        return !leasedBeforeOthers(held).isEmpty();
    }

    private void count(Damage damage, String id, QueueSnapshot held) {
        switch (damage) {
            case PARKED_ID -> reached.count(RareState.PARKED_LOST);
            case PARKED_BODY -> reached.count(RareState.PARKED_BODY_LOST);
            case LEASED_ID ->
                reached.countIf(leasedBeforeOthers(held).contains(id), RareState.LEASE_LOST_BEFORE_PARKED);
            case LEASED_BODY -> reached.count(RareState.BODY_LOST_UNDER_LEASE);
            case RECORD -> reached.countIf(held.ids("leased").contains(id), RareState.RECORD_LOST_UNDER_LEASE);
            case INDEX -> reached.countIf(isOneLeasedBeforeOthers(held), RareState.PLACES_LOST_UNDER_LEASE);
            case LEASED -> reached.count(RareState.LEASES_LOST);
            case RECORDS -> reached.countIf(!held.ids("leased").isEmpty(), RareState.RECORDS_LOST_UNDER_LEASE);
            default -> {
                // It is nothing more than lost.
            }
        }
    }

    /** Judges a claim by its reply, and by the contents of the queue before and after it. */
    void judge(ClaimReply reply, QueueSnapshot before, QueueSnapshot after) {
        for (ClaimReply.ClaimedMessage message : reply.messages()) {
            // One that waits in its place for a gate has its due time in its record only; another record may be lost.
            boolean dueBySets = before.keys().entrySet().stream()
                    .filter(part -> part.getKey().matches("(delayed(:\\d)?|leased|parked)"))
                    .map(part -> part.getValue().get(message.id()))
                    .filter(Objects::nonNull)
                    .allMatch(at -> Long.parseLong(at) <= reply.timeMicros());
            assertThat(dueBySets || message.state().dueMicros() <= reply.timeMicros())
                    .as("'" + message.id() + "' was due when it was claimed, after " + damages)
                    .isTrue();
            placesLost.remove(message.id());
        }
        List<String> valid = after.keys().get("leased").entrySet().stream()
                .filter(lease -> Long.parseLong(lease.getValue()) > reply.timeMicros())
                .map(Map.Entry::getKey)
                .filter(id -> !placesLost.contains(id))
                .toList();
        if (limit > 0) {
            assertThat(groups(after, valid))
                    .as("leases of groups after " + damages + ", without " + placesLost)
                    .allSatisfy((group, leases) -> assertThat(leases).isLessThanOrEqualTo(limit));
        }
    }

    /** How many of these messages each group has. */
    private static Map<String, Integer> groups(QueueSnapshot held, List<String> ids) {
        return ids.stream()
                .map(held::groupOf)
                .filter(group -> !group.isEmpty())
                .collect(Collectors.toMap(Function.identity(), group -> 1, Integer::sum));
    }

    @Override
    public String toString() {
        return damages.toString();
    }
}
