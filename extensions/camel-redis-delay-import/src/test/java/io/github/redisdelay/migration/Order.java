// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.migration;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;

/** A class of an application, as the examples of RDelayedQueue put it into their queues. */
public class Order implements Serializable {

    private static final long serialVersionUID = 1L;

    /** An enum of an application. */
    public enum Color {
        RED
    }

    private String id = "order-1";
    private long cents = 4711;
    private Date at = new Date(1_700_000_000_000L);
    private List<String> lines = new ArrayList<>(List.of("a", "b"));
    private Color color = Color.RED;

    public String getId() {
        return id;
    }

    public long getCents() {
        return cents;
    }

    public Date getAt() {
        return at;
    }

    public List<String> getLines() {
        return lines;
    }

    public Color getColor() {
        return color;
    }
}
