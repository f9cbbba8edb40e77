// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.test.RedisServer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A user "app" with the password "secret". */
public record AclUser(RedisServer server) {

    /** The user may do all but one command. */
    public void denies(String command) throws Exception {
        isCreated("~* &* +@all -" + command);
    }

    /** @param rules what the user may do */
    public void isCreated(String rules) throws Exception {
        try (Socket socket = new Socket(server.host(), server.port())) {
            socket.getOutputStream()
                    .write(("ACL SETUSER app reset on >secret " + rules + "\r\n").getBytes(StandardCharsets.US_ASCII));
            assertThat(new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))
                            .readLine())
                    .isEqualTo("+OK");
        }
    }
}
