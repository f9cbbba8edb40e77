// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.benchmark.server.Link;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RedissonClient;

/** Makes contenders, each with a queue of its own; those of one subject share a {@link RedissonClient}. */
public final class Contenders implements AutoCloseable {

    private static final AtomicInteger QUEUES = new AtomicInteger();

    private final Environment environment;
    private final Link link;
    private final DelayQueueClient look;
    private final Map<String, RedissonClient> clients = new HashMap<>();

    public Contenders(Environment environment) {
        this(environment, Link.to(environment, Duration.ZERO));
    }

    /** @param link by which the contenders reach Redis; stays the caller's */
    public Contenders(Environment environment, Link link) {
        this.environment = environment;
        this.link = link;
        this.look = DelayQueueClient.create(environment.control(), ClientOptions.DEFAULTS);
    }

    /** A contender on an empty queue. */
    public Contender open(String subject) throws Exception {
        return open(subject, "bench-" + QUEUES.incrementAndGet());
    }

    /** A contender on a queue that may hold what another one of this layout has put there. */
    public Contender open(String subject, String queue) throws Exception {
        if (subject.equals(Subject.BEANSTALKD)) {
            return new BeanstalkdContender();
        }
        RedissonClient redisson = client(subject);
        return switch (subject) {
            case Subject.CAMEL -> new CamelContender(redisson, queue, look.queue(queue));
            case Subject.QUEUE -> new QueueContender(redisson, queue);
            case Subject.RDELAYEDQUEUE -> new RDelayedQueueContender(redisson, queue, environment.control());
            case Subject.FLOOR -> new FloorContender(redisson, queue, BareScripts.FLOOR);
            case Subject.FENCED_FLOOR -> new FloorContender(redisson, queue, BareScripts.FENCED);
            case Subject.SAFE -> new FloorContender(redisson, queue, BareScripts.SAFE);
            case Subject.BARE_CLIENT -> new BareClientContender(subject, redisson, queue, BareScripts.FLOOR, false);
            case Subject.BARE_CLIENT_THROUGH_CAMEL ->
                new BareClientContender(subject, redisson, queue, BareScripts.FLOOR, true);
            case Subject.SAFE_CLIENT_THROUGH_CAMEL ->
                new BareClientContender(subject, redisson, queue, BareScripts.SAFE, true);
            default -> throw new IllegalArgumentException("No such subject: " + subject);
        };
    }

    /** The same for requests of different kinds: ours, {@code RDelayedQueue}, or bare scripts. */
    public Requests requests(String subject) throws Exception {
        String queue = "bench-" + QUEUES.incrementAndGet();
        RedissonClient redisson = client(subject);
        return switch (subject) {
            case Subject.CAMEL -> new CamelRequests(redisson, queue, look.queue(queue));
            case Subject.QUEUE -> new QueueRequests(redisson, queue);
            case Subject.FLOOR -> new BareRequests(redisson, environment.control());
            case Subject.RDELAYEDQUEUE -> new RDelayedQueueRequests(redisson, queue, environment.control());
            default -> throw new IllegalArgumentException("No such subject: " + subject);
        };
    }

    private RedissonClient client(String subject) {
        return clients.computeIfAbsent(subject, any -> switch (subject) {
            case Subject.CAMEL -> environment.newComponentsRedisson(link);
            case Subject.RDELAYEDQUEUE -> environment.newPatientRedisson(link);
            default -> environment.newRedisson(link);
        });
    }

    @Override
    public void close() {
        look.close();
        clients.values().forEach(RedissonClient::shutdown);
    }
}
