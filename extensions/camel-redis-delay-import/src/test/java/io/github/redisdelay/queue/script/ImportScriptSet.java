// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import io.github.redisdelay.imports.queue.ImportScripts;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import java.net.URL;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** The scripts of imports. */
final class ImportScriptSet extends ScriptSet {

    static final LuaScript LOOK = ImportScripts.LOOK;
    static final LuaScript IMPORT = ImportScripts.IMPORT;

    @Override
    List<LuaScript> scripts() {
        return List.of(LOOK, IMPORT);
    }

    @Override
    Set<Trait> traits(LuaScript script) {
        return script == IMPORT ? EnumSet.allOf(Trait.class) : EnumSet.of(Trait.NEEDS_ALL_ARGUMENTS);
    }

    @Override
    QueueKeys keys(String prefix, String queue) {
        return ImportScripts.keys(QueueKeys.of(prefix, queue), queue);
    }

    /**
     * Two that wait in Redisson's queue, with one before them in the order that is gone, and two that are ready there.
     */
    @Override
    void fill(RedissonClient redisson, QueueKeys keys) {
        redisson.getScoredSortedSet(foreign(keys, 0), StringCodec.INSTANCE).addAll(Map.of("e1", 1.0, "e2", 2.0));
        redisson.getList(foreign(keys, 2), StringCodec.INSTANCE).addAll(List.of("e0", "e1", "e2"));
        redisson.getList(foreign(keys, 1), StringCodec.INSTANCE).addAll(List.of("r1", "r2"));
    }

    /** A key of Redisson's queue: pending messages, ready ones, the order of the pending ones, and the one that is never there. */
    static String foreign(QueueKeys keys, int index) {
        return (String) keys.foreign().get(index);
    }

    @Override
    ScriptCall valid(LuaScript script, Filled filled) {
        if (script == LOOK) {
            return ScriptCall.of("until limit# bytes# first# ready# score element", "all", 10, 1000, 0, 10, "-inf", "");
        }
        String item = "id place element body";
        return ScriptCall.of("session sequence# base", "session", 10, "base")
                .item(item, "new", "pending=0", "e1", "body")
                .item(item, "new5", "pending=999 priority=5 limit=1000", "e3", "body")
                .item(item, "ready1", "ready=0 priority=1", "r1", "body")
                .item(item, "due", "ready=1", "r2", "body")
                .item(item, "waits", "pending=0 limit=1", "e2", "body");
    }

    @Override
    List<String> files() {
        return scripts().stream().map(this::fileOf).toList();
    }

    @Override
    String fileOf(LuaScript script) {
        return script.command() + ".lua";
    }

    @Override
    URL folder() {
        return ImportScripts.class.getResource("lua");
    }
}
