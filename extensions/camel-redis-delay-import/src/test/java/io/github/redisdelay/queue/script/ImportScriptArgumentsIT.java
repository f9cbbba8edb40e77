// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The arguments of the scripts of imports. */
class ImportScriptArgumentsIT extends ScriptArgumentRules {

    ImportScriptArgumentsIT() {
        super(new ImportScriptSet());
    }

    @Override
    void refuseMore(LuaScript script) {
        String name = script == ImportScriptSet.LOOK ? "limit" : "sequence";
        assertRefused(script, named(script).with(name, 0), script + " with " + name + " 0");
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
            assertRefused(
                    ImportScriptSet.IMPORT,
                    named(ImportScriptSet.IMPORT).with("new5", "place", place),
                    "import '" + place + "'");
        }
        for (String until :
                List.of("", "x", "All", "all\n", "ahead=", "ahead=-1", "ahead=9007199254740992", "until=x")) {
            assertRefused(
                    ImportScriptSet.LOOK, named(ImportScriptSet.LOOK).with("until", until), "look '" + until + "'");
        }
        assertRefused(ImportScriptSet.LOOK, named(ImportScriptSet.LOOK).with("score", "x"), "look from 'x'");
        assertRefused(ImportScriptSet.LOOK, named(ImportScriptSet.LOOK).with("limit", 257), "look at 257");
        assertRefused(
                ImportScriptSet.IMPORT, named(ImportScriptSet.IMPORT).with("new5", "id", ""), "import without id");
    }
}
