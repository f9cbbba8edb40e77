// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.util.Set;
import org.redisson.api.RType;
import org.redisson.client.codec.StringCodec;

/** The permissions that the scripts of imports need. */
class ImportScriptPermissionsIT extends ScriptPermissionRules {

    ImportScriptPermissionsIT() {
        super(new ImportScriptSet());
    }

    @Override
    void assertMore(LuaScript script, Set<String> after, String what) {
        assertThat(after.contains("new") || isThere(ImportScriptSet.foreign(keys, 0), "zset", "e1"))
                .as("the pending message is here or there after " + what)
                .isTrue();
        assertThat(after.contains("ready1") || isThere(ImportScriptSet.foreign(keys, 1), "list", "r1"))
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
}
