// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.camel.imports.ImportModule;
import io.github.redisdelay.camel.option.Durations;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.imports.queue.ImportSource;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.camel.support.PropertyBindingSupport;

/** Reads the options of imports. Each error names the option, its value and what would be right. */
final class ImportOptionReader {

    private static final String FROM = "from";
    private static final String CODEC = "codec";
    private static final String CONVERTER = "converter";
    private static final String ID = "id";
    private static final String ON_ERROR = "onError";
    /** Of consumers only. */
    private static final String AHEAD = "ahead";
    /** Of producers only. */
    private static final String DRY_RUN = "dryRun";

    private static final List<String> NAMES = List.of(FROM, CODEC, CONVERTER, ID, ON_ERROR, AHEAD, DRY_RUN);

    /** The headers and options by which a message is scheduled. */
    private static final List<String> FOR_SCHEDULING =
            List.of("delay", "deliverAt", "priority", "timeToLive", "deduplicationPeriod", "onDuplicate", "batching");

    private enum IdOf {
        NONE,
        BODY
    }

    private enum OnError {
        LEAVE,
        RAW
    }

    private final ImportModule.Options options;
    /** The endpoint's own, and the component's that these do not replace, by their names in any letter case. */
    private final Map<String, Object> values = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

    ImportOptionReader(ImportModule.Options options) {
        this.options = options;
        options.defaults().forEach((name, value) -> values.put(name.replace("-", ""), value)); // on-error, in a file
        // One of the two converts.
        if (has(options.imports().keySet(), CODEC)) {
            values.remove(CONVERTER);
        }
        if (has(options.imports().keySet(), CONVERTER)) {
            values.remove(CODEC);
        }
        values.putAll(options.imports());
        for (String name : values.keySet()) {
            if (!has(NAMES, name)) {
                throw new IllegalArgumentException(option(name) + " is unknown: there are " + String.join(", ", NAMES));
            }
        }
    }

    private static boolean has(Collection<String> names, String name) {
        return names.stream().anyMatch(name::equalsIgnoreCase);
    }

    private static String option(String name) {
        return "option '" + ImportModule.PREFIX + OptionValues.shown(name) + "'";
    }

    private String text(String name) {
        return String.valueOf(values.get(name));
    }

    private <E extends Enum<E>> E constant(Class<E> type, String name, E otherwise) {
        return values.containsKey(name) ? OptionValues.constant(type, option(name), text(name)) : otherwise;
    }

    /** The settings of a producer. */
    ImportSettings producer() {
        if (!has(options.imports().keySet(), FROM)) {
            throw new IllegalArgumentException("option 'operation' is 'import', and " + option(FROM)
                    + " is not set: name the queue that Redisson's getBlockingQueue was given");
        }
        FOR_SCHEDULING.stream()
                .filter(name -> has(options.own(), name))
                .findFirst()
                .ifPresent(option -> {
                    throw new IllegalArgumentException(
                            "option '" + option + "' is set on a producer whose operation is 'import':"
                                    + " imported messages are due when they were due, with the default priority and no time to live;"
                                    + " remove it");
                });
        refuse(AHEAD, "consumer");
        String dryRun = values.containsKey(DRY_RUN) ? text(DRY_RUN) : "false";
        if (!dryRun.matches("(?i)true|false")) {
            throw new IllegalArgumentException(
                    option(DRY_RUN) + " is '" + OptionValues.shown(dryRun) + "': it must be true or false");
        }
        return settings(null, Boolean.parseBoolean(dryRun));
    }

    /** The settings of a consumer. */
    ImportSettings consumer() {
        if (!has(options.imports().keySet(), FROM)) {
            String first = options.imports().keySet().iterator().next();
            throw new IllegalArgumentException(option(first) + " is set on a consumer that imports nothing: set "
                    + option(FROM) + " as well, or remove it");
        }
        refuse(DRY_RUN, "producer");
        Duration ahead = values.containsKey(AHEAD) ? Durations.of(option(AHEAD), text(AHEAD)) : Duration.ZERO;
        return settings(ahead, false);
    }

    /** Refuses an option of the other side on the endpoint. The component's is meant for that side's endpoints. */
    private void refuse(String name, String side) {
        if (has(options.imports().keySet(), name)) {
            throw new IllegalArgumentException(option(name) + " is the " + side + "'s: remove it");
        }
    }

    private ImportSettings settings(Duration ahead, boolean dryRun) {
        ImportSource source;
        try {
            source = new ImportSource(text(FROM));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(option(FROM) + ": " + e.getMessage(), e);
        }
        IdOf id = constant(IdOf.class, ID, IdOf.NONE);
        OnError onError = constant(OnError.class, ON_ERROR, OnError.LEAVE);
        return new ImportSettings(source, converter(dryRun), id == IdOf.BODY, onError == OnError.RAW, ahead, dryRun);
    }

    private ImportConverter converter(boolean dryRun) {
        boolean codec = values.containsKey(CODEC);
        if (values.containsKey(CONVERTER)) {
            if (codec) {
                throw new IllegalArgumentException(
                        "options 'import.codec' and 'import.converter' are both set: one of them converts");
            }
            return bean(values.get(CONVERTER));
        }
        if (codec) {
            try {
                return ImportCodec.of(text(CODEC));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(option(CODEC) + ": " + e.getMessage(), e);
            }
        }
        if (dryRun) {
            return null;
        }
        throw new IllegalArgumentException(option(CODEC) + " is not set: it must be " + ImportCodec.names()
                + ", or set '" + ImportModule.PREFIX + CONVERTER
                + "' to a converter of your own; operation=import with import.dryRun=true and without"
                + " either reports which codec the payloads probably have");
    }

    private ImportConverter bean(Object value) {
        Object found;
        try {
            found = PropertyBindingSupport.resolveBean(options.context(), value); // #bean:, #class: and #type:
        } catch (Exception e) {
            throw new IllegalArgumentException(option(CONVERTER) + ": " + e.getMessage(), e);
        }
        if (found instanceof String name && name.startsWith("#")) {
            found = options.context().getRegistry().lookupByName(name.substring(1));
        }
        if (found instanceof ImportConverter converter) {
            return converter;
        }
        throw new IllegalArgumentException(option(CONVERTER) + " is '" + OptionValues.shown(value)
                + "': it must name a bean that is an ImportConverter, such as #orders");
    }
}
