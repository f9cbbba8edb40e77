// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The Lua scripts that Redis executes: one file each in {@code lua/command}, whose comment on top says keys, arguments,
 * reply, errors and cost. What several of them need stands in {@code lua/include}.
 */
public enum LuaScript {
    SCHEDULE(3, 5, true),
    CHANGE,
    CLAIM,
    SETTLE(4, 5, false),
    ACKNOWLEDGE(2, 2, false),
    REDRIVE,
    TRIM,
    REPAIR,
    GET,
    BROWSE,
    DEAD_LETTERS,
    HEARTBEAT,
    CONSUMERS,
    STATS,
    OUTLOOK,
    SERVER,
    REPLICATION,
    PARTITIONS,
    REGISTER,
    QUEUES,
    LOOK,
    IMPORT;

    private static final String FOLDER = "/io/github/redisdelay/queue/lua/";

    private final String command;
    private final String source;
    private final String sha;
    private final int head;
    private final int itemWidth;
    private final boolean bodies;

    LuaScript() {
        this(0, 0, false);
    }

    /**
     * @param head the number of arguments before the first item
     * @param itemWidth the number of arguments of an item, for {@link PackedArguments}; 0 for a script without
     * @param bodies true if the last argument of an item is a body, and so an argument of its own
     */
    LuaScript(int head, int itemWidth, boolean bodies) {
        this.head = head;
        this.itemWidth = itemWidth;
        this.bodies = bodies;
        this.command = name().toLowerCase(Locale.ROOT);
        this.source = load("command/" + command + ".lua");
        this.sha = sha1(source);
    }

    /** The name of its file, without the ending. */
    public String command() {
        return command;
    }

    public String source() {
        return source;
    }

    /** True if the reply is a list; otherwise it is bytes. */
    public boolean repliesWithList() {
        return switch (this) {
            case CLAIM, GET, BROWSE, DEAD_LETTERS, REPAIR, LOOK, CONSUMERS, QUEUES -> true;
            default -> false;
        };
    }

    /**
     * True if the keys of the priorities may be left out. A queue that uses priorities refuses the call then, and has done
     * nothing. Each key costs Redis as much as a tenth of what a lone schedule costs it otherwise.
     */
    public boolean mayLeaveOutPriorities() {
        return this == SCHEDULE || this == CLAIM;
    }

    /** The arguments as they are sent. */
    public Object[] sent(Object[] arguments) {
        return PackedArguments.of(arguments, head, itemWidth, bodies);
    }

    /** The digest under which Redis caches the script. */
    public String sha() {
        return sha;
    }

    private static String load(String file) {
        String resource = FOLDER + file;
        try (InputStream in = LuaScript.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("script " + resource + " is missing from the jar");
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return Pattern.compile("(?m)^--@include (\\S+)$")
                    .matcher(text)
                    .replaceAll(m -> Matcher.quoteReplacement(load("include/" + m.group(1))));
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
