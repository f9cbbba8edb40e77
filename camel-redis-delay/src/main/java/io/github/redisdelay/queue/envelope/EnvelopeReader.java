// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.envelope;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Reads the parts of an {@link Envelope} from bytes that may be anything. Whatever it meets, it throws nothing but {@link
 * EnvelopeFormatException}, and it takes no memory for a length that is not there.
 */
final class EnvelopeReader {

    private static final Pattern INTEGER = Pattern.compile("-?[0-9]++");
    private static final Pattern DECIMAL = Pattern.compile("-?[0-9]++(\\.[0-9]++)?(E[+-]?[0-9]++)?");

    private final byte[] bytes;
    private final int end;
    private int position;

    EnvelopeReader(byte[] bytes) {
        this(bytes, 0, bytes.length);
    }

    private EnvelopeReader(byte[] bytes, int start, int end) {
        this.bytes = bytes;
        this.position = start;
        this.end = end;
    }

    int position() {
        return position;
    }

    boolean hasRemaining() {
        return position < end;
    }

    private int remaining() {
        return end - position;
    }

    int readByte(String what) {
        if (position == end) {
            throw new EnvelopeFormatException("it ends before " + what, position);
        }
        return bytes[position++] & 0xFF;
    }

    /** The part that a length at this position announces; this reader goes on behind it. */
    EnvelopeReader section(String what) {
        int start = position;
        int length = varint("the length of " + what);
        if (length > remaining()) {
            throw new EnvelopeFormatException(
                    what + " should have " + length + " bytes, but " + remaining() + " are left", start);
        }
        EnvelopeReader section = new EnvelopeReader(bytes, position, position + length);
        position += length;
        return section;
    }

    private int varint(String what) {
        int start = position;
        int value = 0;
        for (int shift = 0; shift < 35; shift += 7) {
            int octet = readByte(what);
            if (shift == 28 && octet > 0x07) {
                break;
            }
            value |= (octet & 0x7F) << shift;
            if (octet < 0x80) {
                if (octet == 0 && shift > 0) {
                    throw new EnvelopeFormatException(what + " is not in the fewest bytes possible", start);
                }
                return value;
            }
        }
        throw new EnvelopeFormatException(what + " is above 2147483647", start);
    }

    /** The rest, as bytes. */
    byte[] bytes() {
        byte[] rest = Arrays.copyOfRange(bytes, position, end);
        position = end;
        return rest;
    }

    /** The rest, as text. */
    String text() {
        String text = new String(bytes, position, remaining(), StandardCharsets.UTF_8);
        // The fast decoder puts U+FFFD where the bytes are not well-formed; only who meets one needs the strict one.
        if (text.indexOf('\uFFFD') >= 0) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes, position, remaining());
            try {
                StandardCharsets.UTF_8.newDecoder().decode(buffer);
            } catch (CharacterCodingException e) {
                throw new EnvelopeFormatException("the text is not well-formed UTF-8", buffer.position());
            }
        }
        position = end;
        return text;
    }

    /** The rest, which must be empty. */
    Object nothing() {
        exactly(0, "a null body");
        return null;
    }

    /** The rest, as a boolean. */
    Boolean bool() {
        exactly(1, "a boolean");
        int octet = readByte("a boolean");
        if (octet > 1) {
            throw new EnvelopeFormatException("a boolean is 0 or 1 and not " + octet, position - 1);
        }
        return octet == 1;
    }

    /** The rest, as a value that is a number. */
    Object number() {
        int start = position;
        Object value = value();
        if (!(value instanceof Number)) {
            throw new EnvelopeFormatException("value type " + bytes[start] + " is not that of a number", start);
        }
        return value;
    }

    /** The rest, as a value with its type. */
    Object value() {
        int start = position;
        int type = readByte("a value's type");
        return switch (type) {
            case EnvelopeWriter.TEXT -> text();
            case EnvelopeWriter.BOOLEAN -> bool();
            case EnvelopeWriter.INT8 -> (byte) fixed(1, "an 8-bit integer");
            case EnvelopeWriter.INT16 -> (short) fixed(2, "a 16-bit integer");
            case EnvelopeWriter.INT32 -> (int) fixed(4, "a 32-bit integer");
            case EnvelopeWriter.INT64 -> fixed(8, "a 64-bit integer");
            case EnvelopeWriter.FLOAT32 -> Float.intBitsToFloat((int) fixed(4, "a 32-bit number"));
            case EnvelopeWriter.FLOAT64 -> Double.longBitsToDouble(fixed(8, "a 64-bit number"));
            case EnvelopeWriter.INTEGER -> new BigInteger(numberText(INTEGER));
            case EnvelopeWriter.DECIMAL -> decimal();
            case EnvelopeWriter.INSTANT -> instant();
            case EnvelopeWriter.BYTES -> bytes();
            case EnvelopeWriter.UUID_VALUE -> {
                exactly(16, "a UUID");
                yield new UUID(bigEndian(8), bigEndian(8));
            }
            default -> throw new EnvelopeFormatException("unknown value type " + type, start);
        };
    }

    private Instant instant() {
        int start = position;
        exactly(12, "an instant");
        long seconds = bigEndian(8);
        long nanos = bigEndian(4);
        if (nanos > 999_999_999) {
            throw new EnvelopeFormatException("an instant's nanoseconds are above 999999999", start + 8);
        }
        try {
            return Instant.ofEpochSecond(seconds, nanos);
        } catch (DateTimeException e) {
            throw new EnvelopeFormatException("an instant is out of range", start);
        }
    }

    /** The rest, as a number of milliseconds. */
    Duration duration() {
        int start = position;
        long millis = fixed(8, "a duration");
        if (millis < 1) {
            throw new EnvelopeFormatException("a duration is " + millis + " milliseconds and not 1 or more", start);
        }
        return Duration.ofMillis(millis);
    }

    private BigDecimal decimal() {
        int start = position;
        BigDecimal value;
        try {
            value = new BigDecimal(numberText(DECIMAL));
        } catch (NumberFormatException e) {
            throw new EnvelopeFormatException("a decimal's exponent is out of range", start);
        }
        if (Math.abs((long) value.scale()) > EnvelopeWriter.MAX_SCALE) {
            throw new EnvelopeFormatException(
                    "a decimal's scale is " + value.scale() + " and above " + EnvelopeWriter.MAX_SCALE, start);
        }
        return value;
    }

    private String numberText(Pattern pattern) {
        if (remaining() > EnvelopeWriter.MAX_NUMBER_LENGTH) {
            throw new EnvelopeFormatException(
                    "a number has " + remaining() + " characters, more than " + EnvelopeWriter.MAX_NUMBER_LENGTH,
                    position);
        }
        String text = new String(bytes, position, remaining(), StandardCharsets.ISO_8859_1);
        if (!pattern.matcher(text).matches()) {
            throw new EnvelopeFormatException(
                    "a number is not written as " + pattern.pattern().replace("++", "+"), position);
        }
        position = end;
        return text;
    }

    private long fixed(int count, String what) {
        exactly(count, what);
        return bigEndian(count);
    }

    /** Unsigned for fewer than 8 bytes: who calls casts to the size that was read. */
    private long bigEndian(int count) {
        long value = 0;
        for (int i = 0; i < count; i++) {
            value = value << 8 | (bytes[position++] & 0xFF);
        }
        return value;
    }

    private void exactly(int count, String what) {
        if (remaining() != count) {
            throw new EnvelopeFormatException(what + " must have " + count + " bytes and has " + remaining(), position);
        }
    }
}
