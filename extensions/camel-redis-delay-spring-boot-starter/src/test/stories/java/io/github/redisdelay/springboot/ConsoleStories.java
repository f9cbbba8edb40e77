// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.console.ConsoleAccess;
import io.github.redisdelay.console.ConsoleRights;
import io.github.redisdelay.console.RedisDelayConsole;
import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import org.apache.camel.builder.RouteBuilder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

/** The console in an application, with Spring Security and without it: the same on each Spring Boot. */
abstract class ConsoleStories {

    static final String WEB = "--spring.main.web-application-type=servlet";
    static final String ON = "--camel.redis-delay.console.enabled=true";

    static RedisServer redis;

    /** The argument that leaves out Spring Security, whose classes have other names in each Spring Boot. */
    abstract String withoutSecurity();

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.dedicated();
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {
        @Bean
        RouteBuilder orders() {
            return new RouteBuilder() {
                @Override
                public void configure() {
                    from("redis-delay:orders").process(exchange -> {});
                }
            };
        }
    }

    /** As an application may have it: its own users, and who may do what. */
    @Configuration
    static class Secured {
        @Bean
        SecurityFilterChain chain(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                    .httpBasic(basic -> {})
                    .csrf(csrf -> csrf.ignoringRequestMatchers("/redis-delay/**"))
                    .build();
        }

        @Bean
        ConsoleAccess access() {
            return request -> request.principal()
                    .map(user -> user.equals("ann") ? ConsoleRights.all() : ConsoleRights.read())
                    .orElse(ConsoleRights.none());
        }
    }

