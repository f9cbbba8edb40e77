// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import java.net.URL;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The scripts of the queues. */
final class ComponentScripts extends ScriptSet {

    static final List<String> INCLUDES = List.of(
            "include/call.lua",
            "include/cancel.lua",
            "include/check.lua",
            "include/clock.lua",
            "include/dead.lua",
            "include/effect.lua",
            "include/give.lua",
            "include/gate.lua",
            "include/group.lua",
            "include/member.lua",
            "include/message.lua",
            "include/pause.lua",
            "include/packed.lua",
            "include/items.lua",
            "include/session.lua",
            "include/plain.lua",
            "include/record.lua",
            "include/queue.lua",
            "include/place.lua",
            "include/run.lua",
            "include/seen.lua",
            "include/wakeup.lua",
            "include/row.lua",
            "include/page.lua",
            "include/index.lua");

    @Override
    List<LuaScript> scripts() {
        return List.of(LuaScript.values());
    }

    @Override
    Set<Trait> traits(LuaScript script) {
        return switch (script.command()) {
            case "schedule", "change", "claim", "settle", "redrive", "repair" -> EnumSet.allOf(Trait.class);
            case "acknowledge", "partitions" ->
                EnumSet.complementOf(EnumSet.of(Trait.KNOWS_PRIORITIES, Trait.MEETS_RECORDS));
            case "heartbeat" -> EnumSet.of(Trait.CHANGES, Trait.NEEDS_ALL_ARGUMENTS, Trait.MEETS_RECORDS);
            case "register" -> EnumSet.of(Trait.CHANGES, Trait.NEEDS_ALL_ARGUMENTS);
            case "get" -> EnumSet.of(Trait.NEEDS_ALL_ARGUMENTS, Trait.KNOWS_NEEDS, Trait.MEETS_RECORDS);
            case "group" -> EnumSet.of(Trait.KNOWS_NEEDS);
            case "browse", "stats" -> EnumSet.of(Trait.KNOWS_NEEDS, Trait.MEETS_RECORDS);
            case "outlook" -> EnumSet.of(Trait.KNOWS_NEEDS, Trait.KNOWS_PRIORITIES);
            case "queues" -> EnumSet.of(Trait.NEEDS_ALL_ARGUMENTS);
            case "consumers" -> EnumSet.of(Trait.MEETS_RECORDS);
            default -> EnumSet.noneOf(Trait.class);
        };
    }

    @Override
    ScriptCall valid(LuaScript script, Filled filled) {
        return switch (script.command()) {
            case "schedule" -> {
                String item = "id words time# claim body";
                yield ScriptCall.of("session sequence# base", "session", 10, "base")
                        .item(item, "new", "after reject", 100, "", "body")
                        .item(item, "due", "at replace", 200, "", "body")
                        .item(item, "l1", "after reject", 0, ScriptRules.CLAIM, "body")
                        .item(item, "waits", "at ignore", 5, "", "body")
                        .item(item, "new1", "after reject priority=1 limit=1000", 5, "", "body")
                        .item(item, "seen", "after reject limit=1", 5, "", "body")
                        .item(item, "high", "after replace priority=0", 5, "", "body");
            }
            case "change" -> {
                String item = "id action time#";
                yield ScriptCall.of("session sequence# base", "session", 10, "base")
                        .item(item, "due", "cancel", 0)
                        .item(item, "waits", "reschedule-after", 5)
                        .item(item, "l1", "reschedule-at", 7)
                        .item(item, "l2", "cancel", 0)
                        .item(item, "high", "promote", 0)
                        .item(item, "l3", "cancel-delayed", 0)
                        .item(item, "seen", "cancel", 0)
                        .item(item, "", "limit-relaxed", 2)
                        .item(item, "", "limit-strict", 3)
                        .item(item, "", "resume", 0)
                        .item(item, "", "pause", 0);
            }
            case "claim" ->
                ScriptCall.of(
                        "session sequence# claim lease# messages# expired# bytes# base member quick# safety#",
                        "session",
                        10,
                        ScriptRules.CLAIM,
                        1_000_000,
                        10,
                        10,
                        100_000,
                        "base",
                        "c1 channel",
                        0,
                        30_000_000);
            case "settle" -> {
                String item = "id claim action time# failure";
                yield ScriptCall.of("session sequence# base kind", "session", 10, "base", "dead")
                        .item(item, "l1", ScriptRules.CLAIM, "extend", 1_000, "")
                        .item(item, "l1", ScriptRules.CLAIM, "retry", 100, "failure")
                        .item(item, "l2", ScriptRules.CLAIM, "dead-letter", 1_000, "failure")
                        .item(item, "l3", ScriptRules.CLAIM, "release", 0, "")
                        .item(item, "l4", ScriptRules.CLAIM, "acknowledge", 1_000, "")
                        .item(item, "ended", ScriptRules.OTHER_CLAIM, "drop", 0, "");
            }
            case "acknowledge" -> {
                String item = "id claim";
                yield ScriptCall.of("session sequence#", "session", 10)
                        .item(item, "l1", ScriptRules.CLAIM)
                        .item(item, "l2", ScriptRules.OTHER_CLAIM)
                        .item(item, "none", ScriptRules.CLAIM)
                        .item(item, "l3", ScriptRules.CLAIM);
            }
            case "redrive" -> {
                String item = "id claim";
                yield ScriptCall.of("session sequence# base", "session", 10, "base")
                        .item(item, filled.dead9(), "")
                        .item(item, filled.deadOfOne(), ScriptRules.CLAIM)
                        .item(item, "none@1", "");
            }
            case "repair" -> ScriptCall.of("walk cursor base kind", "messages", 0, "base", "");
            case "partitions" -> ScriptCall.of("number#", 6);
            case "get" -> ScriptCall.of("id", "l1");
            case "dead_letters" -> ScriptCall.of("id after", "dead9", "");
            case "browse" ->
                ScriptCall.of("state limit# score id direction", "delayed", 10, DueTime.MAX_MICROS, "", "newest");
            case "outlook" -> ScriptCall.of("bound1# bound2# bound3#", 0, 1_000, DueTime.MAX_MICROS);
            case "heartbeat" -> ScriptCall.of("consumer name seen", ScriptRules.CONSUMER, "again", 1);
            case "register" -> ScriptCall.of("queue", "orders");
            case "queues" -> ScriptCall.of("limit offset", 10, 0);
            case "group" -> ScriptCall.of("group behind limit#", "customer", "", 10);
            case "consumers", "stats", "server", "replication" -> ScriptCall.of("");
            default -> throw new IllegalArgumentException(script.toString());
        };
    }

    @Override
    List<String> files() {
        return Stream.concat(INCLUDES.stream(), scripts().stream().map(this::fileOf))
                .toList();
    }

    @Override
    String fileOf(LuaScript script) {
        return "command/" + script.command() + ".lua";
    }

    @Override
    URL folder() {
        return LuaScript.class.getResource("/io/github/redisdelay/queue/lua");
    }
}
