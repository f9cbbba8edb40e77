// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import io.github.redisdelay.history.History;
import java.util.List;

/**
 * A {@link SoakNode} in a JVM of its own, to be killed. It ends in an orderly way when its standard input ends, as it
 * does when the test's JVM dies.
 */
final class SoakProcess {

    private SoakProcess() {}

    public static void main(String[] arguments) throws Exception {
        ChildMain.endsItsJvmWhenItFails();
        SoakNode.silence();
        SoakNode.Settings settings = SoakNode.Settings.of(arguments);
        SoakNode node = new SoakNode(settings);
        History seen = History.appendingTo(
                settings.directory().resolve(settings.name() + WindowedHistory.SUFFIX), settings.name());
        new SoakWatch(settings.address(), seen, List.of(settings.name()));
        while (System.in.read() >= 0) {
            // Nothing is to be read, only its end.
        }
        node.endProducing();
        node.close();
        System.exit(0);
    }
}
