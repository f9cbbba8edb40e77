// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

/**
 * A {@link SoakNode} in a JVM of its own, to be killed. It ends in an orderly way when its standard input ends, as it does when the
 * test's JVM dies.
 */
final class SoakProcess {

    private SoakProcess() {}

    public static void main(String[] arguments) throws Exception {
        SoakNode.silence();
        SoakNode node = new SoakNode(SoakNode.Settings.of(arguments));
        while (System.in.read() >= 0) {
            // Nothing is to be read, only its end.
        }
        node.endProducing();
        node.close();
        System.exit(0);
    }
}
