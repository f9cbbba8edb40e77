// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.server;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A request's body; tells when its end was read. */
final class Received extends FilterInputStream {

    private final RequestThreads threads;

    Received(InputStream in, RequestThreads threads) {
        super(in);
        this.threads = threads;
    }

    @Override
    public int read() throws IOException {
        return told(super.read());
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
        return told(super.read(to, offset, length));
    }

    private int told(int read) {
        if (read < 0) {
            threads.received();
        }
        return read;
    }
}
