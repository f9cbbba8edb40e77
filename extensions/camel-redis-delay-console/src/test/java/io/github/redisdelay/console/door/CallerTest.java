// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.door;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.Principal;
import org.apache.camel.Endpoint;
import org.apache.camel.Message;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.support.DefaultEndpoint;
import org.apache.camel.support.DefaultMessage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The facts about a caller as Camel's components hand them over, by classes that are not public. */
class CallerTest {

    private final DefaultCamelContext context = new DefaultCamelContext();

    /** As a servlet's request. */
    public interface ServletRequest {
        String getRemoteAddr();

        Principal getUserPrincipal();
    }

    private static final class HiddenRequest implements ServletRequest {
        @Override
        public String getRemoteAddr() {
            return "10.0.0.7";
        }

        @Override
        public Principal getUserPrincipal() {
            return () -> "ann";
        }
    }

    /** As the message of camel-http-common. */
    public static final class ServletMessage extends DefaultMessage {
        private final Object request;

        ServletMessage(DefaultCamelContext context, Object request) {
            super(context);
            this.request = request;
        }

        public Object getRequest() {
            return request;
        }
    }

    /** As the addresses and users of Vert.x. */
    public interface VertxFacts {
        String hostAddress();

        String subject();
    }

    private record HiddenFacts(String hostAddress, String subject) implements VertxFacts {}

    @AfterEach
    void close() {
        context.stop();
    }

    @Test
    void should_ask_a_servlets_request() {
        assertThat(Caller.of(new ServletMessage(context, new HiddenRequest())))
                .isEqualTo(new Caller("10.0.0.7", "ann"));
    }

    @Test
    void should_ask_vertx() {
        Message message = new DefaultMessage(context);
        message.setHeader("CamelVertxPlatformHttpRemoteAddress", new HiddenFacts("10.0.0.7", null));
        message.setHeader("CamelVertxPlatformHttpAuthenticatedUser", new HiddenFacts(null, "ann"));
        assertThat(Caller.of(message)).isEqualTo(new Caller("10.0.0.7", "ann"));
    }

    @Test
    void should_know_nobody_where_nothing_tells() {
        assertThat(Caller.of(new DefaultMessage(context))).isEqualTo(new Caller(null, null));
        assertThat(Caller.of(new ServletMessage(context, null))).isEqualTo(new Caller(null, null));
        assertThat(Caller.of(new ServletMessage(context, "text"))).isEqualTo(new Caller(null, null));
        Message forged = new ServletMessage(context, new HiddenRequest());
        forged.setHeader("CamelVertxPlatformHttpRemoteAddress", "127.0.0.1");
        assertThat(Caller.of(forged))
                .as("a header as text, which a client may have sent")
                .isEqualTo(new Caller(null, null));
    }

    @ParameterizedTest
    @CsvSource({
        "platform-http:///redis-delay?matchOnUriPrefix=true, /redis-delay",
        "platform-http:/a/b/redis-delay/, /a/b/redis-delay",
        "platform-http://redis-delay, /redis-delay",
        "platform-http:///, ''",
        "jetty:http://0.0.0.0:8080/redis-delay?matchOnUriPrefix=true, /redis-delay",
        "jetty:https://localhost/redis-delay, /redis-delay",
        "jetty://http://localhost:8080/redis-delay, /redis-delay",
        "servlet:/redis-delay?servletName=x, /redis-delay",
        "servlet:///redis-delay, /redis-delay",
        "direct:x, /x"
    })
    void should_find_the_path_of_an_endpoint(String uri, String path) {
        Endpoint endpoint = new DefaultEndpoint() {
            @Override
            public boolean isSingleton() {
                return true;
            }

            @Override
            public org.apache.camel.Producer createProducer() {
                throw new UnsupportedOperationException();
            }

            @Override
            public org.apache.camel.Consumer createConsumer(org.apache.camel.Processor processor) {
                throw new UnsupportedOperationException();
            }

            @Override
            public String getEndpointUri() {
                return uri;
            }
        };
        assertThat(ConsoleProcessor.base(endpoint)).isEqualTo(path);
    }
}
