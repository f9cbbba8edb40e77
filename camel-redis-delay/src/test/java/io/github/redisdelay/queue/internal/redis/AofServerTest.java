// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The servers and policies whose "on disk" holds. */
class AofServerTest {

    private static final String VALKEY =
            "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\n";
    private static final String ALWAYS_ONLY =
            "always (everysec suffices on Redis 7.2, and from 7.4.3 on, not on Valkey)";

    private static String redis(String version) {
        return "# Server\r\nredis_version:" + version + "\r\nredis_git_sha1:00000000\r\n";
    }

    private static String fault(String server, String policy, String remedy) {
        return server + " has appendfsync " + policy
                + ", with which WAITAOF does not prove that a change is on disk: set appendfsync " + remedy;
    }

    @ParameterizedTest
    @ValueSource(strings = {"7.2.0", "7.2.12", "7.4.3", "7.4.10", "7.4.20", "8.0.0", "8.0.2", "8.4.1", "10.0.0"})
    void should_trust_Redis_that_waits_for_the_fsync_of_each_second(String version) {
        assertThat(new AofServer(redis(version), "everysec").fault()).isNull();
        assertThat(new AofServer(redis(version), "always").fault()).isNull();
        assertThat(new AofServer(redis(version), "no").fault())
                .isEqualTo(fault("Redis " + version, "no", "everysec or always"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"7.4.0", "7.4.1", "7.4.2", "7.9.240", "7.0.15", "6.2.14"})
    void should_not_trust_Redis_that_answers_before_it_unless_it_syncs_always(String version) {
        assertThat(new AofServer(redis(version), "everysec").fault())
                .isEqualTo(fault("Redis " + version, "everysec", ALWAYS_ONLY));
        assertThat(new AofServer(redis(version), "always").fault()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"everysec", "no", "unknown"})
    void should_not_trust_Valkey_unless_it_syncs_always(String policy) {
        assertThat(new AofServer(VALKEY, policy).fault()).isEqualTo(fault("Valkey 8.1.1", policy, ALWAYS_ONLY));
        assertThat(new AofServer(VALKEY, "always").fault()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "# Server\r\nother_version:8.0.0\r\n"})
    void should_not_trust_a_server_that_does_not_say_what_it_is(String info) {
        assertThat(new AofServer(info, "everysec").fault()).startsWith("Redis of an unknown version has appendfsync");
    }
}
