// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Orders to play with, and which of them are paid after what time.
 *
 * @param orders JSON of an order each, by id, in the order in which they arrive
 * @param payments order's id to the time from its arrival to its payment, such as {@code 12h}
 */
record DataSet(Map<String, String> orders, Map<String, String> payments) {

    static final DataSet EMPTY = new DataSet(Map.of(), Map.of());

    /** Stands for the port in {@code orders.ndjson}. */
    static final String HTTP_PORT = "{http.port}";

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * The one that ships with the example: {@code orders.ndjson} and {@code payments.ndjson}.
     *
     * @param httpPort the shop's port, where the partners of some orders listen too
     */
    static DataSet shipped(int httpPort) {
        Map<String, String> orders = new LinkedHashMap<>();
        for (String line : lines("orders.ndjson")) {
            orders.put(object(line).get("id").asText(), line.replace(HTTP_PORT, String.valueOf(httpPort)));
        }
        Map<String, String> payments = new LinkedHashMap<>();
        for (String line : lines("payments.ndjson")) {
            JsonNode payment = object(line);
            payments.put(payment.get("order").asText(), payment.get("after").asText());
        }
        return new DataSet(orders, payments);
    }

    /** The lines of a file that ships with the example. */
    static List<String> lines(String resource) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                DataSet.class.getResourceAsStream("/data/" + resource), StandardCharsets.UTF_8))) {
            return reader.lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JsonNode object(String line) {
        try {
            return JSON.readTree(line);
        } catch (IOException e) {
            throw new UncheckedIOException("The data set has a line that is no JSON: " + line, e);
        }
    }
}
