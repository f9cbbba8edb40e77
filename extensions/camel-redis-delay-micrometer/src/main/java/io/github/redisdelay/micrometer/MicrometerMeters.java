// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.micrometer;

import io.github.redisdelay.camel.connection.ClientRegistry.OpenClient;
import io.github.redisdelay.camel.connection.RefCounted.Reference;
import io.github.redisdelay.camel.monitor.Meters;
import io.github.redisdelay.camel.monitor.QueueFigure;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.CallListener;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.Outlook;
import io.github.redisdelay.queue.QueueAdmin;
import io.github.redisdelay.queue.QueueStats;
import io.github.redisdelay.queue.Timers;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** Meters in a registry of Micrometer, named and tagged as Camel's own. */
final class MicrometerMeters implements Meters {

    private static final String NAME = "camel.redis.delay.";

    /** Above this many queues, further ones have no meters: an endpoint of {@code toD} can name any number. */
    static final int MAX_QUEUES = 256;

    private static final Duration[] BUCKETS = Stream.of(1, 5, 20, 100, 1000, 10_000, 60_000, 600_000)
            .map(Duration::ofMillis)
            .toArray(Duration[]::new);

    private final MeterRegistry registry;
    private final Tags component;
    private final Timers timers;

    /** The meters in use, by what tells them apart from others of the same names. Guarded by itself. */
    private final Map<Tags, Group> groups = new HashMap<>();

    MicrometerMeters(MeterRegistry registry, String context, String component, Timers timers) {
        this.registry = registry;
        this.component = Tags.of("camelContext", context, "kind", "CamelRedisDelay", "component", component);
        this.timers = timers;
    }

    private static String name(Enum<?> constant) {
        return OptionValues.lower(constant).replace('_', '.');
    }

    private static String description(Event event) {
        return switch (event) {
            case SCHEDULED -> "Messages that were stored";
            case CANCELLED -> "Messages that were cancelled";
            case PROMOTED -> "Delayed messages that were made due";
            case DELIVERED -> "Messages that were handed to a route";
            case RETRIED -> "Deliveries that another one follows after a delay";
            case DEAD_LETTERED -> "Messages that were moved to the dead letters";
            case DROPPED -> "Messages that were given up and not kept";
            case EXPIRED -> "Messages that were not delivered in their time to live";
        };
    }

    /** Meters that have the same users. The last user removes them. */
    private abstract class Group implements Use {

        final Tags tags;
        private final List<Meter> meters = new ArrayList<>(); // guarded by groups
        private final Map<Event, Counter> counters = new EnumMap<>(Event.class); // filled by the constructor
        private final QueueGroup queue;
        private int users; // guarded by groups

        /** @param queue which it belongs to, and gives back at its end; null for none */
        Group(Tags tags, QueueGroup queue) {
            this.tags = tags;
            this.queue = queue;
        }

        final <M extends Meter> M keep(M meter) {
            meters.add(meter);
            return meter;
        }

        final Counter counter(String name, String description) {
            return keep(Counter.builder(NAME + name)
                    .description(description)
                    .tags(tags)
                    .register(registry));
        }

        /** Makes the counters of these events. */
        final void counters(Event... events) {
            for (Event event : events) {
                counters.put(event, counter(name(event), description(event)));
            }
        }

        @Override
        public final void count(Event event, long messages) {
            counters.get(event).increment(messages);
        }

        final Timer timer(String name, String description, Tags more) {
            return keep(Timer.builder(NAME + name)
                    .description(description)
                    .tags(more)
                    .serviceLevelObjectives(BUCKETS)
                    .register(registry));
        }

        final boolean isUsed() {
            return users > 0;
        }

        @Override
        public final void release() {
            synchronized (groups) {
                if (--users > 0) {
                    return;
                }
                groups.remove(tags, this);
                remove();
            }
            ended(); // not under the lock: it may close a client
        }

        /** Removes its meters, once: others may have been made of the same names since. Holds the lock of the groups. */
        final void remove() {
            meters.forEach(registry::remove);
            meters.clear();
        }

        void ended() {
            if (queue != null) {
                queue.release();
            }
        }
    }

    /**
     * The group with these tags.
     *
     * @param make makes it for its first user; null if it is not to be
     * @return null if it was not made
     */
    private <G extends Group> G use(Class<G> kind, Tags tags, Supplier<G> make) {
        synchronized (groups) {
            Group group = groups.get(tags);
            if (group == null) {
                group = make.get();
                if (group == null) {
                    return null;
                }
                groups.put(tags, group);
            }
            group.users++;
            return kind.cast(group);
        }
    }

