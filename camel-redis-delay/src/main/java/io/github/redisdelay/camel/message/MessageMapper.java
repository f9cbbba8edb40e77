// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.message;

import io.github.redisdelay.camel.option.OncePerName;
import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.envelope.Envelope;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.charset.Charset;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.Calendar;
import java.util.Currency;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.apache.camel.Exchange;
import org.apache.camel.Message;
import org.apache.camel.spi.HeaderFilterStrategy;
import org.apache.camel.support.ExchangeHelper;
import org.apache.camel.util.StringHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The mapping between a Camel message and its stored form.
 *
 * <p>{@link BodyReader} says which bodies are stored.
 *
 * <p>Some headers are neither stored nor taken from a stored message, whatever the filter strategy says: {@code Camel*}
 * and {@code org.apache.camel.*} in any letter case, and names that are empty or have a control character. The strategy
 * decides on all other headers, in both directions. A header that no type of the envelope can hold is not stored; the
 * first such loss for each name is logged as a warning, for at most {@link OncePerName#MAX} names.
 *
 * <p>Safe for use by several threads. One instance serves an endpoint, so that its warnings come once.
 */
public final class MessageMapper {

    private static final Logger LOG = LoggerFactory.getLogger(MessageMapper.class);

    private static final String CAMEL_PREFIX = "Camel";
    private static final String CAMEL_PACKAGE = "org.apache.camel.";

    private final String queue;
    private final HeaderFilterStrategy headerFilter;
    private final BodyReader bodies;

    /** Names of headers whose loss was logged. */
    private final OncePerName lostHeaders = new OncePerName();

    /**
     * @param queue the queue's name, for warnings
     * @param headerFilter asked for each header in both directions
     * @param maximumMessageSize the most bytes that a stored message may have, headers included; from 1 to {@link
     *     Envelope#MAX_SIZE}
     * @throws IllegalArgumentException if the size is out of its range
     */
    public MessageMapper(String queue, HeaderFilterStrategy headerFilter, int maximumMessageSize) {
        int most = Envelope.MAX_SIZE;
        OptionValues.check("maximumMessageSize", maximumMessageSize, 1, most, "from 1 to " + most + " bytes");
        this.queue = queue;
        this.headerFilter = Objects.requireNonNull(headerFilter, "headerFilter");
        this.bodies = new BodyReader(maximumMessageSize);
    }

    /**
     * The stored form of an exchange's message, or of an element of the list that is its body. A stream cache is reset
     * afterwards, so the route can go on reading it; any other stream or reader has been read to its end and closed.
     *
     * @param element an {@link Exchange} or {@link Message}, which has headers of its own; or a body, which is sent with
     *     the headers of {@code exchange}
     * @param exchange the exchange itself, or the one whose body is the list
     * @param settings the message's own
     * @throws IllegalArgumentException if the body or a header cannot be stored, or the message is larger than {@code
     *     maximumMessageSize}; a stream is not read further than that
     * @throws UncheckedIOException if the body cannot be read
     */
    public Envelope toEnvelope(Object element, Exchange exchange, Envelope.Settings settings) {
        if (element instanceof Exchange own) {
            return toEnvelope(own.getMessage(), own, settings);
        }
        return element instanceof Message message
                ? toEnvelope(message.getBody(), message, exchange, settings)
                : toEnvelope(element, exchange.getMessage(), exchange, settings);
    }

    private Envelope toEnvelope(Object body, Message headersFrom, Exchange exchange, Envelope.Settings settings) {
        Object stored = bodies.read(body, exchange);
        String contentType = null;
        Map<String, Object> headers = Map.of();
        if (headersFrom.hasHeaders()) {
            headers = new LinkedHashMap<>();
            for (Map.Entry<String, Object> header : headersFrom.getHeaders().entrySet()) {
                String name = header.getKey();
                Object value = header.getValue();
                if (value == null
                        || isCamelHeader(name)
                        || headerFilter.applyFilterToCamelHeaders(name, value, exchange)) {
                    continue;
                }
                Object storedValue = isUsable(name) ? storedHeader(value) : null;
                if (storedValue == null) {
                    warnOfLoss(name, value, exchange);
                } else if (storedValue instanceof String text && name.equalsIgnoreCase(Exchange.CONTENT_TYPE)) {
                    contentType = text;
                } else {
                    headers.put(name, storedValue);
                }
            }
        }
        Envelope envelope = Envelope.of(stored, contentType, headers, settings);
        if (envelope.size() > bodies.maximumMessageSize()) {
            throw bodies.tooLarge("has " + envelope.size() + " bytes");
        }
        return envelope;
    }

    /**
     * Puts a stored message into a message: its body, its content type as the header {@code Content-Type}, and those of its
     * headers that may pass.
     *
     * @param exchange the exchange for the header filter
     */
    public void fill(Envelope envelope, Message message, Exchange exchange) {
        message.setBody(envelope.body());
        envelope.headers().forEach((name, value) -> restore(message, name, value, exchange));
        if (envelope.contentType() != null) {
            restore(message, Exchange.CONTENT_TYPE, envelope.contentType(), exchange);
        }
    }

    private void restore(Message message, String name, Object value, Exchange exchange) {
        if (!isCamelHeader(name)
                && isUsable(name)
                && !headerFilter.applyFilterToExternalHeaders(name, value, exchange)) {
            message.setHeader(name, value);
        }
    }

    /** True for a header of Camel's own, which directs components: it never passes, whatever the filter says. */
    private static boolean isCamelHeader(String name) {
        return StringHelper.startsWithIgnoreCase(name, CAMEL_PREFIX)
                || StringHelper.startsWithIgnoreCase(name, CAMEL_PACKAGE);
    }

    /** Rejects control characters, which would allow header injection downstream. */
    private static boolean isUsable(String name) {
        return !name.isEmpty() && name.chars().noneMatch(Character::isISOControl);
    }

    /** The value as one of the types that an envelope holds, or null if there is none for it. */
    private static Object storedHeader(Object value) {
        if (value instanceof String
                || value instanceof Boolean
                || BodyReader.isNumber(value)
                || value instanceof Instant
                || value instanceof UUID
                || value instanceof byte[]) {
            return value;
        }
        if (value instanceof Date date) {
            try {
                return date.toInstant();
            } catch (UnsupportedOperationException e) {
                // java.sql.Date and java.sql.Time.
                return Instant.ofEpochMilli(date.getTime());
            }
        }
        if (value instanceof Calendar calendar) {
            return Instant.ofEpochMilli(calendar.getTimeInMillis());
        }
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        if (value instanceof Locale locale) {
            return locale.toLanguageTag();
        }
        if (value instanceof CharSequence
                || value instanceof ZoneId
                || value instanceof Charset
                || value instanceof Character
                || value instanceof URI
                || value instanceof URL
                || value instanceof Currency
                || isIsoTime(value)) {
            return value.toString();
        }
        return null;
    }

    /** The types of java.time document their toString as ISO-8601. */
    private static boolean isIsoTime(Object value) {
        return (value instanceof TemporalAccessor || value instanceof TemporalAmount)
                && value.getClass().getPackageName().equals("java.time");
    }

    private void warnOfLoss(String name, Object value, Exchange exchange) {
        // Header names may come from outside: none of them forges a line of the log or fills the heap.
        String shown = OptionValues.shown(name);
        String note = lostHeaders.note(shown);
        if (note == null) {
            return;
        }
        String route = ExchangeHelper.getRouteId(exchange);
        LOG.warn(
                "queue '{}'{}: header '{}' of type {} is not stored: {}. {}",
                queue,
                route == null ? "" : ", route '" + route + "'",
                shown,
                value.getClass().getTypeName(),
                isUsable(name)
                        ? "convert it to text, a number, a boolean, a time, bytes or a UUID first"
                        : "its name is empty or has control characters",
                note);
    }
}
