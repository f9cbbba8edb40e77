// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a producer and a consumer do with an unknown name is in ProducerIT and RouteDecisionIT. */
class OwnHeadersTest {

    @Test
    void should_know_each_public_constant_once() throws IllegalAccessException {
        List<Object> constants = new ArrayList<>();
        for (Field constant : RedisDelayConstants.class.getFields()) {
            constants.add(constant.get(null));
        }
        List<Object> known = new ArrayList<>(OwnHeaders.ASKING);
        known.addAll(OwnHeaders.TELLING);
        assertThat(known).containsExactlyInAnyOrderElementsOf(constants);
    }

    @ParameterizedTest
    @CsvSource({
        "CamelRedisDelayDelay, CamelRedisDelay",
        "CamelRedisDelays, CamelRedisDelay",
        "CamelRedisDelayed, CamelRedisDelay",
        "CamelRedisDelayDelayMillis, CamelRedisDelay",
        "CamelRedisDelayDeliveryTime, CamelRedisDelayDeliverAt",
        "CamelRedisDelayDeliveredAt, CamelRedisDelayDeliverAt",
        "CamelRedisDelayAt, CamelRedisDelayDeliverAt",
        "CamelRedisDelayTtl, CamelRedisDelayTimeToLive",
        "camelredisdelayttl, CamelRedisDelayTimeToLive",
        "CamelRedisDelayTimeToLife, CamelRedisDelayTimeToLive",
        "CamelRedisDelayTimeout, CamelRedisDelayTimeToLive",
        "CamelRedisDelayId, CamelRedisDelayScheduleId",
        "CamelRedisDelayScheduledId, CamelRedisDelayScheduleId",
        "CamelRedisDelayPrio, CamelRedisDelayPriority",
        "CamelRedisDelayOp, CamelRedisDelayOperation",
        "CamelRedisDelayRetry, CamelRedisDelayRetryAfter",
        "CamelRedisDelayRetryAfer, CamelRedisDelayRetryAfter",
        "CamelRedisDelayMaxRedeliveries, CamelRedisDelayMaximumRedeliveries",
        "CamelRedisDelayException, CamelRedisDelayExceptionClass",
        "CAMELREDISDELAYDELIVERA, CamelRedisDelayDeliverAt",
        "CamelRedisDelayMs, CamelRedisDelay",
        "CamelRedisDelayMillis, CamelRedisDelay",
        "CamelRedisDelaySeconds, CamelRedisDelay",
        "camelredisdelayminutes, CamelRedisDelay",
        "CamelRedisDelayDuration, CamelRedisDelay",
        "CamelRedisDelayInMillis, CamelRedisDelay",
        "CamelRedisDelayDueIn, CamelRedisDelay",
        "CamelRedisDelayDeliverAfter, CamelRedisDelay",
        "CamelRedisDelayDue, CamelRedisDelayDeliverAt",
        "CamelRedisDelayUntil, CamelRedisDelayDeliverAt",
        "CamelRedisDelayTime, CamelRedisDelayDeliverAt",
        "CamelRedisDelayScheduledAt, CamelRedisDelayDeliverAt",
        "CamelRedisDelayScheduleTime, CamelRedisDelayDeliverAt",
        "CamelRedisDelayExpiration, CamelRedisDelayTimeToLive",
        "CamelRedisDelayCancel, CamelRedisDelayOperation",
        "CamelRedisDelayRetryAfterMillis, CamelRedisDelayRetryAfter",
    })
    void should_find_what_was_meant(String name, String meant) {
        assertThat(OwnHeaders.nearest(name)).isEqualTo(meant);
    }

    @Test
    void should_find_something_for_a_name_of_any_length_at_once() {
        assertThat(OwnHeaders.nearest("CamelRedisDelay" + "x".repeat(1_000_000)))
                .startsWith("CamelRedisDelay");
        assertThat(OwnHeaders.nearest("CamelRedisDelay\n")).startsWith("CamelRedisDelay");
    }
}
