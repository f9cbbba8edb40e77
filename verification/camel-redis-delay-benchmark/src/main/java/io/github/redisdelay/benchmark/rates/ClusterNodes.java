// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.rates;

import com.sun.management.OperatingSystemMXBean;
import io.github.redisdelay.benchmark.Figures;
import io.github.redisdelay.benchmark.Subject;
import io.github.redisdelay.testkit.ClusterServers;
import io.github.redisdelay.testkit.ClusterServers.Node;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The masters of a cluster, and what they have used. One thread at a time. */
final class ClusterNodes implements AutoCloseable {

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** With the default of 15 s callers would wait for that much longer. */
    private static final String NODE_TIMEOUT = "cluster-node-timeout 5000";

    private final ClusterServers cluster;
    private final List<Node> masters;

    private ClusterNodes(ClusterServers cluster) {
        this.cluster = cluster;
        this.masters = new ArrayList<>(cluster.nodes());
    }

    static ClusterNodes start(int masters) {
        return new ClusterNodes(ClusterServers.start(masters, 0, NODE_TIMEOUT, "cluster-require-full-coverage no"));
    }

    ClusterServers cluster() {
        return cluster;
    }

    List<Node> masters() {
        return List.copyOf(masters);
    }

    Node addReplica(Node master) {
        return cluster.addReplica(master, NODE_TIMEOUT, "cluster-require-full-coverage no");
    }

    /** A replica has been promoted. */
    void replace(Node dead, Node promoted) {
        masters.set(masters.indexOf(dead), promoted);
    }

    long memory(Node node) {
        return Long.parseLong(node.info("memory", "used_memory"));
    }

    /** How many messages each partition that this node holds has, by its number. */
    Map<Integer, Long> partitions(Node node) {
        Map<Integer, Long> sizes = new HashMap<>();
        for (String key : node.keysLike("*:messages")) {
            String length = node.call(List.of("HLEN", key));
            sizes.put(Integer.valueOf(key.replaceAll(".*\\{(\\d+)/.*", "$1")), Long.valueOf(length.substring(1)));
        }
        return sizes;
    }

    Usage usage() {
        double cpu = 0;
        double bytes = 0;
        for (Node node : masters) {
            for (String kind : List.of("used_cpu_user", "used_cpu_sys")) {
                cpu += Double.parseDouble(node.info("cpu", kind));
            }
            for (String direction : List.of("total_net_input_bytes", "total_net_output_bytes")) {
                bytes += Double.parseDouble(node.info("stats", direction));
            }
        }
        return new Usage(System.nanoTime(), cpu, bytes, SYSTEM.getProcessCpuTime() / 1e9);
    }

    @Override
    public void close() {
        cluster.close();
    }

    /** Up to a moment: CPU time of all masters and of this JVM, bytes between the masters and their clients. */
    record Usage(long nanos, double redisSeconds, double bytes, double jvmSeconds) {

        /** Adds what has been used for so many messages between this moment and another. */
        void until(Usage end, Figures figures, String parameter, String what, int messages) {
            String name = ClusterScale.NAME;
            String queue = Subject.QUEUE;
            double seconds = (end.nanos - nanos) / 1e9;
            figures.add(name, queue, parameter, 1, what + " rate", messages / seconds, "messages/s");
            double redis = (end.redisSeconds - redisSeconds) * 1e6 / messages;
            figures.add(name, queue, parameter, 1, what + " redis cpu", redis, "us/message");
            double jvm = (end.jvmSeconds - jvmSeconds) * 1e6 / messages;
            figures.add(name, queue, parameter, 1, what + " jvm cpu", jvm, "us/message");
            double net = (end.bytes - bytes) / messages;
            figures.add(name, queue, parameter, 1, what + " network", net, "bytes/message");
        }
    }
}
