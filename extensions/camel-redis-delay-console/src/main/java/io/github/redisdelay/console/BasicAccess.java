// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Lets in one user with a password, by HTTP Basic. */
final class BasicAccess implements ConsoleAccess {

    private static final String SCHEME = "basic ";
    /** How many passwords are checked at the same time: each check costs about a tenth of a second of a processor. */
    private static final int MAX_CHECKS = 2;
    /** How many wait for that: guesses of a crowd must not take all requests that the console works on. */
    private static final int MAX_WAITING = 4;
    /** The time that a wrong password costs. */
    private static final long DELAY_MILLIS = 500;

    private static final long PATIENCE_MILLIS = 2000;

    private final byte[] user;
    private final PasswordHash hash;
    private final ConsoleRights rights;
    private final Semaphore checks = new Semaphore(MAX_CHECKS, true);
    /** A digest of what was right last, so that each request of a page does not cost the time of a hash. */
    private volatile byte[] known;

    BasicAccess(String user, String hash, ConsoleRights rights) {
        if (user == null || user.isEmpty() || user.indexOf(':') >= 0) {
            throw new IllegalArgumentException("user is '" + user + "': give a name without a colon");
        }
        this.user = user.getBytes(StandardCharsets.UTF_8);
        this.hash = PasswordHash.parse(hash);
        this.rights = Objects.requireNonNull(rights, "rights").as(user);
    }

    @Override
    public Optional<String> challenge() {
        return Optional.of("Basic realm=\"redis-delay\", charset=\"UTF-8\"");
    }

    @Override
    public ConsoleRights rights(ConsoleRequest request) {
        return request.header("authorization")
                .filter(value -> value.toLowerCase(Locale.ROOT).startsWith(SCHEME))
                .map(value -> decoded(value.substring(SCHEME.length()).trim()))
                .filter(this::isRight)
                .map(any -> rights)
                .orElse(ConsoleRights.none());
    }

    private static byte[] decoded(String base64) {
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            return new byte[0];
        }
    }

    private boolean isRight(byte[] credentials) {
        byte[] digest = PasswordHash.digest(credentials, hash.salt());
        byte[] last = known;
        if (last != null && MessageDigest.isEqual(last, digest)) {
            return true;
        }
        try {
            if (checks.getQueueLength() >= MAX_WAITING || !checks.tryAcquire(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
                return false;
            }
            try {
                if (check(credentials)) {
                    known = digest;
                    return true;
                }
                TimeUnit.MILLISECONDS.sleep(DELAY_MILLIS);
                return false;
            } finally {
                checks.release();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Takes the same time for a wrong user as for a wrong password. */
    private boolean check(byte[] credentials) {
        int colon = 0;
        while (colon < credentials.length && credentials[colon] != ':') {
            colon++;
        }
        byte[] name = java.util.Arrays.copyOf(credentials, colon);
        boolean userIsRight = MessageDigest.isEqual(user, name);
        char[] password = colon == credentials.length ? new char[0] : characters(credentials, colon + 1);
        return hash.isOf(password) & userIsRight;
    }

    private static char[] characters(byte[] bytes, int from) {
        try {
            CharBuffer text =
                    StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, bytes.length - from));
            char[] characters = new char[text.remaining()];
            text.get(characters);
            return characters;
        } catch (CharacterCodingException e) {
            return new char[0];
        }
    }
}
