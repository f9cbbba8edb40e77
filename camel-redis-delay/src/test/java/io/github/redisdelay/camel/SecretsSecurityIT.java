// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.connection.ConnectionSettings;
import io.github.redisdelay.queue.exception.ErrorText;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.AllLogs;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.camel.Endpoint;
import org.apache.camel.ServiceStatus;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.health.HealthCheck;
import org.apache.camel.health.HealthCheckHelper;
import org.apache.camel.health.HealthCheckRegistry;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.main.Main;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The password is in no log, no exception and nothing that JMX shows, however it was given and whatever fails. */
@Timeout(180)
class SecretsSecurityIT {

    private static final String SECRET = "s3cr3t-Pa55word";
    private static final String WRONG = "wr0ng-Pa55word";

    private static RedisServer server;

    @TempDir
    Path folder;

    private AllLogs logs;
    private DefaultCamelContext context;
    private final List<String> shown = new ArrayList<>();
    private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();

    @BeforeAll
    static void start() throws Exception {
        server = RedisServer.dedicated("requirepass " + SECRET, "slowlog-log-slower-than 0", "slowlog-max-len 1000");
        redis("ACL SETUSER shop on >" + SECRET + " ~* &* +@all");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        logs = new AllLogs(Level.DEBUG);
        context = new DefaultCamelContext();
    }

    @AfterEach
    void close() throws Exception {
        context.close();
        List<String> lines = logs.lines();
        logs.close();
        assertHidden(lines);
        assertHidden(shown);
    }

    private static void assertHidden(List<String> texts) {
        assertThat(texts.stream()
                        .filter(text -> text.contains(SECRET) || text.contains(WRONG))
                        .toList())
                .as("texts with a password")
                .isEmpty();
    }

