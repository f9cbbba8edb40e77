// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import io.github.redisdelay.benchmark.Cost;
import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.InFlight;
import io.github.redisdelay.benchmark.contender.Contender;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Ways to make many requests, and what they took. */
final class Calls {

    private final Environment environment;
    private final Cost cost;
    private final double scriptCalls;

    private Calls(Environment environment) {
        this.environment = environment;
        scriptCalls = scriptCalls(environment);
        cost = Cost.begin(environment);
    }

    /** A request by its number. */
    @FunctionalInterface
    interface Request {
        void make(int number) throws Exception;
    }

    /** The same; returns before it is answered. */
    @FunctionalInterface
    interface AsynchronousRequest {
        CompletableFuture<?> make(int number);
    }

    /** One caller makes them, with {@value Contender#UNDER_WAY} under way. */
    static void underWay(int requests, AsynchronousRequest request) throws Exception {
        InFlight inFlight = new InFlight(Contender.UNDER_WAY);
        for (int i = 0; i < requests; i++) {
            inFlight.begin();
            request.make(i).whenComplete((result, error) -> inFlight.end(error));
        }
        inFlight.awaitAll();
    }

    /** Callers make them that wait for each answer. */
    static void waiting(int callers, int requests, Request request) throws Exception {
        AtomicInteger next = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (int c = 0; c < callers; c++) {
                ends.add(threads.submit(() -> {
                    for (int i = next.getAndIncrement(); i < requests; i = next.getAndIncrement()) {
                        request.make(i);
                    }
                    return null;
                }));
            }
            for (Future<?> end : ends) {
                end.get(1, TimeUnit.MINUTES);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    static Calls begin(Environment environment) {
        return new Calls(environment);
    }

    /** Adds what so many requests took since the beginning; not of a warm-up, which is round 0. */
    void end(Figures figures, String experiment, String subject, String parameter, int round, int requests) {
        Cost.Taken taken = cost.end();
        double calls = scriptCalls(environment) - scriptCalls;
        if (round > 0) {
            figures.add(experiment, subject, parameter, round, "rate", requests / taken.seconds(), "requests/s");
            figures.add(experiment, subject, parameter, round, "script calls", calls / requests, "per request");
            figures.add(
                    experiment,
                    subject,
                    parameter,
                    round,
                    "redis cpu",
                    taken.redisSeconds() * 1e6 / requests,
                    "us/request");
        }
    }

    /** The number of script calls that the server has executed. */
    private static double scriptCalls(Environment environment) {
        String stats = environment.info("commandstats").getOrDefault("cmdstat_evalsha", "calls=0,");
        return Double.parseDouble(stats.substring("calls=".length(), stats.indexOf(',')));
    }
}
