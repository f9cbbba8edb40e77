// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.stream.Stream;

/** Hands out the data set's orders, a batch at a time; those that the book knows from an earlier start are left out. */
public final class Replay {

    private final Queue<Map.Entry<String, String>> remaining;
    private final DataSet dataSet;
    private final int batch;

    /**
     * One order of the data set.
     *
     * @param json the order
     * @param paidAfter when its customer pays, or null for never
     */
    public record Step(String id, String json, String paidAfter) {}

    /** @param batches in how many batches the whole data set is handed out */
    Replay(DataSet dataSet, OrderBook book, int batches) {
        this.dataSet = dataSet;
        this.batch = (dataSet.orders().size() + batches - 1) / batches;
        this.remaining = new ArrayDeque<>(dataSet.orders().entrySet().stream()
                .filter(order -> !book.knows(order.getKey()))
                .toList());
    }

    /** The number of orders that have not been handed out. */
    synchronized int remaining() {
        return remaining.size();
    }

    /** The next ones, none when the data set is through. */
    public synchronized List<Step> next() {
        return Stream.generate(remaining::poll)
                .limit(Math.min(batch, remaining.size()))
                .map(order -> new Step(
                        order.getKey(), order.getValue(), dataSet.payments().get(order.getKey())))
                .toList();
    }
}
