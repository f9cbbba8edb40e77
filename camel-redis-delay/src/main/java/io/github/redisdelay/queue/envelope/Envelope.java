// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.envelope;

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
 * A message as the component gives it to a queue: body, content type and headers. In Redis the times of scheduling and
 * of delivery stand before it. {@link #encode} makes bytes of it, and {@link #decode} reads them.
 * The section "The envelope" of {@code docs/protocol.md} describes them byte by byte, for readers and writers in any
 * language. Nothing in them names a class, and a reader creates nothing but scalar values.
 *
 * <p>An instance is immutable as long as nobody changes an array that was given to it or came out of it: arrays are not copied.
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
    // Reserved, and refused until then: 0x83 for the group.

    /** The types of bodies. The position in this list is the code in the byte format. */
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
     * The settings of one message. Each is null if the message has none of its own.
     *
     * @param deduplicationPeriod the time for which its id stays a duplicate after it was finished; whole milliseconds, 1 or more
     * @param timeToLive the time after its first due time within which it may be delivered; whole milliseconds, 1 or more
     * @param retryPolicy the number and times of its deliveries after a failure: {@code name=value} pairs with {@code ;} between
     *     them, which the consumer reads
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

        /** A checked duration, cut to whole milliseconds: the format has no finer ones. */
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

    /** The bytes that end with the body, which begins at {@link #bodyStart}: in an envelope that was read, all of its bytes. */
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
                    + " bytes cannot be stored: Redis stores at most " + MAX_SIZE + " bytes in one value");
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
        int second = readFlags(in);
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
                    checkFirst(contentType, "content type", start);
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

    /** Reads the first two bytes: the version, which must be known, and the flags with the body's type. */
    private static int readFlags(EnvelopeReader in) {
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
        return second;
    }

    private static void checkFirst(Object before, String what, int position) {
        if (before != null) {
            throw new EnvelopeFormatException("a second " + what, position);
        }
    }

    /** Writes the envelope as bytes. */
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

    /** The number of bytes that {@link #encode()} answers. */
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

    /** The type of the body. */
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

    /** The message's own settings; {@link Settings#NONE} if it has none. */
    public Settings settings() {
        return settings;
    }

    /** Returns whether the other is an envelope that is written as the same bytes. */
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

    /** Returns type and sizes; never the data. */
    @Override
    public String toString() {
        return "Envelope[" + bodyType + " of " + bodyLength() + " bytes, " + headers.size() + " headers]";
    }

    static String hex(int octet) {
        return String.format("0x%02x", octet);
    }
}
