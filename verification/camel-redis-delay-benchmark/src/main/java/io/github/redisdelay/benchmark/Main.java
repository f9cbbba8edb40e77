// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark;

import io.github.redisdelay.benchmark.fleet.FleetCost;
import io.github.redisdelay.benchmark.jmh.HotPaths;
import io.github.redisdelay.benchmark.lateness.Lateness;
import io.github.redisdelay.benchmark.lateness.Lone;
import io.github.redisdelay.benchmark.memory.Memory;
import io.github.redisdelay.benchmark.memory.ServerCost;
import io.github.redisdelay.benchmark.rates.ClusterScale;
import io.github.redisdelay.benchmark.rates.Groups;
import io.github.redisdelay.benchmark.rates.Mixed;
import io.github.redisdelay.benchmark.rates.Mixes;
import io.github.redisdelay.benchmark.rates.Queues;
import io.github.redisdelay.benchmark.rates.RateSteps;
import io.github.redisdelay.benchmark.rates.Rates;
import io.github.redisdelay.benchmark.rates.Scale;
import io.github.redisdelay.benchmark.recovery.Recovery;
import io.github.redisdelay.benchmark.report.Report;
import io.github.redisdelay.benchmark.server.Link;
import io.github.redisdelay.benchmark.server.OtherQueues;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Runs the experiments and writes the report.
 *
 * <p>System properties: {@code benchmark.only} names of experiments with commas between, empty for all but
 * {@code bounds}, {@code scale-cluster}, {@code server} and {@code before}; {@code benchmark.before} with which checkout the last one
 * compares; {@code benchmark.quick} {@code true} for a smoke run; {@code benchmark.link} the delay between
 * clients and Redis in each direction, such as {@code 0.5ms}, empty for none; {@code benchmark.contenders} what else
 * {@code rates} measures, and {@code mixes} of {@code bullmq}: {@code bullmq} and {@code beanstalkd} with a comma between, empty for neither;
 * {@code benchmark.pending} up to how many pending messages {@code scale-cluster} goes, empty for 15 000 000; {@code benchmark.report} the folder of the report; {@code redis.server} the binary of the server, empty to search for
 * one.
 */
public final class Main {

    /** Those that are run only where they are asked for. */
    private static final List<Experiment> ON_REQUEST = List.of(
            Rates.bounds(),
            new ClusterScale(),
            new ServerCost(),
            Rates.before(System.getProperty("benchmark.before", "").trim()));

    private Main() {}

    /** Exits with 1 if an experiment failed; a target that is missed is in the report, and no failure. */
    public static void main(String[] arguments) throws Exception {
        Path report = Path.of(System.getProperty("benchmark.report", "target/report"));
        Files.createDirectories(report);
        List<String> contenders = OtherQueues.chosen(
                System.getProperty("benchmark.contenders", "").trim());
        Duration link = Link.delay(System.getProperty("benchmark.link", "").trim());
        List<Experiment> chosen =
                chosen(System.getProperty("benchmark.only", "").trim(), contenders);
        if (!contenders.isEmpty() && !link.isZero()) {
            throw new IllegalArgumentException(
                    "-Dbenchmark.contenders cannot be measured over -Dbenchmark.link: leave one of them out");
        }
        if (!contenders.isEmpty()
                && chosen.stream().map(Experiment::name).noneMatch(List.of(RateSteps.RATES, Mixes.MIXES)::contains)) {
            throw new IllegalArgumentException("-Dbenchmark.contenders is about the experiments " + RateSteps.RATES
                    + " and " + Mixes.MIXES + ": add one to -Dbenchmark.only, or leave the contenders out");
        }
        if (!System.getProperty("benchmark.before", "").isBlank()
                && chosen.stream().map(Experiment::name).noneMatch(RateSteps.BEFORE::equals)) {
            throw new IllegalArgumentException("-Dbenchmark.before is about the experiment " + RateSteps.BEFORE
                    + ": add it to -Dbenchmark.only, or leave the checkout out");
        }
        Map<String, String> others = OtherQueues.prepare(contenders);
        List<String> failed = new ArrayList<>();
        try (Environment environment = Environment.start(
                        Boolean.getBoolean("benchmark.quick"),
                        link,
                        System.getProperty("redis.server", "").trim(),
                        report.resolve("redis.log"));
                Figures figures = Figures.writingTo(report.resolve("raw.csv"))) {
            System.out.println("Redis " + environment.version() + ", " + environment.binary());
            others.forEach((name, version) -> System.out.println(name + ": " + version));
            for (Experiment experiment : chosen) {
                if (!run(experiment, environment, figures)) {
                    failed.add(experiment.name());
                }
            }
            // A run that does not add up is no result.
            List<Figure> sound = figures.all().stream()
                    .filter(figure -> !failed.contains(figure.experiment()))
                    .toList();
            Report.write(report, sound, failed, environment, others);
        }
        if (!failed.isEmpty()) {
            System.err.println("FAILED: " + String.join(", ", failed));
        }
        // Also if a library left a thread that is no daemon.
        System.exit(failed.isEmpty() ? 0 : 1);
    }

    /** @param others what {@code rates} and {@code mixes} measure in addition */
    private static List<Experiment> chosen(String only, List<String> others) {
        List<Experiment> usual = List.of(
                Rates.all(others),
                Rates.overLink(),
                new Mixed(),
                new Mixes(others),
                new Queues(),
                new Groups(),
                new Scale(),
                new Recovery(),
                new Lateness(),
                new Lone(),
                new FleetCost(),
                new Memory(),
                new HotPaths());
        if (only.isEmpty()) {
            return usual;
        }
        List<Experiment> all =
                Stream.concat(usual.stream(), ON_REQUEST.stream()).toList();
        List<String> names = all.stream().map(Experiment::name).toList();
        List<String> wanted = Arrays.stream(only.split(",")).map(String::trim).toList();
        if (!names.containsAll(wanted)) {
            throw new IllegalArgumentException("-Dbenchmark.only is " + only + ": it must be some of " + names);
        }
        return all.stream()
                .filter(experiment -> wanted.contains(experiment.name()))
                .toList();
    }

    private static boolean run(Experiment experiment, Environment environment, Figures figures) {
        System.out.println("--- " + experiment.name());
        long begin = System.nanoTime();
        try {
            environment.clear();
            experiment.run(environment, figures);
            return true;
        } catch (Exception e) {
            System.err.println("Experiment " + experiment.name() + " failed");
            e.printStackTrace();
            return false;
        } finally {
            System.out.printf("--- %s took %.0f s%n", experiment.name(), (System.nanoTime() - begin) / 1e9);
        }
    }
}
