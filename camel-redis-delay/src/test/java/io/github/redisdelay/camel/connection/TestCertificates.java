// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.connection;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A certificate authority of a test's own and what it has signed: made by the JDK's keytool, read by the JDK, written as PEM. */
final class TestCertificates {

    static final String PASSWORD = "only-for-tests";

    private final Path directory;
    private final Path store;

    /** @param name of the authority */
    TestCertificates(Path directory, String name) throws IOException, InterruptedException {
        this.directory = directory;
        store = directory.resolve("authority.p12");
        keytool("-genkeypair", "-alias", "authority", "-dname", "CN=" + name, "-ext", "bc:critical=ca:true");
    }

    /** The files of a certificate that redis-server asks for. */
    record Pem(Path certificate, Path key) {}

    /**
     * Makes a certificate that the authority has signed.
     *
     * @param san whom it is for, such as {@code ip:127.0.0.1} or {@code dns:redis.example}
     */
    Pem sign(String alias, String san) throws IOException, InterruptedException, GeneralSecurityException {
        keytool("-genkeypair", "-alias", alias, "-signer", "authority", "-dname", "CN=" + alias, "-ext", "san=" + san);
        KeyStore keys = read();
        Path certificate = directory.resolve(alias + ".crt");
        Files.writeString(
                certificate, pem("CERTIFICATE", keys.getCertificate(alias).getEncoded()));
        Path key = directory.resolve(alias + ".key");
        byte[] encoded = keys.getKey(alias, PASSWORD.toCharArray()).getEncoded();
        Files.writeString(key, pem("PRIVATE KEY", encoded));
        return new Pem(certificate, key);
    }

    /** The authority's certificate as PEM. */
    Path authority() throws IOException, GeneralSecurityException {
        Path file = directory.resolve("authority.crt");
        Files.writeString(file, pem("CERTIFICATE", authorityCertificate().getEncoded()));
        return file;
    }

    /** A PKCS12 file with the authority's certificate and nothing else. */
    Path trustStore() throws IOException, GeneralSecurityException {
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        trust.setCertificateEntry("authority", authorityCertificate());
        return write(trust, "trust.p12");
    }

    /** A PKCS12 file with one certificate and its key. */
    Path keyStore(String alias) throws IOException, GeneralSecurityException {
        KeyStore keys = read();
        KeyStore one = KeyStore.getInstance("PKCS12");
        one.load(null, null);
        char[] password = PASSWORD.toCharArray();
        one.setKeyEntry(alias, keys.getKey(alias, password), password, keys.getCertificateChain(alias));
        return write(one, alias + ".p12");
    }

    private Certificate authorityCertificate() throws IOException, GeneralSecurityException {
        return read().getCertificate("authority");
    }

    private KeyStore read() throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        return keys;
    }

    private Path write(KeyStore keys, String name) throws IOException, GeneralSecurityException {
        // Other threads may read the one that is there.
        Path written = Files.createTempFile(directory, name, null);
        try (var out = Files.newOutputStream(written)) {
            keys.store(out, PASSWORD.toCharArray());
        }
        return Files.move(written, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }

    private static String pem(String what, byte[] der) {
        return "-----BEGIN " + what + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END " + what + "-----\n";
    }

    private void keytool(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(Arrays.asList(arguments));
        command.addAll(List.of("-keyalg", "EC", "-validity", "30", "-storetype", "PKCS12"));
        command.addAll(List.of("-keystore", store.toString(), "-storepass", PASSWORD));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException(String.join(" ", command) + ": " + said);
        }
    }
}
