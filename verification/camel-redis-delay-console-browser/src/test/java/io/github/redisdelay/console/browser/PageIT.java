// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.console.RedisDelayConsole;
import io.github.redisdelay.test.RedisExtension;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** A console on a real Redis with queues of the test's own, and its page in a browser: each test in each engine. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.github.redisdelay.console.browser.Engine#tried")
abstract class PageIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    @Parameter
    Engine engine;

    Planted planted;
    RedisDelayConsole console;
    Browser browser;

    @BeforeEach
    void openBrowser() {
        browser = engine.open();
        planted = new Planted(redis.client(), redis.keyPrefix());
        console = start(true);
    }

    RedisDelayConsole start(boolean actions) {
        return RedisDelayConsole.on(planted.client()).actions(actions).port(0).start();
    }

    @AfterEach
    void close() {
        if (browser == null) {
            return;
        }
        browser.close();
        console.close();
        planted.close();
    }

    /** Goes to a screen, such as {@code #/queue?name=orders}, and waits until it shows what it has read. */
    void show(String screen) {
        browser.open(console.url() + screen);
        browser.see("main[aria-busy=false] [data-screen]");
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Asserts that no script has failed, and that the policy had nothing to refuse. */
    void assertNoComplaints() {
        assertThat(browser.complaints()).isEmpty();
    }
}
