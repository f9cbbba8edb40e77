// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.redisdelay.camel.CamelRedisIT;
import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.camel.connection.TestCertificates.Pem;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.test.TestPorts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.main.Main;
import org.apache.camel.support.jsse.KeyManagersParameters;
import org.apache.camel.support.jsse.KeyStoreParameters;
import org.apache.camel.support.jsse.SSLContextParameters;
import org.apache.camel.support.jsse.SecureSocketProtocolsParameters;
import org.apache.camel.support.jsse.TrustManagersParameters;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.config.Config;

/** Connections by TLS: whose certificate is trusted, for which host, and how a user says so. */
class TlsIT {

    private static final String TRUST_STORE = "javax.net.ssl.trustStore";
    private static final String TRUST_STORE_PASSWORD = "javax.net.ssl.trustStorePassword";

    @TempDir
    static Path directory;

    private static TestCertificates certificates;
    /** Its certificate is for the address at which it is. */
    private static Server right;
    /** Its certificate is for another host. */
    private static Server elsewhere;
    /** Talks only to clients with a certificate. */
    private static Server suspicious;

    private static final ExecutorService EXECUTOR = Executors.newCachedThreadPool();

    private final DefaultCamelContext context = CamelRedisIT.newContext();

    /** Connections that do not come about. Redisson tries for some seconds, so all of them are tried at the same time. */
    private enum Refused {
        UNKNOWN_AUTHORITY {
            @Override
            void configure(RedisDelayConfiguration options) {
                options.setAddress(right.address());
            }
        },
        UNKNOWN_AUTHORITY_BY_FILE {
            @Override
            void configure(RedisDelayConfiguration options) throws Exception {
                Path other = Files.createTempDirectory(directory, "other");
                Path trust = new TestCertificates(other, "Another authority").trustStore();
                options.setConfigurationUri("file:" + redissonFile(right.address(), trust));
            }
        },
        OTHER_HOST {
            @Override
            void configure(RedisDelayConfiguration options) throws Exception {
                options.setAddress(elsewhere.address());
                options.setSslContextParameters(trusting());
            }
        },
        NO_CLIENT_CERTIFICATE {
            @Override
            void configure(RedisDelayConfiguration options) throws Exception {
                options.setAddress(suspicious.address());
                options.setSslContextParameters(trusting());
            }
        };

        private Future<Throwable> failure;

        abstract void configure(RedisDelayConfiguration options) throws Exception;

        void begin() {
            failure = EXECUTOR.submit(() -> {
                try (DefaultCamelContext context = CamelRedisIT.newContext()) {
                    configure(options(context));
                    return catchThrowable(() -> assertRoundTrip(context, "refused"));
                }
            });
        }

        /** Waits until it has failed. */
        AbstractThrowableAssert<?, ?> failure() throws Exception {
            return assertThat(failure.get(2, TimeUnit.MINUTES)).isNotNull();
        }
    }

    private record Server(RedisServer process, int port) {

        static Server start(Pem pem, String clients) throws Exception {
            int port = TestPorts.next();
            return new Server(
                    RedisServer.embedded(
                            "tls-port " + port,
                            "tls-cert-file " + pem.certificate(),
                            "tls-key-file " + pem.key(),
                            "tls-ca-cert-file " + certificates.authority(),
                            "tls-auth-clients " + clients),
                    port);
        }

        String address() {
            return "rediss://" + process.host() + ":" + port;
        }
    }

    @BeforeAll
    static void start() throws Exception {
        certificates = new TestCertificates(directory, "The authority of a test");
        Pem pem = certificates.sign("server", "ip:127.0.0.1,dns:localhost");
        right = Server.start(pem, "no");
        elsewhere = Server.start(certificates.sign("elsewhere", "dns:redis.example"), "no");
        suspicious = Server.start(pem, "yes");
        for (Refused refused : Refused.values()) {
            refused.begin();
        }
    }

    @AfterAll
    static void stop() {
        EXECUTOR.shutdownNow();
        for (Server server : Arrays.asList(right, elsewhere, suspicious)) {
            if (server != null) {
                server.process.close();
            }
        }
    }

    @AfterEach
    void close() throws Exception {
        context.close();
    }

    private RedisDelayConfiguration options() {
        return options(context);
    }

    private static RedisDelayConfiguration options(DefaultCamelContext context) {
        return context.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration();
    }

    private void assertRoundTrip(String queue) throws Exception {
        assertRoundTrip(context, queue);
    }

