// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.envelope.Envelope;
import java.math.BigInteger;
import java.util.Map;
import java.util.Objects;

/**
 * A message as an {@link ImportConverter} makes it.
 *
 * @param body null, a {@code String}, a {@code byte[]}, a {@code Boolean}, or a number of {@code java.lang} or
 *     {@code java.math}; an array is not copied and must not be changed afterwards
 * @param id the id, 1 to {@value ScheduleRequest#MAX_ID_BYTES} bytes of UTF-8 without control characters, or null to
 *     have one generated
 * @param headers the headers: text, numbers, {@code Boolean}, {@code Instant}, {@code UUID} or {@code byte[]} under
 *     names that are not empty. Those named {@code Camel*} do not reach the receiver.
 */
public record ImportedMessage(Object body, String id, Map<String, Object> headers) {

    /**
     * @throws IllegalArgumentException if the body or a header cannot be stored, or the id cannot be one, saying why
     * @throws NullPointerException if the headers are null or have a null
     */
    public ImportedMessage {
        headers = Map.copyOf(Objects.requireNonNull(headers, "headers"));
        if (id != null) {
            ScheduleRequest.requireId(id, false);
        }
        envelope(body, headers);
    }

    /**
     * A message without headers whose id is generated.
     *
     * @throws IllegalArgumentException if the body cannot be stored, saying why
     */
    public static ImportedMessage of(Object body) {
        return new ImportedMessage(body, null, Map.of());
    }

    /** The form in which the message is stored. */
    public Envelope toEnvelope() {
        return envelope(body, headers);
    }

    /**
     * This message with its body as its id: {@code import.id=body}. A text is the id as it is, a whole number is
     * written in digits.
     *
     * @throws ImportRefusedException if the body is something else, or a text that cannot be an id
     */
    public ImportedMessage withBodyAsId() {
        boolean whole = body instanceof Byte
                || body instanceof Short
                || body instanceof Integer
                || body instanceof Long
                || body instanceof BigInteger;
        if (!whole && !(body instanceof String)) {
            throw new ImportRefusedException("import.id=body needs a text or a whole number as body, and this is "
                    + (body == null ? "null" : "of type " + body.getClass().getTypeName()));
        }
        try {
            return new ImportedMessage(body, body.toString(), headers);
        } catch (IllegalArgumentException e) {
            throw new ImportRefusedException("import.id=body: the body cannot be the id: " + e.getMessage(), e);
        }
    }

    private static Envelope envelope(Object body, Map<String, Object> headers) {
        return Envelope.of(body, null, headers, Envelope.Settings.NONE);
    }
}
