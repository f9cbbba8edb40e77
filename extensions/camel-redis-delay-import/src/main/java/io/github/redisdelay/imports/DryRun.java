// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A converter that notes what an import would make of the payloads, and which codecs look like theirs. Used by one
 * thread at a time.
 */
public final class DryRun implements ImportConverter {

    private static final int SHOWN = 3;

    private final ImportConverter converter;
    private final Map<String, Long> guesses = new LinkedHashMap<>();
    private final List<Object> bodies = new ArrayList<>();

    /** @param converter null to convert each payload by the guess */
    public DryRun(ImportConverter converter) {
        this.converter = converter;
    }

    @Override
    public ImportedMessage convert(byte[] payload) {
        ImportCodec guess = CodecGuess.of(payload).codec();
        guesses.merge(guess.optionValue(), 1L, Long::sum);
        ImportedMessage message = (converter == null ? guess : converter).convert(payload);
        if (message != null && bodies.size() < SHOWN) {
            bodies.add(message.body());
        }
        return message;
    }

    /** How many payloads look like those of which codec, by the option's values. */
    public Map<String, Long> guesses() {
        return guesses;
    }

    /** The bodies of the first three messages. */
    public List<Object> bodies() {
        return bodies;
    }
}
