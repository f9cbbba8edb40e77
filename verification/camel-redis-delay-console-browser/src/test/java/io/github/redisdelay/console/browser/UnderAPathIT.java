// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.console.RedisDelayConsole;
import io.github.redisdelay.test.TestPorts;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.main.Main;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The console behind the HTTP server of Camel Main, under a path of its own. */
class UnderAPathIT extends PageIT {

    private static final String BASE = "/a/b/redis-delay";

    private final Main main = new Main();
    private RedisDelayConsole behind;
    private int port;

    @BeforeEach
    void startMain() throws Exception {
        port = TestPorts.next();
        behind = RedisDelayConsole.on(planted.client()).actions(true);
        main.addInitialProperty("camel.server.enabled", "true");
        main.addInitialProperty("camel.server.port", String.valueOf(port));
        main.configure().addRoutesBuilder(new RouteBuilder() {
            @Override
            public void configure() {
                from("platform-http:" + BASE + "?matchOnUriPrefix=true").process(behind.processor());
            }
        });
        main.start();
    }

    @AfterEach
    void stopMain() {
        main.stop();
        behind.close();
    }

    @Test
    void should_work_under_a_path() {
        planted.waits("orders", "o1", Planted.IN_AN_HOUR);
        browser.open("http://localhost:" + port + BASE + "/");
        browser.see("tr[data-queue=orders]");
        browser.click("tr[data-queue=orders] a");
        browser.click("#messages tr[data-id=o1] a");
        browser.see("article[data-id=o1]");
        browser.click("[data-action=cancel]");
        browser.click("dialog [data-dialog=go]");
        browser.see("#told [data-outcome=done]");
        assertThat(planted.stats("orders").delayed()).isZero();
    }
}
