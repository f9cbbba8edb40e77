// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.delivery.ExchangeFiller;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.queue.RedeliveryReason;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.camel.catalog.CamelCatalog;
import org.apache.camel.catalog.DefaultCamelCatalog;
import org.apache.camel.catalog.EndpointValidationResult;
import org.apache.camel.spi.Metadata;
import org.apache.camel.util.json.DeserializationException;
import org.apache.camel.util.json.JsonObject;
import org.apache.camel.util.json.Jsoner;
import org.junit.jupiter.api.Test;

/**
 * Keeps the documentation true: its tables are those of the generated metadata, and every endpoint URI in it is valid.
 *
 * <p>{@code mvn -pl :camel-redis-delay -am test -Dtest=DocumentationTest -Ddocs.write=true} writes the tables.
 */
class DocumentationTest {

    private static final String METADATA = "META-INF/io/github/redisdelay/camel/redis-delay.json";
    private static final Path PAGE = Path.of("src/main/docs/redis-delay-component.adoc");
    private static final Path ROOT = Path.of("..");
    /** Each place where the scheme is named, and what comes behind it. */
    private static final Pattern SCHEME = Pattern.compile("(?<![\\w-])redis-delay:(\\S*)");
    /** Keys and channels of Redis, and patterns of such. */
    private static final Pattern KEY = Pattern.compile("(\\{(?!\\{)|\\*|wakeup:).*");
    /** The scheme alone. */
    private static final Pattern NOTHING = Pattern.compile("([\"'`}…].*)?");

    private static final Pattern AFTER_URI = Pattern.compile("(&nbsp;|[\"'`<>,;)\\[\\]|…]).*|[.:]+$");

