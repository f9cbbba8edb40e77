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
import io.github.redisdelay.queue.MessagePage;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.queue.PageStart;
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

    private int bodies;

    /** A request and the body that it was to store; null if it was another operation. */
    public record Request(Submission<?> submission, String body) {}

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
            RedissonClient redisson,
            String queue,
            long seed,
            int clients,
            int ids,
            boolean groups,
            RareStates reached) {
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
        this.plain = random.nextBoolean();
        this.grouped = groups && !plain && random.nextInt(4) != 0;
        boolean limited = groups && !plain && random.nextInt(4) != 0;
        if (grouped || limited) {
            QueueLimits limit = new QueueLimits(
                    grouped ? random.nextInt(4) : 1,
                    !grouped || random.nextBoolean(),
                    limited && random.nextBoolean() ? rate() : null,
                    limited && grouped && random.nextBoolean() ? rate() : null,
                    limited && random.nextBoolean() ? 1 + random.nextInt(4) : 0);
            calls.add(this.clients.get(0).queue.admin().limit(limit));
            network.deliverAll();
        }
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

    /** Does one thing that a user may do. */
    public void doSomething() {
        Client client = any(clients);
        switch (random.nextInt(30)) {
            case 0, 1, 2, 3, 4, 5 -> schedule(client);
            case 6 -> sent(client.queue.cancel(id()), null);
            case 7 -> sent(client.queue.reschedule(id(), due()), null);
            case 8 -> sent(client.queue.promote(id()), null);
            case 9, 10, 11, 12, 13, 14 -> claim(client);
            case 15 -> look(client);
            case 16, 17 -> sent(client.queue.redrive(deadLetter(), null), null);
            case 18 -> redriveHeld(client);
            case 19 -> actOnDeadLetters(client);
            case 20 -> {
                if (grouped && random.nextInt(4) != 0) {
                    pauseGroup(client);
                    break;
                }
                sent(
                        special(4)
                                ? client.queue.admin().pause()
                                : client.queue.admin().resume(),
                        null);
            }
            case 21 -> rare(client);
            case 22, 23 -> settleBatch(client);
            case 24, 25 -> endAndComeAgain(client);
            default -> {
                if (!deliveries.isEmpty()) {
                    settle(client, held(deliveries));
                }
            }
        }
    }

    private void pauseGroup(Client client) {
        MessageGroup group = client.queue.group("g" + random.nextInt(3));
        sent(random.nextInt(3) == 0 ? group.resume() : group.pause(due()), null);
    }

    /** Moves a dead letter back whose delivery somebody holds, or held. */
    private void redriveHeld(Client client) {
        if (!deadDeliveries.isEmpty()) {
            ClaimedDelivery delivery = held(deadDeliveries);
            sent(client.queue.redrive(delivery.id(), delivery.claimId()), null);
        }
    }

    private void actOnDeadLetters(Client client) {
        switch (random.nextInt(8)) {
            case 0 -> sent(client.dead.cancel(deadLetter()), null);
            case 1 -> sent(client.dead.reschedule(deadLetter(), due()), null);
            case 2 ->
                sent(
                        random.nextInt(4) == 0
                                ? client.dead.admin().pause()
                                : client.dead.admin().resume(),
                        null);
            case 3, 4, 5 -> claimDead(client);
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

    /** An id is lost from the sets, or a state record, or a session is forgotten. */
    public void loseSomething() {
        switch (random.nextInt(5)) {
            case 0 -> network.loseRecord(leasedOrAny());
            case 1 -> network.loseId(deadLetter(), true);
            case 2 -> network.forgetSession(random);
            default -> network.loseId(leasedOrAny(), false);
        }
    }

    /** Half of the time an id that is leased, if there is one. */
    private String leasedOrAny() {
        List<String> leased = network.model.browse(true, false);
        return leased.isEmpty() || random.nextBoolean() ? id() : any(leased);
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
        List<String> ids = new ArrayList<>(network.model.dead.browse(false, false));
        ids.addAll(network.model.dead.browse(true, false));
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

    private void sent(Submission<?> submission, String body) {
        requests.add(new Request(submission, body));
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
                client.queue.schedule(ScheduleRequest.of(id, body.getBytes(StandardCharsets.ISO_8859_1), due())
                        .withOnDuplicate(any(List.of(DuplicatePolicy.values())))
                        .superseding(supersedes)
                        .withPriority(group == null && special(2) ? any(List.of(1, 5, 9)) : 0)
                        .withGroup(group)
                        .withMaximumQueueLength(special(3) ? 1 + random.nextInt(4) : 0)),
                group == null ? body : group + body);
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
        ClaimRequest request = new ClaimRequest(
                client.consumer.nextClaimId(random),
                1 + delay(),
                messages,
                random.nextInt(messages + 1),
                random.nextBoolean(),
                any(List.of(1_000L, 12_000L, 3_000_000L, 30_000_000L, 60 * MINUTE)),
                batch ? any(List.of(0L, 5 * MINUTE, 15 * MINUTE, 1_000_000 * MINUTE)) : ClaimRequest.NO_BATCH);
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
        QueueModel model = list == deadDeliveries ? network.model.dead : network.model;
        return list.stream()
                .filter(delivery -> model.isLeased(delivery.id(), delivery.claimId()))
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
            sent(client.queue.partitions().get(0).settle(delivery, Settlement.ACKNOWLEDGE), null);
        } else {
            Settlement remembered = new Settlement.Acknowledge(micros(10 * MINUTE + delay()));
            sent(client.queue.partitions().get(0).settle(delivery, remembered), null);
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
                client.queue.schedule(ScheduleRequest.of(id, body, first)
                        .withPriority(!inGroup && special(2) ? any(List.of(1, 5, 9)) : 0)
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
                            sent(client.queue.partitions().get(0).settle(delivery, Settlement.ACKNOWLEDGE), null);
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
            sent(client.queue.partitions().get(0).settle(delivery, pausing), null);
            return;
        }
        sent(
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
