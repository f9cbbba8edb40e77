// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.internal.format.Digits;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** The arguments of a call with many items, in fewer arguments: {@code items.lua} has the format, and reads it. */
final class PackedArguments {

    /** With fewer items there would be more arguments, or hardly fewer. */
    private static final int MIN_ITEMS = 4;

    /** A longer value is an argument of its own: Lua would read each byte of it once more, which costs more than that. */
    private static final int MAX_LENGTH = 48;

    private static final byte[] NOTHING = {};
    private static final byte[] OWN_ARGUMENTS = {'*'};

    private PackedArguments() {}

    /**
     * Packs arguments, if that is worth it.
     *
     * @param arguments arrays of bytes
     * @param head the number of arguments before the first item
     * @param width the number of arguments of an item; 0 for a script without items
     */
    static Object[] of(Object[] arguments, int head, int width) {
        int count = width == 0 ? 0 : (arguments.length - head) / width;
        if (count < MIN_ITEMS || arguments.length != head + count * width) {
            return arguments;
        }
        List<Object> packed = new ArrayList<>(head + 2 + 2 * width);
        packed.addAll(Arrays.asList(arguments).subList(0, head));
        packed.add(NOTHING);
        packed.add(Digits.of(count));
        List<Object> own = new ArrayList<>(0);
        for (int column = 0; column < width; column++) {
            byte[][] values = new byte[count][];
            for (int i = 0; i < count; i++) {
                values[i] = (byte[]) arguments[head + i * width + column];
            }
            add(values, packed, own);
        }
        packed.addAll(own);
        return packed.toArray();
    }

    private static void add(byte[][] values, List<Object> packed, List<Object> own) {
        byte[] first = values[0];
        boolean same = true;
        boolean sameLength = true;
        int longest = 0;
        int total = 0;
        for (byte[] value : values) {
            same = same && Arrays.equals(value, first);
            sameLength = sameLength && value.length == first.length;
            longest = Math.max(longest, value.length);
            total += value.length;
        }
        if (same) {
            packed.add(NOTHING);
            packed.add(first);
        } else if (longest > MAX_LENGTH) {
            packed.add(OWN_ARGUMENTS);
            packed.add(NOTHING);
            Collections.addAll(own, (Object[]) values);
        } else {
            packed.add(sameLength ? Digits.of(first.length) : lengths(values));
            packed.add(joined(values, total));
        }
    }

    private static byte[] lengths(byte[][] values) {
        ByteBuffer lengths = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (byte[] value : values) {
            lengths.putInt(value.length);
        }
        return lengths.array();
    }

    private static byte[] joined(byte[][] values, int total) {
        byte[] joined = new byte[total];
        int at = 0;
        for (byte[] value : values) {
            System.arraycopy(value, 0, joined, at, value.length);
            at += value.length;
        }
        return joined;
    }
}
