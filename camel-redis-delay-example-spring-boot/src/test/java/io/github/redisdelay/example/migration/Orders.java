// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.migration;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Stands in for the work of the reader's application: notes which orders it was to close. */
public class Orders {

    private final List<String> closed = new CopyOnWriteArrayList<>();

    public void closeIfUnpaid(String order) {
        closed.add(order);
    }

    public List<String> closed() {
        return closed;
    }
}
