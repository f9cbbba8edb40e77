// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

/**
 * Reads one value as Redisson's {@code MarshallingCodec} writes it: JBoss Marshalling's protocol River, version 4. The
 * bytes are the same in Redisson 3.16.8, 3.20.1 and 3.21.1.
 */
final class RiverReader {

    private static final int VERSION = 4;

    private static final int NULL = 0x01;
    private static final int NEW_OBJECT = 0x04;
    private static final int ENUM_CLASS = 0x0c;
    private static final int BYTE_CLASS = 0x21;
    private static final int TEXT_EMPTY = 0x3d;
    private static final int TEXT_SMALL = 0x3e;
    private static final int TEXT_MEDIUM = 0x3f;
    private static final int TEXT_LARGE = 0x40;
    private static final int ARRAY_EMPTY = 0x41;
    private static final int ARRAY_SMALL = 0x42;
    private static final int ARRAY_MEDIUM = 0x43;
    private static final int ARRAY_LARGE = 0x44;
    private static final int BYTE = 0x49;
    private static final int SHORT = 0x4a;
    private static final int INTEGER = 0x4b;
    private static final int LONG = 0x4c;
    private static final int CHARACTER = 0x4d;
    private static final int FLOAT = 0x4e;
    private static final int DOUBLE = 0x4f;
    private static final int TRUE = 0x50;
    private static final int FALSE = 0x51;
    private static final int FIRST_COLLECTION = 0x52;
    private static final int LAST_COLLECTION = 0x82;

    private final PayloadReader in;

    RiverReader(byte[] payload) {
        in = new PayloadReader(payload);
    }

    Object value() {
        int version = in.octet();
        if (version != VERSION) {
            throw new ImportRefusedException("its first byte is " + version + " and not " + VERSION
                    + ": it is not JBoss Marshalling's River of that version");
        }
        int type = in.octet();
        return in.last(
                switch (type) {
                    case NULL -> null;
                    case TEXT_EMPTY, TEXT_SMALL, TEXT_MEDIUM, TEXT_LARGE -> text(type);
                    case ARRAY_EMPTY, ARRAY_SMALL, ARRAY_MEDIUM, ARRAY_LARGE -> array(type);
                    case BYTE -> (byte) in.octet();
                    case SHORT -> (short) in.bigEndian(2);
                    case INTEGER -> (int) in.bigEndian(4);
                    case LONG -> in.bigEndian(8);
                    case CHARACTER -> String.valueOf((char) in.bigEndian(2));
                    case FLOAT -> Float.intBitsToFloat((int) in.bigEndian(4));
                    case DOUBLE -> Double.longBitsToDouble(in.bigEndian(8));
                    case TRUE -> true;
                    case FALSE -> false;
                    default -> throw refused(type);
                });
    }

    private String text(int type) {
        return type == TEXT_EMPTY ? "" : in.text(length(type - TEXT_SMALL));
    }

    private byte[] array(int type) {
        long length = type == ARRAY_EMPTY ? 0 : length(type - ARRAY_SMALL);
        int element = in.octet();
        if (element != BYTE_CLASS) {
            throw new ImportRefusedException("it is an array, and only byte[] is read");
        }
        return in.bytes(length);
    }

    /** A length of 1, 2 or 4 bytes; 0 stands for the one that is too large by one. */
    private long length(int size) {
        long length = in.bigEndian(1 << size);
        return length > 0 || size == 2 ? length : 1L << 8 * (1 << size);
    }

    private ImportRefusedException refused(int type) {
        if (type >= FIRST_COLLECTION && type <= LAST_COLLECTION) {
            return new ImportRefusedException("it is a collection or a map of java.util,"
                    + " and only text, numbers, booleans and byte[] are read: use an ImportConverter of your own");
        }
        if (type != NEW_OBJECT) {
            return new ImportRefusedException("type " + type + " is none that is read");
        }
        int kind = in.octet();
        if (kind == ENUM_CLASS) {
            return PayloadReader.ofClass(in.text(in.bigEndian(4)));
        }
        // The name of a class is a text like any other.
        int next = in.octet();
        if (next == TEXT_SMALL || next == TEXT_MEDIUM) {
            return PayloadReader.ofClass(text(next));
        }
        return new ImportRefusedException("it is an object, of class kind " + kind);
    }
}
