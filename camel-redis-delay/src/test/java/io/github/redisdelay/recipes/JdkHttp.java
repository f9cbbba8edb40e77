// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.recipes;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.camel.CamelContext;
import org.apache.camel.Consumer;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.Processor;
import org.apache.camel.http.base.HttpOperationFailedException;
import org.apache.camel.spi.RestConfiguration;
import org.apache.camel.spi.RestConsumerFactory;
import org.apache.camel.support.DefaultComponent;
import org.apache.camel.support.DefaultConsumer;
import org.apache.camel.support.DefaultEndpoint;
import org.apache.camel.support.DefaultProducer;

/**
 * A server and a client of the JDK's for recipes that speak HTTP: the component's build does without those of Camel. They filter less than
 * those: each header and parameter of a request becomes a header of the message, also one that begins with {@code Camel}.
 */
final class JdkHttp implements RestConsumerFactory, AutoCloseable {

    private static final Pattern PARAMETER = Pattern.compile("\\{(\\w+)}");

    private final HttpServer server;
    private final List<Service> services = new CopyOnWriteArrayList<>(); // read by the server's thread

    /** A service that a route offers: a method, and paths whose parameters are groups. */
    private record Service(String method, Pattern path, List<String> parameters, DefaultConsumer consumer) {}

    JdkHttp() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", request -> {
            try (request) {
                route(request);
            }
        });
        server.start();
    }

    /** The address of the REST services. */
    String address() {
        return "http://localhost:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
    }

    @Override
    public Consumer createConsumer(
            CamelContext camel,
            Processor processor,
            String verb,
            String basePath,
            String uriTemplate,
            String consumes,
            String produces,
            RestConfiguration configuration,
            Map<String, Object> parameters) {
        String template =
                "/" + (basePath + "/" + uriTemplate).replaceAll("^/+", "").replaceAll("/+", "/");
        Pattern path = Pattern.compile(PARAMETER.matcher(template).replaceAll("([^/]+)"));
        List<String> names =
                PARAMETER.matcher(template).results().map(name -> name.group(1)).toList();
        DefaultConsumer consumer = new DefaultConsumer(camel.getEndpoint("direct:" + verb + template), processor);
        services.add(new Service(verb.toUpperCase(), path, names, consumer));
        return consumer;
    }

    private void route(HttpExchange request) throws IOException {
        for (Service service : services) {
            Matcher path = service.path().matcher(request.getRequestURI().getRawPath());
            if (service.method().equals(request.getRequestMethod()) && path.matches()) {
                Exchange exchange = service.consumer().createExchange(false);
                Message message = exchange.getMessage();
                message.setBody(request.getRequestBody());
                request.getRequestHeaders().forEach((name, values) -> message.setHeader(name, values.get(0)));
                String query = request.getRequestURI().getRawQuery();
                Arrays.stream(query == null ? new String[0] : query.split("&"))
                        .map(parameter -> parameter.split("=", 2))
                        .forEach(parameter -> message.setHeader(parameter[0], decoded(parameter[1])));
                for (int i = 0; i < service.parameters().size(); i++) {
                    message.setHeader(service.parameters().get(i), decoded(path.group(i + 1)));
                }
                answer(request, exchange, service.consumer().getProcessor());
                return;
            }
        }
        request.sendResponseHeaders(404, -1);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    private static void answer(HttpExchange request, Exchange exchange, Processor route) throws IOException {
        try {
            route.process(exchange);
        } catch (Exception e) {
            exchange.setException(e);
        }
        Message message = exchange.getMessage();
        boolean failed = exchange.getException() != null;
        message.getHeaders().forEach((name, value) -> {
            if (!name.startsWith("Camel")) {
                request.getResponseHeaders().set(name, value.toString());
            }
        });
        // As camel-platform-http does it, which sends the eight bytes of a number.
        byte[] body = failed || message.getBody() == null ? new byte[0] : message.getBody(byte[].class);
        int status = message.getHeader("CamelHttpResponseCode", failed ? 500 : 200, Integer.class);
        request.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        request.getResponseBody().write(body);
    }

    /** A component that sends to the URL of {@code CamelHttpUri}, with all headers but Camel's; takes any option, and follows no redirect. */
    static final class Client extends DefaultComponent {

        private final HttpClient client = HttpClient.newHttpClient();

        @Override
        protected DefaultEndpoint createEndpoint(String uri, String remaining, Map<String, Object> parameters) {
            parameters.clear();
            return new DefaultEndpoint(uri, this) {
                @Override
                public DefaultProducer createProducer() {
                    return new DefaultProducer(this) {
                        @Override
                        public void process(Exchange exchange) throws Exception {
                            send(exchange.getMessage());
                        }
                    };
                }

                @Override
                public Consumer createConsumer(Processor processor) {
                    throw new UnsupportedOperationException("a client");
                }
            };
        }

        private void send(Message message) throws Exception {
            String url = message.getHeader("CamelHttpUri", String.class);
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url))
                    .POST(HttpRequest.BodyPublishers.ofByteArray(message.getBody(byte[].class)));
            message.getHeaders().forEach((name, value) -> {
                if (!name.startsWith("Camel")) {
                    request.header(name, value.toString());
                }
            });
            HttpResponse<String> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() / 100 != 2) {
                throw new HttpOperationFailedException(url, answer.statusCode(), "", null, Map.of(), answer.body());
            }
        }
    }
}
