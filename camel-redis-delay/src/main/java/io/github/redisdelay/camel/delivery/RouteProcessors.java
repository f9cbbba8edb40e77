// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.apache.camel.Navigate;
import org.apache.camel.Processor;
import org.apache.camel.Route;

/**
 * A search for processors in a route, by the names of their classes, which are in a part of Camel that the component does
 * not need.
 */
public final class RouteProcessors {

    private RouteProcessors() {}

    /** Returns whether the route has a resequencer. One behind {@code direct:} is in another route, and not seen. */
    public static boolean haveResequencer(Route route) {
        return contains(route.navigate(), "Resequencer", Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private static boolean contains(Object processor, String name, Set<Object> seen) {
        if (processor == null || !seen.add(processor)) {
            return false;
        }
        if (processor.getClass().getSimpleName().endsWith(name)) {
            return true;
        }
        if (processor instanceof Navigate<?> several && several.hasNext()) {
            for (Object next : several.next()) {
                if (next instanceof Processor && contains(next, name, seen)) {
                    return true;
                }
            }
        }
        return false;
    }
}
