// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console;

import java.io.Console;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Scanner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * A password's hash for {@link ConsoleAccess#basic}: PBKDF2 with HMAC-SHA256, as {@code pbkdf2:iterations:salt:hash},
 * the last two in Base64. Its {@link #main} makes one.
 */
public final class PasswordHash {

    private static final String ALGORITHM = "PBKDF2WithHmacSHA256";
    private static final int ITERATIONS = 210_000;
    private static final int MIN_ITERATIONS = 100_000;
    private static final int MAX_ITERATIONS = 10_000_000;
    private static final int BYTES = 32;
    private static final int SALT_BYTES = 16;
    private static final Pattern FORM =
            Pattern.compile("pbkdf2:([0-9]{1,8}):([A-Za-z0-9+/]{22,88}={0,2}):([A-Za-z0-9+/]{43}=)");

    private final int iterations;
    private final byte[] salt;
    private final byte[] hash;

    private PasswordHash(int iterations, byte[] salt, byte[] hash) {
        this.iterations = iterations;
        this.salt = salt;
        this.hash = hash;
    }

    /** @throws IllegalArgumentException that does not show the hash */
    static PasswordHash parse(String text) {
        Matcher form = FORM.matcher(text == null ? "" : text);
        if (!form.matches()) {
            throw new IllegalArgumentException(
                    "the hash of the password is not of the form pbkdf2:iterations:salt:hash."
                            + " Make it by java -cp … " + PasswordHash.class.getName());
        }
        int iterations = Integer.parseInt(form.group(1));
        if (iterations < MIN_ITERATIONS || iterations > MAX_ITERATIONS) {
            throw new IllegalArgumentException("the hash of the password has " + iterations
                    + " iterations: it must have from " + MIN_ITERATIONS + " to " + MAX_ITERATIONS);
        }
        try {
            Base64.Decoder base64 = Base64.getDecoder();
            return new PasswordHash(iterations, base64.decode(form.group(2)), base64.decode(form.group(3)));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the hash of the password is not in Base64", e);
        }
    }

    /**
     * A hash with a new salt.
     *
     * @param password any text; its characters are not kept
     */
    public static String of(char[] password) {
        byte[] salt = new byte[SALT_BYTES];
        new SecureRandom().nextBytes(salt);
        Base64.Encoder base64 = Base64.getEncoder();
        return "pbkdf2:" + ITERATIONS + ":" + base64.encodeToString(salt) + ":"
                + base64.encodeToString(derive(password, salt, ITERATIONS));
    }

    /** Compares in a time that does not depend on how much is equal. */
    boolean isOf(char[] password) {
        return MessageDigest.isEqual(hash, derive(password, salt, iterations));
    }

    byte[] salt() {
        return salt;
    }

    private static byte[] derive(char[] password, byte[] salt, int iterations) {
        PBEKeySpec spec = new PBEKeySpec(password, salt, iterations, BYTES * 8);
        try {
            return SecretKeyFactory.getInstance(ALGORITHM).generateSecret(spec).getEncoded();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(ALGORITHM + " is not available in this JVM", e);
        } finally {
            spec.clearPassword();
        }
    }

    static byte[] digest(byte[] bytes, byte[] salt) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            sha.update(salt);
            return sha.digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Asks for a password, or reads it from the first line of what is piped in, and prints its hash. Takes no
     * arguments.
     */
    public static void main(String[] arguments) {
        Console console = System.console();
        char[] password = console == null ? piped() : console.readPassword("Password: ");
        if (password == null || password.length == 0) {
            System.err.println("There is no password: type one, or pipe it in.");
            System.exit(2);
            return;
        }
        System.out.println(of(password));
        Arrays.fill(password, ' ');
    }

    private static char[] piped() {
        Scanner in = new Scanner(System.in);
        return in.hasNextLine() ? in.nextLine().toCharArray() : null;
    }
}
