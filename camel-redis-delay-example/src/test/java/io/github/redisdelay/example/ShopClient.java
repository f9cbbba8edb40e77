// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** A customer with a browser. */
final class ShopClient {

    /** The URL of a partner that is gone: nobody listens there. */
    static final String NOBODY = "http://localhost:1/partner/notifications";

    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http = HttpClient.newHttpClient();
    private final String address;

    /** The shop's answer. */
    record Answer(int status, JsonNode body) {
        String text(String field) {
            return body.path(field).asText();
        }
    }

    ShopClient(int port) {
        this("http://localhost:" + port);
    }

    private ShopClient(String address) {
        this.address = address;
    }

    /** @param url the console's, which ends with a slash */
    static ShopClient ofConsole(String url) {
        return new ShopClient(url.substring(0, url.length() - 1));
    }

    Answer get(String path) {
        return send(path, HttpRequest.newBuilder().GET());
    }

    /** A change, as the console's page asks for it. */
    Answer post(String path, String json) {
        return send(
                path,
                HttpRequest.newBuilder()
                        .header("Content-Type", "application/json")
                        .header("X-Redis-Delay-Console", "1")
                        .POST(HttpRequest.BodyPublishers.ofString(json)));
    }

    Answer repairWarehouse() {
        return send("/warehouse/outage", HttpRequest.newBuilder().DELETE());
    }

    static String order(String id, String window) {
        return "{\"id\":\"" + id + "\",\"customer\":\"Ada\",\"amount\":12.50,\"paymentWindow\":\"" + window + "\"}";
    }

    static String order(String id, String window, String notifyUrl) {
        return order(id, window).replace("}", ",\"notifyUrl\":\"" + notifyUrl + "\"}");
    }

    Answer order(String json) {
        return send("/orders", HttpRequest.newBuilder().POST(HttpRequest.BodyPublishers.ofString(json)));
    }

    Answer pay(String id) {
        return send("/orders/" + id + "/payment", HttpRequest.newBuilder().POST(HttpRequest.BodyPublishers.noBody()));
    }

    String state(String id) {
        return send("/orders/" + id, HttpRequest.newBuilder().GET()).text("state");
    }

    Answer plan(String event, String title, String startsAt) {
        String json = "{\"title\":\"" + title + "\",\"startsAt\":\"" + startsAt + "\"}";
        return send("/events/" + event, HttpRequest.newBuilder().PUT(HttpRequest.BodyPublishers.ofString(json)));
    }

    Answer cancel(String event) {
        return send("/events/" + event, HttpRequest.newBuilder().DELETE());
    }

    private Answer send(String path, HttpRequest.Builder request) {
        try {
            HttpResponse<String> response =
                    http.send(request.uri(URI.create(address + path)).build(), HttpResponse.BodyHandlers.ofString());
            return new Answer(response.statusCode(), JSON.readTree(response.body()));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
