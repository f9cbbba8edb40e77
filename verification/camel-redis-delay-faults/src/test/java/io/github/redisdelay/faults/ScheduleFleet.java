// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.redisdelay.camel.delivery.ScheduleDeclaration;
import io.github.redisdelay.history.History;
import io.github.redisdelay.history.History.Event;
import io.github.redisdelay.history.History.What;
import io.github.redisdelay.history.HistoryChecker;
import io.github.redisdelay.history.ObservedQueue;
import io.github.redisdelay.history.RunChecker;
import io.github.redisdelay.history.RunChecker.Verdict;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.Delivery;
import io.github.redisdelay.queue.MessageInfo;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.StoredMessage;
import io.github.redisdelay.queue.Timers;
import io.github.redisdelay.queue.client.ClientAccess;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Recurring schedules of an experiment, those who declare and receive them, and what is asked of them: {@link RunChecker}.
 * Declarations come again after a part of a minute, so that an experiment need not last for minutes.
 */
final class ScheduleFleet implements AutoCloseable {

    /** For the rules that are due each second. */
    static final String EACH_SECOND = "cron * * * * * * Europe/Berlin";

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");

    private final Experiment experiment;
    private final String name;
    private final Set<String> ids = new TreeSet<>();
    private final List<Member> members = new ArrayList<>();
    private final RedissonClient redisson;
    private final DelayQueueClient observer;

    /** Who declares schedules as the routes of a JVM do, receives their runs, or both. */
    final class Member implements ObservedQueue.Recorder {

        final DelayQueue queue;
        private final History history;
        private final DelayQueueClient client;
        private final long shorter;
        private final List<ScheduleDeclaration> declarations = new ArrayList<>();
        private LoadConsumer consumer;

        private Member(String source, DelayQueueClient client, long shorter) {
            this.client = client;
            this.shorter = shorter;
            history = experiment.newHistory(source);
            queue = ObservedQueue.of(experiment.queue(client), this);
        }

        @Override
        public History of(String id) {
            return history;
        }

        @Override
        public void delivered(Delivery delivery, boolean deadLetter) {
            // The consumer writes it down.
        }

        /** Declares one now, and again and again. */
        Member declares(String id, String rule) {
            ids.add(id);
            Timers real = ClientAccess.timers(client);
            Timers timers = (nanos, task) -> real.schedule(nanos / shorter, task);
            ScheduleDeclaration declaration = new ScheduleDeclaration(
                    queue,
                    new ScheduleDeclaration.Declared(id, Schedule.parse(rule), null, Envelope.Settings.NONE),
                    timers);
            declarations.add(declaration);
            declaration.start();
            return this;
        }

        Member consumes(int concurrentConsumers) {
            consumer = new LoadConsumer(history, Experiment.LEASE, experiment.seed, step -> {});
            consumer.consume(experiment.queue(client), concurrentConsumers);
            return this;
        }

        void stopDeclaring() {
            declarations.forEach(ScheduleDeclaration::stop);
        }

        private void close() {
            stopDeclaring();
            client.close();
            if (consumer != null) {
                consumer.close();
            }
        }
    }

    ScheduleFleet(Experiment experiment, String name) {
        this.experiment = experiment;
        this.name = name;
        redisson = experiment.connect();
        observer = experiment.open(redisson);
    }

    /** @param shorter by what the minute is divided after which it declares again */
    Member member(String source, DelayQueueClient client, long shorter) {
        Member member = new Member(source, client, shorter);
        members.add(member);
        return member;
    }

    /** One with a client of its own, for which a minute is two seconds. */
    Member member(String source) {
        return member(source, experiment.open(redisson), 30);
    }

    /** The rules that are stored, by id. */
    Map<String, String> rules() {
        Map<String, String> rules = new TreeMap<>();
        for (String id : ids) {
            try {
                experiment
                        .queue(observer)
                        .get(id)
                        .get(20, TimeUnit.SECONDS)
                        .map(StoredMessage::info)
                        .map(MessageInfo::rule)
                        .ifPresent(rule -> rules.put(id, rule));
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
        return rules;
    }

    /** Waits until each schedule had some more runs that have ended, whatever the rest of the fleet does. */
    void awaitRuns(int count) {
        long since = experiment.history.now();
        await(name + ": runs")
                .atMost(Duration.ofSeconds(120))
                .pollInterval(Duration.ofMillis(200))
                .untilAsserted(() -> assertThat(endedSince(since))
                        .as("ended runs of each of %s", ids)
                        .containsOnlyKeys(ids)
                        .allSatisfy((id, runs) -> assertThat(runs).isGreaterThanOrEqualTo(count)));
    }

    private Map<String, Integer> endedSince(long since) {
        Map<String, Integer> ended = new HashMap<>();
        for (Event event : experiment.events()) {
            if (event.what() == What.SETTLED && event.detail().equals("DONE") && event.micros() > since) {
                ended.merge(event.id(), 1, Integer::sum);
            }
        }
        return ended;
    }

    /**
     * Cancels all schedules, waits until everything has ended, judges, and adds a line to the table.
     *
     * @param tried how often the fault was tried
     */
    Verdict end(int tried) throws Exception {
        members.forEach(Member::stopDeclaring);
        for (Member member : members) {
            // By each client: a declaration of its own that is still under way comes before.
            for (String id : ids) {
                member.queue.cancel(id).outcome().get(20, TimeUnit.SECONDS);
            }
        }
        experiment.awaitEmpty();
        await(name + ": answers").atMost(Duration.ofSeconds(20)).until(() -> open() == 0);
        DelayQueue letters = experiment.queue(observer).deadLetters();
        letters.admin().cancelAll(any -> true, Long.MAX_VALUE).get(20, TimeUnit.SECONDS);
        members.forEach(Member::close);
        members.clear();
        Verdict verdict = RunChecker.check(experiment.events(), Experiment.LEASE);
        HistoryChecker.Report report = verdict.report();
        Experiment.row(
                name, tried, report.confirmed(), ids.size(), report.lost(), report.duplicates(), verdict.latest());
        LOG.info(
                "{}: {} runs of {} schedules ended, {} deliveries, {} uncertain, {} times were missed and caught up, again"
                        + " because: {}; rare states: {}",
                name,
                report.confirmed(),
                ids.size(),
                report.deliveries(),
                report.uncertain(),
                verdict.missed(),
                report.causes(),
                verdict.reached());
        report.assertClean();
        assertThat(report.confirmed()).as("runs").isPositive();
        assertThat(StreamSupport.stream(redisson.getKeys().getKeys().spliterator(), false)
                        .filter(HistoryChecker::isLeftover))
                .as("keys that are left")
                .isEmpty();
        return verdict;
    }

    /** How many deliveries, and ends of deliveries, have no answer yet, of clients that live. */
    private long open() {
        List<Event> events = experiment.events();
        Set<String> answered = events.stream()
                .filter(event -> event.what() == What.SETTLED || event.what() == What.FAILED)
                .map(event -> event.claim() + event.id())
                .collect(Collectors.toSet());
        Set<String> dead = events.stream()
                .filter(event -> event.what() == What.KILLED)
                .map(Event::id)
                .collect(Collectors.toSet());
        return events.stream()
                .filter(event -> event.what() == What.DELIVERED || event.what() == What.SETTLING)
                .filter(event -> !dead.contains(event.source()))
                .filter(event -> !answered.contains(event.claim() + event.id()))
                .count();
    }

    @Override
    public void close() {
        members.forEach(Member::close);
        observer.close();
        redisson.shutdown();
    }
}
