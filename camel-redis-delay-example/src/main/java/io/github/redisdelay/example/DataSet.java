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
 * Orders to play with, and which of them are paid after what time; events, and what their organisers do with them.
 *
 * @param orders JSON of an order each, by id, in the order in which they arrive
 * @param payments order's id to the time from its arrival to its payment, such as {@code 12h}
 * @param programme acts of the organisers, in any order
 */
record DataSet(Map<String, String> orders, Map<String, String> payments, List<DataSet.Act> programme) {

    static final DataSet EMPTY = new DataSet(Map.of(), Map.of(), List.of());

    /**
     * An act of an organiser.
     *
     * @param event the event's id
     * @param title its title, null to cancel it
     * @param after when this is done, counted from the first start of the example, in the shop's time
     * @param startsAfter when the event is to start, counted in the same way; null to cancel it
     */
    record Act(String event, String title, String after, String startsAfter) {}

    /** Stands for the port in {@code orders.ndjson}. */
    static final String HTTP_PORT = "{http.port}";

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * The one that ships with the example: {@code orders.ndjson}, {@code payments.ndjson} and {@code programme.ndjson}.
     *
     * @param httpPort the shop's port, where the partners of some orders listen too
     */
    static DataSet shipped(int httpPort) {
        Map<String, String> orders = new LinkedHashMap<>();
        for (String line : lines("orders.ndjson")) {
            orders.put(
                    read(line, JsonNode.class).get("id").asText(), line.replace(HTTP_PORT, String.valueOf(httpPort)));
        }
        Map<String, String> payments = new LinkedHashMap<>();
        for (String line : lines("payments.ndjson")) {
            JsonNode payment = read(line, JsonNode.class);
            payments.put(payment.get("order").asText(), payment.get("after").asText());
        }
        List<Act> programme = lines("programme.ndjson").stream()
                .map(line -> read(line, Act.class))
                .toList();
        return new DataSet(orders, payments, programme);
    }

    private static List<String> lines(String resource) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
                DataSet.class.getResourceAsStream("/data/" + resource), StandardCharsets.UTF_8))) {
            return reader.lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static <T> T read(String line, Class<T> type) {
        try {
            return JSON.readValue(line, type);
        } catch (IOException e) {
            throw new UncheckedIOException("The data set has a line that does not fit: " + line, e);
        }
    }
}
