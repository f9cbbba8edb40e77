// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.console.http;

import static io.github.redisdelay.console.http.Route.get;
import static io.github.redisdelay.console.http.Route.post;

import io.github.redisdelay.console.ConsoleAction;
import io.github.redisdelay.console.api.ConsoleApi;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/** The table of the JSON API. The page docs/console.md has the same. */
final class ApiRoutes {

    /**
     * The parameters that an address may have. None may be the name of a header: Camel's HTTP components put both into
     * one map.
     */
    static final Set<String> PARAMETERS =
            Set.of("queue", "id", "group", "state", "at", "newest", "cursor", "limit", "span", "since");

    private static final Rule REDRIVE = Rule.may(
            "redrive, or redriveAll",
            call -> call.optional("id").isPresent() ? ConsoleAction.REDRIVE : ConsoleAction.REDRIVE_ALL);
    private static final Rule PURGE = Rule.may(
            "purge, or purgeAll",
            call -> call.optional("id").isPresent() ? ConsoleAction.PURGE : ConsoleAction.PURGE_ALL);

    private ApiRoutes() {}

    static List<Route> of(ConsoleApi api) {
        return List.of(
                get("api/me", Rule.ENTER, call -> api.me(call.user())),
                get("api/queues", Rule.ENTER, call -> api.queues(call.user())),
                get("api/queue", Rule.READ, call -> api.queue(call.user(), call.text("queue"))),
                get("api/outlook", Rule.READ, call -> api.outlook(call.text("queue"), call.text("span"))),
                get("api/messages", Rule.READ, call -> messages(api, call)),
                get("api/message", Rule.READ, call -> api.message(call.text("queue"), call.text("id"), group(call))),
                get(
                        "api/body",
                        Rule.READ,
                        call -> Response.attachment(api.body(call.text("queue"), call.text("id"), group(call)))),
                get("api/failures", Rule.READ, call -> api.failures(call.text("queue"), since(call))),
                get("api/job", Rule.ENTER, call -> api.job(call.user(), call.text("id"))),
                get("api/jobs", Rule.ENTER, call -> api.jobs(call.user())),
                post("api/cancel", Rule.may(ConsoleAction.CANCEL), call -> {
                    call.only("queue", "id", "group", "state", "due");
                    return api.cancel(call.text("queue"), call.text("id"), group(call), call.text("state"), due(call));
                }),
                post("api/promote", Rule.may(ConsoleAction.PROMOTE), call -> promote(api, call)),
                post("api/reschedule", Rule.may(ConsoleAction.RESCHEDULE), call -> reschedule(api, call)),
                post("api/redrive", REDRIVE, call -> redrive(api, call)),
                post("api/purge", PURGE, call -> purge(api, call)),
                post("api/pause", Rule.may(ConsoleAction.PAUSE), call -> pause(api, call)),
                post("api/resume", Rule.may(ConsoleAction.RESUME), call -> {
                    call.only("queue", "group");
                    return call.optional("group").isPresent()
                            ? api.resumeGroup(call.text("queue"), group(call))
                            : api.resume(call.text("queue"));
                }),
                post("api/cancelAll", Rule.may(ConsoleAction.CANCEL_ALL), call -> {
                    call.only("queue", "group", "confirm", "schedules");
                    return call.optional("group").isPresent()
                            ? api.cancelGroup(
                                    call.text("queue"), group(call), call.text("confirm"), call.isSet("schedules"))
                            : api.cancelAll(call.text("queue"), call.text("confirm"), call.isSet("schedules"));
                }),
                post("api/check", Rule.may(ConsoleAction.CHECK), call -> {
                    call.only("queue");
                    return api.check(call.text("queue"));
                }),
                post("api/stop", stop(api), call -> {
                    call.only("job");
                    return api.stop(call.text("job"));
                }));
    }

    /** The right to do what the job does, in its queue. */
    private static Rule stop(ConsoleApi api) {
        return new Rule("that of the job", call -> {
            String queue = api.job(call.user(), call.text("job")).queue();
            Rule.check(call, api.actionOf(call.text("job")), queue);
        });
    }

    /** The group of a message, or all messages of a group; null for none. */
    private static String group(Call call) {
        return call.optional("group").orElse(null);
    }

    private static Object promote(ConsoleApi api, Call call) {
        if (isOfGroup(call)) {
            call.only("queue", "group");
            return api.promoteGroup(call.text("queue"), group(call));
        }
        call.only("queue", "id", "group", "state", "due");
        return api.promote(call.text("queue"), call.text("id"), group(call), call.text("state"), due(call));
    }

    private static boolean isOfGroup(Call call) {
        return call.optional("id").isEmpty() && call.optional("group").isPresent();
    }

    private static Object reschedule(ConsoleApi api, Call call) {
        Instant to = call.time("to").orElse(null);
        Long inMicros = call.number("inMicros").orElse(null);
        if (isOfGroup(call)) {
            call.only("queue", "group", "to", "inMicros");
            return api.rescheduleGroup(call.text("queue"), group(call), to, inMicros);
        }
        call.only("queue", "id", "group", "state", "due", "to", "inMicros");
        return api.reschedule(
                call.text("queue"), call.text("id"), group(call), call.text("state"), due(call), to, inMicros);
    }

    private static Object pause(ConsoleApi api, Call call) {
        if (call.optional("group").isPresent()) {
            call.only("queue", "group", "to", "inMicros");
            return api.pauseGroup(
                    call.text("queue"),
                    group(call),
                    call.time("to").orElse(null),
                    call.number("inMicros").orElse(null));
        }
        call.only("queue");
        return api.pause(call.text("queue"));
    }

    private static Object messages(ConsoleApi api, Call call) {
        if (call.optional("group").isPresent()) {
            call.only("queue", "group", "cursor", "limit");
            return api.messages(
                    call.text("queue"),
                    group(call),
                    call.optional("cursor").orElse(null),
                    call.number("limit").orElse(null));
        }
        return api.messages(
                call.text("queue"),
                call.text("state"),
                call.time("at").orElse(null),
                call.isSet("newest"),
                call.optional("cursor").orElse(null),
                call.number("limit").orElse(null));
    }

    private static Object redrive(ConsoleApi api, Call call) {
        if (call.optional("id").isPresent()) {
            call.only("queue", "id", "group");
            return api.redrive(call.text("queue"), call.text("id"), group(call));
        }
        call.only("queue", "cause", "since", "until", "count");
        return api.redriveAll(
                call.text("queue"),
                call.text("cause"),
                since(call),
                until(call),
                call.number("count").orElse(null));
    }

    private static Object purge(ConsoleApi api, Call call) {
        if (call.optional("id").isPresent()) {
            call.only("queue", "id", "group");
            return api.purge(call.text("queue"), call.text("id"), group(call));
        }
        if (isOfGroup(call)) {
            call.only("queue", "group", "confirm");
            return api.purgeGroup(call.text("queue"), group(call), call.text("confirm"));
        }
        call.only("queue", "cause", "all", "since", "until", "count", "confirm");
        // Without a cause it must not mean all by accident.
        String cause = call.isSet("all") && call.optional("cause").isEmpty() ? null : call.text("cause");
        return api.purgeAll(
                call.text("queue"),
                cause,
                since(call),
                until(call),
                call.number("count").orElse(null),
                call.text("confirm"));
    }

    private static Instant since(Call call) {
        return call.time("since").orElse(null);
    }

    private static Instant until(Call call) {
        return call.time("until").orElse(null);
    }

    private static Instant due(Call call) {
        return call.time("due").orElseThrow(() -> Call.bad("Parameter 'due' is missing."));
    }
}
