// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.history.RareStates;
import io.github.redisdelay.queue.CheckResult;
import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.MessageGroup;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.QueueLimits;
import io.github.redisdelay.queue.QueueLimits.Rate;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.Submission;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.fake.FakeTimers;
import io.github.redisdelay.queue.internal.consume.ClaimCalls;
import io.github.redisdelay.queue.internal.consume.ClaimedDelivery;
import io.github.redisdelay.queue.internal.format.ClaimReply;
import io.github.redisdelay.queue.internal.format.ClaimRequest;
import io.github.redisdelay.queue.internal.format.ConsumerId;
import io.github.redisdelay.queue.internal.format.PageCursor;
import io.github.redisdelay.queue.internal.partition.RedisDelayQueue;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.redisson.api.RedissonClient;

/**
 * Several clients of one queue and its dead letters that do random things over few ids, decided by a seed. (All but the times in
 * the ids of dead letters, which are Redis's; they decide in which session a request for one goes.)
 */
public final class RandomHistory {

    private static final long MINUTE = 60_000_000;
    private static final byte[] NOTHING = {};
    /** How many consumers of a queue each client has. */
    private static final int CONSUMERS = 3;
    /** The groups of messages, and one more that may be paused. */
    private static final int GROUPS = 3;
    /** How many claims more than there are messages it may take until all are given: one finds that some are due never. */
    private static final int CLAIMS_BESIDES = 2;
    /** So many more if claims have to mend groups: each looks at any one, and at the first that has parked messages. */
    private static final int CLAIMS_TO_MEND = 40;
    /** More than all delays, but for the longest one that can be said. */
    private static final long LONG = 200_000 * MINUTE;

    public final Random random;
    public final SimulatedNetwork network;
    /** All that was asked for. */
    public final List<Request> requests = new ArrayList<>();
    /** The calls that are sent once and have one answer: looks, and changes of all messages. */
    public final List<CompletableFuture<?>> calls = new ArrayList<>();

    private final List<Client> clients = new ArrayList<>();
    private final List<String> ids;
    private final List<ClaimedDelivery> deliveries = new ArrayList<>();
    private final List<ClaimedDelivery> deadDeliveries = new ArrayList<>();
    private final long past;
    /** Nothing is done that leaves a config or remembers ids, but rarely: plain messages go the way of plain.lua. */
    private final boolean plain;

    /** Messages may have a group. */
    private final boolean grouped;

    /** The limits of the queue may change. */
    private final boolean limitsChange;
    /** Takes things away. */
    private final DamagedGroups damaged;

    private final Swarm<DamagedGroups.Damage> damages;
    private boolean checked;

    /** What is done, and how often. */
    private final Swarm<Operation> operations;

    private final Swarm<Loss> losses;

    private int bodies;

    /**
     * A request.
     *
     * @param client who asks, by number
     * @param body that it was to store; null if it was another operation
     */
    public record Request(int client, Submission<?> submission, String body) {}

    /** Whether messages have groups, and queues limits. */
    public enum Groups {
        NEVER,
        SOMETIMES,
        /** And no model is asked. */
        ALWAYS
    }

    private static final class Consumer {
        final ClaimCalls claims;
        CompletableFuture<ClaimReply> claim = CompletableFuture.completedFuture(null);

        Consumer(ClaimCalls claims) {
            this.claims = claims;
        }
    }

    private static final class Client {
        final RedisDelayQueue queue;
        final RedisDelayQueue dead;
        final DelayQueueClient client;
        final List<Consumer> consumers = new ArrayList<>();
        final List<Consumer> deadConsumers = new ArrayList<>();
        final ConsumerId consumer;

        Client(DelayQueueClient client, String name, Random random) {
            this.client = client;
            this.queue = (RedisDelayQueue) client.queue(name);
            this.dead = (RedisDelayQueue) queue.deadLetters();
            for (int i = 0; i < CONSUMERS; i++) {
                consumers.add(new Consumer(ClientAccess.consumers(client)
                        .newClaims(queue.partitions().get(0).address(), error -> {})));
                deadConsumers.add(new Consumer(ClientAccess.consumers(client)
                        .newClaims(dead.partitions().get(0).address(), error -> {})));
            }
            this.consumer = ConsumerId.next(random);
        }
    }

