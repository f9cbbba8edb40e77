// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A message as it is stored: body, content type and headers, and the byte format for them.
 *
 * <p>The format can be read and written in any language. Nothing in it names a class, and no reader creates anything but
 * the scalar values listed here. An envelope is:
 *
 * <table>
 * <caption>Envelope, version 1</caption>
 * <tr><th>bytes</th><th>content</th></tr>
 * <tr><td>1</td><td>{@code 0xF9}: the marker {@code 11111} and three bits of version, here 1. No UTF-8 text has such a
 *     byte, so plain text or JSON is never taken for an envelope. A reader refuses other versions.</td></tr>
 * <tr><td>1</td><td>bits 0 to 3: the body type; bit 4 ({@code 0x10}): there are fields; bits 5 to 7: zero, a reader
 *     refuses anything else</td></tr>
 * <tr><td>1 to 5</td><td>only with fields: the length of all fields together in bytes, a varint</td></tr>
 * <tr><td>that length</td><td>only with fields: one field after the other</td></tr>
 * <tr><td>the rest</td><td>the body</td></tr>
 * </table>
 *
 * <p>A <b>varint</b> is an unsigned number up to 2<sup>31</sup> - 1 in groups of seven bits, the lowest first, with bit 7
 * ({@code 0x80}) set in every byte but the last; in the fewest bytes possible. All other binary numbers are big-endian.
 * Text is well-formed UTF-8 without a length or an end mark of its own.
 *
 * <table>
 * <caption>Body types</caption>
 * <tr><th>code</th><th>type</th><th>body</th></tr>
 * <tr><td>0</td><td>null</td><td>empty</td></tr>
 * <tr><td>1</td><td>bytes</td><td>as they are</td></tr>
 * <tr><td>2</td><td>text</td><td>UTF-8</td></tr>
 * <tr><td>3</td><td>number</td><td>a value (below) of one of the types 3 to 10</td></tr>
 * <tr><td>4</td><td>boolean</td><td>one byte, 0 or 1</td></tr>
 * </table>
 *
 * <p>A <b>field</b> is its tag (one byte), the length of its content (a varint) and its content. A reader skips tags
 * that it does not know from {@code 0x00} to {@code 0x7F}, and refuses the envelope for those from {@code 0x80} to
 * {@code 0xFF}: who writes a field picks its tag by whether a message may be delivered by somebody who cannot honour it.
 *
 * <table>
 * <caption>Fields</caption>
 * <tr><th>tag</th><th>field</th><th>content</th></tr>
 * <tr><td>{@code 0x01}</td><td>content type, at most once</td><td>text</td></tr>
 * <tr><td>{@code 0x02}</td><td>a header, once for each name; the order is kept</td><td>the length of its name in bytes (a
 *     varint), its name (text), its value (below) to the end of the field</td></tr>
 * <tr><td>{@code 0x03}</td><td>deduplication period, at most once</td><td>8 bytes, milliseconds, 1 or more</td></tr>
 * <tr><td>{@code 0x81}</td><td>time to live, at most once</td><td>8 bytes, milliseconds, 1 or more</td></tr>
 * <tr><td>{@code 0x82}</td><td>retry policy, at most once</td><td>text: {@code name=value} pairs with {@code ;} between
 *     them</td></tr>
 * </table>
 *
 * <p>A <b>value</b> is its type (one byte) and its content, to the end of what holds it:
 *
 * <table>
 * <caption>Values</caption>
 * <tr><th>type</th><th>value</th><th>content</th><th>in Java</th></tr>
 * <tr><td>1</td><td>text</td><td>UTF-8</td><td>{@code String}</td></tr>
 * <tr><td>2</td><td>boolean</td><td>one byte, 0 or 1</td><td>{@code Boolean}</td></tr>
 * <tr><td>3</td><td>8-bit integer</td><td>1 byte, two's complement</td><td>{@code Byte}</td></tr>
 * <tr><td>4</td><td>16-bit integer</td><td>2 bytes, two's complement</td><td>{@code Short}</td></tr>
 * <tr><td>5</td><td>32-bit integer</td><td>4 bytes, two's complement</td><td>{@code Integer}</td></tr>
 * <tr><td>6</td><td>64-bit integer</td><td>8 bytes, two's complement</td><td>{@code Long}</td></tr>
 * <tr><td>7</td><td>32-bit floating point</td><td>4 bytes, IEEE 754</td><td>{@code Float}</td></tr>
 * <tr><td>8</td><td>64-bit floating point</td><td>8 bytes, IEEE 754</td><td>{@code Double}</td></tr>
 * <tr><td>9</td><td>integer of any size</td><td>ASCII {@code -?[0-9]+}, at most 4096 bytes</td>
 *     <td>{@code BigInteger}</td></tr>
 * <tr><td>10</td><td>decimal</td><td>ASCII {@code -?[0-9]+(\.[0-9]+)?(E[+-]?[0-9]+)?}, at most 4096 bytes; the exponent
 *     less the number of digits after the point is from -10000 to 10000</td><td>{@code BigDecimal}</td></tr>
 * <tr><td>11</td><td>instant</td><td>8 bytes: seconds since 1970-01-01T00:00:00Z, two's complement; 4 bytes: nanoseconds
 *     after that, 0 to 999999999</td><td>{@code Instant}</td></tr>
 * <tr><td>12</td><td>bytes</td><td>as they are</td><td>{@code byte[]}</td></tr>
 * <tr><td>13</td><td>UUID</td><td>16 bytes, as in RFC 9562</td><td>{@code UUID}</td></tr>
 * </table>
 *
 * <p>Equal envelopes are written as the same bytes: content type first, then the headers in their order, then the settings by their tags. Instances are
 * immutable as long as nobody changes an array that was given to one or came out of one: arrays are not copied.
 */
