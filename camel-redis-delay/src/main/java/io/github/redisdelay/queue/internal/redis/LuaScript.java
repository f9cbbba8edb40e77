// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Lua script that Redis executes: a file whose comment on top says keys, arguments, reply, errors and cost. The constants are
 * those of the queues, in {@code lua/command}. What several scripts need stands in {@code lua/include}, also for those of another
 * module (see {@link #of}).
 */
public final class LuaScript {

    private static final String FOLDER = "/io/github/redisdelay/queue/lua/";
    /** The scripts below. Written by this class's initialization only. */
    private static final List<LuaScript> ALL = new ArrayList<>();

    public static final LuaScript SCHEDULE = items("schedule", 3, 5, true, QueueKeys::common);
    public static final LuaScript CHANGE =
            bytes("change", queue -> queue.common("index", "dead:index", "dead:messages"));
    public static final LuaScript CLAIM = list("claim", QueueKeys::common);
    public static final LuaScript SETTLE = items(
            "settle",
            4,
            5,
            false,
            queue ->
                    queue.common("dead:messages", "dead:delayed", "dead:state", "dead:waiters", "dead:index", "index"));
    public static final LuaScript ACKNOWLEDGE = items("acknowledge", 2, 2, false, QueueKeys::plain);
    public static final LuaScript REDRIVE = bytes(
            "redrive",
            queue -> queue.common("dead:messages", "dead:delayed", "dead:leased", "dead:state", "dead:index"));
    public static final LuaScript TRIM =
            bytes("trim", queue -> queue.keys("dead:messages", "dead:delayed", "dead:state", "config", "dead:index"));
    public static final LuaScript REPAIR = list("repair", queue -> queue.common("index"));
    public static final LuaScript GET = list("get", queue -> queue.common("consumers"));
    public static final LuaScript BROWSE = list("browse", queue -> queue.common("consumers"));
    public static final LuaScript DEAD_LETTERS =
            list("dead_letters", queue -> queue.keys("dead:index", "dead:messages", "config"));
    public static final LuaScript HEARTBEAT = bytes("heartbeat", queue -> queue.keys("consumers"));
    public static final LuaScript CONSUMERS = list("consumers", queue -> queue.keys("consumers"));
    public static final LuaScript STATS =
            bytes("stats", queue -> queue.common("consumers", "dead:delayed", "dead:leased"));
    public static final LuaScript OUTLOOK = bytes("outlook", QueueKeys::common);
    public static final LuaScript SERVER = bytes("server", queue -> queue.keys("messages"));
    public static final LuaScript REPLICATION = bytes("replication", queue -> queue.keys("sessions"));
    public static final LuaScript PARTITIONS =
            bytes("partitions", queue -> queue.keys("config", "dead:config", "messages", "dead:messages", "seen"));
    public static final LuaScript REGISTER = bytes("register", queue -> queue.keys("queues"));
    public static final LuaScript QUEUES = list("queues", queue -> queue.keys("queues"));

    private final String command;
    private final String source;
    private final String sha;
    private final boolean repliesWithList;
    private final int head;
    private final int itemWidth;
    private final boolean bodies;
    private final Function<QueueKeys, List<Object>> keys;

    /**
     * @param head the number of arguments before the first item
     * @param itemWidth the number of arguments of an item, for {@link PackedArguments}; 0 for a script without
     * @param bodies true if the last argument of an item is a body, and so an argument of its own
     */
    private LuaScript(
            String command,
            String source,
            boolean repliesWithList,
            int head,
            int itemWidth,
            boolean bodies,
            Function<QueueKeys, List<Object>> keys) {
        this.command = command;
        this.source = source;
        this.sha = sha1(source);
        this.repliesWithList = repliesWithList;
        this.head = head;
        this.itemWidth = itemWidth;
        this.bodies = bodies;
        this.keys = keys;
    }

    private static LuaScript bytes(String command, Function<QueueKeys, List<Object>> keys) {
        return add(new LuaScript(command, load(command), false, 0, 0, false, keys));
    }

    private static LuaScript list(String command, Function<QueueKeys, List<Object>> keys) {
        return add(new LuaScript(command, load(command), true, 0, 0, false, keys));
    }

    private static LuaScript items(
            String command, int head, int itemWidth, boolean bodies, Function<QueueKeys, List<Object>> keys) {
        return add(new LuaScript(command, load(command), false, head, itemWidth, bodies, keys));
    }

    private static LuaScript add(LuaScript script) {
        ALL.add(script);
        return script;
    }

    /**
     * A script of another module of this project.
     *
     * @param owner a class of the module; the script is beside it, in the folder {@code lua}
     * @param command the name of its file, without the ending
     * @param repliesWithList true if the reply is a list; otherwise it is bytes
     * @param keys its keys for a queue, see {@link QueueKeys#with}
     */
    public static LuaScript of(
            Class<?> owner, String command, boolean repliesWithList, Function<QueueKeys, List<Object>> keys) {
        return new LuaScript(command, load(owner, "lua/" + command), repliesWithList, 0, 0, false, keys);
    }

    /** The scripts of the queues, in the order of the constants. */
    public static LuaScript[] values() {
        return ALL.toArray(LuaScript[]::new);
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
        return repliesWithList;
    }

    /**
     * True if the keys of the priorities may be left out. A queue that uses priorities refuses the call then, and has done
     * nothing. Each key costs Redis as much as a tenth of what a lone schedule costs it otherwise.
     */
    public boolean mayLeaveOutPriorities() {
        return this == SCHEDULE || this == CLAIM;
    }

    /** Its keys, in the order that its comment names. */
    List<Object> keys(QueueKeys queue) {
        return keys.apply(queue);
    }

    /** The arguments as they are sent. */
    public Object[] sent(Object[] arguments) {
        return PackedArguments.of(arguments, head, itemWidth, bodies);
    }

    /** The digest under which Redis caches the script. */
    public String sha() {
        return sha;
    }

    /** Its name in upper case, for errors. */
    @Override
    public String toString() {
        return command.toUpperCase(Locale.ROOT);
    }

    private static String load(String command) {
        return load(LuaScript.class, FOLDER + "command/" + command);
    }

    private static String load(Class<?> owner, String file) {
        String resource = file + ".lua";
        try (InputStream in = owner.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("script " + resource + " is missing from the jar");
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return Pattern.compile("(?m)^--@include (\\S+)\\.lua$")
                    .matcher(text)
                    .replaceAll(m -> Matcher.quoteReplacement(load(LuaScript.class, FOLDER + "include/" + m.group(1))));
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