    private static String redis(String command) throws Exception {
        String end = "end-" + System.nanoTime();
        try (Socket socket = new Socket(server.host(), server.port())) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write(("AUTH " + SECRET + "\r\n" + command + "\r\nPING " + end + "\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            BufferedReader answers =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            StringBuilder all = new StringBuilder();
            for (String line = answers.readLine(); !line.equals(end); line = answers.readLine()) {
                all.append(line).append('\n');
            }
            return all.toString();
        }
    }

    private RedisDelayConfiguration options() {
        return context.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration();
    }

    private String hostAndPort() {
        return server.host() + ":" + server.port();
    }

    private RouteBuilder route(String options) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:secrets" + options).routeId("secrets").process(exchange -> received.add("got it"));
            }
        };
    }

    private void start(String options) throws Exception {
        context.addRoutes(route(options));
        context.start();
    }

    /** Starts, which must fail, and takes what the user sees of it. */
    private void assertFails(String options, String... messages) {
        Throwable error = catchThrowable(() -> start(options));
        assertThat(error).isNotNull();
        String trace = text(error);
        assertThat(trace).contains(messages);
        shown.add(trace);
    }

    private static String text(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    // Errors at the start.

    /** A configuration, and the words that its failure has to say. */
    private record Failing(Consumer<RedisDelayConfiguration> configuration, String options, List<String> messages) {}

    private static Failing failing(String address, String options, String... messages) {
        return new Failing(configuration -> configuration.setAddress(address), options, List.of(messages));
    }

    /** Starts contexts beside one another, as each takes its time to give up, and takes what users see of it. */
    private void assertAllFail(List<Failing> all) {
        ExecutorService beside = Executors.newCachedThreadPool();
        try {
            List<Future<String>> traces = new ArrayList<>();
            for (Failing failing : all) {
                traces.add(beside.submit(() -> {
                    try (DefaultCamelContext own = new DefaultCamelContext()) {
                        failing.configuration()
                                .accept(own.getComponent("redis-delay", RedisDelayComponent.class)
                                        .getConfiguration());
                        own.addRoutes(route(failing.options()));
                        return text(catchThrowable(own::start));
                    }
                }));
            }
            for (int i = 0; i < all.size(); i++) {
                String trace = traces.get(i).get(120, TimeUnit.SECONDS);
                assertThat(trace).contains("cannot be");
                assertThat(all.get(i).messages())
                        .allSatisfy(message -> assertThat(trace).contains(message));
                shown.add(trace);
            }
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(e);
        } finally {
            beside.shutdownNow();
        }
    }

    @Test
    void should_hide_the_password_whatever_fails_at_the_start() throws Exception {
        try (ServerSocket plain = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread answers = new Thread(() -> {
                while (!plain.isClosed()) {
                    try (Socket socket = plain.accept()) {
                        socket.getOutputStream().write("-ERR no TLS here\r\n".getBytes(StandardCharsets.US_ASCII));
                    } catch (IOException e) {
                        // the end, or a client that has gone
                    }
                }
            });
            answers.setDaemon(true);
            answers.start();
            String noTls = plain.getInetAddress().getHostAddress() + ":" + plain.getLocalPort();
            String refused = "Redis at " + server.address() + " cannot be used";
            assertAllFail(List.of(
                    new Failing(
                            configuration -> {
                                configuration.setAddress(server.address());
                                configuration.setPassword(WRONG);
                            },
                            "",
                            List.of(refused, "WRONGPASS")),
                    failing("redis://shop:" + WRONG + "@" + hostAndPort(), "", refused, "WRONGPASS"),
                    failing("redis://" + WRONG + "@" + hostAndPort(), "", refused, "WRONGPASS"),
                    failing(
                            null,
                            "?password=RAW(" + WRONG + ")&username=shop&address=redis://" + hostAndPort(),
                            refused,
                            "WRONGPASS"),
                    failing(
                            null,
                            "?requestTimeout=3s&address=redis://shop:" + WRONG + "@" + hostAndPort(),
                            refused,
                            "WRONGPASS"),
                    failing("redis://shop:" + SECRET + "@127.0.0.1:1", "", "Redis at redis://127.0.0.1:1 cannot"),
                    failing("rediss://shop:" + SECRET + "@127.0.0.1:1", "", "Redis at rediss://127.0.0.1:1 cannot"),
                    failing("redis://:" + SECRET + "@no.invalid", "", "Redis at redis://no.invalid:6379 cannot"),
                    failing("rediss://shop:" + SECRET + "@" + noTls, "", "Redis at rediss://" + noTls + " cannot")));
        }
    }

    static List<String> badAddresses() {
        return List.of(
                "redis://shop:%s@",
                "redis://shop:%s",
                "redis://shop:%s/x@host:6379",
                "redis://shop:x/%s@host:6379",
                "redis://shop:x#%s@host:6379",
                "redis://shop:%s#x@host:6379",
                "redis://shop:%s?x@host:6379",
                "redis://shop:x?%s@host:6379",
                "redis://shop:x@%s@host:6379/a/b",
                "redis://host:6379?password=%s",
                "redis://host:6379/?password=a@%s",
                "redis://host:6379/0#%s",
                "redis://host:6379/%s",
                "redis:shop:%s@host:6379",
                "redis:/shop:%s@host:6379",
                "redis//shop:%s@host:6379",
                "http://shop:%s@host:6379",
                "shop:%s@host:6379",
                ":%s@host",
                "//shop:%s@host:6379",
                "redis://shop:%s @host:6379",
                "redis://shop: %s@host:6379",
                "redis://shop:%%zz%s@host:6379",
                "redis://host :%s",
                "redis://[::1:%s@host:6379",
                "redis://shop:%s@host:port");
    }

    @ParameterizedTest
    @MethodSource("badAddresses")
    void should_hide_the_password_in_an_address_that_is_none(String form) {
        options().setAddress(form.formatted(SECRET));
        assertFails("", "option 'address'");
        assertHidden(List.of(ConnectionSettings.withoutCredentials(form.formatted(SECRET))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://localhost:6379",
                "rediss://redis.example.com:6380",
                "redis://[::1]:6379",
                "redis://10.0.0.1:6379/2",
                "localhost:6379",
                "redis://localhost"
            })
    void should_show_an_address_without_a_password_as_it_is(String address) {
        assertThat(ConnectionSettings.withoutCredentials(address)).isEqualTo(address);
        assertThat(ConnectionSettings.withoutCredentials(address.replace("//", "//shop:" + SECRET + "@")))
                .isEqualTo(address);
    }

    @Test
    void should_hide_the_passwords_of_a_redisson_file() throws Exception {
        Files.writeString(folder.resolve("bad.jks"), "no key store");
        List<Failing> all = new ArrayList<>();
        ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        for (String yaml : List.of(
                "singleServerConfig:\n  address: \"redis://HOST\"\n  password: \"" + WRONG + "\"\n",
                "singleServerConfig:\n  address: \"redis://shop:" + WRONG + "@HOST\"\n",
                "singleServerConfig:\n  address: \"redis://shop:" + SECRET + "@127.0.0.1:1\"\n",
                "singleServerConfig:\n  address: \"redis://shop:" + SECRET + "@SILENT\"\n",
                "clusterServersConfig:\n  nodeAddresses:\n  - \"redis://shop:" + SECRET + "@SILENT\"\n",
                "singleServerConfig:\n  address: \"redis://shop:" + SECRET + "@HOSTx\"\n",
                "singleServerConfig:\n  address: \"nothing://shop:" + SECRET + "@HOST\"\n",
                "clusterServersConfig:\n  password: \"" + SECRET + "\"\n  nodeAddresses:\n  - \"redis://HOST\"\n",
                "clusterServersConfig:\n  nodeAddresses:\n  - \"redis://shop:" + WRONG + "@HOST\"\n",
                "sentinelServersConfig:\n  masterName: m\n  sentinelPassword: \"" + WRONG
                        + "\"\n  sentinelAddresses:\n  - \"redis://HOST\"\n",
                "singleServerConfig:\n  address: \"rediss://HOST\"\n  sslKeystore: \"file:FOLDER/none.jks\"\n"
                        + "  sslKeystorePassword: \"" + SECRET + "\"\n",
                "singleServerConfig:\n  address: \"rediss://HOST\"\n  sslTruststore: \"file:FOLDER/bad.jks\"\n"
                        + "  sslTruststorePassword: \"" + SECRET + "\"\n",
                "singleServerConfig:\n  address: \"redis://HOST\"\n  password: \"" + SECRET + "\n  x: {\n",
                "singleServerConfig:\n  adress: \"redis://HOST\"\n  password: \"" + SECRET + "\"\n",
                "password: \"" + SECRET + "\"\n")) {
            Path file = Files.writeString(
                    folder.resolve("redisson" + all.size() + ".yaml"),
                    yaml.replace("HOST", hostAndPort())
                            .replace("SILENT", "127.0.0.1:" + silent.getLocalPort())
                            .replace("FOLDER", folder.toString())
                            .replaceFirst(
                                    "ServersConfig:\n|ServerConfig:\n",
                                    "$0  connectTimeout: 500\n  retryAttempts: 0\n"));
            all.add(new Failing(configuration -> configuration.setConfigurationUri("file:" + file), "", List.of()));
        }
        try (silent) {
            assertAllFail(all);
        }
    }

    @Test
    void should_hide_the_password_in_the_location_of_a_redisson_file() {
        options().setConfigurationUri("http://shop:" + SECRET + "@127.0.0.1:1/redisson.yaml?token=" + SECRET);
        assertFails("", "option 'configurationUri': http://127.0.0.1:1/redisson.yaml… cannot be read");
        RedisDelayConfiguration both = new RedisDelayConfiguration();
        both.setConfigurationUri("http://shop:" + SECRET + "@127.0.0.1:1/redisson.yaml?token=" + SECRET);
        shown.add(new OptionReader(both).connection().toString());
        both.setAddress("redis://localhost");
        shown.add(text(catchThrowable(new OptionReader(both)::connection)));
        for (String password : List.of("s3/" + SECRET, SECRET + "/x", "x?" + SECRET, SECRET + "@x")) {
            RedisDelayConfiguration odd = new RedisDelayConfiguration();
            odd.setConfigurationUri("http://shop:" + password + "@127.0.0.1:1/redisson.yaml");
            shown.add(new OptionReader(odd).connection().toString());
        }
    }

    // Running contexts.

    @Test
    void should_log_in_with_the_credentials_in_the_address_of_a_redisson_file() throws Exception {
        Path file = Files.writeString(
                folder.resolve("redisson.yaml"),
                "singleServerConfig:\n  address: \"redis://shop:" + SECRET + "@" + hostAndPort() + "\"\n");
        options().setConfigurationUri("file:" + file);
        register();
        start("");
        context.createProducerTemplate().sendBody("redis-delay:secrets", "x");
        assertThat(received.poll(20, TimeUnit.SECONDS)).isNotNull();
        look();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "?address=redis://%2$s&password=%1$s",
                "?password=RAW(%1$s)&address=redis://%2$s&username=shop",
                "?address=redis://shop:%1$s@%2$s",
                "?address=RAW(redis://shop:%1$s@%2$s)",
                "?requestTimeout=3s&partitions=1&address=redis://shop:%1$s@%2$s",
                "?requestTimeout=3s&partitions=1&address=redis://:%1$s@%2$s",
                "?requestTimeout=3s&password=%1$s&address=redis://%2$s"
            })
    void should_show_no_password_of_an_endpoint_that_runs(String form) throws Exception {
        register();
        start(form.formatted(SECRET, hostAndPort()));
        context.createProducerTemplate().sendBody("redis-delay:secrets" + form.formatted(SECRET, hostAndPort()), "x");
        assertThat(received.poll(20, TimeUnit.SECONDS)).isNotNull();
        look();
    }

    @Test
    void should_show_no_password_of_the_component_that_runs_and_then_loses_redis() throws Exception {
        try (RedisServer own = RedisServer.dedicated("requirepass " + SECRET)) {
            options().setAddress(own.address().replace("//", "//:" + SECRET + "@"));
            options().setRequestTimeout("2s");
            register();
            start("");
            context.createProducerTemplate().sendBody("redis-delay:secrets", "x");
            assertThat(received.poll(20, TimeUnit.SECONDS)).isNotNull();
            look();
            // The consumer will want to claim.
            context.createProducerTemplate().sendBody("redis-delay:secrets?delay=4s", "x");
            own.kill();
            Throwable error =
                    catchThrowable(() -> context.createProducerTemplate().sendBody("redis-delay:secrets", "y"));
            shown.add(text(error));
            RedisDelayConsumer consumer =
                    (RedisDelayConsumer) context.getRoute("secrets").getConsumer();
            await().atMost(Duration.ofSeconds(60)).until(() -> consumer.claims().lastError() != null);
            shown.add(text(consumer.claims().lastError()));
            shown.add(String.valueOf(consumer.claims().failingFor()));
            // So that what the consumer has to say can be said.
            own.start();
        }
    }

    @Test
    void should_show_no_password_that_a_placeholder_gives() throws Exception {
        context.getPropertiesComponent().addInitialProperty("redis.password", SECRET);
        context.getPropertiesComponent()
                .addInitialProperty("redis.address", "redis://shop:" + SECRET + "@" + hostAndPort());
        register();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:secrets?address=redis://" + hostAndPort() + "&password=RAW({{redis.password}})")
                        .routeId("secrets")
                        .process(exchange -> received.add("got it"));
                from("direct:a")
                        .to("redis-delay:secrets?requestTimeout=2s&keyPrefix=redis-delay&address={{redis.address}}");
            }
        });
        context.start();
        context.createProducerTemplate().sendBody("direct:a", "x");
        assertThat(received.poll(20, TimeUnit.SECONDS)).isNotNull();
        look();
        // A route as it was written.
        shown.add(dump(false));
    }

    @Test
    void should_show_no_password_to_camel_main() throws Exception {
        Main main = new Main();
        try {
            main.addInitialProperty("camel.component.redis-delay.address", server.address());
            main.addInitialProperty("camel.component.redis-delay.username", "shop");
            main.addInitialProperty("camel.component.redis-delay.password", SECRET);
            main.configure().addRoutesBuilder(route(""));
            main.start();
            main.getCamelContext().createProducerTemplate().sendBody("redis-delay:secrets", "x");
            assertThat(received.poll(20, TimeUnit.SECONDS)).isNotNull();
        } finally {
            main.stop();
        }
    }

    /** A server's log of slow commands has the arguments of all of them. */
    @Test
    void should_leave_no_password_in_the_servers_own_records() throws Exception {
        options().setAddress("redis://shop:" + SECRET + "@" + hostAndPort());
        try (Socket socket = new Socket(server.host(), server.port())) {
            socket.setSoTimeout(10_000);
            BufferedReader seen =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            socket.getOutputStream().write(("AUTH " + SECRET + "\r\nMONITOR\r\n").getBytes(StandardCharsets.US_ASCII));
            assertThat(seen.readLine()).isEqualTo("+OK");
            assertThat(seen.readLine()).isEqualTo("+OK");
            start("");
            context.createProducerTemplate().sendBody("redis-delay:secrets", "x");
            assertThat(received.poll(20, TimeUnit.SECONDS)).isNotNull();
            redis("PING the-last-one");
            int commands = 0;
            for (String line = seen.readLine(); !line.contains("the-last-one"); line = seen.readLine()) {
                shown.add(line);
                commands++;
            }
            assertThat(commands).isGreaterThan(3);
        }
        shown.add(redis("SLOWLOG GET 1000"));
        shown.add(redis("CLIENT LIST"));
        assertThat(shown.get(shown.size() - 2))
                .contains("redis-delay:{secrets}")
                .contains("AUTH");
    }

    @Test
    void should_log_no_body_and_no_header_but_ids() throws Exception {
        logs.close();
        logs = new AllLogs(Level.INFO);
        try (RedisServer own = RedisServer.dedicated("maxmemory-policy noeviction")) {
            options().setAddress(own.address());
            options().setRequestTimeout("2s");
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    errorHandler(noErrorHandler());
                    from("redis-delay:bodies?maximumRedeliveries=1&redeliveryDelay=10ms")
                            .routeId("secrets")
                            .process(exchange -> {
                                received.add(exchange.getMessage().getBody());
                                throw new IllegalStateException("no");
                            });
                }
            });
            context.start();
            var template = context.createProducerTemplate();
            Map<String, Object> headers =
                    Map.of("card", SECRET, RedisDelayConstants.SCHEDULE_ID, "the-id", "list", List.of(SECRET));
            template.sendBodyAndHeaders("redis-delay:bodies", SECRET, headers);
            for (int i = 0; i < 2; i++) {
                assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo(SECRET);
            }
            await().untilAsserted(() ->
                    assertThat(logs.lines()).anySatisfy(line -> assertThat(line).contains("the-id", "is given up")));
            // Refused, unreadable, cut off.
            for (Object body : List.of(List.of(SECRET), Map.of("a", SECRET))) {
                shown.add(text(catchThrowable(() -> template.sendBody("redis-delay:bodies", body))
                        .getCause()));
            }
            shown.add(text(catchThrowable(() -> template.sendBody("redis-delay:bodies?maximumMessageSize=3", SECRET))
                    .getCause()));
            template.sendBody("redis-delay:bodies?delay=4s", SECRET);
            own.kill();
            shown.add(text(catchThrowable(() ->
                            template.sendBodyAndHeaders("redis-delay:bodies?delay=1h", SECRET.repeat(100), headers))
                    .getCause()));
            RedisDelayConsumer consumer =
                    (RedisDelayConsumer) context.getRoute("secrets").getConsumer();
            await().atMost(Duration.ofSeconds(60)).until(() -> consumer.claims().lastError() != null);
            own.start();
        }
    }

    // Where people look.

    private void register() {
        HealthCheckRegistry registry = HealthCheckRegistry.get(context);
        registry.register(registry.resolveById("consumers"));
    }

    /** Takes all that Camel shows of a context that runs. */
    private void look() throws Exception {
        assertThat(context.getRouteController().getRouteStatus("secrets")).isEqualTo(ServiceStatus.Started);
        for (Endpoint endpoint : context.getEndpoints()) {
            shown.add(endpoint.toString());
            shown.add(endpoint.getEndpointBaseUri());
            if (endpoint instanceof RedisDelayEndpoint own) {
                shown.add(own.getServiceUrl());
                shown.add(String.valueOf(own.getServiceMetadata()));
                shown.add(own.getServiceProtocol());
                // Camel masks what it shows of it; this is not shown.
                assertThat(own.getEndpointUri()).startsWith("redis-delay://secrets");
            }
        }
        // Camel's developer console shows this beside the figures.
        RedisDelayComponent.consumers(context)
                .map(RedisDelayConsumer::claims)
                .filter(claims -> claims != null && claims.lastError() != null)
                .forEach(claims -> shown.add(ErrorText.of(claims.lastError())));
        shown.add(String.valueOf(context.getRoute("secrets").getConsumer()));
        shown.add(String.valueOf(context.getRoute("secrets").getEndpoint()));
        shown.add(String.valueOf(context.getRoute("secrets")));
        for (HealthCheck.Result result : HealthCheckHelper.invoke(context)) {
            shown.add(result.getState() + " " + result.getMessage() + " " + result.getDetails() + " "
                    + result.getError().map(SecretsSecurityIT::text).orElse(""));
        }
        MBeanServer beans = context.getManagementStrategy().getManagementAgent() == null
                ? ManagementFactory.getPlatformMBeanServer()
                : context.getManagementStrategy().getManagementAgent().getMBeanServer();
        int attributes = 0;
        for (ObjectName name : beans.queryNames(
                new ObjectName("org.apache.camel:context=" + context.getManagementName() + ",*"), null)) {
            shown.add(name.toString());
            for (MBeanAttributeInfo attribute : beans.getMBeanInfo(name).getAttributes()) {
                try {
                    Object value = beans.getAttribute(name, attribute.getName());
                    shown.add(name + " " + attribute.getName() + "="
                            + (value instanceof Object[] all ? Arrays.deepToString(all) : value));
                    attributes++;
                } catch (Exception e) {
                    shown.add(text(e));
                }
            }
        }
        assertThat(attributes).as("attributes of JMX").isGreaterThan(50);
    }

    private String dump(boolean resolvePlaceholders) throws Exception {
        MBeanServer beans = context.getManagementStrategy().getManagementAgent().getMBeanServer();
        ObjectName name = beans.queryNames(
                        new ObjectName("org.apache.camel:context=" + context.getManagementName() + ",type=context,*"),
                        null)
                .iterator()
                .next();
        return String.valueOf(
                beans.invoke(name, "dumpRoutesAsXml", new Object[] {resolvePlaceholders}, new String[] {"boolean"}));
    }
}
