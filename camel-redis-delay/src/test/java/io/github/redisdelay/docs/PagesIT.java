// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayEndpointUriFactory;
import io.github.redisdelay.camel.RedissonVersion;
import io.github.redisdelay.camel.thread.ComponentThreads;
import io.github.redisdelay.queue.MessageState;
import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.testkit.LogLines;
import java.io.IOException;
import java.io.StringReader;
import java.net.ConnectException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.main.Main;
import org.apache.camel.spi.PropertyConfigurerGetter;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.config.Config;

/**
 * Runs the blocks of code that the pages show, as they stand there. None is left out: what this test does not understand
 * fails.
 *
 * <ul>
 *   <li>Routes, in Java, XML and YAML, in tabs or not, are started on a real Redis, and what {@link PageStories} tells of them comes true.
 *   <li>Other statements in Java are executed.
 *   <li>Java that declares a class or a method, or is about the console, is part of a source file of this project, which its own tests run.
 *   <li>Properties of Camel are set by Camel Main; others are those of an {@code application.properties} of this project.
 *   <li>Redisson's files are read by Redisson.
 *   <li>Headers of the component have the names and the values that there are.
 *   <li>A picture of states has those that there are.
 *   <li>A {@code pom.xml} has dependencies of this project's.
 *   <li>Of a shell command each module, profile, class and test exists.
 * </ul>
 */
class PagesIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    @TempDir
    static Path classes;

    private static final Pattern LOG_LINE =
            Pattern.compile("message '(?<id>.+)' of queue '(?<queue>.+)', attempt 1 of 10"
                    + " failed on route '(?<route>.+)', again in 10 s: ConnectException: (?<failure>.+)");

    private static final String UNPAID_ORDERS = "docs/unpaid-orders.";

    private static final String GUIDE = "docs/migration.md";

    private static final Pattern TRANSITION = Pattern.compile("(?m)^    (\\S+) --> (\\S+?)(?:: .+)?$");

    private static final Pattern DEPENDENCY = Pattern.compile("<dependency>(.*?)</dependency>");

    /** The name of an option, of several words. */
    private static final Pattern OPTION = Pattern.compile("\\b[a-z]+[A-Z]\\w+");

    private static final Pattern SCOPE = Pattern.compile("<scope>(?:runtime|test)</scope>|<optional>true</optional>");

    private static PageCompiler compiler;
    private static Sources sources;
    private static HeaderNames names;

    @BeforeAll
    static void compile() throws IOException {
        compile(Block.all(), classes);
    }

    static void compile(List<Block> blocks, Path folder) throws IOException {
        compiler = new PageCompiler(blocks, folder);
        sources = new Sources(Block.ROOT);
        names = new HeaderNames();
    }

    /** Those that import are for ImportPagesIT: they need a module that needs this one. */
    static List<Block> blocks() throws IOException {
        return Block.all().stream().filter(block -> !block.imports()).toList();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("blocks")
    void should_show_what_works(Block block) throws Exception {
        check(block);
    }

    static List<List<Block>> tabs() throws IOException {
        return Block.tabs();
    }

    /** They are run as all blocks are; here, that none is missing, and that the same comes true of each. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("tabs")
    void should_tell_the_same_in_each_tab(List<Block> tabs) {
        assertThat(tabs).extracting(Block::language).containsExactly("java", "xml", "yaml");
        assertThat(tabs).extracting(PageStories::of).containsOnly(PageStories.of(tabs.get(0)));
    }

    static void check(Block block) throws Exception {
        names.check(block);
        if (block.page().startsWith(UNPAID_ORDERS)
                && block.begins(
                        "{", "camel_redis_delay_", "curl ", "spring:\n  data:", "sequenceDiagram\n", "- route:")) {
            // UnpaidOrdersPageIT sends the commands and gets these answers, and runs the routes; the file is that of
            // its module.
            assertThat(block.code()).as(block.toString()).isNotBlank();
        } else if (block.isRoutes()) {
            run(block);
        } else if (block.isQuoted()) {
            assertThat(sources.quotedIn(block.code()))
                    .as("Java files of this project that have the code of " + block)
                    .isNotEmpty();
        } else if (block.language().equals("java")) {
            run(block);
        } else if (block.begins("spring:\n  redis:\n    redisson:\n      config: |\n")) {
            Config.fromYAML(
                    block.code().substring(block.code().indexOf('|') + 2).stripIndent());
        } else if (block.language().equals("xml")
                && block.begins("<dependency>", "<dependencyManagement>", "<project ")) {
            dependencies(block);
        } else if (block.language().equals("yaml") && block.has("^\\w+Servers?Config:$")) {
            // Refuses a setting that it does not know. As the page says, Redisson 3 has those of TLS among the
            // server's.
            Config.fromYAML(RedissonVersion.IS_3 ? block.code().replaceAll("(?m)^(?=ssl\\w+:)", "  ") : block.code());
        } else if (block.language().equals("properties") && !block.page().equals(Block.CONSOLE)) {
            properties(block);
        } else if (block.page().equals(GUIDE) && block.has("^(redis-cli |java -jar |queue ')")) {
            // MigrationGuideIT runs all of them, and finds these lines in the log.
            assertThat(block.code().lines())
                    .as(block.toString())
                    .allMatch(line -> block.language().isEmpty()
                            || line.startsWith("redis-cli ")
                            || line.startsWith("java -jar "));
        } else if (block.page().equals(Block.CONSOLE)) {
            // ConsolePageIT starts a console with the properties, and sends what curl would.
            assertThat(block.language()).as(block.toString()).isIn("properties", "sh");
        } else if (OperatingPageIT.follows(block) || SharingPageIT.follows(block)) {
            // They run its commands, and find its lines in the log.
            assertThat(block.code()).as(block.toString()).isNotBlank();
        } else if (block.language().equals("text") && block.page().equals("docs/getting-started.md")) {
            // GettingStartedIT sees these lines.
            assertThat(block.code().lines()).as(block.toString()).allMatch(line -> line.startsWith("order-"));
        } else if (block.language().equals("sh")) {
            new ShellCheck(sources).check(block);
        } else if (block.page().startsWith("README") && block.language().equals("text")) {
            // OrderShopIT runs the program above it, and compares what it prints.
            assertThat(block.code().lines()).as(block.toString()).allMatch(line -> line.contains(" A-"));
        } else if (block.language().equals("mermaid") && block.begins("stateDiagram")) {
            states(block);
        } else if (block.language().equals("mermaid") && block.begins("flowchart")) {
            assertThat(OPTION.matcher(block.code()).results().map(MatchResult::group))
                    .as(block.toString())
                    .isNotEmpty()
                    .isSubsetOf(new RedisDelayEndpointUriFactory().propertyNames());
        } else if (block.language().isEmpty() && block.begins("redis-delay:")) {
            assertThat(block.code()).as(block.toString()).isEqualTo("redis-delay:queueName[?options]\n");
        } else if (block.language().isEmpty() && block.begins("message '")) {
            logLine(block);
        } else if (block.page().equals("docs/guarantees.md") && block.language().equals("mermaid")) {
            // GuaranteesPageIT has a run for each of them.
            assertThat(block.code()).as(block.toString()).startsWith("sequenceDiagram\n");
        } else if (block.language().isEmpty() && block.begins("ACL SETUSER ")) {
            // PermissionsIT and TopologyPermissionsIT read these from the page, and need every word of them.
            assertThat(block.code()).as(block.toString()).hasLineCount(1);
        } else {
            throw new AssertionError(
                    block + ": nothing is known about such a block, so nothing of it is tested:\n" + block.code());
        }
    }

    private static void run(Block block) throws Exception {
        try (Stage stage = new Stage(redis, compiler, block)) {
            PageStories.of(block).play(stage);
        }
    }

    /** The picture has all states, and names no other one; what leads from one to the other is there. */
    private static void states(Block block) {
        List<MatchResult> arrows = TRANSITION.matcher(block.code()).results().toList();
        assertThat(block.code().lines().count()).as(block.toString()).isEqualTo(arrows.size() + 1);
        Set<String> states = Stream.of(MessageState.values())
                .map(state -> switch (state) {
                    case DELAYED, LEASED, DEAD -> state.name().toLowerCase(Locale.ROOT);
                    case PARKED -> block.page().equals("docs/groups.md") ? "parked" : "delayed";
                    case FINISHED, NONE -> "gone";
                })
                .collect(Collectors.toSet());
        assertThat(arrows.stream().flatMap(arrow -> Stream.of(arrow.group(1), arrow.group(2))))
                .as(block.toString())
                .filteredOn(state -> !state.equals("[*]"))
                .containsOnlyElementsOf(states);
    }

    /** The line of the log is that of a message which fails as the page says. */
    private static void logLine(Block block) throws Exception {
        Matcher line = LOG_LINE.matcher(block.code().strip());
        assertThat(line.matches()).as(block + ": " + LOG_LINE).isTrue();
        try (Stage stage = new Stage(redis, compiler, block);
                LogLines log = new LogLines("io.github.redisdelay.camel")) {
            stage.context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("redis-delay:" + line.group("queue") + "?redeliveryJitter=0")
                            .routeId(line.group("route"))
                            .throwException(new ConnectException(line.group("failure")));
                }
            });
            stage.context.start();
            stage.send(
                    "redis-delay:" + line.group("queue"), "x", Map.of("CamelRedisDelayScheduleId", line.group("id")));
            await().untilAsserted(() -> assertThat(log.of(Level.WARN)).contains(line.group()));
        }
    }

    private static void dependencies(Block block) {
        List<String> dependencies = DEPENDENCY
                .matcher(block.code().replaceAll("\\s", ""))
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(dependencies).as(block.toString()).isNotEmpty();
        assertThat(dependencies).allSatisfy(dependency -> {
            if (dependency.startsWith("<groupId>io.github.redisdelay<")) {
                assertThat(dependency)
                        .as(block + ": a module of this project, and its version")
                        .matches(
                                "<groupId>io.github.redisdelay</groupId><artifactId>("
                                        + String.join("|", sources.modules()) + ")</artifactId><version>"
                                        + Pattern.quote(sources.versionOfPages())
                                        + "</version>(<scope>(?:test|runtime)</scope>|(?<=-bom.{1,80})<type>pom</type><scope>import</scope>)?");
            } else {
                // Whoever reads the page has it in all scopes.
                assertThat(sources.dependencies().stream()
                                .flatMap(found ->
                                        Stream.of(found, SCOPE.matcher(found).replaceAll(""))))
                        .as(block + ": a dependency of this project's")
                        .contains(dependency);
            }
        });
    }

    private static void properties(Block block) throws Exception {
        Properties properties = new Properties();
        properties.load(new StringReader(block.code()));
        if (!block.begins("camel.")) {
            assertThat(sources.applications())
                    .as("application.properties of this project that have those of " + block)
                    .anySatisfy(
                            application -> assertThat(application.entrySet()).containsAll(properties.entrySet()));
            return;
        }
        String prefix = "camel.component.redis-delay.";
        Main main = new Main();
        main.setInitialProperties(properties);
        main.start(); // refuses an option that it does not know
        try {
            RedisDelayComponent component =
                    main.getCamelContext().getComponent("redis-delay", RedisDelayComponent.class);
            PropertyConfigurerGetter options = (PropertyConfigurerGetter) component.getComponentPropertyConfigurer();
            assertThat(properties.stringPropertyNames()).as(block.toString()).allSatisfy(key -> {
                if (key.startsWith("camel.threadpool.config[" + ComponentThreads.PROFILE + "].")) {
                    assertThat(main.getCamelContext()
                                    .getExecutorServiceManager()
                                    .getThreadPoolProfile(ComponentThreads.PROFILE))
                            .isNotNull();
                    return;
                }
                assertThat(key).startsWith(prefix);
                assertThat(options.getOptionValue(component, key.substring(prefix.length()), true))
                        .hasToString(properties.getProperty(key));
            });
        } finally {
            main.stop();
        }
    }

    @Test
    void should_tell_no_story_of_routes_that_are_gone() throws IOException {
        assertThat(PageStories.untold(Block.all()))
                .as("stories whose routes no page shows")
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            text       | redis-cli monitor
            yaml       | orders: 30m
            xml        | <beans/>
            properties | camel.component.redis-delay.delai = 30m
            properties | payment.windows = 30m
            sh         | redis-cli monitor
            sh         | mvn -pl camel-redis-delays verify
            sh         | mvn -Pbenchmarks verify
            sh         | mvn test -Dtest=RouteShapeTest
            sh         | mvn exec:java -Dexec.mainClass=io.github.redisdelay.example.ExampleApplications
            sh         | mvn testen
            yaml       | singleServerConfig: {adress: "redis://localhost"}
            kotlin     | from("direct:orderPlaced")
            """)
    void should_notice_what_does_not_work(String language, String code) {
        Block block = new Block(
                "a page",
                1,
                language.equals("text") ? "" : language,
                code.replace(": {", ":\n  ").replace("}", "") + "\n");
        assertThatThrownBy(() -> check(block)).isNotNull();
    }

    @Test
    void should_notice_an_unknown_option_in_yaml() {
        Block block = new Block("a page", 1, "yaml", """
                - route:
                    from:
                      uri: direct:orderPlaced
                      steps:
                        - to:
                            uri: redis-delay:orders
                            parameters:
                              delai: 30m
                """);
        assertThatThrownBy(() -> check(block))
                .hasStackTraceContaining("delai")
                .hasStackTraceContaining("Unknown parameters");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            log("${header.CamelRedisDelayResul}") | CamelRedisDelayResul
            when(header("CamelRedisDelayPreviousState").isEqualTo("lease")) | lease
            when(simple("${header.CamelRedisDelayPreviousState} == 'lease'")) | lease
            when(header("CamelRedisDelayRedeliveryReason").isEqualTo("leasEnded")) | leasEnded
            """)
    void should_notice_a_header_that_nothing_sets(String code, String wrong) {
        Block block = new Block("a page", 1, "java", "from(\"direct:orderPlaced\")." + code + ";\n");
        assertThatThrownBy(() -> check(block)).hasMessageContainingAll("a page:1 java: what is '" + wrong + "'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"----", "....", "```", "~~~"})
    void should_find_a_block_that_says_nothing_of_its_language(String fence) {
        assertThat(Block.of("a page", List.of("Text", fence, "ls", fence, "Text")))
                .containsExactly(new Block("a page", 3, "", "ls\n"));
    }

    @Test
    void should_notice_a_class_that_is_in_no_source() {
        Block block = new Block("a page", 1, "java", "class Class" + System.nanoTime() + " {}\n");
        assertThatThrownBy(() -> check(block)).hasMessageContaining(block.toString());
    }

    @Test
    void should_name_the_line_that_does_not_compile(@TempDir Path folder) {
        Block block =
                new Block("a page", 40, "java", "from(\"direct:orderPlaced\")\n    .too(\"redis-delay:orders\");\n");
        assertThatThrownBy(() -> new PageCompiler(List.of(block), folder)).hasMessageStartingWith("a page:41: ");
    }
}
