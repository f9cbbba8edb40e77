// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.camel.option.OwnHeaders;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultMessage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The headers that are used up. */
class ScheduleHeadersTest {

    private final DefaultCamelContext context = new DefaultCamelContext();

    @BeforeEach
    void start() {
        context.start(); // so that letter case does not matter
    }

    @AfterEach
    void stop() {
        context.stop();
    }

    @Test
    void should_remove_what_is_used_up_in_any_letter_case_and_nothing_else() {
        DefaultMessage message = new DefaultMessage(context);
        message.setHeader("camelredisdelayDELIVERAT", "x");
        OwnHeaders.USED_UP.forEach(name -> message.setHeader(name, "x"));
        message.setHeader(RedisDelayConstants.MESSAGE_ID, "id");
        message.setHeader("other", 1);

        OwnHeaders.removeUsedUp(message);

        assertThat(message.getHeaders().keySet()).containsExactlyInAnyOrder(RedisDelayConstants.MESSAGE_ID, "other");
    }
}
