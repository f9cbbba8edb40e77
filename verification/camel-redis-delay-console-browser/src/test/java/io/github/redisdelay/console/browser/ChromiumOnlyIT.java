// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.console.RedisDelayConsole;
import io.github.redisdelay.test.RedisExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The behaviour that the other engine cannot show: it knows no dark colours, and no Trusted Types. */
class ChromiumOnlyIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private static final String BRIGHTNESS = "getComputedStyle(document.%s).%s.match(/[\\d.]+/g).slice(0, 3)"
            + ".reduce((sum, part) => sum + Number(part), 0)";

    @Test
    void should_be_dark_for_who_likes_it_dark() {
        try (Chromium browser = (Chromium) Engine.CHROMIUM.open();
                Planted planted = new Planted(redis.client(), redis.keyPrefix());
                RedisDelayConsole console =
                        RedisDelayConsole.on(planted.client()).port(0).start()) {
            browser.open(console.url());
            browser.see("[data-screen]");
            assertThat(brightness(browser, "documentElement", "backgroundColor"))
                    .isGreaterThan(600);
            assertThat(brightness(browser, "body", "color")).isLessThan(200);
            browser.dark();
            assertThat(brightness(browser, "documentElement", "backgroundColor"))
                    .isLessThan(200);
            assertThat(brightness(browser, "body", "color")).isGreaterThan(500);
        }
    }

    private static double brightness(Browser browser, String element, String colour) {
        return ((Number) browser.value(String.format(BRIGHTNESS, element, colour))).doubleValue();
    }

    @Test
    void should_let_nobody_make_elements_of_text() {
        try (Browser browser = Engine.CHROMIUM.open();
                Planted planted = new Planted(redis.client(), redis.keyPrefix());
                RedisDelayConsole console =
                        RedisDelayConsole.on(planted.client()).port(0).start()) {
            browser.open(console.url());
            browser.see("[data-screen]");
            assertThat(browser.complaints()).isEmpty();
            assertThat(
                            browser.value(
                                    "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'made'; } catch (e) { return e.name; } })()"))
                    .isEqualTo("TypeError");
            assertThat(browser.complaints()).anyMatch(complaint -> complaint.contains("TrustedHTML"));
        }
    }
}
