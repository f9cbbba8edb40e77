// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import java.net.URL;
import java.util.List;
import java.util.Set;
import org.redisson.api.RedissonClient;

/** The scripts of a module, as the rules for scripts know them. */
abstract class ScriptSet {

    /** A thing that a script does, which says which rules are for it. */
    enum Trait {
        /** It changes something. */
        CHANGES,
        /** It writes to several keys. */
        WRITES_SEVERAL_KEYS,
        /** It needs each of its arguments. */
        NEEDS_ALL_ARGUMENTS,
        /** It refuses a queue that needs what it does not know. */
        KNOWS_NEEDS,
        /** It finds messages by their priorities. */
        KNOWS_PRIORITIES,
        /** It meets records of messages and of calls. */
        MEETS_RECORDS
    }

    /** The ids that differ from run to run: those of dead letters. */
    record Filled(String deadOfOne, String dead9) {}

    abstract List<LuaScript> scripts();

    abstract Set<Trait> traits(LuaScript script);

    /** A call that touches every key that the script may touch where {@link ScriptRules} has filled the queue, and uses every word. */
    abstract ScriptCall valid(LuaScript script, Filled filled);

    /** The keys of a queue, with all that the scripts name. */
    QueueKeys keys(String prefix, String queue) {
        return QueueKeys.of(prefix, queue);
    }

    /** Fills what is outside of the queue. */
    void fill(RedissonClient redisson, QueueKeys keys) {}

    /** The names of the files of all that is sent, and nothing else. */
    abstract List<String> files();

    /** The file of a script among these. */
    abstract String fileOf(LuaScript script);

    /** The folder of these files. */
    abstract URL folder();
}
