// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.docs.Scrape.Sample;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The forms of PromQL that the page, the alerts and the dashboard use, evaluated on two scrapes: a selector, {@code rate},
 * {@code increase} of one, {@code last_over_time} of a subquery, {@code absent}, {@code sum by} and {@code max by}, {@code
 * histogram_quantile}, a comparison with a number, {@code and} and {@code unless}. Anything else is an error, and so are a
 * metric and a label that no scrape has.
 */
final class PromQl {

    private static final Pattern TOKEN = Pattern.compile(
            "\\s*(?:(?<range>\\[[0-9]+[smhd](?::[0-9]+[smhd])?])|(?<text>\"[^\"]*\")|(?<number>[0-9.]+)|(?<word>\\w+)|(?<sign>==|=~|[(){},=<>]))");

    private final Scrape before;
    private final Scrape after;
    private final double seconds;
    private final List<String> tokens = new ArrayList<>();
    private int next;

    private PromQl(String expression, Scrape before, Scrape after, double seconds) {
        this.before = before;
        this.after = after;
        this.seconds = seconds;
        Matcher token = TOKEN.matcher(expression.strip());
        int end = 0;
        while (end < expression.strip().length()) {
            assertThat(token.find(end) && token.start() == end)
                    .as("known signs at " + end + " of " + expression)
                    .isTrue();
            tokens.add(token.group().strip());
            end = token.end();
        }
    }

    /**
     * The values of an expression, by the labels that it leaves.
     *
     * @param seconds the time from one scrape to the other
     */
    static Map<Map<String, String>, Double> evaluate(String expression, Scrape before, Scrape after, double seconds) {
        PromQl parser = new PromQl(expression, before, after, seconds);
        Map<Map<String, String>, Double> result = parser.and();
        assertThat(parser.next).as("all of " + expression + " is understood").isEqualTo(parser.tokens.size());
        return result;
    }

    private String peek() {
        return next < tokens.size() ? tokens.get(next) : "";
    }

    private String take() {
        return tokens.get(next++);
    }

    private void take(String token) {
        assertThat(take()).isEqualTo(token);
    }

    private Map<Map<String, String>, Double> and() {
        Map<Map<String, String>, Double> left = comparison();
        while (List.of("and", "unless").contains(peek())) {
            boolean both = take().equals("and");
            Set<Map<String, String>> right = comparison().keySet();
            left.keySet().removeIf(labels -> right.contains(labels) != both);
        }
        return left;
    }

    private Map<Map<String, String>, Double> comparison() {
        Map<Map<String, String>, Double> values = term();
        if (List.of(">", "<", "==").contains(peek())) {
            String sign = take();
            double bound = Double.parseDouble(take());
            values.values()
                    .removeIf(value ->
                            !(sign.equals(">") ? value > bound : sign.equals("<") ? value < bound : value == bound));
        }
        return values;
    }

    private Map<Map<String, String>, Double> term() {
        switch (peek()) {
            case "sum", "max" -> {
                return aggregate(take().equals("sum") ? Double::sum : PromQl::greater);
            }
            case "rate", "increase" -> {
                return growth(take().equals("rate") ? seconds : 1);
            }
            case "histogram_quantile" -> {
                return quantile();
            }
            case "last_over_time" -> {
                return latest();
            }
            case "absent" -> {
                return absent();
            }
            default -> {
                Map<Map<String, String>, Double> values = new LinkedHashMap<>();
                select(after).forEach(sample -> values.put(sample.labels(), sample.value()));
                return values;
            }
        }
    }

    /** Prometheus leaves NaN out where there is a number. */
    private static double greater(double a, double b) {
        return Double.isNaN(a) || b > a ? b : a;
    }

    private Map<Map<String, String>, Double> aggregate(BinaryOperator<Double> join) {
        take("by");
        take("(");
        List<String> labels = new ArrayList<>();
        do {
            labels.add(take());
        } while (take().equals(","));
        take("(");
        Map<Map<String, String>, Double> result = new LinkedHashMap<>();
        and().forEach((from, value) -> {
            assertThat(from).containsKeys(labels.toArray(String[]::new));
            Map<String, String> group = new HashMap<>(from);
            group.keySet().retainAll(labels);
            result.merge(group, value, join);
        });
        take(")");
        return result;
    }

