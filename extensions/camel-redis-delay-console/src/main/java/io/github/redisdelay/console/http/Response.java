// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An answer.
 *
 * @param headers all that are sent, but for the length of the body
 */
public record Response(int status, Map<String, String> headers, byte[] body) {

    /**
     * Says what the page may load: its own files and nothing else; no script or style within it, and no frame around
     * it.
     */
    private static final String CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self';"
            + " img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
            + " require-trusted-types-for 'script'";

    /** An answer with the headers that each has. */
    public static Response of(int status, String contentType, byte[] body) {
        Map<String, String> headers = new LinkedHashMap<>();
        if (contentType != null) {
            headers.put("Content-Type", contentType);
        }
        headers.put("Cache-Control", "no-store");
        headers.put("Expires", "0"); // Camel's HTTP components let no Cache-Control through
        headers.put("Content-Security-Policy", CONTENT_SECURITY_POLICY);
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("X-Frame-Options", "DENY");
        headers.put("Referrer-Policy", "no-referrer");
        headers.put("Cross-Origin-Opener-Policy", "same-origin");
        headers.put("Cross-Origin-Resource-Policy", "same-origin");
        return new Response(status, headers, body);
    }

    /** An answer as JSON. */
    public static Response json(int status, Object value) {
        return of(status, "application/json", Json.text(value).getBytes(StandardCharsets.UTF_8));
    }

    /** Bytes that a browser stores as a file and never shows. */
    public static Response attachment(byte[] body) {
        return of(200, "application/octet-stream", body)
                .with("Content-Disposition", "attachment; filename=\"body.bin\"");
    }

    /** Sends a browser to another address. */
    public static Response redirect(String location) {
        return of(308, null, new byte[0]).with("Location", location);
    }

    /** The same answer with one more header. */
    Response with(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Response(status, more, body);
    }
}
