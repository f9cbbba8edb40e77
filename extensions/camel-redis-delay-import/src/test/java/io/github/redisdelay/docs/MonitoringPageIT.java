// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.queue.envelope.Envelope;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.util.json.JsonArray;
import org.apache.camel.util.json.JsonObject;
import org.apache.camel.util.json.Jsoner;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RList;
import org.redisson.client.codec.StringCodec;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * The pages about monitoring and alerts, the rules and the dashboard, against what the registry of Prometheus says. The
 * conditions of all alerts on queues come true between the two scrapes. Another prefix has the same queues, and nothing
 * is wrong with these.
 */
class MonitoringPageIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private static final Path PAGE = Block.ROOT.resolve("docs/monitoring.md");
    private static final Path RUNBOOK = Block.ROOT.resolve("docs/alerts.md");
    private static final Path ALERTS = Block.ROOT.resolve("docs/monitoring/alerts.yml");
    private static final Path DASHBOARD = Block.ROOT.resolve("docs/monitoring/dashboard.json");

    private static final Set<String> COMMON = Set.of("camelContext", "kind", "component", "keyPrefix", "server");
    private static final Pattern ROW =
            Pattern.compile("\\| `(camel\\.[a-z.]+)` \\| `([a-z_]+)` \\| (\\w+) \\| ([\\w ]+) \\| (`.+`) \\| .+ \\|");
    private static final Pattern TICKED = Pattern.compile("`(\\w+)`");
    /** The seconds that are taken to lie between the scrapes, for rates. */
    private static final double SECONDS = 300;

    /** The prefix of the queues with which something is wrong. */
    private static String shop;

    private static String page;
    private static Scrape before;
    private static Scrape after;

    @BeforeAll
    static void bringAboutWhatAlertsAreFor() throws Exception {
        page = Files.readString(PAGE);
        shop = redis.keyPrefix() + "-shop";
        String crm = redis.keyPrefix() + "-crm";
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        RList<String> old = redis.client().getList(redis.uniqueQueue(), StringCodec.INSTANCE);
        old.add("no JSON");
        try (RedisServer gone = RedisServer.dedicated();
                DefaultCamelContext context = new DefaultCamelContext();
                DelayQueueClient outside =
                        DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS.withKeyPrefix(shop))) {
            context.getShutdownStrategy().setTimeout(1);
            context.getRegistry().bind("redisson", redis.client());
            context.getRegistry().bind("metricsRegistry", registry);
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    String options = "?keyPrefix=gone&requestTimeout=2s&address=" + gone.address();
                    errorHandler(noErrorHandler());
                    from("direct:unheard").to("redis-delay:unheard?operation=stats&keyPrefix=" + shop);
                    from("direct:paused").to("redis-delay:paused?operation=stats&keyPrefix=" + shop);
                    from("direct:gone").to("redis-delay:gone" + options);
                    from("redis-delay:failing?maximumRedeliveries=0&keyPrefix=" + shop)
                            .routeId("failing")
                            .throwException(new IllegalStateException());
                    from("redis-delay:importing?import.codec=json&import.from=" + old.getName() + "&keyPrefix=" + shop)
                            .to("mock:imported");
                    from("redis-delay:grouped?redeliveryDelay=1h&keyPrefix=" + shop)
                            .throwException(new IllegalStateException());
                    from("redis-delay:fine?keyPrefix=" + shop).routeId("fine").to("mock:fine");
                    for (String queue : List.of("unheard", "paused", "failing", "importing")) {
                        from("redis-delay:" + queue + "?keyPrefix=" + crm).to("mock:fine");
                    }
                }
            });
            outside.queue("paused").admin().pause().result().join();
            schedule(outside, "unheard");
            // The first one fails and keeps its place.
            for (int i = 0; i < 2; i++) {
                ScheduleRequest request = request(DueTime.at(Instant.now().minusSeconds(1000)));
                outside.queue("grouped")
                        .schedule(request.withGroup("acme"))
                        .result()
                        .join();
            }
            context.start();
            context.createProducerTemplate().sendBody("direct:gone", "x");
            gone.kill();
            context.createProducerTemplate().asyncSendBody("direct:gone", "x"); // sent again and again
            // The first answer to each queue's figures, and the first failure.
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> registry.scrape().contains("failed=\"true\"")
                            && Scrape.of(registry.scrape()).samples().stream()
                                            .filter(sample -> sample.name().equals("camel_redis_delay_delayed"))
                                            .filter(sample -> !Double.isNaN(sample.value()))
                                            .count()
                                    >= 10
                            && count(Scrape.of(registry.scrape()), "retried_total", "grouped") == 1);
            String callsFail = alerts().get("RedisDelayCallsFail").expression();
            int rounds = 0;
            do {
                int expected = ++rounds;
                before = Scrape.of(registry.scrape());
                schedule(outside, "failing");
                outside.queue("fine").schedule(request(DueTime.now())).result().join();
                await().atMost(Duration.ofSeconds(30)).until(() -> {
                    after = Scrape.of(registry.scrape());
                    return count(after, "acknowledge_seconds_count", "failing") == expected
                            && count(after, "acknowledge_seconds_count", "fine") == expected
                            // The figures may have been read just before it was claimed.
                            && count(after, "overdue", "failing") == 0
                            && count(after, "overdue", "grouped") == 0
                            && count(after, "parked", "grouped") == 1
                            && count(after, "dead", "failing") == expected
                            && count(after, "import_left", "importing") == 1
                            // The alert needs a series that grows. One that is new has not grown yet.
                            && !evaluate(callsFail).isEmpty();
                });
            } while (isLate("fine") && rounds < 10); // the machine has stood still: once more
        }
    }

    /** Tells whether messages between the scrapes were more than a second late. */
    private static boolean isLate(String queue) {
        return onTime(after, queue) - onTime(before, queue)
                < count(after, "lateness_seconds_count", queue) - count(before, "lateness_seconds_count", queue);
    }

    private static double onTime(Scrape scrape, String queue) {
        Map<String, Pattern> bucket = Map.of("queue", Pattern.compile(queue), "le", Pattern.compile("1\\.0"));
        return scrape.of("camel_redis_delay_lateness_seconds_bucket", bucket).stream()
                .mapToDouble(Scrape.Sample::value)
                .sum();
    }

    private static ScheduleRequest request(DueTime due) {
        return ScheduleRequest.of(null, Envelope.of("x").encode(), due);
    }

    private static void schedule(DelayQueueClient outside, String queue) {
        outside.queue(queue)
                .schedule(request(DueTime.at(Instant.now().minusSeconds(100))))
                .result()
                .join();
    }

    private static double count(Scrape scrape, String name, String queue) {
        return value(name, "queue", queue, scrape);
    }

    private static double value(String name, String label, String value, Scrape scrape) {
        return scrape.of("camel_redis_delay_" + name, Map.of(label, Pattern.compile(value))).stream()
                .mapToDouble(Scrape.Sample::value)
                .sum();
    }

    private static Map<Map<String, String>, Double> evaluate(String expression) {
        return PromQl.evaluate(expression, before, after, SECONDS);
    }

    /** The queues for which an alert fires, {@code crm/} or {@code shop/} before them. */
    private static Set<String> fired(Alert alert, Scrape before, Scrape after) {
        return PromQl.evaluate(alert.expression(), before, after, SECONDS).keySet().stream()
                .map(labels -> labels.isEmpty()
                        ? "all"
                        : labels.get("keyPrefix").replaceFirst(".*-", "") + "/" + labels.getOrDefault("queue", ""))
                .collect(Collectors.toSet());
    }

    @Test
    void should_name_all_meters_with_their_types_and_tags() {
        Map<String, String> shown = new TreeMap<>();
        Map<String, String> found = new TreeMap<>();
        page.lines().map(ROW::matcher).filter(Matcher::matches).forEach(row -> {
            Set<String> tags = TICKED.matcher(row.group(5))
                    .results()
                    .map(tag -> tag.group(1))
                    .collect(Collectors.toCollection(TreeSet::new));
            tags.addAll(COMMON);
            String unit = row.group(4).equals("seconds") ? "_seconds" : "";
            String total = row.group(3).equals("counter") ? "_total" : "";
            assertThat(row.group(2)).isEqualTo(row.group(1).replace('.', '_') + unit + total);
            shown.put(row.group(2), row.group(3) + " " + tags);
        });
        after.types().forEach((name, type) -> {
            boolean max = name.endsWith("_max");
            if (name.startsWith("camel_redis_delay_") && !max) {
                String sample = type.equals("histogram") ? name + "_count" : name;
                Set<String> tags = new TreeSet<>();
                after.of(sample, Map.of())
                        .forEach(each -> tags.addAll(each.labels().keySet()));
                found.put(name, type + " " + tags);
            }
        });
        assertThat(shown).isEqualTo(found);
        assertThat(after.types()).containsEntry("camel_redis_delay_processing_seconds_max", "gauge");
    }

    @Test
    void should_tell_the_ends_of_the_buckets() {
        assertThat(after.of("camel_redis_delay_lateness_seconds_bucket", Map.of("queue", Pattern.compile("fine"))))
                .extracting(bucket -> bucket.labels().get("le"))
                .containsExactlyInAnyOrder("0.001", "0.005", "0.02", "0.1", "1.0", "10.0", "60.0", "600.0", "+Inf");
        assertThat(page).contains("1 ms, 5 ms, 20 ms, 100 ms, 1 s, 10 s, 1 min and 10 min");
    }

    @Test
    void should_fire_each_alert_where_it_is_meant_and_nowhere_else() throws IOException {
        Map<String, Set<String>> fired = new TreeMap<>();
        alerts().forEach((name, alert) -> fired.put(name, fired(alert, before, after)));
        assertThat(fired)
                .isEqualTo(Map.of(
                        "RedisDelayNoConsumer", Set.of("shop/unheard"),
                        "RedisDelayOverdue", Set.of("shop/unheard"),
                        "RedisDelayLate", Set.of("shop/failing"),
                        "RedisDelayParked", Set.of("shop/grouped"),
                        "RedisDelayDeadLetters", Set.of("shop/failing"),
                        "RedisDelayPaused", Set.of("shop/paused"),
                        "RedisDelayImportIncomplete", Set.of("shop/importing"),
                        "RedisDelayCallsFail", Set.of("gone/"),
                        "RedisDelayQueueUnreported", Set.of(),
                        "RedisDelayNoMeters", Set.of()));
        assertThat(evaluate(alerts().get("RedisDelayOverdue").expression()).values())
                .allSatisfy(value -> assertThat(value).isBetween(90.0, 600.0));
    }

    @Test
    void should_fire_when_no_jvm_reports_a_queue_any_more() throws IOException {
        Scrape others = new Scrape(
                after.samples().stream()
                        .filter(sample -> !shop.equals(sample.labels().get("keyPrefix")))
                        .toList(),
                after.types());
        Alert unreported = alerts().get("RedisDelayQueueUnreported");
        Alert noMeters = alerts().get("RedisDelayNoMeters");
        assertThat(fired(unreported, after, others))
                .as("only where messages are left")
                .containsExactlyInAnyOrder("shop/unheard", "shop/grouped");
        assertThat(fired(noMeters, after, others)).isEmpty();
        Scrape none = new Scrape(List.of(), Map.of());
        assertThat(fired(unreported, after, none)).containsExactlyInAnyOrder("shop/unheard", "shop/grouped");
        assertThat(fired(noMeters, after, none)).containsExactly("all");
    }

    /** Real time, which the other tests have not: what alerts wait for, and what Prometheus remembers. */
    @Test
    void should_pass_the_tests_of_promtool_where_there_is_one() throws Exception {
        Process promtool;
        try {
            promtool = new ProcessBuilder("promtool", "test", "rules", "alerts.test.yml")
                    .directory(ALERTS.getParent().toFile())
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            abort("no promtool on the path");
            return;
        }
        String said = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(promtool.waitFor()).as(said).isZero();
    }

    private record Alert(String name, String expression, Map<?, ?> annotations) {}

    private static Map<String, Alert> alerts() throws IOException {
        Map<?, ?> file = (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(Files.readString(ALERTS));
        Map<String, Alert> alerts = new TreeMap<>();
        for (Object group : (List<?>) file.get("groups")) {
            for (Object each : (List<?>) ((Map<?, ?>) group).get("rules")) {
                Map<?, ?> rule = (Map<?, ?>) each;
                String name = (String) rule.get("alert");
                alerts.put(name, new Alert(name, (String) rule.get("expr"), (Map<?, ?>) rule.get("annotations")));
            }
        }
        return alerts;
    }

    /** The sections of the runbook, by the anchors of their headings. */
    private static Map<String, String> runbook() throws IOException {
        Map<String, String> sections = new TreeMap<>();
        for (String section : Files.readString(RUNBOOK).split("(?m)^### ")) {
            sections.put(section.lines().findFirst().orElseThrow().toLowerCase(Locale.ROOT), section);
        }
        return sections;
    }

    @Test
    void should_lead_from_each_rule_to_a_heading_that_says_what_it_means_what_to_check_and_what_to_do()
            throws Exception {
        Map<String, String> runbook = runbook();
        String home = Pattern.compile("<home\\.url>(.*)</home\\.url>")
                .matcher(Files.readString(Block.ROOT.resolve("camel-redis-delay-bom/pom.xml")))
                .results()
                .map(url -> url.group(1))
                .findFirst()
                .orElse("");
        assertThat(alerts().values()).hasSize(10).allSatisfy(alert -> {
            assertThat(alert.annotations().keySet()).hasToString("[summary, description, runbook_url]");
            assertThat((String) alert.annotations().get("runbook_url"))
                    .as("the page of the project, once it has one")
                    .startsWith(home)
                    .endsWith("docs/alerts.md#" + alert.name().toLowerCase(Locale.ROOT));
            String section = runbook.get(alert.name().toLowerCase(Locale.ROOT));
            assertThat(section)
                    .as(alert.name())
                    .containsSubsequence("**Meaning.** ", "**Check.** ", "console", "**Do.** ");
            int command = section.indexOf("redis-cli");
            assertThat(section.indexOf("console"))
                    .as("the console first")
                    .isLessThan(command < 0 ? section.length() : command);
            assertThat(Pattern.compile("\\$labels\\.(\\w+)")
                            .matcher(alert.annotations().toString())
                            .results()
                            .map(label -> label.group(1)))
                    .as("labels that the expression leaves")
                    .allMatch(label -> alert.expression().matches(".*by \\([^)]*\\b" + label + "\\b.*"));
        });
        assertThat(runbook).hasSize(alerts().size() + 1);
    }

    /** On the queue for which the alert has fired, or any other one. */
    @Test
    void should_get_the_replies_that_the_runbook_says() throws IOException {
        Map<String, String> runbook = runbook();
        int commands = 0;
        for (Alert alert : alerts().values()) {
            String queue = fired(alert, before, after).stream()
                    .map(name -> name.replaceFirst(".*/", ""))
                    .findFirst()
                    .orElse("unheard");
            for (String line : runbook.get(alert.name().toLowerCase(Locale.ROOT))
                    .lines()
                    .filter(each -> each.startsWith("redis-cli"))
                    .toList()) {
                try (RedisSocket socket = RedisSocket.open(redis.address())) {
                    RedisCli.of(line.replaceAll("\"(\\$[^\"]*)\"", "'$1'")
                                    .replace("$PREFIX", shop)
                                    .replace("$QUEUE", queue))
                            .check(socket);
                }
                commands++;
            }
        }
        List<Block> blocks = Block.of("docs/alerts.md", Files.readAllLines(RUNBOOK));
        assertThat(blocks.stream()
                        .filter(RedisCli::isAllOf)
                        .mapToLong(block -> block.code().lines().count())
                        .sum())
                .isEqualTo(commands);
        assertThat(blocks)
                .filteredOn(block -> !RedisCli.isAllOf(block))
                .satisfiesExactly(
                        names -> assertThat(names.code()).isEqualTo("PREFIX=redis-delay QUEUE=orders\n"),
                        increase -> assertThat(
                                        fired(new Alert("", increase.code().strip(), Map.of()), before, after))
                                .containsExactly("shop/failing"));
    }

    @Test
    void should_show_panels_that_have_something_to_show() throws Exception {
        JsonObject dashboard = (JsonObject) Jsoner.deserialize(Files.readString(DASHBOARD));
        JsonArray panels = dashboard.getCollection("panels");
        assertThat(panels).hasSizeGreaterThan(10);
        for (Object panel : panels) {
            JsonArray targets = ((JsonObject) panel).getCollection("targets");
            assertThat(targets).isNotEmpty();
            for (Object target : targets) {
                String expression = ((JsonObject) target).getString("expr").replaceAll("\\$\\w+", ".*");
                String legend = ((JsonObject) target).getString("legendFormat");
                String[] labels = Pattern.compile("\\{\\{(\\w+)}}")
                        .matcher(legend)
                        .results()
                        .map(label -> label.group(1))
                        .toArray(String[]::new);
                assertThat(evaluate(expression).keySet())
                        .as(expression)
                        .isNotEmpty()
                        .allSatisfy(result ->
                                assertThat(result).containsOnlyKeys(labels).containsKeys("server", "keyPrefix"));
            }
        }
        assertThat(Files.readString(DASHBOARD))
                .contains("label_values(camel_redis_delay_delayed, server)", "$keyPrefix\\\"}, queue)");
    }

    @Test
    void should_answer_the_questions_of_the_page() throws IOException {
        List<Block> blocks = Block.of("docs/monitoring.md", Files.readAllLines(PAGE));
        // MonitoringIT of the example runs the first two.
        assertThat(blocks).extracting(Block::language).containsOnly("xml", "properties", "promql");
        List<String> questions = blocks.stream()
                .filter(block -> block.language().equals("promql"))
                .flatMap(block -> block.code().lines())
                .toList();
        assertThat(questions).hasSize(6).allSatisfy(question -> assertThat(evaluate(question))
                .as(question)
                .isNotEmpty());
    }

    @Test
    void should_notice_what_no_scrape_has() {
        Stream.of(
                        "camel_redis_delay_wait > 0",
                        "camel_redis_delay_delayed{queues=\"a\"}",
                        "max by (queues) (camel_redis_delay_delayed)",
                        "avg by (queue) (camel_redis_delay_delayed)",
                        "camel_redis_delay_delayed > 0 or camel_redis_delay_delayed > 0")
                .forEach(expression -> assertThatThrownBy(() -> evaluate(expression))
                        .as(expression)
                        .isInstanceOfAny(AssertionError.class, IndexOutOfBoundsException.class));
    }
}
