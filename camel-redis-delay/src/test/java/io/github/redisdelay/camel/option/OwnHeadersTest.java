// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultMessage;
import org.apache.camel.tooling.model.ComponentModel.EndpointHeaderModel;
import org.apache.camel.tooling.model.JsonMapper;
import org.apache.camel.util.CaseInsensitiveMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The names of headers. ProducerIT and RouteDecisionIT have the effects of an unknown name. */
class OwnHeadersTest {

    /** Headers that only tell. A new one that asks for something belongs into the lists of {@link OwnHeaders}. */
    private static final List<String> RESPONSE_HEADERS = List.of(
            RedisDelayConstants.MESSAGE_ID,
            RedisDelayConstants.MESSAGE_GROUP,
            RedisDelayConstants.QUEUE,
            RedisDelayConstants.SCHEDULED_TIME,
            RedisDelayConstants.DUE_TIME,
            RedisDelayConstants.PREVIOUS_STATE,
            RedisDelayConstants.ATTEMPT,
            RedisDelayConstants.LATENESS,
            RedisDelayConstants.REDELIVERY_REASON,
            RedisDelayConstants.MESSAGE_STATE,
            RedisDelayConstants.LEASE_END,
            RedisDelayConstants.LEASE_OWNER,
            RedisDelayConstants.PAUSED_UNTIL,
            RedisDelayConstants.RESULT,
            RedisDelayConstants.COUNT,
            RedisDelayConstants.DEAD_LETTER_TIME,
            RedisDelayConstants.RULE,
            RedisDelayConstants.RUN_TIME,
            RedisDelayConstants.NEXT_RUN_TIME,
            RedisDelayConstants.LAST_RUN_TIME,
            RedisDelayConstants.FAILURE_EXCEPTION,
            RedisDelayConstants.FAILURE_MESSAGE,
            RedisDelayConstants.FAILURE_ROUTE_ID,
            RedisDelayConstants.FAILURE_HOST,
            RedisDelayConstants.FAILURE_ATTEMPTS,
            RedisDelayConstants.FAILURE_TIME);

    @Test
    void should_know_of_each_public_constant_whether_it_asks_or_tells() throws IllegalAccessException {
        List<Object> constants = new ArrayList<>();
        for (Field constant : RedisDelayConstants.class.getFields()) {
            constants.add(constant.get(null));
        }
        List<Object> known = new ArrayList<>(OwnHeaders.REQUEST_HEADERS);
        known.addAll(RESPONSE_HEADERS);
        assertThat(known).containsExactlyInAnyOrderElementsOf(constants);
        assertThat(OwnHeaders.RESPONSE_HEADERS).containsExactlyInAnyOrderElementsOf(RESPONSE_HEADERS);
    }

    @Test
    void should_use_up_the_headers_that_are_documented_as_removed() throws IOException {
        String metadata;
        try (InputStream json = RedisDelayConstants.class.getResourceAsStream(
                "/META-INF/io/github/redisdelay/camel/redis-delay.json")) {
            metadata = new String(json.readAllBytes(), StandardCharsets.UTF_8);
        }
        List<String> removed = JsonMapper.generateComponentModel(metadata).getEndpointHeaders().stream()
                .filter(header -> header.getDescription().contains("Removed after"))
                .map(EndpointHeaderModel::getName)
                .toList();
        assertThat(OwnHeaders.USED_UP).containsExactlyInAnyOrderElementsOf(removed);
    }

    @ParameterizedTest
    @ValueSource(strings = {"RedisDelayScheduleId", "redisdelay", "RedisDelaySheduleId"})
    void should_refuse_a_name_that_lacks_the_prefix_of_camel(String name) {
        DefaultMessage message = new DefaultMessage(new DefaultCamelContext());
        message.setHeader(name, "order-1");
        assertThatThrownBy(() -> OwnHeaders.check(message))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("header '" + name + "' is unknown");
        message.setHeaders(Map.of("MyRedisDelayScheduleId", "order-1"));
        OwnHeaders.check(message);
    }

    @Test
    void should_show_a_name_of_any_length_and_kind_in_a_line() {
        DefaultMessage message = new DefaultMessage(new DefaultCamelContext());
        message.setHeader("CamelRedisDelay\n" + "x".repeat(1_000_000), "order-1");
        assertThatThrownBy(() -> OwnHeaders.check(message))
                .hasMessageStartingWith("header 'CamelRedisDelay?xxx")
                .hasMessageContaining("xxx…' is unknown: remove it, or use one of CamelRedisDelayDelay, ")
                .hasMessageEndingWith(String.join(", ", OwnHeaders.REQUEST_HEADERS));
    }

    @Test
    void should_use_up_headers_that_another_thread_changes() {
        DefaultMessage message = new DefaultMessage(new DefaultCamelContext());
        message.setHeaders(new CaseInsensitiveMap() {
            @Override
            public Set<String> keySet() {
                throw new ConcurrentModificationException();
            }
        });
        message.setHeader(RedisDelayConstants.DELAY, "1s");
        message.setHeader("other", 1);
        OwnHeaders.removeUsedUp(message);
        assertThat(message.getHeaders()).hasSize(1).containsEntry("other", 1);
    }
}
