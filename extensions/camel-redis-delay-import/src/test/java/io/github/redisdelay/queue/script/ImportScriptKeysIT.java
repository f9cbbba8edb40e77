// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

/** The keys of the scripts of imports. */
class ImportScriptKeysIT extends ScriptKeyRules {

    ImportScriptKeysIT() {
        super(new ImportScriptSet());
    }

    @Override
    String type(String part) {
        return part.equals(ImportScriptSet.foreign(keys, 0))
                ? "zset"
                : keys.foreign().contains(part) ? "list" : super.type(part);
    }
}
