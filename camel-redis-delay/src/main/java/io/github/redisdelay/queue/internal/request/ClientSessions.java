// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.request;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/**
 * The names of a client's sessions in Redis and the numbers of its calls. A session remembers the last call that Redis has
 * executed, so that a repeated one has no second effect (see {@code session.lua}). Thread-safe.
 */
public final class ClientSessions {

    private static final int CLIENT_ID_BYTES = 16;

    private final byte[] clientId = new byte[CLIENT_ID_BYTES];

    /** The number of the latest call of any session: one that is dropped and made anew goes on with higher numbers. */
    private final AtomicLong sequence = new AtomicLong();

    public ClientSessions(RandomGenerator random) {
        random.nextBytes(clientId);
    }

    /** The client's id in hexadecimal digits. */
    public String clientId() {
        return HexFormat.of().formatHex(clientId);
    }

    /**
     * A session of this client.
     *
     * @param suffix tells its name from the client's other sessions
     */
    public Session session(String suffix) {
        byte[] text = suffix.getBytes(StandardCharsets.UTF_8);
        byte[] name = new byte[CLIENT_ID_BYTES + text.length];
        System.arraycopy(clientId, 0, name, 0, CLIENT_ID_BYTES);
        System.arraycopy(text, 0, name, CLIENT_ID_BYTES, text.length);
        return new Session(name, sequence::incrementAndGet);
    }
}
