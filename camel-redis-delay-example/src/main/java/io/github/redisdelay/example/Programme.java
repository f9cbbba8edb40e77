// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * Events to play with, and what their organisers do with them.
 *
 * @param steps in any order
 */
record Programme(List<Step> steps) {

    static final Programme EMPTY = new Programme(List.of());

    /**
     * An act of an organiser.
     *
     * @param event the event's id
     * @param title its title, null to cancel it
     * @param after when this is done, counted from the first start of the example, in the shop's time
     * @param startsAfter when the event is to start, counted in the same way; null to cancel it
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Step(String event, String title, String after, String startsAfter) {}

    /** The one that ships with the example: {@code programme.ndjson}. */
    static Programme shipped() {
        ObjectMapper json = new ObjectMapper();
        return new Programme(DataSet.lines("programme.ndjson").stream()
                .map(line -> {
                    try {
                        return json.readValue(line, Step.class);
                    } catch (IOException e) {
                        throw new UncheckedIOException("The programme has a line that is no step: " + line, e);
                    }
                })
                .toList());
    }
}
