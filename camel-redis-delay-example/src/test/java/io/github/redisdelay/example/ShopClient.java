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
        address = "http://localhost:" + port;
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
