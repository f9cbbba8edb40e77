// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import java.math.BigInteger;

/**
 * Reads one value as the {@code FstCodec} of Redisson 3.12 writes it (FST 2.57): a tag, for most types the number of a
 * class, the value.
 */
final class FstReader {

    private static final int OBJECT = 0x00;
    private static final int FALSE = 0xEF;
    private static final int TRUE = 0xF0;
    private static final int LONG = 0xF6;
    private static final int INTEGER = 0xF7;
    private static final int ENUM = 0xFA;
    private static final int ARRAY = 0xFB;
    private static final int TEXT = 0xFC;
    private static final int NULL = 0xFF;

    private static final int NAME = 0;
    private static final int ASCII_NAME = 1;
    private static final int BYTE_CLASS = 4;
    private static final int SHORT_CLASS = 5;
    private static final int FLOAT_CLASS = 8;
    private static final int DOUBLE_CLASS = 9;
    private static final int BIG_INTEGER_CLASS = 11;
    private static final int CHARACTER_CLASS = 12;
    private static final int BYTES_CLASS = 36;

    /** The classes that have numbers, from 3 on; those behind are shown by their numbers. */
    private static final String[] CLASSES = {
        "java.lang.String",
        "java.lang.Byte",
        "java.lang.Short",
        "java.lang.Integer",
        "java.lang.Long",
        "java.lang.Float",
        "java.lang.Double",
        "java.math.BigDecimal",
        "java.math.BigInteger",
        "java.lang.Character",
        "java.lang.Boolean",
        "java.util.TreeMap",
        "java.util.HashMap",
        "java.util.ArrayList",
        "java.util.concurrent.ConcurrentHashMap",
        "java.net.URL",
        "java.util.Date"
    };

    private final PayloadReader in;

    FstReader(byte[] payload) {
        in = new PayloadReader(payload);
    }

    Object value() {
        int tag = in.octet();
        return in.last(
                switch (tag) {
                    case NULL -> null;
                    case TEXT -> text();
                    case INTEGER -> (int) number(false);
                    case LONG -> number(true);
                    case TRUE -> true;
                    case FALSE -> false;
                    case OBJECT -> object();
                    case ARRAY -> {
                        int type = twoBytes();
                        if (type != BYTES_CLASS) {
                            throw refused(type);
                        }
                        yield in.bytes(number(false));
                    }
                    case ENUM -> throw refused(twoBytes());
                    default -> throw new ImportRefusedException("tag " + tag + " is none that is read: it is not FST");
                });
    }

    private Object object() {
        int type = twoBytes();
        return switch (type) {
            case BYTE_CLASS -> (byte) in.octet();
            case SHORT_CLASS -> (short) twoBytes();
            case FLOAT_CLASS -> Float.intBitsToFloat((int) in.littleEndian(4));
            case DOUBLE_CLASS -> Double.longBitsToDouble(in.littleEndian(8));
            case BIG_INTEGER_CLASS -> new BigInteger(in.bytes(number(false)));
            case CHARACTER_CLASS -> String.valueOf((char) twoBytes());
            default -> throw refused(type);
        };
    }

    private ImportRefusedException refused(int type) {
        if (type == NAME) {
            return PayloadReader.ofClass(text());
        }
        if (type == ASCII_NAME) {
            return PayloadReader.ofClass(in.text(number(false)));
        }
        int known = type - 3;
        return PayloadReader.ofClass(
                known >= 0 && known < CLASSES.length ? CLASSES[known] : "number " + type + " of FST");
    }

    /** Text: a byte for each character below 255, and 255 and two bytes for each other. */
    private String text() {
        long length = number(false);
        in.need(length);
        StringBuilder text = new StringBuilder((int) length);
        for (int i = 0; i < length; i++) {
            text.append((char) twoBytes());
        }
        return text.toString();
    }

    /** A number of 16 bits: a byte if it is below 255, else 255 and two bytes. */
    private int twoBytes() {
        int octet = in.octet();
        return octet < 255 ? octet : (int) in.littleEndian(2);
    }

    /** A number: a byte, or -128 and two bytes, or -127 and four; a long may also be -126 and eight. */
    private long number(boolean isLong) {
        byte first = (byte) in.octet();
        return switch (first) {
            case -128 -> (short) in.littleEndian(2);
            case -127 -> (int) in.littleEndian(4);
            case -126 -> isLong ? in.littleEndian(8) : first;
            default -> first;
        };
    }
}
