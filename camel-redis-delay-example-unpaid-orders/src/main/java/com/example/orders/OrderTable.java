// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.springframework.stereotype.Repository;

/** Stands for a table of your database; each method is one statement of SQL there. */
@Repository
public class OrderTable {

    private final ConcurrentMap<String, String> states = new ConcurrentHashMap<>();

    public void insert(String id) {
        states.putIfAbsent(id, "OPEN");
    }

    public String state(String id) {
        return states.getOrDefault(id, "UNKNOWN");
    }

    /** As {@code UPDATE orders SET state = ? WHERE id = ? AND state = 'OPEN'}: only one of PAID and CLOSED wins. */
    public boolean change(String id, String state) {
        return states.replace(id, "OPEN", state);
    }
}
