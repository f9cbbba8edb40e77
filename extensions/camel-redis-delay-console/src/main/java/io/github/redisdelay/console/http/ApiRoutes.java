// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import static io.github.redisdelay.console.http.Route.get;

import io.github.redisdelay.console.api.ConsoleApi;
import java.util.List;

/** The table of the JSON API. The page docs/console.md has the same. */
final class ApiRoutes {

    private ApiRoutes() {}

    static List<Route> of(ConsoleApi api) {
        return List.of(get("api/me", Rule.ENTER, call -> api.me(call.visitor())));
    }
}