public final class Envelope {

    /** The largest envelope, 512 MiB: Redis holds no longer value ({@code proto-max-bulk-len}). */
    public static final int MAX_SIZE = 512 * 1024 * 1024;

    static final int MARKER = 0xF8;
    static final int VERSION = 1;
    static final int HAS_FIELDS = 0x10;
    static final int BODY_TYPE_BITS = 0x0F;
    static final int TAG_CONTENT_TYPE = 0x01;
    static final int TAG_HEADER = 0x02;
    static final int TAG_DEDUPLICATION_PERIOD = 0x03;
    static final int TAG_CRITICAL = 0x80;
    static final int TAG_TIME_TO_LIVE = 0x81;
    static final int TAG_RETRY_POLICY = 0x82;

    /** What a body is. The position in this list is the code in the byte format. */
    public enum BodyType {
        NULL,
        BYTES,
        TEXT,
        NUMBER,
        BOOLEAN;

        private static final BodyType[] ALL = values();

        static BodyType of(int code) {
            return code < ALL.length ? ALL[code] : null;
        }
    }

    /**
     * What holds for one message in particular. Each is null if the message does not say.
     *
     * @param deduplicationPeriod for how long its id stays a duplicate after it was finished; whole milliseconds, 1 or more
     * @param timeToLive for how long after it was first due it may be delivered; whole milliseconds, 1 or more
     * @param retryPolicy how often and when it is delivered again after a failure: {@code name=value} pairs with {@code ;}
     *     between them, which the consumer reads
     */
    public record Settings(Duration deduplicationPeriod, Duration timeToLive, String retryPolicy) {

        /** A message without any. */
        public static final Settings NONE = new Settings(null, null, null);

        private static final Duration SHORTEST = Duration.ofMillis(1);
        private static final Duration LONGEST = Duration.ofMillis(Long.MAX_VALUE);

        public Settings {
            deduplicationPeriod = millis("deduplicationPeriod", deduplicationPeriod);
            timeToLive = millis("timeToLive", timeToLive);
        }

        /** What is finer is cut off, as it is not written. */
        private static Duration millis(String name, Duration duration) {
            if (duration != null && (duration.compareTo(SHORTEST) < 0 || duration.compareTo(LONGEST) > 0)) {
                throw new IllegalArgumentException(name + " is " + duration
                        + ": it must be 1 millisecond or more, and less than " + "2^63 milliseconds");
            }
            return duration == null ? null : duration.truncatedTo(ChronoUnit.MILLIS);
        }
    }

    private final BodyType bodyType;
    private final Object body;

    /** What the body is the end of, from {@link #bodyStart} on: in an envelope that was read, all of its bytes. */
    private final byte[] source;

    private final int bodyStart;
    private final String contentType;
    private final Map<String, Object> headers;
    private final Settings settings;

    /** The fields as they are written, or null in an envelope that was read: most of those are never written again. */
    private final byte[] fields;

    private Envelope(
            BodyType bodyType,
            Object body,
            byte[] source,
            int bodyStart,
            String contentType,
            Map<String, Object> headers,
            Settings settings,
            byte[] fields) {
        this.bodyType = bodyType;
        this.body = body;
        this.source = source;
        this.bodyStart = bodyStart;
        this.contentType = contentType;
        this.headers = headers;
        this.settings = settings;
        this.fields = fields;
    }

