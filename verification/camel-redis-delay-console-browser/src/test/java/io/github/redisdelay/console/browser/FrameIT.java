// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.console.RedisDelayConsole;
import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The frame around all screens. */
class FrameIT extends PageIT {

    @Test
    void should_say_that_redis_is_gone_and_go_on_when_it_is_back() {
        RedisServer server = RedisServer.dedicated();
        Config config = new Config();
        config.useSingleServer()
                .setAddress(server.address())
                .setRetryAttempts(0)
                .setTimeout(1000);
        RedissonClient redisson = Redisson.create(config);
        try (server;
                Planted own = new Planted(redisson, "redis-delay");
                DelayQueueClient client = DelayQueueClient.create(
                        redisson, ClientOptions.DEFAULTS.withRequestTimeout(Duration.ofSeconds(2)));
                RedisDelayConsole other =
                        RedisDelayConsole.on(client).queues("orders").port(0).start()) {
            own.waits("orders", "o1", Planted.IN_AN_HOUR);
            browser.open(other.url() + "#/queue?name=orders");
            browser.see("[data-figure=delayed]", "1");
            assertThat(browser.has("#banner [data-banner]")).isFalse();
            server.stop();
            browser.see("#banner [data-banner]", "Trying again since");
            browser.see("main.old [data-figure=delayed]", "1");
            server.start();
            browser.seeNo("#banner [data-banner]");
            own.waits("orders", "o2", Planted.IN_AN_HOUR);
            browser.see("[data-figure=delayed]");
            browser.seeNo("main.old");
        } finally {
            redisson.shutdown();
        }
    }

    @Test
    void should_say_that_the_page_itself_failed() {
        plant();
        show("#/queue?name=orders");
        browser.value("(URLSearchParams.prototype.get = () => { throw new Error('expected by the test'); }, 0)");
        browser.see("#banner [data-banner=page]", "The page itself failed: expected by the test");
    }

    @Test
    void should_fit_on_a_phone() {
        plant();
        browser.resize(360, 740);
        for (String screen : List.of(
                "#/",
                "#/queue?name=orders",
                "#/message?queue=orders&id=o1",
                "#/dead?queue=orders",
                "#/find?id=" + "x".repeat(200))) {
            show(screen);
            assertThat(browser.value("innerWidth + ' ' + document.documentElement.scrollWidth"))
                    .as(screen)
                    .isEqualTo("360 360");
        }
        show("#/message?queue=orders&id=o1");
        browser.click("[data-action=reschedule]");
        browser.see("dialog");
        assertThat(browser.is("document.querySelector('dialog').getBoundingClientRect().width <= 360"))
                .isTrue();
        assertThat(browser.is("document.querySelector('dialog').scrollWidth <= 360"))
                .isTrue();
    }

    private void plant() {
        planted.waits("orders", "o1", Planted.IN_AN_HOUR);
        planted.waits("orders", "a-long-id-without-any-place-to-break-it".repeat(5), Planted.IN_AN_HOUR);
        planted.bury(
                "orders",
                List.of(Planted.message("d1", Planted.LONG_AGO, "x".repeat(500), "text/plain", Map.of())),
                i -> Planted.failure(
                        "com.example.a.very.long.package.name.SomethingWentTerriblyWrongException",
                        "no place to break here either: " + "x".repeat(200),
                        "a-route-with-a-long-name",
                        "app-1.example.internal"));
    }
}
