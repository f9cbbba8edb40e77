// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.camel.RoutesBuilder;
import org.apache.camel.spi.Registry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SeveralTopicsIT extends RecipeIT {

    /** Stands for what works on one topic. */
    public static class Work {
        final BlockingQueue<String> done = new LinkedBlockingQueue<>();

        public void send(String text) {
            done.add(text);
        }

        public void print(String text) {
            done.add(text);
        }
    }

    private final Work mail = new Work();
    private final Work push = new Work();
    private final Work letters = new Work();

    @Override
    protected RoutesBuilder createRouteBuilder() {
        return new SeveralTopics();
    }

    @Override
    void bindBeans(Registry registry) {
        registry.bind("mail", mail);
        registry.bind("push", push);
        registry.bind("letters", letters);
    }

    private void later(String topic, String text, String wait) {
        template.sendBodyAndHeaders("direct:later", text, Map.of("topic", topic, "wait", wait));
    }

    @Test
    void should_bring_each_message_to_the_route_of_its_topic() {
        later("mail", "a mail", "2h");
        later("letter", "a letter", "1d");
        later("push", "a push", "10m");
        assertThat(minutesToWait("later")).isEqualTo(10);
        makeDue("later");
        await().until(() -> isEmpty("later"));
        assertThat(mail.done).containsExactly("a mail");
        assertThat(push.done).containsExactly("a push");
        assertThat(letters.done).containsExactly("a letter");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fax", "mail?x=1", "mail\nletter", "mail|push", "MAIL", ""})
    void should_keep_what_has_another_topic(String topic) {
        template.sendBodyAndHeaders(
                "direct:later", "?", Map.of("topic", topic, "wait", "0ms", "CamelRedisDelayMaximumRedeliveries", 0));
        await().until(() -> stats("later").dead() == 1);
        assertThat(mail.done).isEmpty();
    }
}
