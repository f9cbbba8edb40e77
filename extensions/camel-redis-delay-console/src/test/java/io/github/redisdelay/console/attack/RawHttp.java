// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.attack;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Sends bytes as they are, which no HTTP client would send, and reads what comes back. */
public final class RawHttp {

    private static final int TIMEOUT_MILLIS = 20_000;

    /**
     * An answer.
     *
     * @param status 0 if the connection was closed without one
     */
    public record Answer(int status, String head, String body) {}

    private RawHttp() {}

    /** Sends a request, which should have {@code Connection: close}, and reads to the end. */
    public static Answer send(InetSocketAddress server, byte[] request) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(server, TIMEOUT_MILLIS);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            try {
                socket.getOutputStream().write(request);
                socket.getOutputStream().flush();
            } catch (IOException e) {
                // The server has had enough of it; what it said before is read all the same.
            }
            return parse(read(socket.getInputStream()));
        }
    }

    private static byte[] read(InputStream in) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            in.transferTo(all);
        } catch (IOException e) {
            // Reset by a server that did not read all.
        }
        return all.toByteArray();
    }

    private static Answer parse(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        if (!text.startsWith("HTTP/1.")) {
            return new Answer(0, text, "");
        }
        int end = text.indexOf("\r\n\r\n");
        return new Answer(
                Integer.parseInt(text.substring(9, 12)),
                end < 0 ? text : text.substring(0, end),
                end < 0 ? "" : new String(bytes, end + 4, bytes.length - end - 4, StandardCharsets.UTF_8));
    }
}
