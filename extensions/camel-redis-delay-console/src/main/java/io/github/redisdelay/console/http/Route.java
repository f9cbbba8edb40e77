// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import java.util.Objects;

/**
 * A path, the method by which it is asked for, and the right that it needs.
 *
 * @param path behind the console's own address, such as {@code api/me}
 */
record Route(String method, String path, Rule rule, View view) {

    /** Makes the answer to a call that was allowed: a {@link Response}, or what becomes JSON. */
    interface View {
        Object of(Call call);
    }

    Route {
        Objects.requireNonNull(rule, "rule");
    }

    static Route get(String path, Rule rule, View view) {
        return new Route("GET", path, rule, view);
    }

    /** A change, which is logged. */
    static Route post(String path, Rule rule, View view) {
        return new Route("POST", path, rule, view);
    }

    boolean isAction() {
        return method.equals("POST");
    }
}
