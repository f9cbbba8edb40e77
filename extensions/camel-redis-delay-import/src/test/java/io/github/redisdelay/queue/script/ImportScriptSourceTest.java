// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

/** The text of the scripts of imports. */
class ImportScriptSourceTest extends ScriptSourceRules {

    ImportScriptSourceTest() {
        super(new ImportScriptSet());
    }
}