    /**
     * An envelope without content type and headers.
     *
     * @param body as in {@link #of(Object, String, Map)}
     */
    public static Envelope of(Object body) {
        return of(body, null, Map.of());
    }

    /** An envelope without settings of its own. */
    public static Envelope of(Object body, String contentType, Map<String, ?> headers) {
        return of(body, contentType, headers, Settings.NONE);
    }

    /**
     * An envelope.
     *
     * @param body null, {@code byte[]}, {@code String}, {@code Boolean}, or a number: {@code Byte}, {@code Short},
     *     {@code Integer}, {@code Long}, {@code Float}, {@code Double}, {@code BigInteger} or {@code BigDecimal}
     * @param contentType the body's media type, or null
     * @param headers names and values, in this order; a value is one of the types of the body (but not null), an
     *     {@code Instant} or a {@code UUID}
     * @param settings what holds for this message in particular
     * @throws IllegalArgumentException naming what cannot be stored: a value of another type, text that is not
     *     well-formed (half of a surrogate pair), a number that is too long, an envelope above {@link #MAX_SIZE}
     */
    public static Envelope of(Object body, String contentType, Map<String, ?> headers, Settings settings) {
        BodyType type;
        byte[] bytes;
        if (body == null) {
            type = BodyType.NULL;
            bytes = new byte[0];
        } else if (body instanceof byte[] b) {
            type = BodyType.BYTES;
            bytes = b;
        } else if (body instanceof String text) {
            type = BodyType.TEXT;
            bytes = EnvelopeWriter.utf8("the body", text);
        } else if (body instanceof Boolean b) {
            type = BodyType.BOOLEAN;
            bytes = new byte[] {(byte) (b ? 1 : 0)};
        } else if (body instanceof Number) {
            type = BodyType.NUMBER;
            bytes = new EnvelopeWriter().value("the body", body).toBytes();
        } else {
            throw EnvelopeWriter.unsupported("the body", body);
        }
        Map<String, Object> copy =
                headers.isEmpty() ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<String, Object>(headers));
        byte[] fields = EnvelopeWriter.fields(contentType, copy, settings);
        Envelope envelope = new Envelope(type, body, bytes, 0, contentType, copy, settings, fields);
        if (envelope.size(fields) > MAX_SIZE) {
            throw new IllegalArgumentException("an envelope of " + envelope.size(fields)
                    + " bytes cannot be stored: Redis holds at most " + MAX_SIZE + " bytes in one value");
        }
        return envelope;
    }

    /**
     * Reads an envelope. Memory is only taken for what the bytes really hold: every length in them is compared with what
     * is left before it is used.
     *
     * @param bytes a stored envelope
     * @throws EnvelopeFormatException if that is anything but a complete envelope of a known version
     */
    public static Envelope decode(byte[] bytes) {
        EnvelopeReader in = new EnvelopeReader(bytes);
        int first = in.readByte("the version");
        if ((first & MARKER) != MARKER) {
            throw new EnvelopeFormatException("it starts with " + hex(first) + " and not with the marker 0xf9", 0);
        }
        if (first != (MARKER | VERSION)) {
            throw new EnvelopeFormatException(
                    "version " + (first & ~MARKER) + " is unknown, this reader knows version " + VERSION, 0);
        }
        int second = in.readByte("the body type");
        if ((second & ~(HAS_FIELDS | BODY_TYPE_BITS)) != 0) {
            throw new EnvelopeFormatException("unknown flags " + hex(second), 1);
        }
        BodyType type = BodyType.of(second & BODY_TYPE_BITS);
        if (type == null) {
            throw new EnvelopeFormatException("unknown body type " + (second & BODY_TYPE_BITS), 1);
        }

        String contentType = null;
        Map<String, Object> headers = Map.of();
        Settings settings = Settings.NONE;
        if ((second & HAS_FIELDS) != 0) {
            EnvelopeReader section = in.section("the fields");
            LinkedHashMap<String, Object> found = new LinkedHashMap<>();
            Duration deduplicationPeriod = null;
            Duration timeToLive = null;
            String retryPolicy = null;
            while (section.hasRemaining()) {
                int start = section.position();
                int tag = section.readByte("a tag");
                EnvelopeReader field = section.section("a field");
                if (tag == TAG_CONTENT_TYPE) {
                    if (contentType != null) {
                        throw new EnvelopeFormatException("a second content type", start);
                    }
                    contentType = field.text();
                } else if (tag == TAG_HEADER) {
                    String name = field.section("a header's name").text();
                    if (found.put(name, field.value()) != null) {
                        throw new EnvelopeFormatException("a second header of the same name", start);
                    }
                } else if (tag == TAG_DEDUPLICATION_PERIOD) {
                    checkFirst(deduplicationPeriod, "deduplication period", start);
                    deduplicationPeriod = field.duration();
                } else if (tag == TAG_TIME_TO_LIVE) {
                    checkFirst(timeToLive, "time to live", start);
                    timeToLive = field.duration();
                } else if (tag == TAG_RETRY_POLICY) {
                    checkFirst(retryPolicy, "retry policy", start);
                    retryPolicy = field.text();
                } else if (tag >= TAG_CRITICAL) {
                    throw new EnvelopeFormatException(
                            "field " + hex(tag) + " is unknown and must not be ignored", start);
                }
            }
            headers = Collections.unmodifiableMap(found);
            if (deduplicationPeriod != null || timeToLive != null || retryPolicy != null) {
                settings = new Settings(deduplicationPeriod, timeToLive, retryPolicy);
            }
        }

        int start = in.position();
        Object value =
                switch (type) {
                    case NULL -> in.nothing();
                    case BYTES -> in.bytes();
                    case TEXT -> in.text();
                    case NUMBER -> in.number();
                    case BOOLEAN -> in.bool();
                };
        return new Envelope(type, value, bytes, start, contentType, headers, settings, null);
    }

    private static void checkFirst(Object before, String what, int position) {
        if (before != null) {
            throw new EnvelopeFormatException("a second " + what, position);
        }
    }

    /** Writes the envelope in the format above. */
    public byte[] encode() {
        byte[] written = fields();
        byte[] bytes = new byte[(int) size(written)];
        bytes[0] = (byte) (MARKER | VERSION);
        bytes[1] = (byte) bodyType.ordinal();
        int position = 2;
        if (written.length > 0) {
            bytes[1] |= HAS_FIELDS;
            position = EnvelopeWriter.varint(bytes, position, written.length);
            System.arraycopy(written, 0, bytes, position, written.length);
            position += written.length;
        }
        System.arraycopy(source, bodyStart, bytes, position, bodyLength());
        return bytes;
    }

    /** How many bytes {@link #encode()} answers. */
    public int size() {
        return (int) size(fields());
    }

    private long size(byte[] written) {
        long size = 2L + bodyLength();
        return written.length == 0 ? size : size + EnvelopeWriter.varintSize(written.length) + written.length;
    }

    private byte[] fields() {
        return fields != null ? fields : EnvelopeWriter.fields(contentType, headers, settings);
    }

    private int bodyLength() {
        return source.length - bodyStart;
    }

    /** What the body is. */
    public BodyType bodyType() {
        return bodyType;
    }

    /**
     * The body: null, {@code byte[]}, {@code String}, {@code Boolean}, {@code Byte}, {@code Short}, {@code Integer},
     * {@code Long}, {@code Float}, {@code Double}, {@link BigInteger} or {@link BigDecimal}.
     */
    public Object body() {
        return body;
    }

    /** The body as it is written: the text's UTF-8, for example. */
    public byte[] bodyBytes() {
        if (body instanceof byte[] bytes) {
            return bytes;
        }
        return bodyStart == 0 ? source : Arrays.copyOfRange(source, bodyStart, source.length);
    }

    /** The body's media type, or null. */
    public String contentType() {
        return contentType;
    }

    /** Names and values in their order; unmodifiable. The types are those of {@link #of(Object, String, Map)}. */
    public Map<String, Object> headers() {
        return headers;
    }

    /** What holds for this message in particular; {@link Settings#NONE} if nothing does. */
    public Settings settings() {
        return settings;
    }

    /** Whether the other is an envelope that is written as the same bytes. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Envelope that
                && bodyType == that.bodyType
                && Arrays.equals(source, bodyStart, source.length, that.source, that.bodyStart, that.source.length)
                && Arrays.equals(fields(), that.fields());
    }

    @Override
    public int hashCode() {
        return 31 * Objects.hash(bodyType, contentType) + Arrays.hashCode(bodyBytes());
    }

    /** Tells type and sizes; never the data. */
    @Override
    public String toString() {
        return "Envelope[" + bodyType + " of " + bodyLength() + " bytes, " + headers.size() + " headers]";
    }

    static String hex(int octet) {
        return String.format("0x%02x", octet);
    }
}
