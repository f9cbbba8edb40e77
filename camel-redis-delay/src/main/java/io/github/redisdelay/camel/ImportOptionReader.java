// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import io.github.redisdelay.camel.migration.ImportCodec;
import io.github.redisdelay.camel.migration.ImportConverter;
import io.github.redisdelay.camel.migration.ImportSettings;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.ImportSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Reads the options of imports. Each error names the option, its value and what would be right. */
record ImportOptionReader(RedisDelayConfiguration options, Set<String> own) {

    private static final Set<String> FOR_IMPORTS =
            names("importFrom", "importCodec", "importConverter", "importId", "importOnError", "importAhead", "dryRun");

    /** The headers and options by which a message is scheduled. */
    private static final Set<String> FOR_SCHEDULING =
            names("delay", "deliverAt", "priority", "timeToLive", "deduplicationPeriod", "onDuplicate", "batching");

    private enum IdOf {
        NONE,
        BODY
    }

    private enum OnError {
        LEAVE,
        RAW
    }

    /** @param own the names of the options that the endpoint's own URI sets */
    ImportOptionReader {
        own = names(own.toArray(String[]::new));
    }

    /** Names of options, in any letter case. */
    private static Set<String> names(String... names) {
        Set<String> all = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        all.addAll(List.of(names));
        return all;
    }

    private Optional<String> first(Set<String> options) {
        return own.stream().filter(options::contains).findFirst();
    }

    /** The settings of a producer; null if its operation is another one. */
    ImportSettings producer(RedisDelayOperation operation) {
        if (operation != RedisDelayOperation.IMPORT) {
            return null;
        }
        if (options.getImportFrom() == null) {
            throw new IllegalArgumentException(
                    "option 'operation' is 'import', and option 'importFrom' is not set: name the"
                            + " queue that Redisson's getBlockingQueue was given");
        }
        first(FOR_SCHEDULING).ifPresent(option -> {
            throw new IllegalArgumentException(
                    "option '" + option + "' is set on a producer whose operation is 'import':"
                            + " imported messages are due when they were due, with the default priority and no time to live;"
                            + " remove it");
        });
        return settings(null, options.isDryRun());
    }

    /** The settings of a consumer; null if it imports nothing. */
    ImportSettings consumer(boolean deadLetters) {
        if (options.getImportFrom() == null) {
            checkNone("a consumer that imports nothing: set option 'importFrom' as well, or remove it");
            return null;
        }
        if (deadLetters) {
            throw new IllegalArgumentException(
                    "option 'importFrom' is set on a consumer of dead letters (state=dead): set it"
                            + " on the consumer of the queue itself");
        }
        if (options.isDryRun()) {
            throw new IllegalArgumentException(
                    "option 'dryRun' is 'true', and a consumer imports for good: remove it, or"
                            + " look first by operation=import and dryRun=true in to()");
        }
        return settings(Durations.parse("option 'importAhead'", options.getImportAhead()), false);
    }

    /** Refuses the options where nothing can be imported. */
    void checkNone(String where) {
        first(FOR_IMPORTS).ifPresent(option -> {
            throw new IllegalArgumentException("option '" + option + "' is set on " + where);
        });
    }

    private ImportSettings settings(Duration ahead, boolean dryRun) {
        ImportSource source;
        try {
            source = new ImportSource(options.getImportFrom());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("option 'importFrom': " + e.getMessage(), e);
        }
        IdOf id = OptionValues.constant(IdOf.class, "option 'importId'", options.getImportId());
        OnError onError = OptionValues.constant(OnError.class, "option 'importOnError'", options.getImportOnError());
        return new ImportSettings(source, converter(dryRun), id == IdOf.BODY, onError == OnError.RAW, ahead, dryRun);
    }

    private ImportConverter converter(boolean dryRun) {
        String codec = options.getImportCodec();
        if (options.getImportConverter() != null) {
            if (codec != null) {
                throw new IllegalArgumentException(
                        "options 'importCodec' and 'importConverter' are both set: one of them converts");
            }
            return options.getImportConverter();
        }
        if (codec != null) {
            try {
                return ImportCodec.of(codec);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("option 'importCodec': " + e.getMessage(), e);
            }
        }
        if (dryRun) {
            return null;
        }
        throw new IllegalArgumentException("option 'importCodec' is not set: it must be " + ImportCodec.names()
                + ", or set 'importConverter' to a converter of your own; operation=import with dryRun=true and without"
                + " either tells which codec the payloads look like");
    }
}
