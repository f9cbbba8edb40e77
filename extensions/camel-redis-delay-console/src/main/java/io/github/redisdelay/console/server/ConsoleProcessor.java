// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import io.github.redisdelay.console.http.Request;
import io.github.redisdelay.console.http.Response;
import io.github.redisdelay.console.http.Router;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.camel.Endpoint;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.Processor;

/**
 * Answers the requests of a route that begins with {@code platform-http:}, {@code jetty:} or {@code servlet:} and has {@code
 * matchOnUriPrefix=true}.
 *
 * <p>Camel puts the headers of a request, the parameters of its address and the fields of a form into one map. So the
 * router refuses parameters that it does not know, and forms: nobody else's page can add a header by an address.
 */
public final class ConsoleProcessor implements Processor {

    /** An endpoint's URI: the scheme, perhaps {@code http} behind it, the server, the path. */
    private static final Pattern ENDPOINT = Pattern.compile("[a-z-]+:(?://)?(?:https?://[^/?]*)?(/*[^?]*)(?:\\?.*)?");

    /** No file of the page has a name with a slash. */
    private static final String NOWHERE = "//";

    private final Router router;

    public ConsoleProcessor(Router router) {
        this.router = router;
    }

    @Override
    public void process(Exchange exchange) {
        Message in = exchange.getMessage();
        Response response = answer(exchange, in);
        in.removeHeaders("*");
        in.setHeader(Exchange.HTTP_RESPONSE_CODE, response.status());
        response.headers().forEach(in::setHeader);
        in.setBody(response.body().length == 0 ? null : response.body());
    }

    private Response answer(Exchange exchange, Message in) {
        String base = base(exchange.getFromEndpoint());
        String path = relative(in, base);
        if (path.isEmpty()) {
            // The page's addresses are relative to a folder.
            return Response.redirect(base.substring(base.lastIndexOf('/') + 1) + "/");
        }
        Caller caller = Caller.of(in);
        return router.answer(new Request(
                String.valueOf(text(in, Exchange.HTTP_METHOD)),
                path.startsWith("/") ? path.substring(1) : path,
                text(in, Exchange.HTTP_QUERY),
                headers(in),
                caller.peer(),
                caller.port(),
                caller.secure(),
                caller.forwarded(),
                caller.principal(),
                body(in)));
    }

    /**
     * The path behind the endpoint's own; some components give it so, others with the endpoint's. One that a component
     * has put right is none of the console's, nor is an address of another server.
     */
    private static String relative(Message in, String base) {
        String path = text(in, Exchange.HTTP_PATH);
        String sent = String.valueOf(text(in, Exchange.HTTP_URI)).replaceFirst("\\?.*$", "");
        if (path == null || !sent.startsWith("/") || !sent.endsWith(path)) {
            return NOWHERE;
        }
        boolean whole = path.startsWith(base) && path.startsWith("/", base.length()) || path.equals(base);
        return whole ? path.substring(base.length()) : path;
    }

    /** The path of an endpoint, without a slash at its end. */
    static String base(Endpoint endpoint) {
        Matcher uri = ENDPOINT.matcher(endpoint == null ? "" : endpoint.getEndpointUri());
        if (!uri.matches()) {
            return "";
        }
        String path = uri.group(1).replaceAll("^/+|/+$", "");
        return path.isEmpty() ? "" : "/" + path;
    }

    private static InputStream body(Message in) {
        InputStream body = in.getBody(InputStream.class);
        return body == null ? new ByteArrayInputStream(new byte[0]) : body;
    }

    private static String text(Message in, String header) {
        Object value = in.getHeader(header);
        return value == null ? null : value.toString();
    }

    private static Map<String, List<String>> headers(Message in) {
        Map<String, List<String>> headers = new TreeMap<>();
        in.getHeaders().forEach((name, value) -> {
            if (!name.regionMatches(true, 0, "Camel", 0, 5)) {
                List<String> values = headers.computeIfAbsent(name.toLowerCase(Locale.ROOT), any -> new ArrayList<>());
                if (value instanceof Collection<?> many) {
                    many.forEach(each -> values.add(String.valueOf(each)));
                } else {
                    values.add(String.valueOf(value));
                }
            }
        });
        // A request of HTTP/2 has no header Host; its server puts the name into the address.
        String server = server(text(in, Exchange.HTTP_URL));
        if (server != null) {
            headers.putIfAbsent("host", List.of(server));
        }
        return headers;
    }

    private static String server(String url) {
        try {
            return url == null ? null : new URI(url).getRawAuthority();
        } catch (URISyntaxException e) {
            return null;
        }
    }
}
