// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.report;

import io.github.redisdelay.benchmark.report.Charts.Look;
import io.github.redisdelay.benchmark.report.Charts.Point;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/** Decides which drawings an experiment gets. */
final class Plots {

    private final Path folder;
    private final Results results;
    private final String experiment;
    private final List<Plot> drawn = new ArrayList<>();

    /** A drawing in the folder of the report. */
    record Plot(String file, String title) {}

    private Plots(Path folder, Results results, String experiment) {
        this.folder = folder;
        this.results = results.only(experiment);
        this.experiment = experiment;
    }

    /** Draws what there is to an experiment. */
    static List<Plot> draw(Path folder, Results all, String experiment) throws IOException {
        Plots plots = new Plots(folder, all, experiment);
        switch (experiment) {
            case "rates" -> plots.rates();
            case "mixed" -> plots.mixed();
            case "mixes" -> plots.mixes();
            case "scale", "scale-cluster" -> plots.scale();
            case "lateness" -> plots.lateness();
            case "lone" -> plots.lone();
            case "fleet" -> plots.fleet();
            case "recovery" -> plots.recovery();
            case "memory" -> plots.memory();
            case "jmh", "link", "bounds", "queues", "groups", "server", "before" -> {} // the table says it all
            default -> plots.everything();
        }
        return plots.drawn;
    }

    private void rates() throws IOException {
        for (String what : List.of("schedule", "deliver")) {
            String title = what.equals("schedule") ? "Scheduling" : "Delivery";
            Predicate<String> part = name -> name.startsWith(what + " ");
            List<Point> rates = points("rate", part, Point::series, Plots::way);
            bars("rates-" + what, title + " rate", "messages/s", true, rates);
            List<Point> cpu = points("redis cpu", part, Point::series, Plots::way);
            bars("rates-" + what + "-cpu", title + ": CPU time of Redis", "µs per message", true, cpu);
        }
    }

    /** In which way messages are scheduled or delivered. */
    private static String way(String parameter) {
        return switch (parameter) {
            case "schedule callers=1" -> "1 waiting caller";
            case "schedule callers=16" -> "16 waiting callers";
            case "schedule callers=64" -> "64 waiting callers";
            case "schedule callers=256" -> "256 waiting callers";
            case "schedule async=2000" -> "asynchronous, 2 000 under way";
            case "schedule batch=100" -> "batches of 100";
            case "deliver fifo" -> "backlog, in order";
            case "deliver random" -> "random due times";
            default -> parameter;
        };
    }

    private void mixed() throws IOException {
        Function<String, String> all = Function.identity();
        bars(
                "mixed-sustained",
                "Highest rate sustained, scheduling and delivery at once",
                "messages/s",
                true,
                points("sustained", name -> true, Point::series, name -> "delays of 1 to 60 s"));
        String offered = "offered, messages/s";
        lines(
                "mixed-cpu",
                "CPU time of Redis, scheduling and delivery at once",
                "µs per message",
                true,
                offered,
                "offered",
                points("redis cpu", name -> true, Point::series, all));
    }

    private void mixes() throws IOException {
        List<Point> mixed = points(
                "rate",
                name -> name.endsWith("shop") || name.endsWith(" 1:1") || name.endsWith(" 9:1"),
                Point::series,
                name -> name.replace("async=2000", "2 000 under way:")
                        .replace("callers=16", "16 callers:")
                        .replace("shop", "a shop's mix")
                        .replace(" and ", ", "));
        bars("mixes", "Requests of different kinds", "requests/s", true, mixed);
    }

    private void recovery() throws IOException {
        bars(
                "recovery",
                "All delivered again after the last lease has expired",
                "seconds",
                false,
                points(
                        "after last lease end",
                        name -> true,
                        Point::series,
                        name -> Numbers.grouped((long) Numbers.in(name, "leased")) + " messages"));
    }

    private void scale() throws IOException {
        for (String what : List.of("schedule", "delivery")) {
            String title = (what.equals("schedule") ? "Scheduling" : "Delivery") + " rate beside messages that wait";
            List<Point> points = points(what + " rate", name -> true, Point::series, Function.identity());
            lines(experiment + "-" + what, title, "messages/s", true, "pending messages", "pending", points);
        }
    }

    private void lateness() throws IOException {
        List<String> percentiles = List.of("p50", "p99", "p99.9", "max");
        for (String parameter : results.parameters()) {
            List<Point> points = new ArrayList<>();
            for (String percentile : percentiles) {
                points.addAll(points(percentile, parameter::equals, Point::series, name -> percentile));
            }
            String rate = Numbers.grouped((long) Numbers.in(parameter, "rate"));
            bars("lateness-" + rate.replace(" ", ""), "Lateness at " + rate + " messages/s", "ms", true, points);
        }
    }

