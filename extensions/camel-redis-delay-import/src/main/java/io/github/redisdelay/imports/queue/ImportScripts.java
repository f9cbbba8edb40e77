// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.imports.queue;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import java.util.List;
import java.util.stream.Stream;

/** The scripts of imports, and the keys that they name. */
public final class ImportScripts {

    public static final LuaScript LOOK = LuaScript.of(
            ImportScripts.class,
            "look",
            true,
            keys -> List.of(keys.foreign().get(0), keys.foreign().get(2)));

    public static final LuaScript IMPORT = LuaScript.of(
            ImportScripts.class, "import", false, keys -> Stream.concat(keys.common().stream(), keys.foreign().stream())
                    .toList());

    private ImportScripts() {}

    /** The keys of a queue together with those of a delayed queue of Redisson's. */
    public static QueueKeys keys(QueueKeys queue, String source) {
        return queue.with(foreign(source));
    }

    /** The keys of a queue of Redisson's: pending messages, the order of these, ready ones, and one that is never there. */
    static List<Object> foreign(String source) {
        String pending = key("redisson_delay_queue_timeout", source);
        return List.of(pending, key("redisson_delay_queue", source), source, pending + ":none");
    }

    /** A key as RedissonObject.prefixName names it. */
    private static String key(String prefix, String source) {
        return prefix + (source.contains("{") ? ":" + source : ":{" + source + "}");
    }
}