    private Map<Map<String, String>, Double> absent() {
        take("absent");
        take("(");
        Map<Map<String, String>, Double> result =
                select(after).isEmpty() ? new LinkedHashMap<>(Map.of(Map.of(), 1.0)) : new LinkedHashMap<>();
        take(")");
        return result;
    }

    /** The last value of an expression over time, also where the later scrape gives none. */
    private Map<Map<String, String>, Double> latest() {
        take("last_over_time");
        take("(");
        take("(");
        PromQl then = new PromQl("", before, before, seconds);
        then.tokens.addAll(tokens);
        then.next = next;
        Map<Map<String, String>, Double> result = then.and();
        result.putAll(and());
        take(")");
        assertThat(take()).matches("\\[.+:.+]");
        take(")");
        return result;
    }

    /** The values of the selector that is next, in the earlier scrape. It stays the next one. */
    private Map<Map<String, String>, Double> earlier() {
        int selector = next;
        Map<Map<String, String>, Double> result = new LinkedHashMap<>();
        select(before).forEach(sample -> result.put(sample.labels(), sample.value()));
        next = selector;
        return result;
    }

    private Map<Map<String, String>, Double> growth(double per) {
        take("(");
        Map<Map<String, String>, Double> earlier = earlier();
        Map<Map<String, String>, Double> result = new LinkedHashMap<>();
        for (Sample sample : select(after)) {
            Double first = earlier.get(sample.labels());
            if (first != null) { // a series that is new has no growth yet
                result.put(sample.labels(), (sample.value() - first) / per);
            }
        }
        assertThat(take()).startsWith("[");
        take(")");
        return result;
    }

    private Map<Map<String, String>, Double> quantile() {
        take("histogram_quantile");
        take("(");
        double quantile = Double.parseDouble(take());
        take(",");
        Map<Map<String, String>, List<double[]>> buckets = new LinkedHashMap<>();
        and().forEach((labels, count) -> {
            Map<String, String> rest = new HashMap<>(labels);
            double end = Double.parseDouble(rest.remove("le").replace("+Inf", "Infinity"));
            buckets.computeIfAbsent(rest, key -> new ArrayList<>()).add(new double[] {end, count});
        });
        take(")");
        Map<Map<String, String>, Double> result = new LinkedHashMap<>();
        buckets.forEach((labels, all) -> result.put(labels, quantile(quantile, all)));
        return result;
    }

    /** Linear between the ends of the bucket, as Prometheus does; the end of the last one but infinity beyond it. */
    private static double quantile(double quantile, List<double[]> buckets) {
        buckets.sort(Comparator.comparingDouble(bucket -> bucket[0]));
        double rank = quantile * buckets.get(buckets.size() - 1)[1];
        double begin = 0;
        double below = 0;
        for (double[] bucket : buckets) {
            if (bucket[1] >= rank) {
                return Double.isInfinite(bucket[0])
                        ? begin
                        : begin + (bucket[0] - begin) * (rank - below) / (bucket[1] - below);
            }
            begin = bucket[0];
            below = bucket[1];
        }
        return Double.NaN;
    }

    private List<Sample> select(Scrape scrape) {
        String name = take();
        List<Sample> all = Stream.of(before, after)
                .flatMap(each -> each.of(name, Map.of()).stream())
                .toList();
        assertThat(all).as("samples of " + name).isNotEmpty();
        Map<String, Pattern> matching = new HashMap<>();
        if (peek().equals("{")) {
            do {
                take();
                String label = take();
                assertThat(all).allSatisfy(sample -> assertThat(sample.labels()).containsKey(label));
                boolean regex = take().equals("=~");
                String value = take();
                value = value.substring(1, value.length() - 1);
                matching.put(label, Pattern.compile(regex ? value : Pattern.quote(value)));
            } while (peek().equals(","));
            take("}");
        }
        return scrape.of(name, matching);
    }
}
