// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.internal.redis;

import io.github.redisdelay.queue.ScheduleRequest;
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
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A Lua script that Redis executes, and all that Java has to know of it. A script is a file whose comment on top says keys,
 * arguments, reply, errors and cost. The constants are those of the queues, in {@code lua/command}. What several scripts need
 * stands in {@code lua/include}, also for those of another module (see {@link #of}).
 *
 * <p>A script gets its keys by name: {@link #source} begins with a local for each of them, such as {@code key_dead_state}.
 */
public final class LuaScript {

    private static final String FOLDER = "/io/github/redisdelay/queue/lua/";
    /** The scripts below. Written by this class's initialization only. */
    private static final List<LuaScript> ALL = new ArrayList<>();

    /** The keys of most scripts. */
    private static final String COMMON = "messages delayed leased state sessions config waiters";

    public static final LuaScript SCHEDULE = items("schedule", 1, 5, COMMON + " seen", Trait.PRIORITIES, Trait.BODIES);
    public static final LuaScript CHANGE =
            items("change", 1, 3, COMMON + " seen index dead:index dead:messages", Trait.PRIORITIES);
    public static final LuaScript CLAIM = queue("claim", COMMON, Trait.PRIORITIES, Trait.LIST);
    public static final LuaScript SETTLE = items(
            "settle",
            2,
            5,
            COMMON + " seen dead:messages dead:delayed dead:state dead:waiters dead:index index dead:config",
            Trait.PRIORITIES,
            Trait.DELIVERIES);
    public static final LuaScript ACKNOWLEDGE =
            items("acknowledge", 0, 2, "messages leased state sessions config", Trait.DELIVERIES);
    public static final LuaScript REDRIVE = items(
            "redrive",
            1,
            2,
            COMMON + " dead:messages dead:delayed dead:leased dead:state dead:index",
            Trait.PRIORITIES);
    public static final LuaScript REPAIR =
            queue("repair", "messages delayed leased state config waiters index", Trait.ALL_PRIORITIES, Trait.LIST);
    public static final LuaScript GET =
            queue("get", "messages delayed leased state config consumers", Trait.PRIORITIES, Trait.LIST);
    public static final LuaScript BROWSE =
            queue("browse", "messages delayed leased state config consumers", Trait.PRIORITIES, Trait.LIST);
    public static final LuaScript GROUP =
            queue("group", "messages delayed leased state config consumers", Trait.ALL_PRIORITIES, Trait.LIST);
    public static final LuaScript DEAD_LETTERS = queue("dead_letters", "dead:index dead:messages config", Trait.LIST);
    public static final LuaScript HEARTBEAT = queue("heartbeat", "consumers");
    public static final LuaScript CONSUMERS = queue("consumers", "consumers", Trait.LIST);
    public static final LuaScript STATS =
            queue("stats", "messages delayed leased config consumers dead:delayed dead:leased", Trait.PRIORITIES);
    public static final LuaScript OUTLOOK = queue("outlook", "delayed leased config", Trait.PRIORITIES);
    public static final LuaScript SERVER = queue("server", "messages");
    public static final LuaScript REPLICATION = items("replication", 1, 0, "sessions");
    public static final LuaScript PARTITIONS = queue("partitions", "config dead:config messages dead:messages seen");
    public static final LuaScript REGISTER = queue("register", "queues");
    public static final LuaScript QUEUES = queue("queues", "queues", Trait.LIST);

    /** A property of some scripts. */
    public enum Trait {
        /**
         * Behind all others come the keys of the priorities, then those of groups. They may be left out: a queue that uses
         * priorities or groups refuses the call then, and has done nothing.
         */
        PRIORITIES,
        /** The same keys, which are never left out. */
        ALL_PRIORITIES,
        /** The last argument of an item is a body, and so an argument of its own. */
        BODIES,
        /** The reply is a list; otherwise it is bytes. */
        LIST,
        /** The items finish deliveries, or extend their leases. */
        DELIVERIES
    }

    private final String command;
    private final int bases;
    private final int width;
    private final List<String> keys;
    private final List<String> foreign;
    private final Set<Trait> traits;
    private final String source;
    private final String sha;

    private LuaScript(
            Class<?> owner,
            String folder,
            String command,
            int bases,
            int width,
            List<String> keys,
            List<String> foreign,
            Trait... traits) {
        this.command = command;
        this.bases = bases;
        this.width = width;
        this.keys = keys;
        this.foreign = foreign;
        this.traits = Set.of(traits);
        this.source = preamble() + load(owner, folder + command);
        this.sha = sha1(source);
    }

    private static LuaScript queue(String command, String keys, Trait... traits) {
        return items(command, 0, 0, keys, traits);
    }

    /**
     * @param bases how many base keys are before the items: none, the queue's, or that of the dead letters as well
     * @param width the number of arguments of an item; 0 for a script without
     */
    private static LuaScript items(String command, int bases, int width, String keys, Trait... traits) {
        List<String> names = List.of(keys.split(" "));
        LuaScript script =
                new LuaScript(LuaScript.class, FOLDER + "command/", command, bases, width, names, List.of(), traits);
        ALL.add(script);
        return script;
    }

    /**
     * A script of another module of this project. It has the keys that most scripts have if it has items; then come
     * the first of {@link QueueKeys#foreign}.
     *
     * @param owner a class of the module; the script is beside it, in the folder {@code lua}
     * @param command the name of its file, without the ending
     * @param width the number of arguments of an item; 0 for a script without
     * @param foreign the names of the foreign keys that it needs, from the first one on
     */
    public static LuaScript of(Class<?> owner, String command, int width, List<String> foreign, Trait... traits) {
        List<String> keys = width == 0 ? List.of() : List.of(COMMON.split(" "));
        return new LuaScript(owner, "lua/", command, 1, width, keys, foreign, traits);
    }

    /** The scripts of the queues, in the order of the constants. */
    public static LuaScript[] values() {
        return ALL.toArray(LuaScript[]::new);
    }

    /** The name of its file, without the ending. */
    public String command() {
        return command;
    }

    /** The text that Redis executes: the names of its keys, then the file, with its includes. */
    public String source() {
        return source;
    }

    /** True if the reply is a list; otherwise it is bytes. */
    public boolean repliesWithList() {
        return traits.contains(Trait.LIST);
    }

    /** True if its items finish deliveries, or extend their leases. */
    public boolean isForDeliveries() {
        return traits.contains(Trait.DELIVERIES);
    }

    /** The names of its keys in their order, without those of the priorities. */
    public List<String> keyNames() {
        return Stream.concat(keys.stream(), foreign.stream()).toList();
    }

    /** True if the keys of the priorities come last. */
    public boolean usesPriorities() {
        return mayLeaveOutPriorities() || traits.contains(Trait.ALL_PRIORITIES);
    }

    boolean mayLeaveOutPriorities() {
        return traits.contains(Trait.PRIORITIES);
    }

    /** All of its keys. */
    List<Object> keys(QueueKeys queue) {
        List<Object> all = new ArrayList<>();
        keys.forEach(part -> all.add(queue.key(part)));
        if (!foreign.isEmpty()) {
            all.addAll(queue.foreign().subList(0, foreign.size()));
        }
        for (int priority = 1; usesPriorities() && priority <= ScheduleRequest.MAX_PRIORITY; priority++) {
            all.add(queue.key("delayed:" + priority));
        }
        if (usesPriorities()) {
            all.add(queue.key("parked"));
            all.add(queue.key("groups"));
            all.add(queue.key("gates"));
            all.add(queue.key("opens"));
        }
        return List.copyOf(all);
    }

    /** The same keys without those of the priorities. Each key costs Redis as much as a hundredth of a lone schedule. */
    List<Object> withoutPriorities(List<Object> all) {
        return all.subList(0, keys.size() + foreign.size());
    }

    /** The arguments of a call between its number and its items. */
    public Object[] head(QueueKeys queue) {
        return Stream.of(queue.base(), queue.dead().base())
                .limit(bases)
                .map(base -> base.getBytes(StandardCharsets.UTF_8))
                .toArray();
    }

    /** The arguments as they are sent. */
    public Object[] sent(Object[] arguments) {
        return PackedArguments.of(arguments, 2 + bases, width, traits.contains(Trait.BODIES));
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

    /**
     * The values that the file and its includes take: the keys by name; the kind of each, a letter each ({@code h} hash, {@code z}
     * sorted set, {@code -} one of others); how many there are before those of the priorities; the layout of the arguments.
     */
    private String preamble() {
        String names =
                keyNames().stream().map(name -> "key_" + name.replace(':', '_')).collect(Collectors.joining(", "));
        String kinds = keys.stream().map(QueueKeys::kind).collect(Collectors.joining()) + "-".repeat(foreign.size());
        return "local " + names + " = unpack(KEYS)\nlocal KEY_KINDS, KEY_PRIORITIES = '" + kinds
                + (usesPriorities() ? "z".repeat(ScheduleRequest.MAX_PRIORITY + 2) + "hz" : "") + "', "
                + keyNames().size() + '\n'
                + (width == 0 ? "" : "local ITEMS_HEAD, ITEMS_WIDTH = " + (2 + bases) + ", " + width + '\n');
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