    private static String metadata() throws IOException {
        try (InputStream in = DocumentationTest.class.getClassLoader().getResourceAsStream(METADATA)) {
            assertThat(in).as(METADATA + " on the classpath").isNotNull();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void should_have_the_tables_of_the_metadata() throws Exception {
        String page = Files.readString(PAGE);
        String expected = page;
        expected = replace(expected, "component options", componentOnly());
        expected = replace(expected, "endpoint options", section("properties"));
        expected = replace(expected, "endpoint headers", section("headers"));
        if (Boolean.getBoolean("docs.write")) {
            Files.writeString(PAGE, expected);
        }
        assertThat(Boolean.getBoolean("docs.write") ? expected : page)
                .as("the tables in " + PAGE + "; run this test with -Ddocs.write=true to write them")
                .isEqualTo(expected);
    }

    @Test
    void should_name_the_reasons_as_routes_see_them() throws Exception {
        String page = Files.readString(ROOT.resolve("docs/failing.md"));
        List<String> redelivered = Stream.of(RedeliveryReason.values())
                .filter(reason -> reason != RedeliveryReason.NONE)
                .map(ExchangeFiller::text)
                .toList();
        assertThat(RedisDelayConstants.class
                        .getField("REDELIVERY_REASON")
                        .getAnnotation(Metadata.class)
                        .enums())
                .isEqualTo(String.join(",", redelivered));
        assertThat(redelivered).allSatisfy(reason -> assertThat(page).contains("`" + reason + "` ("));
        assertThat(List.of(
                        FailureRecord.FAILED,
                        FailureRecord.RETRY_AFTER,
                        FailureRecord.LEASE_EXPIRED,
                        FailureRecord.EXPIRED,
                        FailureRecord.UNREADABLE))
                .allSatisfy(reason -> assertThat(page).contains("| `" + reason + "` | "));
    }

    /** A row of a table of options that is written by hand: the names, and their default values. */
    private static final Pattern ROW = Pattern.compile("\\| (`\\w+[^|]*`) \\| ([^|]*?) ?(\\|.*)?");

    private static final List<String> BY_HAND =
            List.of("docs/scheduling.md", "docs/consuming.md", "docs/failing.md", "docs/connections.md");

    @Test
    void should_name_the_default_values_that_there_are() throws Exception {
        JsonObject options = ((JsonObject) Jsoner.deserialize(metadata())).getMap("properties");
        List<String> told = new ArrayList<>();
        for (String page : BY_HAND) {
            boolean table = false;
            for (String line : Files.readAllLines(ROOT.resolve(page))) {
                if (line.toLowerCase(Locale.ROOT).startsWith("| option | default |")) {
                    table = true;
                } else if (line.equals("|===") || line.startsWith("#") || line.startsWith("=")) {
                    table = false;
                }
                Matcher row = ROW.matcher(line);
                if (table && row.matches()) {
                    List<String> names = words(row.group(1));
                    List<String> values = words(row.group(2));
                    for (int i = 0; i < names.size(); i++) {
                        String value = values.get(values.size() == 1 ? 0 : i);
                        told.add(names.get(i));
                        assertThat(options).as(page).containsKey(names.get(i));
                        Object known = ((JsonObject) options.get(names.get(i))).getOrDefault("defaultValue", "none");
                        assertThat(value.isEmpty() ? "none" : value)
                                .as(page + ": " + names.get(i))
                                .isEqualTo(known.toString().replaceFirst("\\.0$", ""));
                    }
                }
            }
        }
        assertThat(told).contains("requestTimeout", "batchTimeout", "redeliveryJitter", "address");
    }

    /** Words between commas, without what is behind a colon or an equals sign. */
    private static List<String> words(String cell) {
        return Stream.of(cell.split(","))
                .map(word -> word.replace("`", "").replaceFirst("[:=].*", "").strip())
                .toList();
    }

    private static JsonObject section(String name) throws IOException, DeserializationException {
        return ((JsonObject) Jsoner.deserialize(metadata())).getMap(name);
    }

    /** The component's options that an endpoint has not: all others are in the endpoint's table. */
    private static JsonObject componentOnly() throws IOException, DeserializationException {
        JsonObject options = section("componentProperties");
        options.keySet().removeAll(section("properties").keySet());
        return options;
    }

    @Test
    void should_name_the_endpoint_options_that_the_component_has_not() throws Exception {
        JsonObject options = section("properties");
        options.keySet().removeAll(section("componentProperties").keySet());
        assertThat(Files.readString(PAGE))
                .contains("all endpoint options but `"
                        + String.join("`, `", options.keySet()).replaceFirst(", (`\\w+)$", " and $1") + "`.");
        for (String name : section("componentProperties").keySet()) {
            if (section("properties").containsKey(name)) {
                assertThat(description(name, (JsonObject)
                                section("componentProperties").get(name)))
                        .as(name)
                        .isEqualTo(description(
                                name, (JsonObject) section("properties").get(name)));
            }
        }
    }

    /** Options that each component of Camel has: their first sentence suffices. */
    private static final List<String> CAMELS_OWN = List.of(
            "autowiredEnabled",
            "bridgeErrorHandler",
            "exceptionHandler",
            "healthCheckConsumerEnabled",
            "healthCheckProducerEnabled",
            "lazyStartProducer");

    private static String description(String name, JsonObject option) {
        String description = option.getStringOrDefault("description", "");
        return CAMELS_OWN.contains(name) ? description.replaceFirst("(?<=\\.) .*", "") : description;
    }

    private static String replace(String page, String block, JsonObject options) {
        String start = "// " + block + ": START\n";
        String end = "// " + block + ": END\n";
        int from = page.indexOf(start);
        int to = page.indexOf(end);
        assertThat(from).as("'" + start.trim() + "' in the page").isNotNegative();
        assertThat(to).isGreaterThan(from);
        return page.substring(0, from + start.length()) + table(options) + page.substring(to);
    }

    private static String table(JsonObject options) {
        StringBuilder table = new StringBuilder("[width=\"100%\",cols=\"2,5,^1,2\",options=\"header\"]\n|===\n")
                .append("| Name | Description | Default | Type\n");
        for (Map.Entry<String, Object> entry : options.entrySet()) {
            JsonObject option = (JsonObject) entry.getValue();
            String label = option.getStringOrDefault("label", "");
            table.append("\n| *")
                    .append(entry.getKey())
                    .append("*")
                    .append(label.isEmpty() ? "" : " (" + label + ")")
                    .append("\n| ")
                    .append(Boolean.TRUE.equals(option.get("required")) ? "*Required* " : "")
                    .append(description(entry.getKey(), option).replace("|", "\\|"))
                    .append(enums(option))
                    .append("\n| ")
                    .append(option.getOrDefault("defaultValue", ""))
                    .append("\n| ")
                    .append(type(option.getStringOrDefault("javaType", "")))
                    .append('\n');
        }
        return table.append("|===\n").toString();
    }

    private static String enums(JsonObject option) {
        return option.get("enum") == null ? "" : " One of: " + option.get("enum") + ".";
    }

    private static String type(String javaType) {
        return javaType.substring(javaType.lastIndexOf('.') + 1);
    }

    @Test
    void should_name_only_valid_endpoint_uris() throws Exception {
        Map<String, List<String>> uris = new TreeMap<>();
        for (Path file : files()) {
            Matcher matcher = SCHEME.matcher(Files.readString(file));
            while (matcher.find()) {
                String rest = matcher.group(1);
                if (!KEY.matcher(rest).matches() && !NOTHING.matcher(rest).matches()) {
                    String uri = "redis-delay:"
                            + AFTER_URI.matcher(rest.replace("&amp;", "&")).replaceFirst("");
                    uris.computeIfAbsent(uri, none -> new ArrayList<>()).add(file.toString());
                }
            }
        }
        CamelCatalog catalog = new DefaultCamelCatalog();
        catalog.addComponent("redis-delay", RedisDelayComponent.class.getName(), metadata());
        List<String> wrong = new ArrayList<>();
        uris.forEach((uri, places) -> {
            EndpointValidationResult result = catalog.validateEndpointProperties(uri);
            if (!result.isSuccess()) {
                wrong.add(places + ": " + uri + ": " + result.summaryErrorMessage(false));
            }
        });
        assertThat(wrong).isEmpty();
        // So that the patterns above are known to let them through.
        assertThat(uris)
                .containsKeys(
                        "redis-delay:orders?delay=30m",
                        "redis-delay:orders?delay={{payment.window}}",
                        "redis-delay:{{orders.queue}}?delay=30m",
                        "redis-delay:queueName");
    }

    /** All that readers read: pages, the component, what helps to test, and the examples with their tests. */
    private static List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        try (Stream<Path> root = Files.list(ROOT)) {
            root.filter(file -> file.toString().endsWith(".md")).forEach(files::add);
        }
        collect(files, ROOT.resolve("docs"));
        collect(files, Path.of("src/main"));
        for (String module : List.of(
                "extensions/camel-redis-delay-spring-boot-starter",
                "extensions/camel-redis-delay-test",
                "camel-redis-delay-example",
                "camel-redis-delay-example-spring-boot",
                "camel-redis-delay-example-unpaid-orders",
                "verification/camel-redis-delay-benchmark")) {
            collect(files, ROOT.resolve(module).resolve("src"));
        }
        return files;
    }

    @Test
    void should_refuse_an_unknown_option_in_the_check_itself() throws Exception {
        CamelCatalog catalog = new DefaultCamelCatalog();
        catalog.addComponent("redis-delay", RedisDelayComponent.class.getName(), metadata());
        assertThat(catalog.validateEndpointProperties("redis-delay:orders?delya=30m")
                        .isSuccess())
                .isFalse();
        assertThat(catalog.validateEndpointProperties("redis-delay:orders?delay=30m")
                        .isSuccess())
                .isTrue();
    }

    private static void collect(List<Path> files, Path folder) throws IOException {
        try (Stream<Path> walk = Files.walk(folder)) {
            walk.filter(Files::isRegularFile)
                    .filter(path -> path.toString().matches(".*\\.(java|yaml|xml|md|adoc|properties)"))
                    .forEach(files::add);
        }
    }
}
