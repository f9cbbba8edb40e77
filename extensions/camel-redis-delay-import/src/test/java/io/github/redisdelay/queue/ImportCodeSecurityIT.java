// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.ImportArchitectureTest;
import org.junit.jupiter.api.BeforeAll;

/** The rules for the component, with the module for imports. */
class ImportCodeSecurityIT extends CodeSecurityIT {

    @BeforeAll
    static void readBoth() {
        all = ImportArchitectureTest.both();
    }
}
