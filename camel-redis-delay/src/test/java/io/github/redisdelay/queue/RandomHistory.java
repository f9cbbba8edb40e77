// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RedissonClient;

/** Several clients of one queue that do random things over few ids, decided by a seed. */
final class RandomHistory {

    private static final long MINUTE = 60_000_000;
    private static final byte[] NOTHING = {};

    final Random random;
    final SimulatedNetwork network;
    /** All that was asked for. */
    final List<Request> requests = new ArrayList<>();

    private final List<Client> clients = new ArrayList<>();
    private final List<String> ids;
    private final List<ClaimedDelivery> deliveries = new ArrayList<>();
    private final long past;
    private int bodies;

    /** A request and the body that it was to store; null if it was another operation. */
    record Request(Submission<?> submission, String body) {}

    private static final class Client {
        final RedisDelayQueue queue;
        final DelayQueueClient client;
        final Claims claims;
        CompletableFuture<ClaimReply> claim = CompletableFuture.completedFuture(null);

        Client(DelayQueueClient client, String name) {
            this.client = client;
            this.queue = (RedisDelayQueue) client.queue(name);
            this.claims = client.newClaims(queue, error -> {});
        }
    }

    RandomHistory(RedissonClient redisson, String queue, long seed, int clients, int ids) {
        this.random = new Random(seed);
        this.network = new SimulatedNetwork(redisson, QueueKeys.of(ClientOptions.DEFAULT_KEY_PREFIX, queue));
        for (int i = 0; i < clients; i++) {
            this.clients.add(new Client(network.client(random), queue));
        }
        this.ids = new ArrayList<>();
        for (int i = 0; i < ids; i++) {
            this.ids.add("id" + i);
        }
        // Times in minutes from now, so that nothing depends on how long the test takes.
        this.past = System.currentTimeMillis() * 1000 - 100_000 * MINUTE;
    }

    /** Delays are multiples of ten minutes, as time passes in multiples of ten minutes: what is due is never in doubt. */
    private long delay() {
        return random.nextInt(4) * 10 * MINUTE;
    }

    private DueTime due() {
        return switch (random.nextInt(10)) {
            case 0 -> new DueTime(false, past + random.nextInt(3));
            case 1 -> new DueTime(true, DueTime.MAX_MICROS);
            case 2 -> new DueTime(false, random.nextInt(3));
            case 3 -> new DueTime(false, DueTime.MAX_MICROS);
            default -> new DueTime(true, delay());
        };
    }

    String id() {
        return ids.get(random.nextInt(ids.size()));
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    /** Does one thing that a user may do. */
    void doSomething() {
        Client client = any(clients);
        switch (random.nextInt(12)) {
            case 0, 1, 2 -> schedule(client);
            case 3 -> sent(client.queue.cancel(id()), null);
            case 4 -> sent(client.queue.reschedule(id(), due()), null);
            case 5, 6, 7 -> claim(client);
            default -> settle(client);
        }
    }

    private void sent(Submission<?> submission, String body) {
        requests.add(new Request(submission, body));
    }

    private void schedule(Client client) {
        ClaimId supersedes = null;
        String id = random.nextInt(20) == 0 ? null : id();
        if (!deliveries.isEmpty() && random.nextInt(3) == 0) {
            ClaimedDelivery delivery = any(deliveries);
            supersedes = delivery.claimId();
            id = random.nextInt(4) == 0 ? id : delivery.id();
        }
        String body = "b" + bodies++ + "x".repeat(random.nextInt(30));
        sent(
                client.queue.schedule(new ScheduleRequest(
                        id,
                        due(),
                        body.getBytes(StandardCharsets.ISO_8859_1),
                        any(List.of(DuplicatePolicy.values())),
                        supersedes)),
                body);
    }

    private void claim(Client client) {
        if (!client.claim.isDone()) {
            return;
        }
        network.maxClaimBytes = random.nextInt(4) == 0 ? 1 + random.nextInt(100) : ClaimRequest.MAX_BYTES;
        int messages = 1 + random.nextInt(5);
        ClaimRequest request =
                new ClaimRequest(client.client.nextClaimId(), 1 + delay(), messages, random.nextInt(messages + 1));
        client.claim = client.claims.claim(request);
        client.claim.thenAccept(reply -> {
            for (ClaimReply.ClaimedMessage message : reply.messages()) {
                deliveries.add(new ClaimedDelivery(
                        client.queue, message, request.claimId(), reply.timeMicros(), 0, 0, (d, worked) -> {}));
            }
        });
    }

    /** Finishes or extends a delivery, which may be stale or finished already, through any client. */
    private void settle(Client client) {
        if (deliveries.isEmpty()) {
            return;
        }
        // Mostly one of the last ones, which may still hold its lease.
        int from = random.nextInt(4) == 0 ? 0 : Math.max(0, deliveries.size() - 4);
        ClaimedDelivery delivery = deliveries.get(from + random.nextInt(deliveries.size() - from));
        byte[] failure = ("f" + random.nextInt(100)).getBytes(StandardCharsets.ISO_8859_1);
        sent(
                switch (random.nextInt(7)) {
                    case 0, 1 -> client.queue.settle(delivery, 'a', 0, NOTHING);
                    case 2 -> client.queue.settle(delivery, 'n', delay(), failure);
                    case 3 -> client.queue.settle(delivery, 'r', 0, NOTHING);
                    case 4 -> client.queue.settle(delivery, 'b', 0, failure);
                    case 5 -> client.queue.settle(delivery, 'x', 0, NOTHING);
                    default -> client.queue.extend(delivery, 1 + delay());
                },
                null);
    }

    /** Time passes by the server's clock: messages become due and leases end. */
    void letTimePass() {
        network.shift((1 + random.nextInt(3)) * 10 * MINUTE);
    }
}