    /** @param reached is told of rare states */
    public RandomHistory(
            RedissonClient redisson, String queue, long seed, int clients, int ids, Groups groups, RareStates reached) {
        this.random = new Random(seed);
        this.network = new SimulatedNetwork(redisson, QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, queue), reached);
        for (int i = 0; i < clients; i++) {
            Client client = new Client(network.client(random), queue, random);
            this.clients.add(client);
            if (random.nextInt(3) != 0) { // the others are as good as dead
                network.listenTo(client.client);
            }
        }
        this.ids = new ArrayList<>();
        for (int i = 0; i < ids; i++) {
            this.ids.add("id" + i);
        }
        // Times in minutes from now, so that nothing depends on how long the test takes.
        this.past = System.currentTimeMillis() * 1000 - 100_000 * MINUTE;
        this.operations =
                Swarm.some(random, Operation.class, 6, operation -> 2 * operation.usual * random.nextDouble());
        this.losses = Swarm.some(random, Loss.class, loss -> random.nextDouble());
        this.plain = groups != Groups.ALWAYS && random.nextBoolean();
        this.grouped = groups == Groups.ALWAYS || groups == Groups.SOMETIMES && !plain && random.nextInt(4) != 0;
        this.limitsChange = groups == Groups.SOMETIMES && !plain;
        boolean limited = groups != Groups.NEVER && !plain && random.nextInt(4) != 0;
        int places = groups == Groups.ALWAYS ? 1 + random.nextInt(2) : places();
        this.damaged =
                new DamagedGroups(redisson, QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, queue), places, reached);
        boolean bodies = random.nextBoolean();
        this.damages = Swarm.some(
                random, DamagedGroups.Damage.class, damage -> damage.hides(bodies) ? 0 : random.nextDouble());
        if (groups == Groups.ALWAYS) {
            network.judgeBy(damaged);
        }
        if (grouped || limited) {
            calls.add(this.clients.get(0).queue.admin().limit(limits(places, limited)));
            network.deliverAll();
        }
    }

    /** How many messages of a group may be leased. */
    private int places() {
        return grouped ? random.nextInt(4) : 1;
    }

    /** @param limited whether there may be more limits than that of groups */
    private QueueLimits limits(int places, boolean limited) {
        return new QueueLimits(
                places,
                !grouped || random.nextBoolean(),
                limited && random.nextBoolean() ? rate() : null,
                limited && grouped && random.nextBoolean() ? rate() : null,
                limited && random.nextBoolean() ? 1 + random.nextInt(4) : 0);
    }

    private Rate rate() {
        return new Rate((1 + random.nextInt(3)) * 10 * MINUTE, 1 + random.nextInt(4));
    }

    /** True for a step that a plain history hardly ever does. */
    private boolean special(int oneOf) {
        return random.nextInt(oneOf) == 0 && (!plain || random.nextInt(100) == 0);
    }

    /** Delays are multiples of ten minutes, as time passes in multiples of ten minutes: what is due is never in doubt. */
    private long delay() {
        return random.nextInt(4) * 10 * MINUTE;
    }

    private DueTime due() {
        return switch (random.nextInt(10)) {
            case 0 -> new DueTime(false, past + random.nextInt(3));
            case 1 -> new DueTime(true, DueTime.MAX_MICROS);
            // Time that passes makes such times equal, which changes the order in a group.
            case 2 -> new DueTime(false, grouped ? past : random.nextInt(3));
            case 3 -> new DueTime(false, DueTime.MAX_MICROS);
            // Not due before time is let pass, but soon enough for consumers to promise it.
            case 4 -> new DueTime(true, 4_000_000 + random.nextInt(40_000_000));
            default -> new DueTime(true, delay());
        };
    }

    public String id() {
        return ids.get(random.nextInt(ids.size()));
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    /** What a user may do, and how often of 31 times, if all are as usual. */
    private enum Operation {
        SCHEDULE(5),
        CANCEL(1),
        RESCHEDULE(1),
        PROMOTE(1),
        CLAIM(5),
        LOOK(1),
        REDRIVE(2),
        ACT_ON_DEAD_LETTERS(3),
        PAUSE(1),
        RARE(1),
        CHANGE_GROUP(1),
        CHANGE_LIMITS(1),
        SETTLE_BATCH(2),
        END_AND_COME_AGAIN(2),
        SETTLE(4);

        final int usual;

        Operation(int usual) {
            this.usual = usual;
        }
    }

    /** Does one thing that a user may do. */
    public void doSomething() {
        Client client = any(clients);
        boolean begins = random.nextInt(6) == 0; // without these there is nothing to do for others
        switch (begins ? any(List.of(Operation.SCHEDULE, Operation.CLAIM)) : operations.any(Operation.SETTLE)) {
            case SCHEDULE -> schedule(client);
            case CANCEL -> sent(client, client.queue.cancel(id()), null);
            case RESCHEDULE -> sent(client, client.queue.reschedule(id(), due()), null);
            case PROMOTE -> sent(client, client.queue.promote(id()), null);
            case CLAIM -> claim(client);
            case LOOK -> look(client);
            case REDRIVE -> sent(client, client.queue.redrive(deadLetter(), null), null);
            case ACT_ON_DEAD_LETTERS -> actOnDeadLetters(client);
            case PAUSE -> pause(client);
            case RARE -> rare(client);
            case CHANGE_GROUP -> {
                if (grouped) {
                    calls.add(
                            change(group(client), any(List.of(GroupChange.values())), random.nextBoolean(), newTime()));
                }
            }
            case CHANGE_LIMITS -> {
                if (limitsChange) {
                    calls.add(client.queue.admin().limit(limits(places(), random.nextBoolean())));
                }
            }
            case SETTLE_BATCH -> settleBatch(client);
            case END_AND_COME_AGAIN -> endAndComeAgain(client);
            case SETTLE -> {
                if (!deliveries.isEmpty()) {
                    settle(client, held(deliveries));
                }
            }
        }
    }

    private void pause(Client client) {
        if (grouped && random.nextInt(4) != 0) {
            pauseGroup(client);
            return;
        }
        QueueAdmin admin = client.queue.admin();
        sent(client, special(4) ? admin.pause() : admin.resume(), null);
    }

    private void pauseGroup(Client client) {
        MessageGroup group = group(client);
        sent(client, random.nextInt(3) == 0 ? group.resume() : group.pause(due()), null);
    }

    private MessageGroup group(Client client) {
        return client.queue.group("g" + random.nextInt(GROUPS));
    }

    private enum GroupChange {
        CANCEL,
        CANCEL_DELAYED,
        PROMOTE,
        RESCHEDULE
    }

    private static CompletableFuture<Long> change(
            MessageGroup group, GroupChange change, boolean schedules, DueTime due) {
        return switch (change) {
            case CANCEL -> group.cancelAll(schedules, true);
            case CANCEL_DELAYED -> group.cancelAll(schedules, false);
            case PROMOTE -> group.promoteAll(schedules);
            case RESCHEDULE -> group.rescheduleAll(due);
        };
    }

    private DueTime newTime() {
        return random.nextInt(4) == 0 ? new DueTime(false, past) : new DueTime(true, delay());
    }

    /** A change of all messages of a group does all that it is asked for, and nothing else; nothing else may be under way. */
    public void changeGroup() {
        MessageGroup group = group(any(clients));
        GroupChange change = any(List.of(GroupChange.values()));
        boolean schedules = change != GroupChange.RESCHEDULE && random.nextBoolean();
        DueTime due = newTime();
        List<MessageInfo> before = list(group);
        List<String> chosen = before.stream()
                .filter(message -> schedules || message.rule() == null)
                .filter(message -> change == GroupChange.CANCEL || message.state() != MessageState.LEASED)
                .map(MessageInfo::id)
                .toList();
        CompletableFuture<Long> changed = change(group, change, schedules, due);
        network.deliverAll();
        List<MessageInfo> left = new ArrayList<>(list(group));
        if (change == GroupChange.CANCEL || change == GroupChange.CANCEL_DELAYED) {
            assertThat(left)
                    .extracting(MessageInfo::id)
                    .as("left of %s after %s", before, change)
                    .doesNotHaveDuplicates()
                    .hasSize(before.size() - chosen.size())
                    .noneMatch(chosen::contains);
            assertThat(changed.join()).isEqualTo(chosen.size());
            return;
        }
        assertThat(left).hasSameSizeAs(before);
        left.removeIf(message -> !chosen.contains(message.id()));
        if (change == GroupChange.RESCHEDULE) {
            // They are one microsecond apart, in the order in which they were.
            left.sort(Comparator.comparingLong(MessageInfo::dueMicros));
            for (int i = 0; i < left.size(); i++) {
                assertThat(left.get(i).dueMicros())
                        .as("%s of %s", left, before)
                        .isEqualTo((due.relative() ? left.get(0).dueMicros() : due.micros()) + i);
                assertThat(left.get(i).id()).isEqualTo(chosen.get(i));
            }
            return;
        }
        CompletableFuture<Long> again = change(group, change, schedules, due);
        network.deliverAll();
        assertThat(again.join()).as("not due after all were promoted").isZero();
    }

    private List<MessageInfo> list(MessageGroup group) {
        CompletableFuture<MessagePage> page = group.list(null, QueueAdmin.MAX_PAGE);
        network.deliverAll();
        return page.join().messages();
    }

    /** Moves a dead letter back whose delivery somebody holds, or held. */
    private void redriveHeld(Client client) {
        if (!deadDeliveries.isEmpty()) {
            ClaimedDelivery delivery = held(deadDeliveries);
            sent(client, client.queue.redrive(delivery.id(), delivery.claimId()), null);
        }
    }

    private void actOnDeadLetters(Client client) {
        switch (random.nextInt(12)) {
            case 0 -> sent(client, client.dead.cancel(deadLetter()), null);
            case 1 -> sent(client, client.dead.reschedule(deadLetter(), due()), null);
            case 2 ->
                sent(
                        client,
                        random.nextInt(4) == 0
                                ? client.dead.admin().pause()
                                : client.dead.admin().resume(),
                        null);
            case 3, 4, 5, 6 -> claimDead(client);
            case 7, 8, 9 -> redriveHeld(client);
            default -> settleDead(client);
        }
    }

    /** Looks at something; nothing may change by that. */
    private void look(Client client) {
        RedisDelayQueue queue = random.nextInt(3) == 0 ? client.dead : client.queue;
        MessageState state = any(List.of(MessageState.DELAYED, MessageState.LEASED, MessageState.PARKED));
        char letter = Character.toLowerCase(state.name().charAt(0));
        calls.add(
                switch (random.nextInt(6)) {
                    case 5 -> queue.admin().outlook(bounds());
                    case 0 ->
                        random.nextInt(3) == 0
                                ? queue.admin().consumers()
                                : queue.admin().stats();
                    case 2 -> client.queue.admin().deadLettersOf(random.nextBoolean() ? id() : deadLetter());
                    case 1 -> queue.get(queue == client.dead ? deadLetter() : id());
                    default ->
                        queue.admin()
                                .list(
                                        state,
                                        start(queue == client.dead ? Character.toUpperCase(letter) : letter),
                                        1 + random.nextInt(4));
                });
    }

    private PageStart start(char list) {
        long micros = past + random.nextInt(3);
        return switch (random.nextInt(5)) {
            case 0 -> PageStart.first();
            case 1 -> PageStart.newest();
            case 2 -> PageStart.at(random.nextBoolean() ? micros : System.currentTimeMillis() * 1000 + delay());
            default ->
                PageStart.next(PageCursor.text(
                        list,
                        random.nextBoolean(),
                        random.nextBoolean() ? micros : System.currentTimeMillis() * 1000 + delay(),
                        id().getBytes(StandardCharsets.ISO_8859_1)));
        };
    }

    /** Of times at which messages may be due, and right before and behind them. */
    private List<Long> bounds() {
        return Stream.generate(() -> random.nextBoolean() ? past : 0)
                .limit(2 + random.nextInt(4))
                .map(from -> from + random.nextInt(4))
                .collect(Collectors.collectingAndThen(Collectors.toCollection(TreeSet::new), bounds -> {
                    bounds.add(random.nextBoolean() ? DueTime.MAX_MICROS : past + 10);
                    bounds.add(past + 5);
                    return List.copyOf(bounds);
                }));
    }

    private void rare(Client client) {
        calls.add(
                switch (random.nextInt(10)) {
                    case 0 -> client.queue.admin().promoteAll(message -> random.nextInt(4) != 0, Long.MAX_VALUE);
                    case 1 -> client.queue.admin().redriveAll(message -> random.nextInt(4) != 0, Long.MAX_VALUE);
                    case 2 -> client.queue.admin().cancelAll(message -> random.nextInt(4) == 0, Long.MAX_VALUE);
                    case 3 -> client.dead.admin().cancelAll(message -> random.nextInt(4) == 0, Long.MAX_VALUE);
                    case 4, 5 ->
                        client.queue
                                .admin()
                                .trimDeadLetters(Duration.of(delay(), ChronoUnit.MICROS), random.nextInt(4));
                    case 6, 7 ->
                        (random.nextInt(3) == 0 ? client.dead : client.queue)
                                .admin()
                                .check();
                    default ->
                        ClientAccess.calls(client.client)
                                .once(
                                        client.queue.partitions().get(0).address(),
                                        LuaScript.HEARTBEAT,
                                        client.consumer.bytes(),
                                        (random.nextInt(3) == 0 ? "" : "consumer " + random.nextInt(10))
                                                .getBytes(StandardCharsets.ISO_8859_1),
                                        "0".getBytes(StandardCharsets.ISO_8859_1));
                });
    }

    /** A body is lost. */
    public void loseBody() {
        network.loseBody(leasedOrAny());
    }

    /** Something is lost of the groups, mostly while a message of one is leased and others are parked. */
    public void damage() {
        for (int i = 0; i < 20 && !DamagedGroups.isOneLeasedBeforeOthers(network.held()); i++) {
            Client client = any(clients);
            schedule(client);
            claim(client);
            network.deliverAll();
        }
        network.damage(damages.any(DamagedGroups.Damage.INDEX), random);
    }

    /** Repairs what was lost of the groups, unless all of it heals by itself. */
    public void checkDamage() {
        checked = !damaged.heals() || random.nextBoolean();
        if (checked) {
            calls.add(clients.get(0).queue.admin().check());
            calls.add(clients.get(0).dead.admin().check());
            network.deliverAll();
            network.repaired();
        }
    }

    private enum Loss {
        RECORD,
        DEAD_ID,
        SESSION,
        ID
    }

    /** An id is lost from the sets, or a state record, or a session is forgotten. */
    public void loseSomething() {
        switch (losses.any(Loss.ID)) {
            case RECORD -> network.loseRecord(leasedOrAny());
            case DEAD_ID -> network.loseId(deadLetter(), true);
            case SESSION -> network.forgetSession(random);
            case ID -> network.loseId(leasedOrAny(), false);
        }
    }

    /** Half of the time an id that is leased, if there is one. */
    private String leasedOrAny() {
        List<String> leased = network.held().ids("leased");
        return leased.isEmpty() || random.nextBoolean() ? id() : any(leased);
    }

    /**
     * The first client goes on alone, the others do nothing any more: within as many claims as there are messages it is given each
     * of them, and then each dead letter.
     */
    public void drain() {
        Client client = clients.get(0);
        calls.add(client.queue.admin().resume().result());
        calls.add(client.dead.admin().resume().result());
        for (int group = 0; grouped && group < GROUPS; group++) {
            calls.add(client.queue.group("g" + group).resume().result());
        }
        network.deliverAll();
        network.shift(LONG); // no lease lasts
        List<DamagedGroups.Given> given = drain(client, client.queue, client.consumers.get(0), "");
        drain(client, client.dead, client.deadConsumers.get(0), "dead:");
        if (checked && damaged.hasOrder()) {
            damaged.assertOrder(given);
        }
    }

    /** Returns what was given, in that order. */
    private List<DamagedGroups.Given> drain(Client client, RedisDelayQueue queue, Consumer consumer, String part) {
        List<DamagedGroups.Given> all = new ArrayList<>();
        long passed = 0;
        int most = network.held().ids(part + "messages").size()
                + (checked || damaged.isNot() ? CLAIMS_BESIDES : CLAIMS_TO_MEND);
        for (int claims = 0; !network.held().ids(part + "messages").isEmpty(); claims++) {
            assertThat(claims)
                    .as(() -> "claims until all is given; left: "
                            + network.held().ids(part + "messages") + " after " + damaged)
                    .isLessThan(most);
            List<ClaimedDelivery> given = new ArrayList<>();
            network.maxClaimBytes = ClaimRequest.MAX_BYTES;
            claim(client, queue, consumer, given, 10, 10, ClaimRequest.NO_BATCH);
            network.deliverAll();
            for (ClaimedDelivery delivery : given) {
                // The runs of a schedule have no end.
                calls.add(
                        delivery.isRun()
                                ? queue.cancel(delivery.id()).result()
                                : queue.partitions()
                                        .get(0)
                                        .settle(delivery, Settlement.ACKNOWLEDGE)
                                        .result());
            }
            network.deliverAll();
            for (ClaimedDelivery delivery : given) {
                all.add(new DamagedGroups.Given(delivery, passed));
            }
            long micros = given.isEmpty() ? DueTime.MAX_MICROS : 60 * MINUTE;
            passed += micros;
            network.shift(micros);
        }
        return all;
    }

    /** Finds what was lost. */
    public void checkAll() {
        for (RedisDelayQueue queue : List.of(clients.get(0).queue, clients.get(0).dead)) {
            CompletableFuture<CheckResult> found = queue.admin().check();
            network.deliverAll();
            assertThat(found.join().bodiesMissing()).isZero();
        }
        network.repaired();
    }

    /** The id of a dead letter that there is, if possible. */
    private String deadLetter() {
        List<String> ids = new ArrayList<>(network.held().ids("dead:delayed"));
        ids.addAll(network.held().ids("dead:leased"));
        ids.sort(null);
        return ids.isEmpty() || random.nextInt(8) == 0 ? id() + (random.nextBoolean() ? "@1" : "") : any(ids);
    }

    /** All pages of a state one after the other, each of a random size; nothing else may be under way. */
    public List<String> browse(boolean dead, MessageState state, boolean newest) {
        RedisDelayQueue queue = dead ? clients.get(0).dead : clients.get(0).queue;
        List<String> ids = new ArrayList<>();
        PageStart from = newest ? PageStart.newest() : PageStart.first();
        do {
            CompletableFuture<MessagePage> page = queue.admin().list(state, from, 1 + random.nextInt(4));
            network.deliverAll();
            page.join().messages().forEach(message -> ids.add(message.id()));
            from = page.join().next() == null
                    ? null
                    : PageStart.next(page.join().next());
        } while (from != null);
        return ids;
    }

    private void sent(Client client, Submission<?> submission, String body) {
        requests.add(new Request(clients.indexOf(client), submission, body));
    }

    private void schedule(Client client) {
        ClaimId supersedes = null;
        String id = random.nextInt(20) == 0 ? null : id();
        if (!deliveries.isEmpty() && random.nextInt(3) == 0) {
            ClaimedDelivery delivery = held(deliveries);
            supersedes = delivery.claimId();
            id = random.nextInt(4) == 0 ? id : delivery.id();
        }
        if (id != null && special(5)) {
            declare(client, id);
            return;
        }
        schedule(client, id, supersedes);
    }

    private void schedule(Client client, String id, ClaimId supersedes) {
        String body = "b" + bodies++ + "x".repeat(random.nextInt(30));
        String group = grouped && random.nextInt(4) != 0 ? "g" + random.nextInt(2) : null;
        sent(
                client,
                client.queue.schedule(ScheduleRequest.of(id, body.getBytes(StandardCharsets.ISO_8859_1), due())
                        .withOnDuplicate(any(List.of(DuplicatePolicy.values())))
                        .superseding(supersedes)
                        .withPriority(group == null ? priority() : 0)
                        .withGroup(group)
                        .withMaximumQueueLength(special(3) ? 1 + random.nextInt(4) : 0)),
                group == null ? body : group + body);
    }

    private int priority() {
        return special(2) ? any(List.of(1, 5, 9)) : 0;
    }

    private void claim(Client client) {
        claim(client, client.queue, any(client.consumers), deliveries);
    }

    private void claimDead(Client client) {
        claim(client, client.dead, any(client.deadConsumers), deadDeliveries);
    }

    private void claim(Client client, RedisDelayQueue queue, Consumer consumer, List<ClaimedDelivery> given) {
        if (!consumer.claim.isDone()) {
            return;
        }
        network.maxClaimBytes = random.nextInt(4) == 0 ? 1 + random.nextInt(100) : ClaimRequest.MAX_BYTES;
        if (random.nextInt(8) == 0) {
            consumer.claims.leave(client.consumer.nextClaimId(random)).run();
            return;
        }
        int messages = 1 + random.nextInt(5);
        boolean batch = random.nextBoolean();
        claim(
                client,
                queue,
                consumer,
                given,
                messages,
                random.nextInt(messages + 1),
                batch ? any(List.of(0L, 5 * MINUTE, 15 * MINUTE, 1_000_000 * MINUTE)) : ClaimRequest.NO_BATCH);
    }

    private void claim(
            Client client,
            RedisDelayQueue queue,
            Consumer consumer,
            List<ClaimedDelivery> given,
            int messages,
            int expired,
            long batchMicros) {
        ClaimRequest request = new ClaimRequest(
                client.consumer.nextClaimId(random),
                1 + delay(),
                messages,
                expired,
                random.nextBoolean(),
                any(List.of(1_000L, 12_000L, 3_000_000L, 30_000_000L, 60 * MINUTE)),
                batchMicros);
        consumer.claim = consumer.claims.claim(request, new CompletableFuture<>());
        consumer.claim.thenAccept(reply -> {
            for (ClaimReply.ClaimedMessage message : reply.messages()) {
                given.add(new ClaimedDelivery(
                        queue.partitions().get(0),
                        message,
                        request.claimId(),
                        reply.timeMicros(),
                        0,
                        0,
                        new FakeTimers(),
                        (d, worked) -> {}));
            }
        });
    }

    /** Half of the time one that has its lease, if there is one; else mostly one of the last ones. */
    private ClaimedDelivery held(List<ClaimedDelivery> list) {
        List<ClaimedDelivery> leased = leased(list);
        if (!leased.isEmpty() && random.nextBoolean()) {
            return any(leased);
        }
        int from = random.nextInt(4) == 0 ? 0 : Math.max(0, list.size() - 4);
        return list.get(from + random.nextInt(list.size() - from));
    }

    private List<ClaimedDelivery> leased(List<ClaimedDelivery> list) {
        String queue = list == deadDeliveries ? "dead:" : "";
        return list.stream()
                .filter(delivery -> network.held().isLeased(queue, delivery.id(), delivery.claimId()))
                .toList();
    }

    /** Two steps that seldom follow each other: a run ends whose schedule got a rule; an id comes that was just finished. */
    private void endAndComeAgain(Client client) {
        List<ClaimedDelivery> leased = leased(deliveries);
        if (plain || leased.isEmpty()) {
            return;
        }
        ClaimedDelivery delivery =
                leased.stream().filter(ClaimedDelivery::isRun).findFirst().orElseGet(() -> any(leased));
        if (delivery.isRun()) {
            declare(client, delivery.id());
            sent(client, client.queue.partitions().get(0).settle(delivery, Settlement.ACKNOWLEDGE), null);
        } else {
            Settlement remembered = new Settlement.Acknowledge(micros(10 * MINUTE + delay()));
            sent(client, client.queue.partitions().get(0).settle(delivery, remembered), null);
            schedule(client, delivery.id(), null);
        }
    }

    private byte[] failure() {
        return ("f" + random.nextInt(100)).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** For how long an id stays a duplicate. */
    private long remember() {
        return special(1) ? random.nextInt(20) == 0 ? DueTime.MAX_MICROS : delay() : 0;
    }

    private static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    /** Rules and bodies are few, so that the same ones come again. Times are absolute: the clients' clocks stand still. */
    private void declare(Client client, String id) {
        long now = System.currentTimeMillis() * 1_000;
        Schedule rule = Schedule.every(Duration.ofMinutes(10 * (1 + random.nextInt(2))));
        DueTime first = new DueTime(false, random.nextInt(4) == 0 ? past : now + delay());
        boolean inGroup = grouped && random.nextBoolean();
        byte[] body = ("r" + random.nextInt(2)).getBytes(StandardCharsets.ISO_8859_1);
        sent(
                client,
                client.queue.schedule(ScheduleRequest.of(id, body, first)
                        .withPriority(inGroup ? 0 : priority())
                        .withGroup(inGroup ? "g" + random.nextInt(2) : null)
                        .withMaximumQueueLength(special(3) ? 1 + random.nextInt(4) : 0)
                        .recurring(
                                rule,
                                random.nextBoolean()
                                        ? 0
                                        : now
                                                - random.nextInt(2_000_000)
                                                + (random.nextInt(8) == 0 ? 100 * MINUTE : 0))),
                null);
    }

    /** Finishes what one claim gave, all at once, and mostly well: the ends share a call. */
    private void settleBatch(Client client) {
        if (!deliveries.isEmpty()) {
            ClaimId claim = held(deliveries).claimId();
            deliveries.stream()
                    .filter(delivery -> delivery.claimId().equals(claim))
                    .forEach(delivery -> {
                        if (random.nextInt(4) == 0) {
                            settle(client, delivery);
                        } else {
                            sent(
                                    client,
                                    client.queue.partitions().get(0).settle(delivery, Settlement.ACKNOWLEDGE),
                                    null);
                        }
                    });
        }
    }

    /** Finishes or extends a delivery, which may be stale or finished already, through any client. */
    private void settle(Client client, ClaimedDelivery delivery) {
        if (delivery.group() != null && random.nextInt(6) == 0) {
            Settlement end = any(List.of(
                    new Settlement.Retry(micros(delay()), failure()),
                    Settlement.RELEASE,
                    Settlement.ACKNOWLEDGE,
                    new Settlement.DeadLetter(failure(), micros(remember()))));
            Settlement pausing = new Settlement.PauseGroup(end, micros(delay()));
            sent(client, client.queue.partitions().get(0).settle(delivery, pausing), null);
            return;
        }
        sent(
                client,
                switch (random.nextInt(8)) {
                    case 0 ->
                        client.queue
                                .partitions()
                                .get(0)
                                .settle(delivery, new Settlement.Acknowledge(micros(remember())));
                    case 1 -> client.queue.partitions().get(0).settle(delivery, Settlement.ACKNOWLEDGE);
                    case 2 ->
                        client.queue
                                .partitions()
                                .get(0)
                                .settle(delivery, new Settlement.Retry(micros(delay()), failure()));
                    case 3 -> client.queue.partitions().get(0).settle(delivery, Settlement.RELEASE);
                    case 4, 5 ->
                        client.queue
                                .partitions()
                                .get(0)
                                .settle(delivery, new Settlement.DeadLetter(failure(), micros(remember())));
                    case 6 ->
                        client.queue.partitions().get(0).settle(delivery, new Settlement.Drop(micros(remember())));
                    default -> client.queue.partitions().get(0).extend(delivery, 1 + delay());
                },
                null);
    }

    /** The same for a dead letter, which is never given up. */
    private void settleDead(Client client) {
        if (deadDeliveries.isEmpty()) {
            return;
        }
        ClaimedDelivery delivery = held(deadDeliveries);
        sent(
                client,
                switch (random.nextInt(4)) {
                    case 0 -> client.dead.partitions().get(0).settle(delivery, Settlement.ACKNOWLEDGE);
                    case 1 ->
                        client.dead
                                .partitions()
                                .get(0)
                                .settle(delivery, new Settlement.Retry(micros(delay()), failure()));
                    case 2 -> client.dead.partitions().get(0).settle(delivery, Settlement.RELEASE);
                    default -> client.dead.partitions().get(0).extend(delivery, 1 + delay());
                },
                null);
    }

    /** Time passes by the server's clock: messages become due and leases end. */
    public void letTimePass() {
        network.shift((1 + random.nextInt(3)) * 10 * MINUTE);
    }
}
