// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** Tells which script a digest means: in this package, because the scripts are known to nobody outside of it. */
public final class ScriptDigests {

    private ScriptDigests() {}

    /** The SHA-1 digest, in small hexadecimal letters, and the script's name, such as {@code claim}. */
    public static Map<String, String> names() {
        return Arrays.stream(LuaScript.values()).collect(Collectors.toMap(LuaScript::sha, LuaScript::command));
    }
}
