// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.imports.queue.ConvertedPayload;
import io.github.redisdelay.imports.queue.ImportOptions;
import io.github.redisdelay.imports.queue.ImportSource;
import io.github.redisdelay.imports.queue.PayloadConverter;
import java.time.Duration;
import java.util.Objects;

/**
 * The settings of an import from a delayed queue of Redisson's.
 *
 * @param converter makes messages of the payloads; null for a dry run that guesses
 * @param bodyIsId whether the body of a message is its id
 * @param rawOnError whether what the converter refuses is taken as bytes; otherwise it is left
 * @param ahead messages are moved that are due within this time; null for all
 * @param dryRun whether nothing is moved
 */
public record ImportSettings(
        ImportSource source,
        ImportConverter converter,
        boolean bodyIsId,
        boolean rawOnError,
        Duration ahead,
        boolean dryRun) {

    public ImportSettings {
        Objects.requireNonNull(source, "source");
        if (!dryRun) {
            Objects.requireNonNull(converter, "converter");
        }
    }

    /** These settings as those of the queue layer. */
    public ImportOptions options() {
        PayloadConverter raw = payload -> stored(ImportCodec.RAW.convert(payload));
        return ImportOptions.EVERYTHING.withAhead(ahead).withDryRun(dryRun).withFallback(rawOnError ? raw : null);
    }

    /** @param used the converter, or one around it */
    public PayloadConverter payloads(ImportConverter used) {
        return payload -> {
            ImportedMessage message = used.convert(payload);
            if (message == null) {
                throw new ImportRefusedException("the converter made nothing of it, and did not say why");
            }
            return stored(bodyIsId ? message.withBodyAsId() : message);
        };
    }

    private static ConvertedPayload stored(ImportedMessage message) {
        return new ConvertedPayload(message.toEnvelope().encode(), message.id(), 0);
    }
}