    static ConfigurableApplicationContext start(Class<?> more, String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of(
                "--server.port=0",
                "--spring.data.redis.host=" + redis.host(),
                "--spring.data.redis.port=" + redis.port()));
        Class<?>[] classes =
                more == null ? new Class<?>[] {Application.class} : new Class<?>[] {Application.class, more};
        return SpringApplication.run(classes, all.toArray(String[]::new));
    }

    static int port(ConfigurableApplicationContext started) {
        return started.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    /** Sends a request from this machine, and returns the status and all that comes behind it. */
    private static String send(int port, String line, String... headers) throws IOException {
        return send(InetAddress.getByName("127.0.0.1"), port, line, "", headers);
    }

    private static String send(InetAddress server, int port, String line, String body, String... headers)
            throws IOException {
        try (Socket socket = new Socket(server, port)) {
            StringBuilder request = new StringBuilder(line)
                    .append(" HTTP/1.1\r\nHost: localhost:")
                    .append(port)
                    .append("\r\nConnection: close\r\n");
            for (String header : headers) {
                request.append(header).append("\r\n");
            }
            socket.getOutputStream()
                    .write(request.append("\r\n").append(body).toString().getBytes(StandardCharsets.UTF_8));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return answer.substring("HTTP/1.1 ".length());
        }
    }

    private static String login(String user) {
        return "Authorization: Basic "
                + Base64.getEncoder().encodeToString((user + ":pw").getBytes(StandardCharsets.UTF_8));
    }

    private static String change(int port, String path, String... headers) throws IOException {
        List<String> all = new ArrayList<>(List.of(headers));
        all.addAll(List.of("Content-Type: application/json", "X-Redis-Delay-Console: 1", "Content-Length: 18"));
        return send(
                InetAddress.getByName("127.0.0.1"),
                port,
                "POST " + path,
                "{\"queue\":\"orders\"}",
                all.toArray(String[]::new));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "no", "false"})
    void should_be_off_by_default_and_by_each_word_that_says_so(String enabled) throws IOException {
        String off = enabled.isEmpty() ? "--x" : "--camel.redis-delay.console.enabled=" + enabled;
        try (ConfigurableApplicationContext started = start(null, WEB, withoutSecurity(), off)) {
            assertThat(started.getBeanNamesForType(RedisDelayConsole.class)).isEmpty();
            assertThat(send(port(started), "GET /redis-delay/api/me")).startsWith("404 ");
        }
    }

    @Test
    void should_be_for_local_browsers_without_spring_security() throws IOException {
        try (ConfigurableApplicationContext started = start(
                null,
                WEB,
                withoutSecurity(),
                ON,
                "--camel.redis-delay.console.environment=TEST",
                "--server.servlet.context-path=/shop")) {
            int port = port(started);
            assertThat(send(port, "GET /shop/redis-delay/api/me"))
                    .startsWith("200 ")
                    .contains("\"TEST\"", "\"readOnly\":true");
            assertThat(send(port, "GET /shop/redis-delay/")).startsWith("200 ").contains("<!DOCTYPE html>");
            assertThat(send(port, "GET /shop/redis-delay")).startsWith("308 ").contains("Location: redis-delay/");
            assertThat(send(port, "GET /shop/redis-delay/nothing"))
                    .startsWith("404 ")
                    .contains("\"notFound\"");
            assertThat(send(port, "GET /shop/redis-delays/api/me"))
                    .startsWith("404 ")
                    .doesNotContain("\"notFound\"");
            assertThat(send(port, "GET /shop/redis-delay/api/me", "X-Forwarded-For: 127.0.0.1"))
                    .startsWith("403 ");
            assertThat(change(port, "/shop/redis-delay/api/pause"))
                    .startsWith("403 ")
                    .contains("\"readOnly\"");
            for (NetworkInterface card : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                for (InetAddress address : Collections.list(card.getInetAddresses())) {
                    assertThat(send(address, port, "GET /shop/redis-delay/api/me", ""))
                            .as(address.toString())
                            .startsWith(address.isLoopbackAddress() ? "200 " : "403 ");
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"framework", "native"})
    void should_not_be_for_those_whom_a_header_makes_local(String strategy) throws IOException {
        try (ConfigurableApplicationContext started =
                start(null, WEB, withoutSecurity(), ON, "--server.forward-headers-strategy=" + strategy)) {
            int port = port(started);
            // Tomcat says of each request that it has looked, and takes the header away: nobody can tell any more.
            assertThat(send(port, "GET /redis-delay/api/me")).startsWith(strategy.equals("native") ? "403 " : "200 ");
            for (String header :
                    List.of("X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: 10.0.0.7", "Forwarded: for=127.0.0.1")) {
                assertThat(send(port, "GET /redis-delay/api/me", header))
                        .as(header)
                        .startsWith("403 ");
            }
        }
    }

    @Test
    void should_be_behind_spring_security() throws IOException {
        try (ConfigurableApplicationContext started = start(
                null,
                WEB,
                ON,
                "--camel.redis-delay.console.path=/ops/queues",
                "--camel.redis-delay.console.actions=true",
                "--spring.security.user.name=ann",
                "--spring.security.user.password=pw")) {
            int port = port(started);
            assertThat(send(port, "GET /ops/queues/api/me")).startsWith("401 ").doesNotContain("\"forbidden\"");
            assertThat(send(port, "GET /ops/queues/api/me", login("ann")))
                    .startsWith("200 ")
                    .contains("\"user\":\"ann\"");
            assertThat(send(port, "GET /ops/queues/api/me", login("ann"), "X-Forwarded-For: 10.0.0.7"))
                    .as("without an access hook only local browsers are let in, whoever they are")
                    .startsWith("403 ");
            assertThat(change(port, "/ops/queues/api/pause", login("ann")))
                    .as("Spring Security's own guard against other sites")
                    .startsWith("401 ");
        }
    }

    @Test
    void should_give_the_rights_that_the_applications_hook_gives() throws IOException {
        for (String user : List.of("ann", "bob")) {
            try (ConfigurableApplicationContext started = start(
                    Secured.class,
                    WEB,
                    ON,
                    "--camel.redis-delay.console.actions=true",
                    "--spring.security.user.name=" + user,
                    "--spring.security.user.password=pw")) {
                int port = port(started);
                assertThat(send(port, "GET /redis-delay/api/me")).startsWith("401 ");
                assertThat(send(port, "GET /redis-delay/api/me", login(user), "X-Forwarded-For: 10.0.0.7"))
                        .startsWith("200 ");
                assertThat(change(port, "/redis-delay/api/pause", login(user)))
                        .startsWith(user.equals("ann") ? "200 " : "403 ");
                assertThat(change(port, "/redis-delay/api/resume", login(user)))
                        .startsWith(user.equals("ann") ? "200 " : "403 ");
            }
        }
    }

    @Test
    void should_listen_by_itself_where_there_are_no_servlets() throws IOException {
        RedisDelayConsole console;
        int port;
        try (ConfigurableApplicationContext started = start(null, ON, "--camel.redis-delay.console.port=0")) {
            console = started.getBean(RedisDelayConsole.class);
            port = URI.create(console.url()).getPort();
            assertThat(send(port, "GET /api/me")).startsWith("200 ");
        }
        assertThatThrownBy(console::url).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> send(port, "GET /api/me")).isInstanceOf(IOException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--camel.redis-delay.console.host=0.0.0.0",
                "--camel.redis-delay.console.port=70000",
                "--camel.redis-delay.console.hidden-headers=("
            })
    void should_not_start_with_what_is_wrong(String wrong) {
        assertThatThrownBy(() -> start(null, ON, wrong).close())
                .rootCause()
                .hasMessageMatching("(?s).*(access hook|port is 70000|Unclosed group).*");
    }
}
