// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.envelope;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.UUID;

/** Writes the parts of an {@link Envelope} and refuses what could not be read back as it was. */
final class EnvelopeWriter {

    static final int TEXT = 1;
    static final int BOOLEAN = 2;
    static final int INT8 = 3;
    static final int INT16 = 4;
    static final int INT32 = 5;
    static final int INT64 = 6;
    static final int FLOAT32 = 7;
    static final int FLOAT64 = 8;
    static final int INTEGER = 9;
    static final int DECIMAL = 10;
    static final int INSTANT = 11;
    static final int BYTES = 12;
    static final int UUID_VALUE = 13;

    /** Reading decimal text costs the square of its length, and a short text can stand for gigabytes of zeros. */
    static final int MAX_NUMBER_LENGTH = 4096;

    /** More than that many digits have. */
    private static final int MAX_NUMBER_BITS = 4 * MAX_NUMBER_LENGTH;

    static final int MAX_SCALE = 10_000;

    private static final byte[] NO_FIELDS = {};

    private byte[] bytes = new byte[64];
    private int length;

    /** All fields of an envelope; empty if there are none. */
    static byte[] fields(String contentType, Map<String, Object> headers, Envelope.Settings settings) {
        if (contentType == null && headers.isEmpty() && settings.equals(Envelope.Settings.NONE)) {
            return NO_FIELDS;
        }
        EnvelopeWriter out = new EnvelopeWriter();
        if (contentType != null) {
            out.field(Envelope.TAG_CONTENT_TYPE, utf8("the content type", contentType));
        }
        EnvelopeWriter field = new EnvelopeWriter();
        headers.forEach((name, value) -> {
            byte[] nameBytes = utf8("a header's name", name);
            field.length = 0;
            field.varint(nameBytes.length);
            field.put(nameBytes, nameBytes.length);
            field.value("header '" + name + "'", value);
            out.put(Envelope.TAG_HEADER);
            out.varint(field.length);
            out.put(field.bytes, field.length);
        });
        out.duration(Envelope.TAG_DEDUPLICATION_PERIOD, settings.deduplicationPeriod());
        out.duration(Envelope.TAG_TIME_TO_LIVE, settings.timeToLive());
        if (settings.retryPolicy() != null) {
            out.field(Envelope.TAG_RETRY_POLICY, utf8("the retry policy", settings.retryPolicy()));
        }
        return out.toBytes();
    }

    private void duration(int tag, Duration duration) {
        if (duration != null) {
            put(tag);
            varint(8);
            bigEndian(duration.toMillis(), 8);
        }
    }

    private void field(int tag, byte[] content) {
        put(tag);
        varint(content.length);
        put(content, content.length);
    }

    /**
     * Writes a type and a value.
     *
     * @param what names the value in errors
     */
    EnvelopeWriter value(String what, Object value) {
        if (value instanceof String text) {
            typed(TEXT, utf8(what, text));
        } else if (value instanceof Boolean flag) {
            fixed(BOOLEAN, flag ? 1 : 0, 1);
        } else if (value instanceof Integer number) {
            fixed(INT32, number, 4);
        } else if (value instanceof Long number) {
            fixed(INT64, number, 8);
        } else if (value instanceof Double number) {
            fixed(FLOAT64, Double.doubleToRawLongBits(number), 8);
        } else if (value instanceof Float number) {
            fixed(FLOAT32, Float.floatToRawIntBits(number), 4);
        } else if (value instanceof Short number) {
            fixed(INT16, number, 2);
        } else if (value instanceof Byte number) {
            fixed(INT8, number, 1);
        } else if (value instanceof BigInteger number) {
            // The size is checked first: turning a huge number into text costs the square of its length.
            checkNumber(what, number.bitLength() <= MAX_NUMBER_BITS);
            numberText(what, INTEGER, number.toString());
        } else if (value instanceof BigDecimal number) {
            checkNumber(what, Math.abs((long) number.scale()) <= MAX_SCALE);
            checkNumber(what, number.unscaledValue().bitLength() <= MAX_NUMBER_BITS);
            numberText(what, DECIMAL, text(number));
        } else if (value instanceof Instant instant) {
            put(INSTANT);
            bigEndian(instant.getEpochSecond(), 8);
            bigEndian(instant.getNano(), 4);
        } else if (value instanceof byte[] content) {
            typed(BYTES, content);
        } else if (value instanceof UUID uuid) {
            put(UUID_VALUE);
            bigEndian(uuid.getMostSignificantBits(), 8);
            bigEndian(uuid.getLeastSignificantBits(), 8);
        } else {
            throw unsupported(what, value);
        }
        return this;
    }

    /** A number as text. With a point it may need more characters than it was read from; then it is written without. */
    private static String text(BigDecimal number) {
        String text = number.toString();
        return text.length() <= MAX_NUMBER_LENGTH ? text : number.unscaledValue() + "E" + -number.scale();
    }

    private void numberText(String what, int type, String text) {
        checkNumber(what, text.length() <= MAX_NUMBER_LENGTH);
        typed(type, text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void checkNumber(String what, boolean fits) {
        if (!fits) {
            throw new IllegalArgumentException(what + " is a number too long to be stored: at most " + MAX_NUMBER_LENGTH
                    + " characters and a scale of " + MAX_SCALE + "; store it as text");
        }
    }

    private void typed(int type, byte[] content) {
        put(type);
        put(content, content.length);
    }

    private void fixed(int type, long value, int count) {
        put(type);
        bigEndian(value, count);
    }

    static IllegalArgumentException unsupported(String what, Object value) {
        return new IllegalArgumentException(what + " cannot be stored: it is "
                + (value == null ? "null" : "a " + value.getClass().getTypeName())
                + "; it must be text, a number of java.lang or java.math, a Boolean, an Instant, a UUID or a byte[]");
    }

    /** UTF-8, strictly: {@link String#getBytes} would store a question mark for half of a surrogate pair. */
    static byte[] utf8(String what, String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                if (Character.isLowSurrogate(c)
                        || i + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    throw new IllegalArgumentException(what + " cannot be stored: it has half of a surrogate pair at"
                            + " position " + i + ", as a text has that was cut in the middle of a character");
                }
                i++;
            }
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void varint(int value) {
        reserve(5);
        length = varint(bytes, length, value);
    }

    /** Writes a varint into an array and answers the position after it. */
    static int varint(byte[] target, int position, int value) {
        int p = position;
        int rest = value;
        while (rest > 0x7F) {
            target[p++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        target[p++] = (byte) rest;
        return p;
    }

    static int varintSize(int value) {
        int size = 1;
        for (int rest = value >>> 7; rest != 0; rest >>>= 7) {
            size++;
        }
        return size;
    }

    private void bigEndian(long value, int count) {
        reserve(count);
        for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) {
            bytes[length++] = (byte) (value >>> shift);
        }
    }

    private void put(int octet) {
        reserve(1);
        bytes[length++] = (byte) octet;
    }

    private void put(byte[] source, int count) {
        reserve(count);
        System.arraycopy(source, 0, bytes, length, count);
        length += count;
    }

    private void reserve(int count) {
        long needed = (long) length + count;
        if (needed > bytes.length) {
            if (needed > Envelope.MAX_SIZE) {
                throw new IllegalArgumentException(
                        "the headers cannot be stored: together they have more than " + Envelope.MAX_SIZE + " bytes");
            }
            bytes = Arrays.copyOf(bytes, (int) Math.max(needed, Math.min(2L * bytes.length, Envelope.MAX_SIZE)));
        }
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }
}
