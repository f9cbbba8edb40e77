// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import java.util.List;

/** The scripts of imports, and the keys that they name. */
public final class ImportScripts {

    private static final List<String> FOREIGN = List.of("source", "ready", "order", "nothing");

    public static final LuaScript LOOK =
            LuaScript.of(ImportScripts.class, "look", 0, FOREIGN.subList(0, 2), LuaScript.Trait.LIST);

    public static final LuaScript IMPORT =
            LuaScript.of(ImportScripts.class, "import", 4, FOREIGN, LuaScript.Trait.PRIORITIES, LuaScript.Trait.BODIES);

    private ImportScripts() {}

    /** The keys of a queue together with those of a delayed queue of Redisson's. */
    public static QueueKeys keys(QueueKeys queue, String source) {
        return queue.with(foreign(source));
    }

    /**
     * The keys of a queue of Redisson's: pending messages, ready ones, the order of the pending ones, and one that is never there.
     */
    static List<Object> foreign(String source) {
        String pending = key("redisson_delay_queue_timeout", source);
        return List.of(pending, source, key("redisson_delay_queue", source), pending + ":none");
    }

    /** A key as RedissonObject.prefixName names it. */
    private static String key(String prefix, String source) {
        return prefix + (source.contains("{") ? ":" + source : ":{" + source + "}");
    }
}
