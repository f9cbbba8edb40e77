// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.connection.ConnectionSettings;
import io.github.redisdelay.camel.option.MessageScope;
import io.github.redisdelay.camel.producer.MessageChoice;
import io.github.redisdelay.camel.producer.ProducerSettings;
import io.github.redisdelay.camel.redelivery.RetryPolicy;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.DuplicatePolicy;
import io.github.redisdelay.queue.Schedule;
import io.github.redisdelay.queue.envelope.Envelope.Settings;
import io.github.redisdelay.testkit.LogLines;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.camel.ResolveEndpointFailedException;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.main.MainHelper;
import org.apache.camel.util.OrderedLocationProperties;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Options as they are written in a URI. Nothing here connects to Redis. */
class OptionsTest {

    private final DefaultCamelContext context = CamelRedisIT.newContext();

    @AfterEach
    void close() throws Exception {
        context.close();
    }

    private RedisDelayEndpoint endpoint(String uri) {
        return context.getEndpoint(uri, RedisDelayEndpoint.class);
    }

    private RedisDelayComponent component() {
        return context.getComponent("redis-delay", RedisDelayComponent.class);
    }

    @Test
    void should_have_the_documented_defaults() {
        RedisDelayEndpoint endpoint = endpoint("redis-delay:orders");
        assertThat(endpoint.getQueueName()).isEqualTo("orders");
        assertThat(endpoint.producerSettings())
                .isEqualTo(new ProducerSettings(
                        null,
                        false,
                        RedisDelayOperation.SCHEDULE,
                        DuplicatePolicy.REJECT,
                        false,
                        0,
                        null,
                        Settings.NONE,
                        null,
                        null,
                        ZoneId.of("UTC"),
                        0,
                        100,
                        Duration.ofMinutes(1),
                        60,
                        new MessageChoice(false, false, null, null, null, null),
                        null));
        assertThat(new OptionReader(endpoint.getConfiguration()).claims())
                .usingRecursiveComparison()
                .isEqualTo(io.github.redisdelay.queue.ConsumerOptions.DEFAULTS);
        assertThat(endpoint.clientOptions()).isEqualTo(io.github.redisdelay.queue.ClientOptions.DEFAULTS);
        assertThat(new OptionReader(endpoint.getConfiguration()).retries().maximumRedeliveries())
                .isEqualTo(9);
        assertThat(endpoint.getConfiguration().isDeadLetter()).isTrue();
        assertThat(endpoint.getConfiguration().getMaximumMessageSize()).isEqualTo(1024 * 1024);
    }

    @Test
    void should_take_every_option_from_the_uri() {
        RedisDelayEndpoint endpoint = endpoint("redis-delay:orders?delay=1h30m&operation=reschedule&onDuplicate=replace"
                + "&batching=true&concurrentConsumers=7&maxMessagesPerPoll=256&visibilityTimeout=PT1M"
                + "&maximumVisibilityExtension=2h&requestTimeout=1500&keyPrefix=shop"
                + "&maximumRedeliveries=-1&deadLetter=false&maximumMessageSize=77&group=acme&timeToLive=1h"
                + "&deduplicationPeriod=2h&maximumQueueLength=1000000&limit=256&state=delayed&failureException=a.B"
                + "&all=true&schedules=true&deadLetterReason=failed&failureRouteId=notify&outlookStep=3h&outlookSteps=240"
                + "&cron=0 2 * * MON#1&timeZone=Europe/Berlin");
        assertThat(endpoint.producerSettings())
                .isEqualTo(new ProducerSettings(
                        DueTime.after(Duration.ofMinutes(90)),
                        true,
                        RedisDelayOperation.RESCHEDULE,
                        DuplicatePolicy.REPLACE,
                        true,
                        0,
                        "acme",
                        new Settings(Duration.ofHours(2), Duration.ofHours(1), null),
                        Schedule.parse("cron 0 2 * * MON#1 Europe/Berlin"),
                        "0 2 * * MON#1",
                        ZoneId.of("Europe/Berlin"),
                        1_000_000,
                        256,
                        Duration.ofHours(3),
                        240,
                        new MessageChoice(true, true, "a.B", "failed", "notify", 256),
                        MessageScope.DELAYED));
        assertThat(new OptionReader(endpoint.getConfiguration()).claims())
                .usingRecursiveComparison()
                .isEqualTo(io.github.redisdelay.queue.ConsumerOptions.DEFAULTS
                        .withConcurrentConsumers(7)
                        .withMaxMessagesPerPoll(256)
                        .withVisibilityTimeout(Duration.ofMinutes(1))
                        .withMaximumVisibilityExtension(Duration.ofHours(2)));
        assertThat(endpoint.clientOptions())
                .isEqualTo(io.github.redisdelay.queue.ClientOptions.DEFAULTS
                        .withKeyPrefix("shop")
                        .withRequestTimeout(Duration.ofMillis(1500)));
        assertThat(new OptionReader(endpoint.getConfiguration()).retries().maximumRedeliveries())
                .isEqualTo(-1);
        assertThat(endpoint.getConfiguration().isDeadLetter()).isFalse();
    }