    /** A group that belongs to a queue; null if there are too many queues. */
    private <G extends Group> G use(
            Class<G> kind, MeteredQueue queue, Tags tags, BiFunction<Tags, QueueGroup, G> make) {
        return use(kind, tags, () -> {
            QueueGroup whole = queue(queue);
            return whole == null ? null : make.apply(tags, whole);
        });
    }

    /** The tags of what is on one Redis. The place is shown by eight digits: it is an address, which meters must not show. */
    private Tags tags(String place, String keyPrefix) {
        return component.and("keyPrefix", keyPrefix, "server", String.format("%08x", place.hashCode()));
    }

    private Tags tags(MeteredQueue queue) {
        return tags(queue.place(), queue.keyPrefix()).and("queue", queue.queue().name());
    }

    @Override
    public Use producing(MeteredQueue queue) {
        QueueGroup group = queue(queue);
        return group == null ? Use.NONE : group;
    }

    /** The meters of a queue; null if there are too many queues. */
    private QueueGroup queue(MeteredQueue queue) {
        return use(QueueGroup.class, tags(queue), () -> {
            long queues = groups.values().stream()
                    .filter(QueueGroup.class::isInstance)
                    .count();
            return queues < MAX_QUEUES ? new QueueGroup(queue) : null;
        });
    }

    @Override
    public Consuming consuming(MeteredQueue queue, String routeId, boolean deadLetters) {
        Tags tags = tags(queue).and("routeId", routeId, "deadLetters", Boolean.toString(deadLetters));
        ConsumerGroup group = use(ConsumerGroup.class, queue, tags, ConsumerGroup::new);
        return group == null ? Consuming.NONE : group;
    }

    @Override
    public Added added(MeteredQueue queue, Map<String, String> more) {
        Tags tags = tags(queue)
                .and(more.entrySet().stream()
                        .map(tag -> Tag.of(tag.getKey(), tag.getValue()))
                        .toList());
        AddedGroup group = use(AddedGroup.class, queue, tags, AddedGroup::new);
        return group == null ? Added.NONE : group;
    }

    @Override
    public CallListener calls(String place, String keyPrefix) {
        Tags tags = tags(place, keyPrefix);
        return use(ClientGroup.class, tags, () -> new ClientGroup(tags));
    }

    @Override
    public void close() {
        synchronized (groups) {
            groups.values().forEach(Group::remove);
            groups.clear();
        }
    }

    /** The figures of a queue, and how many messages are due within {@link #SOON} and {@link #LATER}. */
    private record Figures(QueueStats stats, Outlook outlook) {

        static final Duration SOON = Duration.ofMinutes(1);
        static final Duration LATER = Duration.ofMinutes(5);

        static CompletableFuture<Figures> of(QueueAdmin queue) {
            return queue.stats().thenCompose(stats -> {
                List<Long> bounds = Stream.of(SOON, LATER)
                        .map(within -> stats.timeMicros() + TimeUnit.MILLISECONDS.toMicros(within.toMillis()))
                        .toList();
                return queue.outlook(bounds).thenApply(outlook -> new Figures(stats, outlook));
            });
        }

        /** Messages that a consumer can claim until then: without parked ones. */
        long dueSoon() {
            return Math.max(0, outlook.before() - stats.parked());
        }

        long dueLater() {
            return dueSoon() + outlook.counts().get(0);
        }
    }

    /** The figures of a queue, and what is counted where it is sent to. */
    private final class QueueGroup extends Group {

        private final Reference<OpenClient> client;
        private final PolledStats<Figures> stats;

        QueueGroup(MeteredQueue queue) {
            super(tags(queue), null);
            client = queue.client().retain(); // other users of the queue may have another client
            QueueAdmin admin = queue.queue().admin();
            stats = new PolledStats<>(() -> Figures.of(admin), timers);
            counters(Event.SCHEDULED, Event.CANCELLED, Event.PROMOTED);
            gauge(QueueFigure.DELAYED, "Messages that no consumer has claimed, overdue ones included");
            gauge(QueueFigure.OVERDUE, "Delayed messages that are due");
            gauge(QueueFigure.LEASED, "Messages that consumers have claimed");
            gauge(QueueFigure.DEAD, "Dead letters");
            gauge(QueueFigure.OLDEST_OVERDUE, "For how long the oldest overdue message has been due");
            gauge(QueueFigure.PARKED, "Due messages that their groups have parked");
            gauge(QueueFigure.OLDEST_PARKED, "For how long the oldest parked message has been due");
            gauge(QueueFigure.CONSUMERS, "Consumers of the queue, in all JVMs");
            gauge(QueueFigure.PAUSED, "1 if the queue is paused, else 0");
            gauge("1m", Figures::dueSoon);
            gauge("5m", Figures::dueLater);
            stats.start();
        }