    private static void assertRoundTrip(DefaultCamelContext context, String queue) throws Exception {
        BlockingQueue<Object> received = new LinkedBlockingQueue<>();
        context.addRoutes(new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:" + queue)
                        .process(exchange -> received.add(exchange.getMessage().getBody()));
            }
        });
        context.start();
        context.createProducerTemplate().sendBody("redis-delay:" + queue, "x");
        assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo("x");
    }

    private static KeyStoreParameters keys(Path file) {
        KeyStoreParameters keys = new KeyStoreParameters();
        keys.setResource("file:" + file);
        keys.setType("PKCS12");
        keys.setPassword(TestCertificates.PASSWORD);
        return keys;
    }

    /** Trusts the authority of the test. */
    private static SSLContextParameters trusting() throws Exception {
        TrustManagersParameters trust = new TrustManagersParameters();
        trust.setKeyStore(keys(certificates.trustStore()));
        SSLContextParameters parameters = new SSLContextParameters();
        parameters.setTrustManagers(trust);
        return parameters;
    }

    @Test
    void should_connect_where_the_authority_is_in_the_SSLContextParameters() throws Exception {
        options().setAddress(right.address());
        options().setSslContextParameters(trusting());
        assertRoundTrip("given");
    }

    @Test
    void should_take_the_SSLContextParameters_of_an_endpoint_by_reference() throws Exception {
        context.getRegistry().bind("redisTls", trusting());
        assertRoundTrip("endpoint?address=" + right.address() + "&sslContextParameters=#redisTls");
    }

    @Test
    void should_take_the_global_SSLContextParameters_if_told_to() throws Exception {
        context.setSSLContextParameters(trusting());
        context.getComponent("redis-delay", RedisDelayComponent.class).setUseGlobalSslContextParameters(true);
        options().setAddress(right.address());
        assertRoundTrip("global");
    }

    @Test
    void should_need_properties_alone_with_Camel_Main() throws Exception {
        BlockingQueue<Object> received = new LinkedBlockingQueue<>();
        Main main = new Main();
        main.addInitialProperty("camel.ssl.enabled", "true");
        main.addInitialProperty("camel.ssl.trustStore", "file:" + certificates.trustStore());
        main.addInitialProperty("camel.ssl.trustStorePassword", TestCertificates.PASSWORD);
        if (!context.getVersion().startsWith("4.18.")) {
            // Camel 4.22 makes nothing of them without a key store.
            main.addInitialProperty("camel.ssl.keyStore", "file:" + certificates.trustStore());
            main.addInitialProperty("camel.ssl.keystorePassword", TestCertificates.PASSWORD);
        }
        main.addInitialProperty("camel.component.redis-delay.address", right.address());
        main.addInitialProperty("camel.component.redis-delay.useGlobalSslContextParameters", "true");
        main.configure().addRoutesBuilder(new RouteBuilder() {
            @Override
            public void configure() {
                from("redis-delay:main")
                        .process(exchange -> received.add(exchange.getMessage().getBody()));
            }
        });
        main.start();
        try {
            main.getCamelTemplate().sendBody("redis-delay:main", "x");
            assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo("x");
        } finally {
            main.stop();
        }
    }

    @Test
    void should_use_the_protocols_of_the_SSLContextParameters() throws Exception {
        SSLContextParameters old = trusting();
        SecureSocketProtocolsParameters protocols = new SecureSocketProtocolsParameters();
        protocols.setSecureSocketProtocol(List.of("TLSv1.2"));
        old.setSecureSocketProtocols(protocols);
        TlsSettings settings = TlsSettings.of(context, old);
        assertThat(settings.protocols()).containsExactly("TLSv1.2");
        assertThat(settings.cipherSuites()).isNotEmpty().noneMatch(suite -> suite.contains("_anon_"));
        options().setAddress(right.address());
        options().setSslContextParameters(old);
        assertRoundTrip("protocol");
    }

    @Test
    void should_connect_where_the_JVM_trusts_the_authority() throws Exception {
        Refused.UNKNOWN_AUTHORITY.failure(); // which it would be no more
        String before = System.getProperty(TRUST_STORE);
        String passwordBefore = System.getProperty(TRUST_STORE_PASSWORD);
        System.setProperty(TRUST_STORE, certificates.trustStore().toString());
        System.setProperty(TRUST_STORE_PASSWORD, TestCertificates.PASSWORD);
        try {
            options().setAddress(right.address());
            assertRoundTrip("jvm");
        } finally {
            restore(TRUST_STORE, before);
            restore(TRUST_STORE_PASSWORD, passwordBefore);
        }
    }

    private static void restore(String property, String value) {
        if (value == null) {
            System.clearProperty(property);
        } else {
            System.setProperty(property, value);
        }
    }

    @Test
    void should_connect_by_a_Redisson_file_with_a_trust_store() throws Exception {
        options().setConfigurationUri("file:" + redissonFile(right.address(), certificates.trustStore()));
        assertRoundTrip("file");
    }

    /** As the Redisson at hand wants it: 3.x has these settings only with those of the server, 4.x on top. */
    private static Path redissonFile(String address, Path trustStore) throws Exception {
        boolean onTop = Arrays.stream(Config.class.getMethods())
                .anyMatch(method -> method.getName().equals("setSslTruststore"));
        String tls = """
                sslTruststore: "file:%s"
                sslTruststorePassword: "%s"
                """.formatted(trustStore, TestCertificates.PASSWORD);
        String server = """
                singleServerConfig:
                  address: "%s"
                  connectionMinimumIdleSize: 1
                """.formatted(address);
        Path file = Files.createTempFile(directory, "redisson", ".yaml");
        Files.writeString(file, onTop ? server + tls : server + tls.indent(2));
        return file;
    }

    @Test
    void should_refuse_a_certificate_of_an_unknown_authority_and_say_what_to_do() throws Exception {
        Refused.UNKNOWN_AUTHORITY
                .failure()
                .hasStackTraceContaining("Redis at " + right.address() + " cannot be used: ")
                .hasStackTraceContaining("unable to find valid certification path")
                .hasStackTraceContaining("its certificate is of no CA that is trusted here")
                .hasStackTraceContaining("option 'sslContextParameters'");
    }

    @Test
    void should_refuse_it_by_a_Redisson_file_too() throws Exception {
        Refused.UNKNOWN_AUTHORITY_BY_FILE
                .failure()
                .hasStackTraceContaining("Redis at " + right.address() + " cannot be used: ")
                .hasStackTraceContaining("its certificate is of no CA that is trusted here");
    }

    @Test
    void should_refuse_a_certificate_for_another_host() throws Exception {
        Refused.OTHER_HOST
                .failure()
                .hasStackTraceContaining("Redis at " + elsewhere.address() + " cannot be used: ")
                .hasStackTraceContaining("No subject alternative names matching IP address 127.0.0.1 found")
                .hasMessageNotContaining("of no CA");
    }

    @Test
    void should_fail_to_start_without_a_certificate_where_one_is_asked_for() throws Exception {
        Refused.NO_CLIENT_CERTIFICATE
                .failure()
                .hasStackTraceContaining("Redis at " + suspicious.address() + " cannot be used: ");
    }

    @Test
    void should_show_the_clients_certificate_where_it_is_asked_for() throws Exception {
        certificates.sign("client", "dns:client.example");
        KeyManagersParameters own = new KeyManagersParameters();
        own.setKeyStore(keys(certificates.keyStore("client")));
        own.setKeyPassword(TestCertificates.PASSWORD);
        SSLContextParameters parameters = trusting();
        parameters.setKeyManagers(own);
        parameters.setCertAlias("client");
        options().setAddress(suspicious.address());
        options().setSslContextParameters(parameters);
        assertRoundTrip("mutual");
    }

    @Test
    void should_refuse_an_address_without_TLS_beside_SSLContextParameters() throws Exception {
        String plain = right.process.address();
        options().setAddress(plain);
        options().setSslContextParameters(trusting());
        assertThatThrownBy(() -> assertRoundTrip("plain"))
                .hasStackTraceContaining("option 'address' '" + plain
                        + "' has no TLS and option 'sslContextParameters' is set: write rediss://host:6379 for TLS");
    }

    @Test
    void should_refuse_SSLContextParameters_without_an_address() throws Exception {
        options().setSslContextParameters(trusting());
        assertThatThrownBy(() -> assertRoundTrip("nowhere"))
                .hasStackTraceContaining("option 'sslContextParameters' is set without option 'address'");
    }

    @Test
    void should_name_the_option_when_a_key_store_cannot_be_read() throws Exception {
        SSLContextParameters parameters = trusting();
        parameters.getTrustManagers().getKeyStore().setPassword("wrong");
        options().setAddress(right.address());
        options().setSslContextParameters(parameters);
        assertThatThrownBy(() -> assertRoundTrip("unreadable"))
                .hasStackTraceContaining("option 'sslContextParameters' cannot be used: ");
    }
}
