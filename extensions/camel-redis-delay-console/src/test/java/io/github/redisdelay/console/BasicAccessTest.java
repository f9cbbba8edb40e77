// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BasicAccessTest {

    private static final String PASSWORD = "correct: horse ü 😀";
    private static final String HASH = PasswordHash.of(PASSWORD.toCharArray());

    private final ConsoleAccess access = ConsoleAccess.basic("ann", HASH);

    /** A request with these headers. */
    private record Facts(Map<String, String> headers) implements ConsoleRequest {
        @Override
        public String peer() {
            return "10.0.0.7";
        }

        @Override
        public boolean isLocal() {
            return false;
        }

        @Override
        public Optional<String> header(String name) {
            return Optional.ofNullable(headers.get(name));
        }

        @Override
        public Optional<String> principal() {
            return Optional.empty();
        }
    }

    private static ConsoleRequest with(String authorization) {
        return new Facts(Map.of("authorization", authorization));
    }

    private static ConsoleRequest login(String user, String password) {
        return with("Basic "
                + Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void should_let_in_who_has_the_password() {
        for (int i = 0; i < 3; i++) {
            ConsoleRights rights = access.rights(login("ann", PASSWORD));
            assertThat(rights.any()).isTrue();
            assertThat(rights.user()).contains("ann");
            assertThat(rights.actions("orders")).containsExactlyInAnyOrder(ConsoleAction.values());
        }
        assertThat(access.challenge()).contains("Basic realm=\"redis-delay\", charset=\"UTF-8\"");
    }

    @Test
    void should_give_the_rights_that_were_named() {
        ConsoleAccess reader = ConsoleAccess.basic("ann", HASH, ConsoleRights.read());
        assertThat(reader.rights(login("ann", PASSWORD)).canRead("orders")).isTrue();
        assertThat(reader.rights(login("ann", PASSWORD)).actions("orders")).isEmpty();
    }

    @Test
    void should_refuse_all_others_and_take_its_time() {
        assertThat(access.rights(login("ann", PASSWORD)).any()).isTrue();
        for (ConsoleRequest request : List.of(
                login("ann", "wrong"),
                login("ann", ""),
                login("", PASSWORD),
                login("bob", PASSWORD),
                login("Ann", PASSWORD),
                login("ann", PASSWORD + "x"),
                with("Basic " + Base64.getEncoder().encodeToString("ann".getBytes(StandardCharsets.UTF_8))),
                with("Basic " + Base64.getEncoder().encodeToString(new byte[] {'a', 'n', 'n', ':', (byte) 0xff})),
                with("Basic !"))) {
            long begun = System.nanoTime();
            assertThat(access.rights(request).any()).isFalse();
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThanOrEqualTo(Duration.ofMillis(500));
        }
    }

    @Test
    void should_refuse_at_once_what_has_no_password() {
        assertThat(access.rights(new Facts(Map.of())).any()).isFalse();
        assertThat(access.rights(with("Bearer abc")).any()).isFalse();
        assertThat(access.rights(with("")).any()).isFalse();
    }

    @Test
    void should_check_few_passwords_at_the_same_time_and_let_in_who_is_known() {
        assertThat(access.rights(login("ann", PASSWORD)).any()).isTrue();
        List<CompletableFuture<ConsoleRights>> wrong = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            String guess = "guess " + i;
            wrong.add(CompletableFuture.supplyAsync(() -> access.rights(login("ann", guess))));
        }
        assertThat(access.rights(login("ann", PASSWORD)).any()).isTrue();
        assertThat(wrong).allSatisfy(each -> assertThat(each.join().any()).isFalse());
    }

    @Test
    void should_not_let_a_crowd_of_guesses_wait() throws InterruptedException {
        int crowd = 24;
        List<Duration> taken = Collections.synchronizedList(new ArrayList<>());
        List<Thread> guessing = new ArrayList<>();
        for (int i = 0; i < crowd; i++) {
            String guess = "guess " + i;
            guessing.add(new Thread(() -> {
                long begun = System.nanoTime();
                access.rights(login("ann", guess));
                taken.add(Duration.ofNanos(System.nanoTime() - begun));
            }));
        }
        guessing.forEach(Thread::start);
        for (Thread each : guessing) {
            each.join();
        }
        assertThat(taken)
                .hasSize(crowd)
                .as("a check takes 500 ms")
                .anyMatch(each -> each.compareTo(Duration.ofMillis(400)) < 0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "secret",
                "pbkdf2:1:AAAAAAAAAAAAAAAAAAAAAA==:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
                "pbkdf2:99999999:AAAAAAAAAAAAAAAAAAAAAA==:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
                "pbkdf2:210000:AAAA:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            })
    void should_refuse_hashes_of_another_form_and_not_show_them(String hash) {
        assertThatThrownBy(() -> ConsoleAccess.basic("ann", hash))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("the hash of the password ")
                .hasMessageNotContaining("secret")
                .hasMessageNotContaining("AAAA");
        assertThatThrownBy(() -> ConsoleAccess.basic("a:b", HASH)).hasMessageContaining("user is 'a:b'");
    }

    @Test
    void should_make_a_hash_of_what_is_piped_in() {
        InputStream before = System.in;
        PrintStream out = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try {
            System.setIn(new ByteArrayInputStream("s3cret\nnext line".getBytes(StandardCharsets.UTF_8)));
            System.setOut(new PrintStream(printed, true));
            PasswordHash.main(new String[0]);
        } finally {
            System.setIn(before);
            System.setOut(out);
        }
        String hash = printed.toString(StandardCharsets.UTF_8).trim();
        assertThat(hash).startsWith("pbkdf2:210000:").doesNotContain("s3cret");
        assertThat(ConsoleAccess.basic("ann", hash)
                        .rights(login("ann", "s3cret"))
                        .any())
                .isTrue();
    }
}