        /** Times are in seconds, a Boolean is 1 or 0. */
        private void gauge(QueueFigure figure, String description) {
            boolean isTime = figure == QueueFigure.OLDEST_OVERDUE || figure == QueueFigure.OLDEST_PARKED;
            gauge(name(figure), description, isTime ? "seconds" : null, tags, figures -> {
                Object now = figure.value(figures.stats());
                return now instanceof Boolean yes ? yes ? 1 : 0 : ((Number) now).doubleValue() / (isTime ? 1000 : 1);
            });
        }

        private void gauge(String within, ToDoubleFunction<Figures> value) {
            String description = "Messages that are due, or become due within this time";
            gauge("due", description, null, tags.and("within", within), value);
        }

        /** NaN while the figures are not known. */
        private void gauge(String name, String description, String unit, Tags more, ToDoubleFunction<Figures> value) {
            keep(Gauge.builder(NAME + name, stats, latest -> {
                        Figures figures = latest.get();
                        return figures == null ? Double.NaN : value.applyAsDouble(figures);
                    })
                    .description(description)
                    .baseUnit(unit)
                    .tags(more)
                    .register(registry));
        }

        @Override
        void ended() {
            stats.stop();
            client.release();
        }
    }

    /** The meters of another module. */
    private final class AddedGroup extends Group implements Added {

        private final Map<String, AtomicLong> gauges = new HashMap<>(); // guarded by groups

        AddedGroup(Tags tags, QueueGroup queue) {
            super(tags, queue);
        }

        /** Each user of the group asks for the same ones. */
        @Override
        public LongConsumer counting(String name, String description) {
            synchronized (groups) {
                return counter(name, description)::increment;
            }
        }

        @Override
        public LongConsumer showing(String name, String description, String tag, String value) {
            synchronized (groups) {
                return gauges.computeIfAbsent(name + ' ' + value, made -> {
                    AtomicLong latest = new AtomicLong();
                    keep(Gauge.builder(NAME + name, latest, AtomicLong::get)
                            .description(description)
                            .tags(tags.and(tag, value))
                            .register(registry));
                    return latest;
                })::set;
            }
        }
    }

    /** The counters and timers of a consumer's deliveries. */
    private final class ConsumerGroup extends Group implements Consuming {

        private final Timer lateness = timer("lateness", "From the due time to the route", tags);
        private final Timer processing =
                timer("processing", "From the start of the route to the end of the exchange", tags);
        private final Timer acknowledge = timer("acknowledge", "From the end of the exchange to Redis' answer", tags);

        ConsumerGroup(Tags tags, QueueGroup queue) {
            super(tags, queue);
            counters(Event.DELIVERED, Event.RETRIED, Event.DEAD_LETTERED, Event.DROPPED, Event.EXPIRED);
        }

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void delivered(Delivery delivery) {
            count(Event.DELIVERED, 1);
            if (delivery.group() == null && !delivery.isLimited()) { // what a limit held back is not late
                lateness.record(delivery.lateness());
            }
        }

        @Override
        public void processed(long deliveredNanoTime) {
            processing.record(nanoTime() - deliveredNanoTime, TimeUnit.NANOSECONDS);
        }

        @Override
        public void acknowledged(long completedNanoTime) {
            acknowledge.record(nanoTime() - completedNanoTime, TimeUnit.NANOSECONDS);
        }
    }

    /** The calls of clients, in a timer for each script that was called. */
    private final class ClientGroup extends Group implements CallListener {

        private final Map<String, Timer> answered = new ConcurrentHashMap<>();
        private final Map<String, Timer> failed = new ConcurrentHashMap<>();

        ClientGroup(Tags tags) {
            super(tags, null);
        }

        @Override
        public void ended(String script, long nanos, boolean failure) {
            Timer timer = (failure ? failed : answered).get(script);
            if (timer == null) {
                timer = make(script, failure);
            }
            if (timer != null) {
                timer.record(nanos, TimeUnit.NANOSECONDS);
            }
        }

        /** The timer of a script; null if the client was closed. */
        private Timer make(String script, boolean failure) {
            synchronized (groups) {
                Tags more = tags.and("script", script, "failed", Boolean.toString(failure));
                return isUsed()
                        ? (failure ? failed : answered)
                                .computeIfAbsent(script, name -> timer("call", "A call of a script in Redis", more))
                        : null;
            }
        }

        @Override
        public void closed() {
            release();
        }
    }
}