    @Test
    void should_take_a_delivery_time() {
        assertThat(endpoint("redis-delay:orders?deliverAt=2030-01-31T10:15:00Z")
                        .producerSettings()
                        .due())
                .isEqualTo(DueTime.at(Instant.parse("2030-01-31T10:15:00Z")));
        assertThat(endpoint("redis-delay:orders?deliverAt=2030-01-31T11:15:00+01:00")
                        .producerSettings()
                        .due())
                .isEqualTo(DueTime.at(Instant.parse("2030-01-31T10:15:00Z")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"orders", "a:b.c-d_e", "a/b", "päckchen", "5"})
    void should_accept_queue_names(String name) {
        assertThat(endpoint("redis-delay:" + name).getQueueName()).isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis-delay:", "redis-delay", "redis-delay:%20"})
    void should_refuse_an_empty_queue_name(String uri) {
        assertThatThrownBy(() -> endpoint(uri)).isInstanceOf(ResolveEndpointFailedException.class);
    }

    @Test
    void should_refuse_a_queue_name_with_braces_or_of_too_many_bytes() {
        assertThatThrownBy(() -> endpoint("redis-delay:a{b}c")).rootCause().hasMessageContaining("braces are reserved");
        assertThatThrownBy(() -> endpoint("redis-delay:" + "ü".repeat(101)))
                .rootCause()
                .hasMessageContaining("202 bytes: at most 200 are allowed");
        assertThatThrownBy(() -> endpoint("redis-delay:orders?keyPrefix=a%7Bb"))
                .rootCause()
                .hasMessageContaining("option 'keyPrefix' 'a{b' has a '{'");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"-5s", "2M", "5S", "1w", "1h-30m", "1m30", "abc", "99999999999d", "P1000000D", "1.5s", "-1"})
    void should_refuse_durations_that_camel_would_read_as_something_else(String delay) {
        for (String option : Set.of(
                "delay",
                "visibilityTimeout",
                "redeliveryDelay",
                "maximumRedeliveryDelay",
                "maximumVisibilityExtension",
                "requestTimeout",
                "redeliveryDelays")) {
            assertThatThrownBy(() -> endpoint("redis-delay:orders?" + option + "=" + delay))
                    .as(option)
                    .isInstanceOf(ResolveEndpointFailedException.class)
                    .rootCause()
                    .hasMessageContaining("'" + option + "'")
                    .hasMessageContaining(delay);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "operation=remove | option 'operation' 'remove' is unknown: use schedule, cancel, reschedule",
                "onDuplicate=overwrite | option 'onDuplicate' 'overwrite' is unknown: use reject, ignore, replace",
                "deliverAt=tomorrow | option 'deliverAt' 'tomorrow' is no time",
                "deliverAt=2030-01-31T10:15:00 | give ISO-8601 with an offset, such as",
                "delay=1m&deliverAt=2030-01-31T10:15:00Z | option 'delay' (1m) and option 'deliverAt'",
                "concurrentConsumers=0 | option 'concurrentConsumers' is 0",
                "maxMessagesPerPoll=257 | option 'maxMessagesPerPoll' is 257: it must be from 1 to 256",
                "visibilityTimeout=99ms | option 'visibilityTimeout' is '99ms': it must be from 100 milliseconds to 365 days",
                "visibilityTimeout=30 | is '30': it must be from 100 milliseconds to 365 days (a bare number is milliseconds)",
                "visibilityTimeout=366d | option 'visibilityTimeout' is '366d': it must be",
                "deliverAt=1900000000 | option 'deliverAt' '1900000000' is no time up to the year 2255",
                "delay=+5s | option 'delay' ' 5s' is no duration of at most 104249 days: write 1d2h3m4s5ms",
                "delay=RAW(+5s) | option 'delay' '+5s' is no duration",
                "delay=${header.mins}m | option 'delay' '${header.mins}m' has an expression: use toD(), which evaluates it, or a property, which is written {{name}}",
                "deliverAt=$simple{header.at} | option 'deliverAt' '$simple{header.at}' has an expression: use toD()",
                "priority=${header.p} | option 'priority' '${header.p}' has an expression: use toD()",
                "limit=${header.n} | option 'limit' '${header.n}' has an expression: use toD()",
                "concurrentConsumers=${count} | option 'concurrentConsumers' '${count}' has an expression",
                "failureException=java.net.Connect Exception | option 'failureException' 'java.net.Connect Exception' is no name of a class",
                "failureException=java.net.* | option 'failureException' 'java.net.*' is no name of a class",
                "requestTimeout=0 | option 'requestTimeout' is '0'",
                "maximumMessageSize=0 | option 'maximumMessageSize' is 0",
                "redeliveryDelays= | option 'redeliveryDelays'",
                "address=localhost:6379 | option 'address' 'localhost:6379' is no address: write redis://host:6379",
                "address=http://localhost:6379 | option 'address'",
                "address=redis://localhost:6379/2 | option 'address' 'redis://localhost:6379/2' is no address: write redis://host:6379, or rediss://host:6379 for TLS, and the number of the database as option 'database'",
                "database=2 | option 'database' is set without option 'address'",
                "address=redis://h&configurationUri=file:x.yaml | more than one of the options",
                "maximumRedeliveries=4294967296 | option 'maximumRedeliveries' is '4294967296': it must be a whole number of at most 2147483647",
                "priority=4294967305 | option 'priority' is '4294967305': it must be a whole number",
                "priority=-4294967305 | option 'priority' is '-4294967305': it must be a whole number",
                "maximumQueueLength=%205 | option 'maximumQueueLength' is ' 5': it must be a whole number",
                "partitions=two | option 'partitions' is 'two': it must be a whole number",
                "maximumQueueLength=99999999999999999999 | option 'maximumQueueLength' is '99999999999999999999': it must be a whole number of at most 9223372036854775807",
                "maximumQueueLength=9223372036854775807 | it must be from 1 to 9007199254740991, or 0 for any number",
                "failureException= | option 'failureException' is ''",
                "outlookStep=0 | option 'outlookStep' is '0': it must be 1 millisecond or more",
                "outlookSteps=241 | option 'outlookSteps' is 241: it must be from 1 to 240",
                "outlookSteps=0 | option 'outlookSteps' is 0: it must be from 1 to 240",
                "outlookStep=365d&outlookSteps=101 | options 'outlookStep' (PT8760H) and 'outlookSteps' (101) reach over more than 100 years",
                "noSuchOption=1 | Unknown parameters=[{noSuchOption=1}]"
            })
    void should_name_option_value_and_what_is_right(String options, String message) {
        assertThatThrownBy(() -> endpoint("redis-delay:orders?" + options))
                .isInstanceOf(ResolveEndpointFailedException.class)
                .hasStackTraceContaining(message.strip());
    }

    /** As Camel Main sets them. Camel's own configurer would read all these numbers as durations, mostly of 0. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "maximumQueueLength | 100k | 9223372036854775807",
                "maximum-queue-length | 1_000_000 | 9223372036854775807",
                "maximumqueuelength | 1,000,000 | 9223372036854775807",
                "waitForReplicas | {{count}} | 2147483647",
                "groupConcurrency | '5 ' | 2147483647",
                "maximumRedeliveries | 5m | 2147483647",
                "priority | 4294967305 | 2147483647"
            })
    void should_refuse_a_number_of_the_component_that_is_none(String option, String value, long most) {
        Properties properties = new Properties();
        properties.put("count", "two");
        context.getPropertiesComponent().setInitialProperties(properties);
        String shown = value.equals("{{count}}") ? "two" : value;
        assertThatThrownBy(() -> MainHelper.setPropertiesOnTarget(
                        context,
                        component(),
                        located(option, value),
                        "camel.component.redis-delay",
                        true,
                        true,
                        located()))
                .hasStackTraceContaining("is '" + shown + "': it must be a whole number of at most " + most);
        assertThatThrownBy(() -> MainHelper.setPropertiesOnTarget(
                        context,
                        component(),
                        located("configuration." + option, value),
                        "camel.component.redis-delay",
                        true,
                        true,
                        located()))
                .hasStackTraceContaining(shown);
    }

    private static OrderedLocationProperties located(String... option) {
        OrderedLocationProperties properties = new OrderedLocationProperties();
        if (option.length > 0) {
            properties.put("a test", option[0], option[1]);
        }
        return properties;
    }

    @Test
    void should_take_numbers_and_durations_of_the_component_as_camel_main_sets_them() {
        OrderedLocationProperties properties = located();
        properties.put("a test", "maximum-redeliveries", "-1");
        properties.put("a test", "partitions", "{{count}}");
        properties.put("a test", "waitForReplicas", 2);
        properties.put("a test", "backOffMultiplier", "1.5");
        properties.put("a test", "requestTimeout", "2m");
        properties.put("a test", "delay", "5");
        properties.put("a test", "configuration.groupConcurrency", "7");
        Properties placeholders = new Properties();
        placeholders.put("count", "3");
        context.getPropertiesComponent().setInitialProperties(placeholders);

        MainHelper.setPropertiesOnTarget(
                context, component(), properties, "camel.component.redis-delay", true, true, located());

        RedisDelayConfiguration options = component().getConfiguration();
        assertThat(options.getMaximumRedeliveries()).isEqualTo(-1);
        assertThat(options.getPartitions()).isEqualTo(3);
        assertThat(options.getWaitForReplicas()).isEqualTo(2);
        assertThat(options.getBackOffMultiplier()).isEqualTo(1.5);
        assertThat(options.getRequestTimeout()).isEqualTo("2m");
        assertThat(options.getDelay()).isEqualTo("5");
        assertThat(options.getGroupConcurrency()).isEqualTo(7);
    }

    private static List<String> warnings(ThrowingCallable call) throws Throwable {
        try (LogLines log = new LogLines(RedisDelayComponent.class)) {
            call.call();
            return log.of(Level.WARN);
        }
    }

    @Test
    void should_warn_once_of_a_producers_option_that_a_consumer_does_not_use() throws Throwable {
        RedisDelayEndpoint endpoint = endpoint("redis-delay:orders?delay=30m&state=dead&Priority=5");
        assertThat(warnings(() -> {
                    endpoint.createConsumer(exchange -> {});
                    endpoint.createPollingConsumer();
                    endpoint.createConsumer(exchange -> {});
                }))
                .containsExactly(
                        "queue 'orders': a consumer does not use option 'delay', option 'Priority': set it at to()");
        RedisDelayEndpoint polled = endpoint("redis-delay:orders?delay=31m");
        assertThat(warnings(polled::createPollingConsumer))
                .singleElement()
                .asString()
                .contains("a consumer does not use option 'delay'");
    }

    @Test
    void should_warn_once_of_a_consumers_option_that_a_producer_does_not_use() throws Throwable {
        RedisDelayEndpoint slots = endpoint("redis-delay:orders?concurrentConsumers=4");
        assertThat(warnings(() -> {
                    slots.createProducer();
                    slots.createProducer();
                }))
                .containsExactly(
                        "queue 'orders': a producer does not use option 'concurrentConsumers': set it at from()");
    }

    @Test
    void should_warn_once_of_an_endpoint_that_both_sides_share() throws Throwable {
        RedisDelayEndpoint shared = endpoint("redis-delay:orders?concurrentConsumers=4&delay=1m");
        assertThat(warnings(() -> {
                    shared.createConsumer(exchange -> {});
                    shared.createProducer();
                }))
                .singleElement()
                .asString()
                .contains("a consumer does not use option 'delay'");
        assertThat(shared.producerSettings().due()).isEqualTo(DueTime.after(Duration.ofMinutes(1)));
        assertThat(shared.consumerSettings().exchanges()).isEqualTo(4);
    }

    @Test
    void should_take_the_options_of_both_sides_from_the_component_and_those_of_camel_and_common_ones_from_both()
            throws Throwable {
        RedisDelayConfiguration options = component().getConfiguration();
        options.setDelay("1h");
        options.setConcurrentConsumers(4);
        RedisDelayEndpoint endpoint = endpoint("redis-delay:orders?batching=true&keyPrefix=a&requestTimeout=1s"
                + "&lazyStartProducer=true&bridgeErrorHandler=true&exchangePattern=InOnly");
        assertThat(warnings(() -> {
                    assertThat(endpoint.createProducer()).isNotNull();
                    assertThat(endpoint.createConsumer(exchange -> {})).isNotNull();
                    assertThat(endpoint("redis-delay:orders").createPollingConsumer())
                            .isNotNull();
                }))
                .isEmpty();
    }

    @Test
    void should_say_of_a_queue_name_that_is_an_expression_that_it_takes_toD() {
        assertThatThrownBy(() -> endpoint("redis-delay:${header.queue}"))
                .hasStackTraceContaining("queueName '${header.queue}' has an expression: use toD()");
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis-delay", "redis-delay://", "redis-delay:?delay=1s"})
    void should_say_that_a_uri_names_no_queue(String uri) {
        assertThatThrownBy(() -> endpoint(uri))
                .hasStackTraceContaining("names no queue: write redis-delay:orders for a queue named 'orders'");
    }

    @Test
    void should_show_no_password_of_a_uri_that_names_no_queue() {
        assertThatThrownBy(() -> component()
                        .createEndpoint(
                                "redis-delay:?address=redis://joe:hidden1@h:6379&password=RAW(hidden2)", Map.of()))
                .hasMessage("'redis-delay:' names no queue: write redis-delay:orders for a queue named 'orders'");
    }

    @Test
    void should_warn_once_of_endpoints_that_are_made_anew_for_each_message() throws Throwable {
        context.start();
        assertThat(warnings(() -> {
                    for (int i = 0; i < 3; i++) {
                        // as toD does with cacheSize=-1
                        context.getCamelContextExtension()
                                .getPrototypeEndpoint("redis-delay:orders?visibilityTimeout=1m")
                                .createProducer();
                    }
                }))
                .hasSize(1);
    }

    @Test
    void should_let_the_endpoint_replace_the_components_delivery_time_as_a_whole() {
        component().getConfiguration().setDelay("1h");
        assertThat(endpoint("redis-delay:a").producerSettings().due()).isEqualTo(DueTime.after(Duration.ofHours(1)));
        assertThat(endpoint("redis-delay:a?deliverAt=1970-01-01T00:00:00Z")
                        .producerSettings()
                        .due())
                .isEqualTo(DueTime.at(Instant.EPOCH));
    }

    @Test
    void should_let_the_endpoints_redelivery_delay_set_the_components_steps_aside() {
        component().getConfiguration().setRedeliveryDelays("15s,3m");

        RetryPolicy own = retries("redis-delay:a?redeliveryDelay=5s");
        assertThat(own.redeliveryDelays()).isEmpty();
        assertThat(own.redeliveryDelay()).isEqualTo(Duration.ofSeconds(5));
        assertThat(own.maximumRedeliveries()).isEqualTo(9);
        assertThat(retries("redis-delay:a?redeliveryDelay=5s&redeliveryDelays=1h")
                        .redeliveryDelays())
                .containsExactly(Duration.ofHours(1));
        assertThat(retries("redis-delay:a?backOffMultiplier=3").redeliveryDelays())
                .containsExactly(Duration.ofSeconds(15), Duration.ofMinutes(3));
    }

    private RetryPolicy retries(String uri) {
        return new OptionReader(endpoint(uri).getConfiguration()).retries();
    }

    @ParameterizedTest
    @ValueSource(strings = {"operation=import", "operation=import&import.from=old"})
    void should_name_the_artifact_where_an_import_is_asked_for_without_it(String options) {
        assertThatThrownBy(() -> endpoint("redis-delay:a?" + options))
                .hasStackTraceContaining(
                        "option 'operation' is 'import', and the module for imports is not on the class"
                                + " path: add the artifact io.github.redisdelay:camel-redis-delay-import, of the same version");
    }

    @Test
    void should_name_the_artifact_where_a_consumer_asks_for_an_import_without_it() {
        RedisDelayEndpoint endpoint = endpoint("redis-delay:a?import.codec=json");
        assertThatThrownBy(() -> endpoint.createConsumer(exchange -> {}))
                .hasMessageContaining(
                        "option 'import.codec' is set, and the module for imports is not on the class path:"
                                + " add the artifact io.github.redisdelay:camel-redis-delay-import");
    }

    @Test
    void should_refuse_options_of_imports_where_nothing_can_be_imported() {
        RedisDelayEndpoint endpoint = endpoint("redis-delay:a?import.from=old");
        assertThatThrownBy(endpoint::createProducer)
                .hasMessage("option 'import.from' is set on a producer whose operation is 'schedule': set"
                        + " operation=import, or remove it");
        assertThatThrownBy(endpoint::createPollingConsumer)
                .hasMessageStartingWith("option 'import.from' is set on an endpoint that is polled");
        assertThatThrownBy(() ->
                        endpoint("redis-delay:a?state=dead&import.from=old").createConsumer(exchange -> {}))
                .hasMessage("option 'import.from' is set on a consumer of dead letters (state=dead): set it on the"
                        + " consumer of the queue itself");
        component().getConfiguration().getImportOptions().put("from", "old");
        assertThatThrownBy(() -> endpoint("redis-delay:b"))
                .hasStackTraceContaining("option 'importOptions[from]' is set on the component");
    }

    @Test
    void should_not_send_the_components_password_to_another_address() {
        component().getConfiguration().setAddress("redis://first");
        component().getConfiguration().setPassword("secret");
        component().getConfiguration().setDatabase(3);

        ConnectionSettings own = new OptionReader(
                        endpoint("redis-delay:a?address=redis://second").getConfiguration())
                .connection();
        assertThat(own).isEqualTo(new ConnectionSettings(null, null, "redis://second:6379", null, null, 0, null));

        ConnectionSettings other =
                new OptionReader(endpoint("redis-delay:a?database=5").getConfiguration()).connection();
        assertThat(other).isEqualTo(new ConnectionSettings(null, null, "redis://first:6379", null, "secret", 5, null));
    }

    @Test
    void should_move_credentials_out_of_the_address() {
        RedisDelayConfiguration options = new RedisDelayConfiguration();
        options.setAddress("rediss://joe:pass@h:7000");
        assertThat(new OptionReader(options).connection())
                .isEqualTo(new ConnectionSettings(null, null, "rediss://h:7000", "joe", "pass", 0, null))
                .hasToString("rediss://h:7000");
        options.setAddress("redis://:pass@h");
        assertThat(new OptionReader(options).connection())
                .isEqualTo(new ConnectionSettings(null, null, "redis://h:6379", null, "pass", 0, null));
        options.setAddress("http://joe:pass@h");
        assertThatThrownBy(new OptionReader(options)::connection)
                .hasMessageContaining("http://h")
                .hasMessageNotContaining("pass");
        options.setAddress("redis://joe:pa ss@h");
        assertThatThrownBy(new OptionReader(options)::connection).hasMessageNotContaining("pa ss");
    }

    @Test
    void should_refuse_credentials_without_an_address() {
        component().getConfiguration().setPassword("secret");
        assertThatThrownBy(() -> endpoint("redis-delay:orders"))
                .hasStackTraceContaining("option 'password' is set without option 'address'")
                .hasMessageNotContaining("secret");
    }

    @Test
    void should_mask_secrets_in_uris() {
        RedisDelayEndpoint endpoint =
                endpoint("redis-delay:orders?address=redis://h:6379&username=joe&password=secret");
        assertThat(endpoint.toString()).doesNotContain("secret");
        assertThat(endpoint.getServiceUrl()).isEqualTo("redis://h:6379");
        assertThat(endpoint.getServiceMetadata().toString()).doesNotContain("secret", "joe");
    }
}
