// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.console.ConsoleRights;
import io.github.redisdelay.console.api.ConsoleUser;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets requests in, or refuses them, before anybody looks at what they ask for. */
final class Guard {

    /** The header that no other site's page can send without asking first. */
    static final String OWN_HEADER = "X-Redis-Delay-Console";

    private static final Logger LOG = LoggerFactory.getLogger(Guard.class);

    private static final int MAX_HEADER_CHARACTERS = 16 * 1024;

    private static final Pattern HOST = Pattern.compile("([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(:[0-9]{1,5})?");

    private final ConsoleOptions options;

    Guard(ConsoleOptions options) {
        this.options = options;
    }

    /** Checks what each request has to be like. */
    void checkForm(Request request) {
        int characters = 0;
        for (Map.Entry<String, List<String>> header : request.headers().entrySet()) {
            for (String value : header.getValue()) {
                characters += header.getKey().length() + value.length();
            }
        }
        if (characters > MAX_HEADER_CHARACTERS) {
            throw new Refusal(431, "badRequest", "The headers are larger than 16 KiB.");
        }
        if (request.values("content-type").stream()
                .anyMatch(type -> type.toLowerCase(Locale.ROOT).contains("form"))) {
            throw notJson(); // Camel's HTTP components put a form's fields among the headers
        }
        Matcher host = HOST.matcher(host(request));
        if (!host.matches()) {
            throw new Refusal(400, "badRequest", "The request needs one header Host, with a name and perhaps a port.");
        }
        if (!isNamed(host) && !isHere(host, request)) {
            throw new Refusal(
                    421,
                    "wrongHost",
                    "This console does not answer to that name and port. Call it localhost with the port on which it"
                            + " listens, or start it with this name among its hostNames.");
        }
    }

    private static String host(Request request) {
        List<String> hosts = request.values("host");
        return hosts.size() == 1 ? hosts.get(0) : "";
    }

    /**
     * Returns whether whoever runs the console has named this host. Then a proxy may stand there, with a port and TLS
     * of its own.
     */
    private boolean isNamed(Matcher host) {
        return options.hostNames().contains(name(host)) || options.hostNames().contains(ConsoleOptions.ANY_HOST_NAME);
    }

    private static String name(Matcher host) {
        return host.group(1).toLowerCase(Locale.ROOT);
    }

    /** Returns whether this is a loopback address, and the port on which the request came. */
    private static boolean isHere(Matcher host, Request request) {
        String port = host.group(2) == null ? request.secure() ? ":443" : ":80" : host.group(2);
        return (name(host).equals("localhost") || Request.isLoopback(name(host)))
                && (request.port() <= 0 || port.equals(":" + request.port()));
    }

    /** The one who sends a request, with rights. */
    ConsoleUser user(Request request) {
        ConsoleRights rights;
        try {
            rights = options.access().rights(request);
        } catch (RuntimeException e) {
            LOG.warn("The console's access hook failed, so the request is refused", e);
            rights = null;
        }
        if (rights == null || !rights.any()) {
            throw options.access()
                    .challenge()
                    .map(challenge ->
                            new Refusal(401, "forbidden", "Who are you?", Map.of("WWW-Authenticate", challenge)))
                    .orElseGet(() -> new Refusal(
                            403,
                            "forbidden",
                            "You have no right to see this console. Without an access hook it is only for browsers on its"
                                    + " own machine that come by no proxy."));
        }
        return new ConsoleUser(
                rights.user().or(request::principal).orElse(null), request.peer(), rights, !options.actions());
    }

    /**
     * Refuses what another site's page asks for. Browsers do not send this header to all addresses, so its absence
     * means nothing.
     */
    void checkSite(Request request) {
        List<String> sites = request.values("sec-fetch-site");
        if (!sites.isEmpty() && !sites.equals(List.of("same-origin")) && !sites.equals(List.of("none"))) {
            throw foreign();
        }
    }

    /** Checks that a change comes from the page itself, or from a program, and not from a page of somebody else. */
    void checkChange(Request request) {
        String type = request.header("content-type")
                .orElse("")
                .toLowerCase(Locale.ROOT)
                .replace(" ", "");
        if (!type.equals("application/json") && !type.equals("application/json;charset=utf-8")) {
            throw notJson();
        }
        if (!request.values(OWN_HEADER).equals(List.of("1"))) {
            throw new Refusal(403, "forbidden", "A change needs the header " + OWN_HEADER + ": 1.");
        }
        if (!request.values("origin").isEmpty() && !isOwnOrigin(request)) {
            throw foreign();
        }
        long length = request.header("content-length").map(Guard::length).orElse(0L);
        if (length > Parameters.MAX_BODY) {
            throw Parameters.tooLarge();
        }
    }

    /**
     * The page's own origin is http or https as the request came; a proxy at a name of the console's may have ended
     * TLS.
     */
    private boolean isOwnOrigin(Request request) {
        Matcher host = HOST.matcher(host(request));
        List<String> origins = request.values("origin");
        return !request.secure() && origins.equals(List.of("http://" + host(request)))
                || (request.secure() || host.matches() && isNamed(host))
                        && origins.equals(List.of("https://" + host(request)));
    }

    private static long length(String text) {
        if (!text.matches("[0-9]{1,18}")) {
            throw new Refusal(400, "badRequest", "The header Content-Length is not a number.");
        }
        return Long.parseLong(text);
    }

    private static Refusal notJson() {
        return new Refusal(415, "badRequest", "A change has to be sent as Content-Type: application/json.");
    }

    private static Refusal foreign() {
        return new Refusal(
                403,
                "forbidden",
                "The request comes from a page of another site. A proxy before the console has to hand on the header Host.");
    }
}
