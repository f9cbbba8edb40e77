// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import io.github.redisdelay.console.ConsoleOptions;
import io.github.redisdelay.console.api.Accepted;
import io.github.redisdelay.console.api.ActionResult;
import io.github.redisdelay.console.api.ApiException;
import io.github.redisdelay.console.api.ConsoleApi;
import io.github.redisdelay.console.api.ConsoleUser;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers requests, whichever server they come by: the page's files, and the paths of the JSON API. Thread-safe;
 * blocks.
 */
public final class Router {

    /** The most requests that are worked on at the same time. */
    public static final int MAX_REQUESTS = 16;

    private static final Logger LOG = LoggerFactory.getLogger(Router.class);

    private final Map<String, Route> routes = new LinkedHashMap<>();
    private final Guard guard;
    private final Pages pages = new Pages();
    private final Semaphore free = new Semaphore(MAX_REQUESTS);
    private volatile boolean closed; // set once

    public Router(ConsoleApi api, ConsoleOptions options) {
        this(ApiRoutes.of(api), options);
    }

    Router(List<Route> table, ConsoleOptions options) {
        table.forEach(route -> routes.put(route.path(), route));
        guard = new Guard(options);
    }

    /** Answers no request any more. */
    public void close() {
        closed = true;
    }

    /** Answers a request. Throws nothing. */
    public Response answer(Request request) {
        if (closed) {
            return new Refusal(503, "closed", "The console has been closed.").response();
        }
        if (!free.tryAcquire()) {
            return new Refusal(
                            503,
                            "busy",
                            "The console works on " + MAX_REQUESTS + " requests already. Try again in a moment.",
                            Map.of("Retry-After", "1"))
                    .response();
        }
        try {
            return admitted(request);
        } catch (Refusal e) {
            return e.response();
        } catch (ApiException e) {
            return problem(e);
        } catch (RuntimeException e) {
            LOG.warn("The console could not answer {} {}", request.method(), request.path(), e);
            return new Refusal(500, "failed", "The console failed. Its log says more.").response();
        } finally {
            free.release();
        }
    }

    private Response admitted(Request request) {
        Map<String, Object> parameters = Parameters.ofQuery(request.query(), ApiRoutes.PARAMETERS);
        guard.checkForm(request);
        ConsoleUser user = guard.user(request);
        Route route = routes.get(request.path());
        if (route == null) {
            Response page = pages.get(request.path(), request).orElseThrow(Router::notFound);
            checkMethod(request, "GET");
            return page;
        }
        checkMethod(request, route.method());
        guard.checkSite(request);
        if (!route.isAction()) {
            return response(value(route, new Call(user, parameters)), 200);
        }
        guard.checkChange(request);
        return change(route, new Call(user, Parameters.ofBody(request.body())));
    }

    private static Refusal notFound() {
        return new Refusal(404, "notFound", "The console has no such page.");
    }

    private static void checkMethod(Request request, String allowed) {
        if (!request.method().equals(allowed)) {
            throw new Refusal(405, "badRequest", "Ask for this by " + allowed + ".", Map.of("Allow", allowed));
        }
    }

    private static Response change(Route route, Call call) {
        String outcome = "failed";
        try {
            Rule.checkNotReadOnly(call);
            Object value = value(route, call);
            outcome = value instanceof ActionResult result ? result.outcome() : "begun";
            return response(value, value instanceof Accepted ? 202 : 200);
        } catch (ApiException e) {
            outcome = e.kind().code();
            throw e;
        } finally {
            Audit.log(route, call, outcome);
        }
    }

    private static Object value(Route route, Call call) {
        route.rule().check().check(call);
        return route.view().of(call);
    }

    private static Response response(Object value, int status) {
        return value instanceof Response response ? response : Response.json(status, value);
    }

    private static Response problem(ApiException e) {
        int status =
                switch (e.kind()) {
                    case BAD_REQUEST -> 400;
                    case READ_ONLY, FORBIDDEN -> 403;
                    case NOT_FOUND -> 404;
                    case CHANGED -> 409;
                    case BUSY -> 429;
                    case UNREACHABLE -> 503;
                };
        Map<String, Object> problem = new LinkedHashMap<>();
        problem.put("error", e.kind().code());
        problem.put("text", e.getMessage());
        if (e.kind() == ApiException.Kind.CHANGED) {
            problem.put("message", e.message());
        }
        return Response.json(status, problem);
    }
}
