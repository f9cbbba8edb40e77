// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.lang.reflect.Proxy;
import java.security.Principal;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import org.apache.camel.Endpoint;
import org.apache.camel.Exchange;
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

    /** The request of a servlet container, from 10.0.0.7 by default. */
    private static HttpServletRequest request(String peer, Map<String, String> headers, boolean believed) {
        return (HttpServletRequest) Proxy.newProxyInstance(
                CallerTest.class.getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "getRemoteAddr" -> peer;
                    case "getUserPrincipal" -> (Principal) () -> "ann";
                    case "getLocalPort" -> 8400;
                    case "isSecure" -> true;
                    case "getProtocol" -> "HTTP/1.1";
                    case "getHeaderNames" -> Collections.enumeration(headers.keySet());
                    case "getAttribute" ->
                        believed && arguments[0].equals("org.apache.tomcat.request.forwarded") ? Boolean.TRUE : null;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    /**
     * As Spring's filter for forwarded requests makes of one: with the address that a header names, and without the
     * header.
     */
    private static HttpServletRequest believing(HttpServletRequest request, String peer) {
        return new HttpServletRequestWrapper(new HttpServletRequestWrapper(request) {
            @Override
            public String getRemoteAddr() {
                return peer;
            }

            @Override
            public Enumeration<String> getHeaderNames() {
                return Collections.emptyEnumeration();
            }
        });
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

        int port();

        String subject();
    }

    private record HiddenFacts(String hostAddress, int port, String subject) implements VertxFacts {}

    @AfterEach
    void close() {
        context.stop();
    }

    @Test
    void should_ask_a_servlets_request() {
        assertThat(Caller.of(new ServletMessage(context, request("10.0.0.7", Map.of("Host", "x"), false))))
                .isEqualTo(new Caller("10.0.0.7", 8400, true, "ann", false));
    }

    @Test
    void should_notice_that_a_server_has_believed_a_header() {
        for (HttpServletRequest request : List.of(
                believing(request("10.0.0.7", Map.of("X-Forwarded-For", "127.0.0.1"), false), "127.0.0.1"),
                believing(request("127.0.0.1", Map.of("x-forwarded-for", "127.0.0.1"), false), "127.0.0.1"),
                believing(request("127.0.0.1", Map.of("Forwarded", "for=127.0.0.1"), false), "127.0.0.1"),
                believing(request("10.0.0.7", Map.of(), false), "127.0.0.1"),
                request("127.0.0.1", Map.of(), true),
                believing(request("127.0.0.1", Map.of(), true), "127.0.0.1"))) {
            assertThat(Caller.of(new ServletMessage(context, request)))
                    .isEqualTo(new Caller("127.0.0.1", 8400, true, "ann", true));
        }
        assertThat(Caller.of(new ServletMessage(
                        context, new HttpServletRequestWrapper(request("127.0.0.1", Map.of("Accept", "x"), false)))))
                .isEqualTo(new Caller("127.0.0.1", 8400, true, "ann", false));
    }

    @Test
    void should_take_old_http_for_that_of_a_proxy() {
        HttpServletRequest old = new HttpServletRequestWrapper(request("127.0.0.1", Map.of(), false)) {
            @Override
            public String getProtocol() {
                return "HTTP/1.0";
            }
        };
        assertThat(Caller.of(new ServletMessage(context, old)))
                .isEqualTo(new Caller("127.0.0.1", 8400, true, "ann", true));
    }

    @Test
    void should_ask_vertx() {
        Message message = new DefaultMessage(context);
        message.setHeader("CamelVertxPlatformHttpRemoteAddress", new HiddenFacts("10.0.0.7", 40000, null));
        message.setHeader("CamelVertxPlatformHttpAuthenticatedUser", new HiddenFacts(null, 0, "ann"));
        message.setHeader("CamelVertxPlatformHttpLocalAddress", new HiddenFacts("10.0.0.1", 8400, null));
        message.setHeader(Exchange.HTTP_URL, "https://10.0.0.1:8400/redis-delay");
        assertThat(Caller.of(message)).isEqualTo(new Caller("10.0.0.7", 8400, true, "ann", false));
    }

    @Test
    void should_know_nobody_where_nothing_tells() {
        assertThat(Caller.of(new DefaultMessage(context))).isEqualTo(new Caller(null, 0, false, null, false));
        assertThat(Caller.of(new ServletMessage(context, null))).isEqualTo(new Caller(null, 0, false, null, false));
        assertThat(Caller.of(new ServletMessage(context, "text"))).isEqualTo(new Caller(null, 0, false, null, false));
        Message forged = new ServletMessage(context, request("10.0.0.7", Map.of(), false));
        forged.setHeader("CamelVertxPlatformHttpRemoteAddress", "127.0.0.1");
        assertThat(Caller.of(forged))
                .as("a header as text, which a client may have sent")
                .isEqualTo(new Caller(null, 0, false, null, false));
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
