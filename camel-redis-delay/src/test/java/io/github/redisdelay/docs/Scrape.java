// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The samples that Prometheus reads, in its text format.
 *
 * @param types the type of each metric, by its name
 */
record Scrape(List<Sample> samples, Map<String, String> types) {

    private static final Pattern TYPE = Pattern.compile("# TYPE (\\S+) (\\S+)");
    private static final Pattern SAMPLE = Pattern.compile("([a-z_]+)\\{(.*)} (\\S+)");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\",?");

    record Sample(String name, Map<String, String> labels, double value) {}

    static Scrape of(String text) {
        Map<String, String> types = new HashMap<>();
        List<Sample> samples = text.lines()
                .flatMap(line -> {
                    Matcher type = TYPE.matcher(line);
                    if (type.matches()) {
                        types.put(type.group(1), type.group(2));
                    }
                    return SAMPLE.matcher(line).results();
                })
                .map(match -> {
                    Map<String, String> labels = new HashMap<>();
                    LABEL.matcher(match.group(2))
                            .results()
                            .forEach(label -> labels.put(label.group(1), label.group(2)));
                    String value = match.group(3).replace("+Inf", "Infinity");
                    return new Sample(match.group(1), labels, Double.parseDouble(value));
                })
                .toList();
        return new Scrape(samples, types);
    }

    List<Sample> of(String name, Map<String, Pattern> matching) {
        return samples.stream()
                .filter(sample -> sample.name().equals(name))
                .filter(sample -> matching.entrySet().stream().allMatch(label -> label.getValue()
                        .matcher(sample.labels().getOrDefault(label.getKey(), ""))
                        .matches()))
                .toList();
    }
}
