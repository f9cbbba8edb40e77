// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * Reads one value as Redisson's {@code Kryo5Codec} writes it: the number of its class, or 1, 0 and the name of its
 * class, and then the value. The bytes are the same from Redisson 3.20.1 (Kryo 5.4.0) to 4.7.0 (Kryo 5.6.2).
 */
final class Kryo5Reader {

    private static final int NULL = 0;
    private static final int NAMED = 1;
    private static final int INTEGER = 2;
    private static final int TEXT = 3;
    private static final int FLOAT = 4;
    private static final int BOOLEAN = 5;
    private static final int BYTE = 6;
    private static final int CHARACTER = 7;
    private static final int SHORT = 8;
    private static final int LONG = 9;
    private static final int DOUBLE = 10;

    private final PayloadReader in;

    Kryo5Reader(byte[] payload) {
        in = new PayloadReader(payload);
    }

    Object value() {
        int type = (int) varint(5);
        return in.last(
                switch (type) {
                    case NULL -> null;
                    case NAMED -> named();
                    case INTEGER -> zigzag();
                    case TEXT -> text();
                    case FLOAT -> Float.intBitsToFloat((int) in.littleEndian(4));
                    case BOOLEAN -> bool();
                    case BYTE -> (byte) in.octet();
                    case CHARACTER -> String.valueOf((char) in.littleEndian(2));
                    case SHORT -> (short) in.littleEndian(2);
                    case LONG -> {
                        long value = varint(9);
                        yield value >>> 1 ^ -(value & 1);
                    }
                    case DOUBLE -> Double.longBitsToDouble(in.littleEndian(8));
                    default ->
                        throw new ImportRefusedException("class number " + type
                                + " is none of Kryo's own: it is not Kryo 5, or from a codec with registered classes");
                });
    }

    private Object named() {
        int number = in.octet();
        if (number != 0) {
            throw new ImportRefusedException("name " + number + " of a class comes before name 0: it is not Kryo 5");
        }
        String name = text();
        return switch (name) {
            case "java.math.BigDecimal" -> {
                BigInteger digits = integer();
                yield new BigDecimal(digits, zigzag());
            }
            case "java.math.BigInteger" -> integer();
            case "[B" -> in.bytes(length());
            default -> throw PayloadReader.ofClass(name);
        };
    }

    private BigInteger integer() {
        return new BigInteger(in.bytes(length()));
    }

    /** How many bytes follow. Written one higher, because 0 means null, which a payload is not. */
    private int length() {
        int length = (int) varint(5);
        if (length <= 0) {
            throw new ImportRefusedException("it has " + (length - 1) + " bytes of content: it is not Kryo 5, or"
                    + " from a codec with useReferences");
        }
        return length - 1;
    }

    private Boolean bool() {
        int octet = in.octet();
        if (octet > 1) {
            throw new ImportRefusedException("a boolean is 0 or 1 and not " + octet);
        }
        return octet == 1;
    }

    private String text() {
        String text = string();
        if (text == null) {
            throw new ImportRefusedException("it has a text that is null, which no queue has");
        }
        return text;
    }

    /** Text of ASCII that ends with the character that has bit 8; or bit 8 with a length, and then the characters. */
    private String string() {
        int first = in.octet();
        if (first < 0x80) {
            return ascii(first);
        }
        long length = first & 0x3F;
        if ((first & 0x40) != 0) {
            length |= varint(4) << 6;
        }
        return length == 0 ? null : in.text(length - 1);
    }

    private String ascii(int first) {
        if (first == 1) {
            // A codec with useReferences puts a byte 1 before each text, and these bytes can be read in both ways.
            throw new ImportRefusedException("it is a text that begins with the character U+0001,"
                    + " or was written by a Kryo5Codec with useReferences=true");
        }
        StringBuilder text = new StringBuilder();
        int octet = first;
        while (octet < 0x80) {
            text.append((char) octet);
            octet = in.octet();
        }
        return text.append((char) (octet & 0x7F)).toString();
    }

    private int zigzag() {
        int value = (int) varint(5);
        return value >>> 1 ^ -(value & 1);
    }

    /** A number in groups of 7 bits, the lowest first; the ninth byte has 8. */
    private long varint(int atMost) {
        long value = 0;
        for (int i = 0; i < atMost; i++) {
            int octet = in.octet();
            if (i == 8) {
                return value | (long) octet << 56;
            }
            value |= (long) (octet & 0x7F) << 7 * i;
            if (octet < 0x80) {
                return value;
            }
        }
        throw new ImportRefusedException("a number has more than " + atMost + " bytes");
    }
}
