// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.AclUser;
import io.github.redisdelay.queue.fake.PatientCaller;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.queue.internal.redis.ScriptExecutor;
import io.github.redisdelay.test.RedisServer;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** The permissions that the scripts of the queues need. */
class ScriptPermissionsIT extends ScriptPermissionRules {

    ScriptPermissionsIT() {
        super(new ComponentScripts());
    }

    @Override
    Set<String> ended(LuaScript script) {
        return switch (script.command()) {
            case "change" -> Set.of("due", "l2");
            case "settle" -> Set.of("l2", "l4", "ended");
            case "acknowledge" -> Set.of("l1", "l3");
            default -> Set.of();
        };
    }

    /** Such an entry would take a place of its group until a claim happens to look at it. */
    @Test
    void should_leave_no_entry_of_a_message_with_a_group_that_may_not_be_stored() throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            RedissonClient admin = connect(server, null);
            redisson = admin;
            caller = new PatientCaller(admin);
            new AclUser(server).denies("debug");
            RedissonClient user = connect(server, "app");
            try {
                call(LuaScript.SCHEDULE, "session", 9, "base", "before", "at reject group=1", 1, "", "gbody");
                Object[] late = bytes("session", 10, "base", "late", "at reject group=1", 2, "", "gbody");
                RScoredSortedSet<String> groups = redisson.getScoredSortedSet(keys.key("groups"), StringCodec.INSTANCE);
                assertThat(groups).hasSize(1);
                new AclUser(server).denies("hset");
                assertThat(new PatientCaller(user).call(LuaScript.SCHEDULE, keys.of(LuaScript.SCHEDULE), late, 1))
                        .failsWithin(20, TimeUnit.SECONDS);
                assertThat(groups).hasSize(1);
                call(LuaScript.SCHEDULE, late);
                assertThat(groups).hasSize(2);
            } finally {
                user.shutdown();
                admin.shutdown();
            }
        }
    }

    /** Plain messages go their own way (plain.lua): they are stored as a whole by a call, or by the call that is sent again. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void should_store_plain_messages_when_their_call_is_sent_again_after_it_was_refused(int count) throws Exception {
        try (RedisServer server = RedisServer.dedicated()) {
            RedissonClient admin = connect(server, null);
            redisson = admin;
            caller = new PatientCaller(admin);
            new AclUser(server).denies("debug");
            RedissonClient user = connect(server, "app");
            ScriptExecutor users = new PatientCaller(user);
            List<String> ids = List.of("lone", "two1", "two2").subList(0, count);
            Object[] plain = items(
                    bytes("session", 10, "base"),
                    items(ids.stream()
                            .map(id -> bytes(id, "at reject", 12345, "", "body"))
                            .toArray(Object[][]::new)));
            Set<String> refused = new TreeSet<>();
            try {
                for (String denied : commands(LuaScript.SCHEDULE)) {
                    admin.getKeys().flushall();
                    call(LuaScript.SCHEDULE, "session", 9, "base", "before", "at reject", 1, "", "body");
                    // As eviction leaves it behind.
                    admin.getMap(keys.key("state"), StringCodec.INSTANCE).put("lone", "x");
                    new AclUser(server).denies(denied);
                    try {
                        users.call(LuaScript.SCHEDULE, keys.of(LuaScript.SCHEDULE), plain, 1)
                                .get(20, TimeUnit.SECONDS);
                    } catch (java.util.concurrent.ExecutionException e) {
                        assertThat(e.getCause().getMessage())
                                .containsAnyOf("can't run this command", "NOPERM", "ACL failure in script");
                        refused.add(denied);
                        call(LuaScript.SCHEDULE, plain);
                    }
                    Set<String> stored = new TreeSet<>(ids);
                    stored.add("before");
                    assertThat(findable(keys)).as("without " + denied).isEqualTo(stored);
                    assertThat(held(keys, "state")).as("without " + denied).isEmpty();
                    assertThat(redisson.getScoredSortedSet(keys.key("delayed"), StringCodec.INSTANCE)
                                    .getScore("lone"))
                            .isEqualTo(12345);
                }
                assertThat(refused).contains("exists", "hdel", "zadd", "hset");
                assertThat(refused).contains(count == 1 ? "hsetnx" : "zmscore");
            } finally {
                user.shutdown();
                admin.shutdown();
            }
        }
    }
}
