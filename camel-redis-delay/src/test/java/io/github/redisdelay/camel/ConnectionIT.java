// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.redisdelay.test.RedisExtension;
import io.github.redisdelay.test.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.Exchange;
import org.apache.camel.Producer;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Where the RedissonClient comes from, and who closes it. */
class ConnectionIT {

    @RegisterExtension
    static RedisExtension redis = new RedisExtension();

    @TempDir
    Path folder;

    private final DefaultCamelContext context = CamelRedisIT.newContext();
    private String queue;

    @BeforeEach
    void name() {
        queue = redis.uniqueQueue();
    }

    @AfterEach
    void close() throws Exception {
        context.close();
    }

    private RedisDelayComponent component() {
        return context.getComponent("redis-delay", RedisDelayComponent.class);
    }

    private void assertRoundTrip(String options) throws Exception {
        BlockingQueue<Object> received = new LinkedBlockingQueue<>();
        String uri = "redis-delay:" + queue + options;
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from(uri).process(exchange -> received.add(exchange.getMessage().getBody()));
            }
        });
        context.start();
        context.createProducerTemplate().sendBody(uri, "x");
        assertThat(received.poll(10, TimeUnit.SECONDS)).isEqualTo("x");
    }

    private static RedissonClient newClient() {
        Config config = new Config();
        config.useSingleServer().setAddress(redis.address()).setConnectionMinimumIdleSize(1);
        return Redisson.create(config);
    }

    @Test
    void should_find_the_only_client_of_the_registry_and_leave_it_open() throws Exception {
        RedissonClient given = newClient();
        try {
            context.getRegistry().bind("anyName", given);
            assertRoundTrip("");
            assertThat(component().getConfiguration().getRedisson()).isSameAs(given);
            context.stop();
            assertThat(given.isShutdown()).isFalse();
        } finally {
            given.shutdown();
        }
    }

    @Test
    void should_take_a_client_by_reference_among_several() throws Exception {
        RedissonClient given = newClient();
        RedissonClient other = newClient();
        try {
            context.getRegistry().bind("one", given);
            context.getRegistry().bind("two", other);
            assertRoundTrip("?redisson=#one");
            context.stop();
            assertThat(given.isShutdown()).isFalse();
        } finally {
            given.shutdown();
            other.shutdown();
        }
    }

    @Test
    void should_say_which_clients_there_are_if_none_was_chosen() throws Exception {
        RedissonClient given = newClient();
        RedissonClient other = newClient();
        try {
            context.getRegistry().bind("one", given);
            context.getRegistry().bind("two", other);
            assertThatThrownBy(() -> assertRoundTrip(""))
                    .hasStackTraceContaining("it has 2; of several, option 'redisson' chooses one");
        } finally {
            given.shutdown();
            other.shutdown();
        }
    }

    @Test
    void should_say_what_to_set_if_there_is_no_redis_at_all() {
        assertThatThrownBy(() -> assertRoundTrip(""))
                .hasStackTraceContaining("camel.component.redis-delay.address to redis://host:6379");
    }

    @Test
    void should_connect_a_producer_that_is_started_lazily_with_its_first_message() throws Exception {
        component().getConfiguration().setAddress(redis.address());
        context.start();
        context.addRoutes(sending("direct:lazy", "?lazyStartProducer=true"));
        assertThat(component().clients().connections()).isZero();
        context.createProducerTemplate().sendBody("direct:lazy", "x");
        assertThat(component().clients().connections()).isOne();
    }

    @Test
    void should_connect_another_producer_when_it_is_started() throws Exception {
        component().getConfiguration().setAddress(redis.address());
        context.start();
        context.addRoutes(sending("direct:eager", ""));
        assertThat(component().clients().connections()).isOne();
    }

    private RouteBuilder sending(String from, String options) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                from(from).to("redis-delay:" + queue + options);
            }
        };
    }

    @Test
    void should_make_a_client_from_an_address_and_close_it() throws Exception {
        component().getConfiguration().setAddress(redis.address());
        assertRoundTrip("");
        assertThat(component().clients().connections()).isOne();
        RedisDelayConfiguration options = component().getConfiguration();
        var held =
                component().acquireClient(new OptionReader(options).connection(), new OptionReader(options).client());
        RedissonClient made = held.get().connection().get().redisson();
        held.release();
        context.stop();
        assertThat(made.isShutdown()).isTrue();
    }

    @Test
    void should_let_an_address_win_over_a_client_that_was_only_autowired() throws Exception {
        Config config = new Config();
        config.setLazyInitialization(true);
        config.useSingleServer().setAddress("redis://127.0.0.1:1").setConnectionMinimumIdleSize(1);
        RedissonClient elsewhere = Redisson.create(config);
        try {
            context.getRegistry().bind("elsewhere", elsewhere);
            component().getConfiguration().setAddress(redis.address());
            assertRoundTrip("");
        } finally {
            elsewhere.shutdown();
        }
    }

    @Test
    void should_let_the_address_of_an_endpoint_win_over_a_client_of_the_registry() throws Exception {
        Config config = new Config();
        config.setLazyInitialization(true);
        config.useSingleServer().setAddress("redis://127.0.0.1:1").setConnectionMinimumIdleSize(1);
        RedissonClient elsewhere = Redisson.create(config);
        try {
            context.getRegistry().bind("elsewhere", elsewhere);
            assertRoundTrip("?address=" + redis.address());
        } finally {
            elsewhere.shutdown();
        }
    }

    @Test
    void should_make_a_client_from_a_redisson_file() throws Exception {
        Path yaml = folder.resolve("redisson.yaml");
        Files.writeString(yaml, """
                singleServerConfig:
                  address: "%s"
                  connectionMinimumIdleSize: 1
                codec: !<org.redisson.codec.Kryo5Codec> {}
                """.formatted(redis.address()));
        component().getConfiguration().setConfigurationUri("file:" + yaml);
        assertRoundTrip("");
        var client = component()
                .acquireClient(
                        new OptionReader(component().getConfiguration()).connection(),
                        new OptionReader(component().getConfiguration()).client());
        assertThat(client.get().address()).isEqualTo(redis.address());
        assertThat(client.get().connection().get().redisson().getConfig().getCodec())
                .as("one that makes no objects")
                .isInstanceOf(org.redisson.client.codec.ByteArrayCodec.class);
        client.release();
    }

    @Test
    void should_name_a_redisson_file_that_cannot_be_read() {
        component().getConfiguration().setConfigurationUri("file:/no/such/redisson.yaml");
        assertThatThrownBy(() -> assertRoundTrip(""))
                .hasStackTraceContaining("option 'configurationUri': file:/no/such/redisson.yaml cannot be read");
    }

    @Test
    void should_share_one_client_among_endpoints_with_equal_settings_and_close_it_with_the_last() throws Exception {
        component().getConfiguration().setAddress("redis://127.0.0.1:1");
        context.start();
        String own = "?address=" + redis.address();
        Producer first = context.getEndpoint("redis-delay:" + queue + own).createProducer();
        Producer second = context.getEndpoint("redis-delay:" + queue + "b" + own + "&delay=1m")
                .createProducer();
        Producer prefixed = context.getEndpoint("redis-delay:" + queue + own + "&keyPrefix=other")
                .createProducer();
        first.start();
        second.start();
        prefixed.start();
        assertThat(component().clients().size()).isEqualTo(2);
        assertThat(component().clients().connections()).isOne();

        first.stop();
        prefixed.stop();
        assertThat(component().clients().size()).isOne();
        second.stop();
        assertThat(component().clients().size()).isZero();
        assertThat(component().clients().connections()).isZero();
    }

    @Test
    void should_keep_the_components_own_client_open_between_uses() throws Exception {
        component().getConfiguration().setAddress(redis.address());
        context.start();
        Producer producer = context.getEndpoint("redis-delay:" + queue).createProducer();
        producer.start();
        producer.stop();
        assertThat(component().clients().size()).isOne();
    }

    @Test
    void should_fail_to_start_naming_the_address_when_redis_is_absent() {
        component().getConfiguration().setAddress("redis://127.0.0.1:1");
        component().getConfiguration().setPassword("top-secret");
        assertThatThrownBy(() -> assertRoundTrip(""))
                .hasStackTraceContaining("Redis at redis://127.0.0.1:1 cannot be used")
                .satisfies(e -> assertThat(stackTrace(e)).doesNotContain("top-secret"));
    }

    @Test
    void should_fail_to_start_without_showing_the_password_when_it_is_wrong() throws Exception {
        try (RedisServer server = RedisServer.dedicated("requirepass right-one")) {
            component().getConfiguration().setAddress(server.address());
            component().getConfiguration().setPassword("wrong-one");
            assertThatThrownBy(() -> assertRoundTrip(""))
                    .hasStackTraceContaining("Redis at " + server.address() + " cannot be used")
                    .hasStackTraceContaining("WRONGPASS")
                    .satisfies(e -> assertThat(stackTrace(e)).doesNotContain("wrong-one"));
        }
    }

    @Test
    void should_log_in_with_a_password() throws Exception {
        try (RedisServer server = RedisServer.dedicated("requirepass right-one")) {
            component().getConfiguration().setAddress(server.address());
            component().getConfiguration().setPassword("right-one");
            component().getConfiguration().setDatabase(3);
            assertRoundTrip("");
            context.stop();
        }
    }

    @Test
    void should_fail_to_start_on_a_given_client_whose_redis_is_absent() throws Exception {
        RedissonClient given;
        try (RedisServer server = RedisServer.dedicated()) {
            Config config = new Config();
            config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(1);
            given = Redisson.create(config);
            server.stop();
            component().getConfiguration().setRedisson(given);
            component().getConfiguration().setRequestTimeout("1s");
            assertThatThrownBy(() -> assertRoundTrip(""))
                    .hasStackTraceContaining("Redis at " + server.address() + " cannot be used");
        }
        given.shutdown();
    }

    @Test
    void should_fail_the_exchange_while_redis_is_away_and_recover_by_itself() throws Exception {
        try (RedisServer server = RedisServer.dedicated("appendonly yes", "appendfsync always")) {
            component().getConfiguration().setAddress(server.address());
            component().getConfiguration().setRequestTimeout("2s");
            assertRoundTrip("");
            server.kill();
            Exchange failed = context.createProducerTemplate()
                    .request("redis-delay:" + queue, exchange -> exchange.getMessage()
                            .setBody("lost?"));
            assertThat(failed.getException()).hasMessageContaining(server.address() + " did not answer in time");
            server.start();
            org.awaitility.Awaitility.await().atMost(30, TimeUnit.SECONDS).untilAsserted(() -> {
                Exchange sent = context.createProducerTemplate()
                        .request("redis-delay:" + queue, exchange -> exchange.getMessage()
                                .setBody("again"));
                assertThat(sent.getException()).isNull();
            });
            context.stop();
        }
    }

    private static String stackTrace(Throwable e) {
        java.io.StringWriter text = new java.io.StringWriter();
        e.printStackTrace(new java.io.PrintWriter(text));
        return text.toString();
    }
}
