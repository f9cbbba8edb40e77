// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.report;

import io.github.redisdelay.benchmark.Figure;
import io.github.redisdelay.benchmark.Subject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/** All figures of a run, the rounds put together. Everything is in the order in which it was measured first. */
final class Results {

    private static final List<String> ORDER = List.of(
            Subject.CAMEL,
            Subject.QUEUE,
            Subject.RDELAYEDQUEUE,
            Subject.FLOOR,
            Subject.FENCED_FLOOR,
            Subject.BULLMQ,
            Subject.BEANSTALKD,
            Subject.SAFE,
            Subject.BARE_CLIENT,
            Subject.BARE_CLIENT_THROUGH_CAMEL,
            Subject.SAFE_CLIENT_THROUGH_CAMEL);

    private final List<Figure> figures;
    private final Map<Key, Spread> spreads = new LinkedHashMap<>();

    private record Key(String experiment, String subject, String parameter, String metric) {
        static Key of(Figure figure) {
            return new Key(figure.experiment(), figure.subject(), figure.parameter(), figure.metric());
        }
    }

    Results(List<Figure> figures) {
        this.figures = List.copyOf(figures);
        Map<Key, List<Double>> values = new LinkedHashMap<>();
        figures.forEach(figure ->
                values.computeIfAbsent(Key.of(figure), key -> new ArrayList<>()).add(figure.value()));
        values.forEach((key, all) -> spreads.put(
                key, Spread.of(all.stream().mapToDouble(Double::doubleValue).toArray())));
    }

    /** The figures of one experiment. */
    Results only(String experiment) {
        return where(figure -> figure.experiment().equals(experiment));
    }

    Results where(Predicate<Figure> condition) {
        return new Results(figures.stream().filter(condition).toList());
    }

    List<String> experiments() {
        return distinct(Figure::experiment);
    }

    /** In an order of their own, as the one in which they are measured changes from round to round. */
    List<String> subjects() {
        return distinct(Figure::subject).stream()
                .sorted(Comparator.comparingInt(ORDER::indexOf))
                .toList();
    }

    List<String> parameters() {
        return distinct(Figure::parameter);
    }

    List<String> metrics() {
        return distinct(Figure::metric);
    }

    /** The unit of a metric that was measured. */
    String unit(String metric) {
        return figures.stream()
                .filter(figure -> figure.metric().equals(metric))
                .findFirst()
                .orElseThrow()
                .unit();
    }

    /** The rounds of one value; empty if it was not measured. */
    Optional<Spread> find(String experiment, String subject, String parameter, String metric) {
        return Optional.ofNullable(spreads.get(new Key(experiment, subject, parameter, metric)));
    }

    private List<String> distinct(Function<Figure, String> part) {
        return figures.stream().map(part).filter(Objects::nonNull).distinct().toList();
    }
}