    private void lone() throws IOException {
        List<Point> points = new ArrayList<>();
        for (String percentile : List.of("p50", "p99")) {
            points.addAll(points(percentile, name -> true, Point::series, name -> percentile));
        }
        bars("lone", "A lone message that is due at once", "ms", true, points);
    }

    private void fleet() throws IOException {
        Predicate<String> idle = name -> name.endsWith(" idle");
        Predicate<String> killed = name -> name.contains(" killed=");
        Function<String, String> who = Plots::who;
        bars(
                "fleet-idle",
                "Redis commands while nothing is scheduled",
                "commands/s",
                false,
                points("idle commands", idle, Point::series, who));
        Predicate<String> load = idle.or(killed).negate();
        String[][] plots = {
            {"claims", "Claims for each message", "claims per message"},
            {"wake-ups", "Wake-ups for each message", "wake-ups per message"},
            {
                "script calls",
                "Script calls for each message, scheduling and acknowledgement included",
                "calls per message"
            },
            {"p99", "p99 lateness", "ms"}
        };
        for (String[] plot : plots) {
            List<Point> points = new ArrayList<>(points(plot[0], load, Plots::rate, who));
            if (plot[0].equals("p99")) {
                points.addAll(points(
                        plot[0],
                        killed,
                        Plots::rate,
                        name -> "50 consumers, " + (int) Numbers.in(name, "killed") + " killed"));
            }
            double limit = plot[0].equals("p99") ? 5 : Double.NaN;
            bars("fleet-" + plot[0].replace(' ', '-'), new Look(plot[1], plot[2], true, limit), points);
        }
    }

    /** The numbers of consumers and queues that a parameter means. */
    private static String who(String parameter) {
        double consumers = Numbers.in(parameter, "consumers");
        return Double.isNaN(consumers)
                ? (int) Numbers.in(parameter, "queues") + " queues, 1 context"
                : consumers == 1 ? "1 consumer" : (int) consumers + " consumers";
    }

    /** The parameter of a point is its group until here. */
    private static String rate(Point point) {
        return Numbers.grouped((long) Numbers.in(point.group(), "rate")) + "/s";
    }

    private void memory() throws IOException {
        Function<String, String> body = name -> Numbers.grouped((long) Numbers.in(name, "body")) + " bytes of text";
        bars(
                "memory-redis",
                "Redis memory of a pending message",
                "bytes",
                false,
                points("Redis memory", name -> true, Point::series, body));
    }

    private void everything() throws IOException {
        for (String metric : results.metrics()) {
            bars(
                    experiment + "-" + metric.replaceAll("[^A-Za-z0-9.]+", "-"),
                    experiment + ": " + metric,
                    results.unit(metric),
                    false,
                    points(metric, name -> true, Point::series, Function.identity()));
        }
    }

    /**
     * The points of a metric.
     *
     * @param parameters which ones
     * @param series what a point's colour means; of a point that has its subject as series and its parameter as group
     * @param group what stands below it, of its parameter
     */
    private List<Point> points(
            String metric,
            Predicate<String> parameters,
            Function<Point, String> series,
            Function<String, String> group) {
        List<Point> points = new ArrayList<>();
        for (String parameter : results.parameters()) {
            if (!parameters.test(parameter)) {
                continue;
            }
            for (String subject : results.subjects()) {
                results.find(experiment, subject, parameter, metric)
                        .ifPresent(spread -> points.add(new Point(
                                series.apply(new Point(subject, parameter, spread)), group.apply(parameter), spread)));
            }
        }
        return points;
    }

    private void bars(String name, String title, String unit, boolean logarithmic, List<Point> points)
            throws IOException {
        bars(name, new Look(title, unit, logarithmic, Double.NaN), points);
    }

    private void bars(String name, Look look, List<Point> points) throws IOException {
        if (!points.isEmpty()) {
            String file = name + ".png";
            Charts.bars(folder.resolve(file), look, points);
            drawn.add(new Plot(file, look.title()));
        }
    }

    private void lines(
            String name,
            String title,
            String unit,
            boolean logarithmic,
            String numberTitle,
            String number,
            List<Point> points)
            throws IOException {
        if (!points.isEmpty()) {
            String file = name + ".png";
            Charts.lines(
                    folder.resolve(file),
                    new Look(title, unit, logarithmic, Double.NaN),
                    numberTitle,
                    point -> Numbers.in(point.group(), number),
                    points);
            drawn.add(new Plot(file, title));
        }
    }
}
