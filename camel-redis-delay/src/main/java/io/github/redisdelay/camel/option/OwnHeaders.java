// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.option;

import io.github.redisdelay.camel.RedisDelayConstants;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The names of the component's headers. A header that begins as they do and is none of them is misspelt. It must not
 * pass for no header: a message would be delivered now that was meant for later.
 */
public final class OwnHeaders {

    private static final Logger LOG = LoggerFactory.getLogger(OwnHeaders.class);

    /** The exchange property of a request whose outcome is not known yet. */
    public static final String PENDING_REQUEST = "CamelRedisDelayPendingRequest";

    /** The exchange property of the deliveries that an exchange holds. */
    public static final String HELD_DELIVERIES = "CamelRedisDelayHeldDeliveries";

    /** The exchange property of the options that a {@code toD} brings for its endpoint. */
    public static final String STEP_OPTIONS = "CamelRedisDelayStepOptions";

    /** Common prefix of all header names. */
    public static final String PREFIX = "CamelRedisDelay";

    /** The same without that of Camel's own headers, which is easily left out. */
    private static final String WITHOUT_CAMEL = PREFIX.substring("Camel".length());

    /** Headers that are used up once the operation is done, and must not direct the next step of the route. */
    public static final List<String> USED_UP = List.of(
            RedisDelayConstants.DELAY,
            RedisDelayConstants.DELIVER_AT,
            RedisDelayConstants.OPERATION,
            RedisDelayConstants.PRIORITY,
            RedisDelayConstants.GROUP,
            RedisDelayConstants.TIME_TO_LIVE,
            RedisDelayConstants.DEDUPLICATION_PERIOD,
            RedisDelayConstants.EVERY,
            RedisDelayConstants.CRON,
            RedisDelayConstants.TIME_ZONE,
            RedisDelayConstants.MAXIMUM_REDELIVERIES,
            RedisDelayConstants.REDELIVERY_DELAY,
            RedisDelayConstants.BACK_OFF_MULTIPLIER,
            RedisDelayConstants.MAXIMUM_REDELIVERY_DELAY,
            RedisDelayConstants.REDELIVERY_DELAYS,
            RedisDelayConstants.LIMIT);

    /** The same, found by a hash. */
    private static final Set<String> USED = Set.copyOf(USED_UP);

    /** Those of {@link #USED_UP}. */
    private static final Set<String> IN_ANY_CASE = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

    /** Headers that a route can set. */
    public static final List<String> REQUEST_HEADERS = Stream.concat(
                    USED_UP.stream(),
                    Stream.of(
                            RedisDelayConstants.SCHEDULE_ID,
                            RedisDelayConstants.RETRY_AFTER,
                            RedisDelayConstants.PAUSE_GROUP,
                            RedisDelayConstants.DEAD_LETTER_REASON,
                            RedisDelayConstants.DEAD_LETTER_ID,
                            RedisDelayConstants.CURSOR))
            .toList();

    /** All that are known, by their names in any letter case. */
    private static final Map<String, String> KNOWN_IN_ANY_CASE = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

    /** The same as they are usually written: costs one look by a hash that the name has with it. */
    private static final Set<String> KNOWN;

    static {
        constants().forEach(name -> KNOWN_IN_ANY_CASE.put(name, name));
        Stream.of(HELD_DELIVERIES, PENDING_REQUEST, STEP_OPTIONS).forEach(name -> KNOWN_IN_ANY_CASE.put(name, name));
        KNOWN = Set.copyOf(KNOWN_IN_ANY_CASE.keySet());
        IN_ANY_CASE.addAll(USED_UP);
    }

    /** Headers that the component sets. */
    public static final List<String> RESPONSE_HEADERS =
            constants().filter(name -> !REQUEST_HEADERS.contains(name)).toList();

    private static final OncePerName WARNED = new OncePerName();

    private OwnHeaders() {}

    /**
     * Checks the headers of a message that was given to a producer.
     *
     * @throws IllegalArgumentException if one is misspelt
     */
    public static void check(Message message) {
        if (message.hasHeaders()) {
            unknown(message.getHeaders()).ifPresent(error -> {
                throw new IllegalArgumentException("header " + error);
            });
        }
    }

    /** Removes those of {@link #USED_UP} from a message, in any letter case. */
    public static void removeUsedUp(Message message) {
        try {
            message.getHeaders().keySet().removeIf(name -> (KNOWN.contains(name) ? USED : IN_ANY_CASE).contains(name));
        } catch (ConcurrentModificationException e) {
            // Another thread of the user changes them. What is stored must not be sent again for that.
            USED_UP.forEach(message::removeHeader);
        }
    }

    /**
     * Warns of misspelt headers and properties by which a received exchange, now ended, may have asked for something.
     */
    public static void warn(Exchange exchange) {
        try {
            if (exchange.getMessage().hasHeaders()) {
                unknown(exchange.getMessage().getHeaders()).ifPresent(error -> warn(exchange, "header " + error));
            }
            if (exchange.hasProperties()) {
                unknown(exchange.getProperties()).ifPresent(error -> warn(exchange, "exchange property " + error));
            }
        } catch (RuntimeException e) {
            // Another thread of the user may still change the headers. A message must not be delivered again for that.
            LOG.debug("The headers of exchange {} cannot be read", exchange.getExchangeId(), e);
        }
    }

    private static void warn(Exchange exchange, String error) {
        String note = WARNED.note(error);
        if (note != null) {
            LOG.warn(
                    "Exchange {} of route '{}': {}. {}",
                    exchange.getExchangeId(),
                    exchange.getFromRouteId(),
                    error,
                    note);
        }
    }

    /** The first name that is misspelt, in an error. */
    private static Optional<String> unknown(Map<String, Object> all) {
        for (String name : all.keySet()) {
            if (isUnknown(name, all)) {
                return Optional.of("'" + OptionValues.shown(name) + "' is unknown: remove it, or use one of "
                        + String.join(", ", REQUEST_HEADERS));
            }
        }
        return Optional.empty();
    }

    /**
     * True if a name begins as the component's do, with or without {@code Camel}, and is none of them. A name in another
     * letter case is known if Camel finds it by the component's name. It does so among headers, unless it was told
     * otherwise, but never among properties.
     */
    private static boolean isUnknown(String name, Map<String, Object> all) {
        if (KNOWN.contains(name)
                || !(name.regionMatches(true, 0, WITHOUT_CAMEL, 0, WITHOUT_CAMEL.length())
                        || name.regionMatches(true, 0, PREFIX, 0, PREFIX.length()))) {
            return false;
        }
        String known = KNOWN_IN_ANY_CASE.get(name);
        return known == null || !all.containsKey(known);
    }

    private static Stream<String> constants() {
        return Arrays.stream(RedisDelayConstants.class.getFields()).map(constant -> {
            try {
                return (String) constant.get(null);
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e); // all are public
            }
        });
    }
}
