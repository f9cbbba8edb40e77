// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.queue.DueTime;
import java.nio.ByteBuffer;

/**
 * A message to schedule.
 *
 * @param body its first eight bytes are its number, by which {@link Arrivals} knows it
 * @param group the message's group; null for none
 */
public record Message(byte[] body, DueTime due, String group) {

    private static final byte[] BODY = Environment.body();

    /** @param number from 0, or -1 for one that is never delivered */
    public static Message of(long number, DueTime due) {
        byte[] body = BODY.clone();
        ByteBuffer.wrap(body).putLong(0, number);
        return new Message(body, due, null);
    }

    /** The same message in one of so many groups, each with a name of 16 bytes. */
    public Message inOneOf(int groups) {
        return new Message(body, due, "customer-%07d".formatted(number(body) % groups));
    }

    /** The number of a message by its body. */
    public static long number(byte[] body) {
        if (body.length != BODY.length) {
            throw new IllegalStateException("A body of " + body.length + " bytes arrived, of " + BODY.length + " sent");
        }
        return ByteBuffer.wrap(body).getLong(0);
    }
}
