// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import io.github.redisdelay.benchmark.contender.Requests;
import io.github.redisdelay.benchmark.contender.Requests.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Requests that are made, and the deliveries that follow.
 *
 * @param before what is made before the measurement
 * @param measured the requests that are measured, in their order
 * @param messages all numbers are below this
 * @param failsOnce which messages fail when they are delivered first
 * @param redeliveryDelay after which these come again
 * @param deliveries how many there are, those that fail and come again included
 * @param left how many messages wait when it is over
 */
record Work(
        List<Request> before,
        List<Request> measured,
        int messages,
        IntPredicate failsOnce,
        Duration redeliveryDelay,
        int deliveries,
        int left) {

    /** Orders that follow before one of them may end. All other requests about it are answered by then. */
    private static final int LAG = 5_000;

    private static final Duration SOON = Duration.ofMillis(10);

    record Request(Kind kind, int number) {}

    /** Schedules; some of the requests cancel what was scheduled before. */
    static Work producer(int requests, int percentCancelled) {
        IntPredicate cancels = i -> (i * 37) % 100 < percentCancelled;
        int cancelled = (int) IntStream.range(0, requests).filter(cancels).count();
        return plain(
                all(requests, i -> new Request(Kind.SCHEDULE, i)),
                all(
                        requests,
                        i -> cancels.test(i) ? new Request(Kind.CANCEL, i) : new Request(Kind.SCHEDULE, requests + i)),
                2 * (requests - cancelled));
    }

    /** Looks messages up. */
    static Work reader(int requests) {
        return plain(
                all(requests, i -> new Request(Kind.SCHEDULE, i)),
                all(requests, i -> new Request(Kind.GET, i)),
                requests);
    }

    /** Delivers what is due; each so manieth delivery is returned, 0 for none. */
    static Work consumer(int messages, int share) {
        return new Work(
                all(messages, i -> new Request(Kind.SCHEDULE_DUE, i)),
                List.of(),
                messages,
                i -> share > 0 && i % share == 0,
                Requests.FAR,
                messages,
                share > 0 ? messages / share : 0);
    }

    /**
     * What a shop asks for: of 100 orders all are scheduled, 70 cancelled, 5 rescheduled, which are due then, and 5 looked
     * up; 30 are delivered, of which 3 fail once. An order ends at a random time, and 5 600 wait.
     *
     * @param orders how many are scheduled while it is measured
     */
    static Work shop(int orders, int round) {
        record Timed(int time, Request request) {}
        Random random = new Random(round);
        int begin = 2 * LAG;
        int end = begin + orders;
        List<Request> before = new ArrayList<>();
        List<Timed> measured = new ArrayList<>();
        int deliveries = 0;
        int left = 0;
        for (int order = 0; order < end; order++) {
            boolean dueAtOnce = order % 100 >= 75;
            int over = order + LAG + random.nextInt(LAG);
            if (order < begin && (dueAtOnce || over < begin)) {
                continue; // it is over when the measurement begins
            }
            Request schedule = new Request(dueAtOnce ? Kind.SCHEDULE_DUE : Kind.SCHEDULE, order);
            if (order < begin) {
                before.add(schedule);
            } else {
                measured.add(new Timed(order, schedule));
            }
            int look = order + LAG / 2;
            if (isLookedUp(order) && look >= begin && look < end) {
                measured.add(new Timed(look, new Request(Kind.GET, order)));
            }
            if (!dueAtOnce && over >= end) {
                left++;
                continue;
            }
            if (!dueAtOnce) {
                measured.add(new Timed(over, new Request(isCancelled(order) ? Kind.CANCEL : Kind.RESCHEDULE, order)));
            }
            deliveries += isCancelled(order) ? 0 : isFailingOnce(order) ? 2 : 1;
        }
        List<Request> sorted = measured.stream()
                .sorted(Comparator.comparingInt(Timed::time))
                .map(Timed::request)
                .toList();
        return new Work(before, sorted, end, Work::isFailingOnce, SOON, deliveries, left);
    }

    private static boolean isCancelled(int order) {
        return order % 100 < 70;
    }

    /** Some of those that are cancelled later. */
    private static boolean isLookedUp(int order) {
        return isCancelled(order) && order % 100 % 14 == 3;
    }

    private static boolean isFailingOnce(int order) {
        return !isCancelled(order) && order % 10 == 0;
    }

    /** Writes it for another language: the numbers of the second line fail once, the requests of the third come before. */
    Path write() throws IOException {
        Path file = Files.createTempFile("work", ".txt");
        file.toFile().deleteOnExit();
        return Files.write(
                file,
                List.of(
                        redeliveryDelay.toMillis() + " " + deliveries + " " + left,
                        IntStream.range(0, messages)
                                .filter(failsOnce)
                                .mapToObj(Integer::toString)
                                .collect(Collectors.joining(" ")),
                        text(before),
                        text(measured)));
    }

    private static String text(List<Request> requests) {
        return requests.stream().map(each -> each.kind() + ":" + each.number()).collect(Collectors.joining(" "));
    }

    private static Work plain(List<Request> before, List<Request> measured, int left) {
        return new Work(before, measured, 2 * measured.size(), i -> false, Requests.FAR, 0, left);
    }

    private static List<Request> all(int requests, IntFunction<Request> request) {
        return IntStream.range(0, requests).mapToObj(request).toList();
    }

    /** The number of requests that are measured, each delivery counted as one. */
    int size() {
        return measured.size() + deliveries;
    }
}
