// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.main.Main;
import org.junit.jupiter.api.Test;

/** Behind {@code platform-http:} of Camel Main, which listens on all addresses by default. */
class PlatformHttpIT extends ProcessorIT {

    private final Main main = new Main();

    @Override
    protected void start(RouteBuilder routes) {
        main.addInitialProperty("camel.server.enabled", "true");
        main.addInitialProperty("camel.server.port", String.valueOf(port));
        main.configure().addRoutesBuilder(routes);
        main.start();
    }

    @Override
    protected String server() {
        return "platform-http:" + BASE + "?matchOnUriPrefix=true";
    }

    @Override
    protected void stop() {
        main.stop();
    }

    /** As nginx sends by default what it hands on, with a name of its own. */
    @Test
    void should_take_http_1_0_for_that_of_a_proxy() throws Exception {
        for (String version : List.of("1.0", "1.1")) {
            try (Socket socket = new Socket("127.0.0.1", port)) {
                String request = "GET " + BASE + "/api/me HTTP/" + version + "\r\nHost: localhost:" + port
                        + "\r\nConnection: close\r\n\r\n";
                socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
                String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(answer).contains(version.equals("1.0") ? " 403 " : " 200 ");
            }
        }
    }

    /** Which has no header Host. */
    @Test
    void should_answer_requests_of_http_2() throws Exception {
        HttpResponse<String> me = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + BASE + "/api/me"))
                                .build(),
                        BodyHandlers.ofString());
        assertThat(me.version()).isEqualTo(HttpClient.Version.HTTP_2);
        assertThat(me.statusCode()).as(me.body()).isEqualTo(200);
    }
}
