// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The steps that a server does with one message, as its MONITOR shows them: scripts, the wake-ups in them, {@code WAIT}, and
 * after each of them the keys that hold the message, if they are others than before. Not the wake-ups of a claim, which may be for
 * another event, and the first of which only tries whether they are permitted.
 */
final class ObservedSteps implements AutoCloseable {

    /** The keys of a queue that can hold a message, in the order in which a step names them. */
    private static final List<String> PLACES = List.of("messages", "delayed", "leased", "state");

    private static final Pattern WORD = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");
    private static final String END = "the-last-one";

    private static final Map<String, LuaScript> SCRIPTS =
            Arrays.stream(LuaScript.values()).collect(Collectors.toMap(LuaScript::sha, Function.identity()));

    private final RedisServer server;
    private final String id;
    private final Set<String> scripts;
    private final RedisSocket monitor;

    private final List<String> steps = new ArrayList<>();
    /** The steps of the script that was seen last, and whether it is about the message. */
    private final List<String> ofScript = new ArrayList<>();

    private boolean isAboutMessage;
    /** The calls that were seen. One that was not answered in time is sent again, and changes nothing. */
    private final Set<List<String>> calls = new HashSet<>();

    private boolean isRepeated;
    private Set<String> places;
    private String told;

    /**
     * Begins to look at a server.
     *
     * @param places the keys that hold the message now
     * @param scripts names of the scripts to tell of
     */
    ObservedSteps(RedisServer server, String id, Set<String> places, Set<String> scripts) throws IOException {
        this.server = server;
        this.id = id;
        this.scripts = scripts;
        this.places = new TreeSet<>(places);
        told = toldPlaces();
        try (RedisSocket loader = RedisSocket.open(server.address())) {
            for (LuaScript script : LuaScript.values()) {
                String source = new String(script.source().getBytes(UTF_8), ISO_8859_1); // a character for each byte
                loader.send(List.of("SCRIPT", "LOAD", source));
                loader.skip(1);
            }
        }
        monitor = RedisSocket.open(server.address());
        monitor.call("MONITOR");
    }

    /** All steps until now. */
    List<String> steps() throws IOException {
        try (RedisSocket other = RedisSocket.open(server.address())) {
            other.call("ECHO " + END);
        }
        for (String line = monitor.next(); !line.contains(END); line = monitor.next()) {
            read(line);
        }
        next();
        return steps;
    }

    private void read(String line) {
        List<String> words =
                WORD.matcher(line).results().map(found -> found.group(1)).toList();
        String command = words.get(0).toUpperCase(Locale.ROOT);
        if (command.equals("EVALSHA")) {
            next();
            isRepeated = !calls.add(words);
            LuaScript script = SCRIPTS.get(words.get(1));
            ofScript.add(script.command() + ".lua");
            isAboutMessage = script == LuaScript.REPLICATION;
        } else if (command.equals("WAIT")) {
            next();
            if (!isRepeated) {
                steps.add(command);
            }
        } else if (command.equals("PUBLISH") && line.contains(" lua] ") && !ofScript.contains("claim.lua")) {
            ofScript.add(words.get(1).substring(0, words.get(1).lastIndexOf(':')));
        }
        if (words.contains(id)) {
            isAboutMessage = true;
            move(command, words.get(1).substring(words.get(1).lastIndexOf(':') + 1));
        }
    }

    private void move(String command, String key) {
        switch (command) {
            case "HSET", "HSETNX", "ZADD" -> places.add(key);
            case "HDEL", "ZREM" -> places.remove(key);
            default -> {} // it reads, or is the call of the script
        }
    }

    /** Another script begins, so that what the one before has done is known. */
    private void next() {
        if (isAboutMessage && !isRepeated && !ofScript.isEmpty() && scripts.contains(ofScript.get(0))) {
            steps.addAll(ofScript);
        }
        ofScript.clear();
        isAboutMessage = false;
        String now = toldPlaces();
        if (!now.equals(told)) {
            steps.add(now);
            told = now;
        }
    }

    private String toldPlaces() {
        String named = PLACES.stream().filter(places::contains).collect(Collectors.joining(", "));
        return "in " + (named.isEmpty() ? "no key" : named);
    }

    @Override
    public void close() throws IOException {
        monitor.close();
    }
}
