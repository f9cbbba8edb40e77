// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.AclUser;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.fake.PatientCaller;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.test.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** The rules for a user who may not do everything (see ACL), or from whom a permission or a key is taken away meanwhile. */
public abstract class ScriptPermissionRules extends ScriptRules {

    ScriptPermissionRules(ScriptSet set) {
        super(set);
    }

    /** The ids that the valid call of a script may end: they are done, or are where the call moves them. */
    Set<String> ended(LuaScript script) {
        return Set.of();
    }

    /** Asserts more about a call that was made in part. */
    void assertMore(LuaScript script, Set<String> after, String what) {}

    @ParameterizedTest
    @MethodSource("withSeveralWrites")
    void should_change_nothing_or_everything_for_a_user_who_may_not_do_all_of_it(LuaScript script) throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            RedissonClient admin = connect(server, null);
            redisson = admin;
            caller = new PatientCaller(admin);
            new AclUser(server).denies("debug");
            RedissonClient user = connect(server, "app");
            try {
                List<String> halfDone = new ArrayList<>();
                for (String denied : commands(script)) {
                    admin.getKeys().flushall();
                    fillQueue();
                    prepare(script);
                    new AclUser(server).denies(denied);
                    Map<String, String> before = dump();
                    try {
                        new PatientCaller(user)
                                .call(script, keys.of(script), valid(script), 1)
                                .get(20, TimeUnit.SECONDS);
                    } catch (java.util.concurrent.ExecutionException e) {
                        assertThat(e.getCause().getMessage())
                                .containsAnyOf("can't run this command", "NOPERM", "ACL failure in script");
                        if (!dump().equals(before)) {
                            halfDone.add(denied);
                        }
                    }
                }
                assertThat(halfDone)
                        .as("commands without which it was half done")
                        .isEmpty();
            } finally {
                user.shutdown();
                admin.shutdown();
            }
        }
    }

    /** Makes the next call of the session of the valid calls one without a preflight, unless a new hour begins meanwhile. */
    void doPreflight() {
        call(LuaScript.SETTLE, "session", 9, "base", "dead", "none", CLAIM, "extend", 1_000, "");
    }

    void assertFindable(LuaScript script, Set<String> before, Set<String> deadBefore, String what) {
        Set<String> after = findable(keys);
        Set<String> deadAfter = findable(keys.dead());
        Set<String> lost = new TreeSet<>(before);
        lost.removeAll(after);
        lost.removeAll(ended(script));
        assertThat(lost).as("messages that no claim finds after " + what).isEmpty();
        Set<String> deadLost = new TreeSet<>(deadBefore);
        deadLost.removeAll(deadAfter);
        deadLost.removeIf(id -> script == LuaScript.REDRIVE && after.contains(DeadLetterId.messageIdOf(id)));
        assertThat(deadLost)
                .as("dead letters that no claim finds after " + what)
                .isEmpty();
        boolean buried = deadAfter.stream().anyMatch(id -> id.startsWith("l2@"));
        assertThat(script != LuaScript.SETTLE || !before.contains("l2") || after.contains("l2") || buried)
                .as("the message that is buried is found after " + what)
                .isTrue();
        assertMore(script, after, what);
        if (script == LuaScript.SETTLE) {
            assertThat(inTwoSets()).as("messages in two sets after " + what).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("withSession")
    void should_leave_each_message_findable_for_a_user_who_loses_a_permission_meanwhile(LuaScript script)
            throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            RedissonClient admin = connect(server, null);
            redisson = admin;
            caller = new PatientCaller(admin);
            new AclUser(server).denies("debug");
            RedissonClient user = connect(server, "app");
            ScriptExecutor users = new PatientCaller(user);
            try {
                for (String denied : commands(script)) {
                    admin.getKeys().flushall();
                    fillQueue();
                    doPreflight();
                    Set<String> before = findable(keys);
                    Set<String> deadBefore = findable(keys.dead());
                    assertThat(before).contains("l1", "l2", "due", "waits", "high");
                    new AclUser(server).denies(denied);
                    try {
                        users.call(script, keys.of(script), valid(script), 1).get(20, TimeUnit.SECONDS);
                    } catch (java.util.concurrent.ExecutionException e) {
                        assertThat(e.getCause().getMessage())
                                .containsAnyOf("can't run this command", "NOPERM", "ACL failure in script");
                        assertFindable(script, before, deadBefore, script + " without " + denied);
                        // It was not executed: it is when it is allowed.
                        call(script, valid(script));
                        assertFindable(script, before, deadBefore, script + " after it was allowed to " + denied);
                    }
                }
            } finally {
                user.shutdown();
                admin.shutdown();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("withSession")
    void should_leave_each_message_findable_where_a_key_becomes_another_one_meanwhile(LuaScript script) {
        for (Object key : keys.of(script)) {
            redisson.getKeys().delete(dump().keySet().toArray(String[]::new));
            fillQueue();
            doPreflight();
            redisson.getKeys().delete((String) key);
            redisson.getBucket((String) key, StringCodec.INSTANCE).set("x");
            Set<String> before = findable(keys);
            Set<String> deadBefore = findable(keys.dead());
            try {
                call(script, valid(script));
            } catch (CallFailed e) {
                assertThat(e).hasMessageContaining("WRONGTYPE");
            }
            assertFindable(script, before, deadBefore, script + " where " + key + " is a string");
        }
    }

    static Set<String> commands(LuaScript script) {
        Set<String> commands = new TreeSet<>();
        Matcher command = Pattern.compile("redis\\.call\\('(\\w+)'").matcher(script.source());
        while (command.find()) {
            commands.add(command.group(1).toLowerCase(java.util.Locale.ROOT));
        }
        return commands;
    }

    static RedissonClient connect(RedisServer server, String user) {
        Config config = new Config();
        // Redisson 3 has these settings only here.
        org.redisson.config.SingleServerConfig single =
                config.useSingleServer().setAddress(server.address()).setConnectionMinimumIdleSize(1);
        if (user != null) {
            single.setUsername(user).setPassword("secret");
        }
        return Redisson.create(config);
    }
}
