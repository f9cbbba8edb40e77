// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.queue.ClientOptions;
import io.github.redisdelay.queue.client.DelayQueueClient;
import io.github.redisdelay.test.RedisExtension;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RedisDelayConsoleIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    private final HttpClient http = HttpClient.newHttpClient();

    private HttpResponse<String> get(String url) throws Exception {
        return http.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString());
    }

    @Test
    void should_serve_the_page_and_who_one_is() throws Exception {
        try (DelayQueueClient client = DelayQueueClient.create(redis.client(), ClientOptions.DEFAULTS);
                RedisDelayConsole console = RedisDelayConsole.on(client).port(0).start()) {
            HttpResponse<String> page = get(console.url());
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Type")).contains("text/html; charset=utf-8");
            assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                    .startsWith("default-src 'none';");
            HttpResponse<String> me = get(console.url() + "api/me");
            assertThat(me.statusCode()).isEqualTo(200);
            assertThat(me.body()).contains("\"readOnly\":true");
        }
    }

    @Test
    void should_stop_with_the_context_and_leave_no_thread() throws Exception {
        String url;
        try (DefaultCamelContext context = new DefaultCamelContext()) {
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("redis-delay:" + redis.uniqueQueue() + "?address=" + redis.address())
                            .to("log:received");
                }
            });
            RedisDelayConsole console = RedisDelayConsole.on(context).port(0).start();
            context.start();
            url = console.url();
            assertThat(get(url + "api/me").statusCode()).isEqualTo(200);
        }
        assertThatThrownBy(() -> get(url)).isInstanceOf(java.net.ConnectException.class);
        Awaitility.await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> assertThat(
                        Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .noneMatch(name -> name.startsWith("RedisDelayConsole") || name.startsWith("HTTP-Dispatcher")));
    }
}
