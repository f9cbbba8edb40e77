// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.camel.tooling.model.ComponentModel;
import org.apache.camel.tooling.model.ComponentModel.EndpointOptionModel;
import org.apache.camel.tooling.model.JsonMapper;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Compares the kamelets with the metadata of the component. */
class KameletsTest {

    /** What is set at the component, what makes another exchange of a message, and what few need: a new option is no exception. */
    private static final Set<String> OF_NONE = Set.of(
            "batching",
            "browseLimit",
            "configurationUri",
            "database",
            "headerFilterStrategy",
            "importOptions",
            "partitions",
            "redisson",
            "requestTimeout",
            "sslContextParameters",
            "state");
    /** What belongs to an operation or a recurring schedule, which a sink has by headers only; and waits for replicas. */
    private static final Set<String> NOT_OF_SINK = Set.of(
            "all",
            "cron",
            "deadLetterReason",
            "deliverAt",
            "every",
            "failureException",
            "failureRouteId",
            "lazyStartProducer",
            "limit",
            "maximumMessageSize",
            "maximumQueueLength",
            "operation",
            "outlookStep",
            "outlookSteps",
            "replicationTimeout",
            "schedules",
            "synchronous",
            "timeZone",
            "waitForDisk",
            "waitForReplicas");
    /** What belongs to batches, fine points of retries and dead letters, and Camel's own. */
    private static final Set<String> NOT_OF_SOURCE = Set.of(
            "backOffMultiplier",
            "batchSize",
            "batchTimeout",
            "bridgeErrorHandler",
            "deadLetter",
            "deadLetterRetention",
            "exceptionHandler",
            "exchangePattern",
            "executorService",
            "maxMessagesPerPoll",
            "maximumDeadLetters",
            "maximumRedeliveryDelay",
            "maximumVisibilityExtension",
            "onExpiry",
            "redeliveryJitter",
            "scheduleId");

    private static ComponentModel component;
    private static Map<String, EndpointOptionModel> options;

    @BeforeAll
    static void readMetadata() throws IOException {
        component = JsonMapper.generateComponentModel(resource("META-INF/io/github/redisdelay/camel/redis-delay.json"));
        options = component.getEndpointOptions().stream()
                .collect(Collectors.toMap(EndpointOptionModel::getName, Function.identity()));
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = KameletsTest.class.getClassLoader().getResourceAsStream(name)) {
            assertThat(in).as(name).isNotNull();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @ParameterizedTest
    @CsvSource({"sink, consumer", "source, producer"})
    void should_have_the_options_of_the_component(String type, String otherSide) throws IOException {
        Node kamelet = kamelet(type);
        Node definition = kamelet.get("spec").get("definition");
        Node properties = definition.get("properties");
        assertThat(definition.list("required")).containsExactly("queueName");
        assertThat(properties.names()).contains("queueName", "address", "keyPrefix");
        for (String name : properties.names()) {
            Node property = properties.get(name);
            EndpointOptionModel option = options.get(name);
            assertThat(option).as("the option '" + name + "' of the component").isNotNull();
            assertThat(option.getLabel()).as(name).doesNotContain(otherSide);
            assertThat(property.text("title")).isEqualTo(option.getDisplayName());
            assertThat(property.text("type"))
                    .as(name)
                    .isEqualTo(option.getType().replaceAll("duration|enum", "string"));
            assertThat(property.text("description")).as(name).endsWith(".");
            assertThat(property.names()).as("defaults are the component's").doesNotContain("default");
            if (option.getEnums() != null) {
                assertThat(option.getEnums()).as(name).containsAll(property.list("enum"));
            }
            assertThat(property.names().contains("x-descriptors")).as(name).isEqualTo(option.isSecret());
        }
        assertThat(properties.get("password").text("format")).isEqualTo("password");
    }

    @ParameterizedTest
    @CsvSource({"sink, consumer", "source, producer"})
    void should_leave_out_no_other_option(String type, String otherSide) throws IOException {
        Set<String> left = new TreeSet<>(options.keySet());
        left.removeIf(name -> options.get(name).getLabel().contains(otherSide));
        left.removeAll(
                kamelet(type).get("spec").get("definition").get("properties").names());
        left.removeAll(OF_NONE);
        assertThat(left).isEqualTo(type.equals("sink") ? NOT_OF_SINK : NOT_OF_SOURCE);
    }

    @ParameterizedTest
    @CsvSource({"sink", "source"})
    void should_use_each_property_and_no_other(String type) throws IOException {
        Node spec = kamelet(type).get("spec");
        Node from = spec.get("template").get("from");
        Node endpoint = type.equals("sink") ? from.first("steps").get("to") : from;
        assertThat(endpoint.text("uri")).isEqualTo("redis-delay:{{queueName}}");
        List<String> used = new ArrayList<>(List.of("queueName"));
        for (String name : endpoint.get("parameters").names()) {
            assertThat(endpoint.get("parameters").text(name)).isEqualTo("{{?" + name + "}}");
            used.add(name);
        }
        assertThat(used)
                .containsExactlyInAnyOrderElementsOf(
                        spec.get("definition").get("properties").names());
    }

    @ParameterizedTest
    @CsvSource({"sink", "source"})
    void should_say_what_it_is(String type) throws IOException {
        Node kamelet = kamelet(type);
        String version = component.getVersion();
        Node metadata = kamelet.get("metadata");
        assertThat(metadata.text("name")).isEqualTo("redis-delay-" + type);
        assertThat(metadata.get("labels").text("camel.apache.org/kamelet.type")).isEqualTo(type);
        assertThat(metadata.get("annotations").text("camel.apache.org/catalog.version"))
                .isEqualTo(version);
        assertThat(kamelet.get("spec").list("dependencies"))
                .contains("mvn:io.github.redisdelay:camel-redis-delay:" + version);
    }

    private static Node kamelet(String type) throws IOException {
        String yaml = resource("kamelets/redis-delay-" + type + ".kamelet.yaml");
        return new Node((Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(yaml));
    }

    /** A mapping of a YAML file; what is not there is an error. */
    private record Node(Map<?, ?> map) {

        Node get(String name) {
            assertThat(map.get(name)).as(name).isInstanceOf(Map.class);
            return new Node((Map<?, ?>) map.get(name));
        }

        Node first(String name) {
            return new Node((Map<?, ?>) ((List<?>) map.get(name)).get(0));
        }

        String text(String name) {
            return (String) map.get(name);
        }

        List<String> list(String name) {
            assertThat(map.get(name)).as(name).isInstanceOf(List.class);
            return ((List<?>) map.get(name)).stream().map(String::valueOf).toList();
        }

        List<String> names() {
            return map.keySet().stream().map(String::valueOf).toList();
        }
    }
}
