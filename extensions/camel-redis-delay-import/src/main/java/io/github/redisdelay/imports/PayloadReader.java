// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports;

import io.github.redisdelay.queue.exception.ShownId;
import java.util.Arrays;

/**
 * A reader of bytes that may be anything: it never reads behind their end, and takes no memory for a length that is not
 * there.
 */
final class PayloadReader {

    private final byte[] bytes;
    private int position;

    PayloadReader(byte[] bytes) {
        this.bytes = bytes;
    }

    int remaining() {
        return bytes.length - position;
    }

    /** The next byte, 0 to 255. */
    int octet() {
        need(1);
        return bytes[position++] & 0xFF;
    }

    /** An integer of 1 to 8 bytes, the most significant first; unsigned for fewer than 8. */
    long bigEndian(int count) {
        need(count);
        long value = 0;
        for (int i = 0; i < count; i++) {
            value = value << 8 | octet();
        }
        return value;
    }

    /** An integer of 1 to 8 bytes, the least significant first; unsigned for fewer than 8. */
    long littleEndian(int count) {
        need(count);
        long value = 0;
        for (int i = 0; i < count; i++) {
            value |= (long) octet() << 8 * i;
        }
        return value;
    }

    byte[] bytes(long count) {
        need(count);
        position += (int) count;
        return Arrays.copyOfRange(bytes, position - (int) count, position);
    }

    /**
     * Text of so many UTF-16 characters, of which each has one to three bytes of its own: half of a surrogate pair has
     * three, and U+0000 may have one or two.
     */
    String text(long characters) {
        need(characters);
        StringBuilder text = new StringBuilder((int) characters);
        while (text.length() < characters) {
            int first = octet();
            if (first < 0x80) {
                text.append((char) first);
            } else if (first >> 5 == 0b110) {
                text.append((char) ((first & 0x1F) << 6 | continuation()));
            } else if (first >> 4 == 0b1110) {
                text.append((char) ((first & 0x0F) << 12 | continuation() << 6 | continuation()));
            } else {
                throw new ImportRefusedException("its text is not well-formed at byte " + (position - 1));
            }
        }
        return text.toString();
    }

    private int continuation() {
        int octet = octet();
        if (octet >> 6 != 0b10) {
            throw new ImportRefusedException("its text is not well-formed at byte " + (position - 1));
        }
        return octet & 0x3F;
    }

    /** The value that was read, if it was all that there is. */
    <T> T last(T value) {
        if (remaining() > 0) {
            throw new ImportRefusedException("there are " + remaining() + " bytes behind its value");
        }
        return value;
    }

    /** Refuses, unless so many bytes are left. */
    void need(long count) {
        if (count < 0 || count > remaining()) {
            throw new ImportRefusedException(
                    "it should have " + count + " bytes more at byte " + position + " and has " + remaining());
        }
    }

    /** The refusal of an object of a class that is not one of the few that are read. */
    static ImportRefusedException ofClass(String name) {
        return new ImportRefusedException("it is an object of class " + ShownId.of(name)
                + ", and only text, numbers, booleans and byte[] are read: use an ImportConverter of your own");
    }
}
