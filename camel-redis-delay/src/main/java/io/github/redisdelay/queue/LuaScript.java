// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The scripts: one resource file each, whose comment says keys, arguments, reply and cost. */
enum LuaScript {
    SCHEDULE("schedule"),
    CHANGE("change"),
    CLAIM("claim"),
    SETTLE("settle"),
    ACKNOWLEDGE("acknowledge"),
    EXTEND("extend"),
    REDRIVE("redrive"),
    TRIM("trim"),
    CHECK("check"),
    GET("get"),
    BROWSE("browse"),
    LETTERS("letters"),
    PRESENCE("presence"),
    STATS("stats"),
    SERVER("server"),
    REPLICATION("replication"),
    PARTITIONS("partitions");

    private final String source;
    private final String sha;

    LuaScript(String name) {
        this.source = load(name + ".lua");
        this.sha = sha1(source);
    }

    String source() {
        return source;
    }

    /** Whether the reply is a list; otherwise it is bytes. */
    boolean repliesWithList() {
        return this == CLAIM || this == GET || this == BROWSE || this == LETTERS || this == CHECK;
    }

    /** The digest under which Redis caches the script. */
    String sha() {
        return sha;
    }

    private static String load(String resource) {
        try (InputStream in = LuaScript.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("script " + resource + " is missing from the jar");
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return Pattern.compile("(?m)^--@include (\\S+)$")
                    .matcher(text)
                    .replaceAll(m -> Matcher.quoteReplacement(load(m.group(1))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String sha1(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
