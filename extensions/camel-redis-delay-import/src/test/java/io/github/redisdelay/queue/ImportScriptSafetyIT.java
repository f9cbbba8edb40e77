// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.imports.queue.ImportScripts;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import java.net.URL;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.redisson.api.RType;
import org.redisson.client.codec.StringCodec;

/** The scripts of imports, by the rules for all scripts and by their own. */
class ImportScriptSafetyIT extends ScriptSafety {

    private static final LuaScript LOOK = ImportScripts.LOOK;
    private static final LuaScript IMPORT = ImportScripts.IMPORT;
    private static final List<LuaScript> BOTH = List.of(LOOK, IMPORT);

    @Override
    List<LuaScript> scripts() {
        return BOTH;
    }

    @Override
    List<LuaScript> changing() {
        return List.of(IMPORT);
    }

    @Override
    List<LuaScript> withNumbers() {
        return BOTH;
    }

    @Override
    List<LuaScript> withArguments() {
        return BOTH;
    }

    @Override
    List<LuaScript> withItems() {
        return List.of(IMPORT);
    }

    @Override
    List<LuaScript> withFormat() {
        return List.of(IMPORT);
    }

    @Override
    List<LuaScript> withPriorities() {
        return List.of(IMPORT);
    }

    @Override
    List<LuaScript> withForeignBytes() {
        return List.of(IMPORT);
    }

    @Override
    List<LuaScript> withSeveralWrites() {
        return List.of(IMPORT);
    }

    @Override
    List<LuaScript> withSession() {
        return List.of(IMPORT);
    }

    @Override
    QueueKeys keys(String prefix, String queue) {
        return ImportScripts.keys(QueueKeys.of(prefix, queue), queue);
    }

    /** A key of Redisson's queue: pending messages, their order, ready ones, and the one that is never there. */
    private String foreign(int index) {
        return (String) keys.foreign().get(index);
    }

    /** Two that wait in Redisson's queue, with one before them in the order that is gone, and two that are ready there. */
    @Override
    void fillMore() {
        redisson.getScoredSortedSet(foreign(0), StringCodec.INSTANCE).addAll(Map.of("e1", 1.0, "e2", 2.0));
        redisson.getList(foreign(1), StringCodec.INSTANCE).addAll(List.of("e0", "e1", "e2"));
        redisson.getList(foreign(2), StringCodec.INSTANCE).addAll(List.of("r1", "r2"));
    }

    @Override
    Object[] valid(LuaScript script) {
        return script == LOOK
                ? bytes("all", 10, 1000, 0, 10, "-inf", "")
                : items(
                        bytes("lane", 10, "base"),
                        bytes("new", "pending=0", "e1", "body"),
                        bytes("new5", "pending=999 priority=5 limit=1000", "e3", "body"),
                        bytes("ready1", "ready=0 priority=1", "r1", "body"),
                        bytes("due", "ready=1", "r2", "body"),
                        bytes("waits", "pending=0 limit=1", "e2", "body"));
    }

    @Override
    String type(String part) {
        return part.equals(foreign(0)) ? "zset" : keys.foreign().contains(part) ? "list" : super.type(part);
    }

    @Override
    Layout layout(LuaScript script) {
        return script == IMPORT ? new Layout(3, 4) : null;
    }

    @Override
    List<Integer> numbers(LuaScript script) {
        return script == IMPORT ? List.of(1) : List.of(1, 2, 3, 4);
    }

    @Override
    void refuseMore(LuaScript script) {
        assertRefused(script, with(valid(script), 1, 0), script + " with sequence or limit 0");
    }

    @Override
    void assertMore(LuaScript script, Set<String> after, String what) {
        assertThat(after.contains("new") || isThere(foreign(0), "zset", "e1"))
                .as("the pending message is here or there after " + what)
                .isTrue();
        assertThat(after.contains("ready1") || isThere(foreign(2), "list", "r1"))
                .as("the ready message is here or there after " + what)
                .isTrue();
    }

    /** True if Redisson's queue has a message, or if the test has put something else in the place of that key. */
    private boolean isThere(String key, String type, String message) {
        RType found = redisson.getKeys().getType(key);
        return type.equals("zset")
                ? found == RType.OBJECT
                        || redisson.getScoredSortedSet(key, StringCodec.INSTANCE)
                                .contains(message)
                : found == RType.OBJECT
                        || redisson.getList(key, StringCodec.INSTANCE).contains(message);
    }

    @Override
    List<String> files() {
        return BOTH.stream().map(this::fileOf).toList();
    }

    @Override
    String fileOf(LuaScript script) {
        return script.command() + ".lua";
    }

    @Override
    URL folder() {
        return ImportScripts.class.getResource("lua");
    }

    @Test
    void should_refuse_unknown_words_and_empty_ids() {
        for (String place : List.of(
                "",
                "x",
                "pending",
                "pending=",
                "pending=-1",
                "pending=1.5",
                "pending=1000",
                "pending=0 ",
                " pending=0",
                "Pending=0",
                "ready=",
                "ready=x",
                "ready=9007199254740992",
                "ready=0 limit=0",
                "ready=0 priority=10",
                "ready=0 limit=1 priority=5",
                "ready=0\n")) {
            assertRefused(IMPORT, with(valid(IMPORT), 8, place), "import '" + place + "'");
        }
        for (String until :
                List.of("", "x", "All", "all\n", "ahead=", "ahead=-1", "ahead=9007199254740992", "until=x")) {
            assertRefused(LOOK, with(valid(LOOK), 0, until), "look '" + until + "'");
        }
        assertRefused(LOOK, with(valid(LOOK), 5, "x"), "look from 'x'");
        assertRefused(LOOK, with(valid(LOOK), 1, 257), "look at 257");
        assertRefused(IMPORT, with(valid(IMPORT), 7, ""), "import without id");
    }
}
