// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The arguments of a call with several items, in fewer arguments: {@code packed.lua} has the format, and reads it. */
final class PackedArguments {

    /** A longer value is an argument of its own: Lua would read each byte of it once more, which costs more than that. */
    private static final int MAX_LENGTH = 48;

    private static final int SAME = 0;
    private static final int OF_ONE_LENGTH = 1;
    private static final int OWN_ARGUMENTS = 2;

    private PackedArguments() {}

    /**
     * Packs arguments, if there are several items, or one whose id begins with a byte 0 as packed ones do: nothing but a stored
     * message can have such an id, and it has to be finished.
     *
     * @param arguments arrays of bytes
     * @param head the number of arguments before the first item
     * @param width the number of arguments of an item; 0 for a script without items
     * @param bodies true if the last argument of an item is always an argument of its own
     */
    static Object[] of(Object[] arguments, int head, int width, boolean bodies) {
        int count = width == 0 ? 0 : (arguments.length - head) / width;
        if (count < 1
                || arguments.length != head + count * width
                || (count == 1 && !isMarked((byte[]) arguments[head]))) {
            return arguments;
        }
        int[] forms = new int[width];
        int size = 3 + 4 * width;
        int own = 0;
        for (int column = 0; column < width; column++) {
            int form = bodies && column == width - 1 ? OWN_ARGUMENTS : form(arguments, head + column, width);
            forms[column] = form;
            switch (form & 3) {
                case SAME -> size += form >> 2;
                case OF_ONE_LENGTH -> size += (form >> 2) * count;
                default -> own++;
            }
        }
        ByteBuffer text = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        text.put((byte) 0).putShort((short) count);
        for (int form : forms) {
            text.putInt(form);
        }
        List<Object> packed = new ArrayList<>(head + 1 + own * count);
        packed.addAll(Arrays.asList(arguments).subList(0, head));
        packed.add(text.array());
        for (int column = 0; column < width; column++) {
            int form = forms[column];
            for (int i = head + column; i < arguments.length; i += width) {
                if (form == OWN_ARGUMENTS) {
                    packed.add(arguments[i]);
                } else {
                    text.put((byte[]) arguments[i]);
                    if ((form & 3) == SAME) {
                        break;
                    }
                }
            }
        }
        return packed.toArray();
    }

    private static boolean isMarked(byte[] id) {
        return id.length > 0 && id[0] == 0;
    }

    /** How the values of a column are packed, with their length. */
    private static int form(Object[] arguments, int from, int width) {
        byte[] first = (byte[]) arguments[from];
        boolean same = true;
        boolean sameLength = true;
        for (int i = from; i < arguments.length; i += width) {
            byte[] value = (byte[]) arguments[i];
            same = same && Arrays.equals(value, first);
            sameLength = sameLength && value.length == first.length;
        }
        if (same) {
            return first.length << 2 | SAME;
        }
        return sameLength && first.length <= MAX_LENGTH ? first.length << 2 | OF_ONE_LENGTH : OWN_ARGUMENTS;
    }
}
