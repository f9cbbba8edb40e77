// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import java.util.Map;

/** A request that is refused before anybody looks at what it asks for. */
final class Refusal extends RuntimeException {

    private final int status;
    private final String code;
    private final transient Map<String, String> headers;

    Refusal(int status, String code, String text) {
        this(status, code, text, Map.of());
    }

    Refusal(int status, String code, String text, Map<String, String> headers) {
        super(text, null, false, false);
        this.status = status;
        this.code = code;
        this.headers = headers;
    }

    Response response() {
        Response response = Response.json(status, new Problem(code, getMessage()));
        for (Map.Entry<String, String> header : headers.entrySet()) {
            response = response.with(header.getKey(), header.getValue());
        }
        return response;
    }

    /**
     * A reason for a refusal.
     *
     * @param error for programs
     * @param text for people
     */
    public record Problem(String error, String text) {}
}
