// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.queue.ClaimId;
import io.github.redisdelay.queue.DeadLetterId;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import io.github.redisdelay.queue.internal.redis.RedissonScriptExecutor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;

/**
 * Everything that a queue holds in Redis, read at one moment, as readable text: key, then id, then value. Bytes are
 * ISO-8859-1 text, so that none is lost.
 */
public record QueueSnapshot(Map<String, Map<String, String>> keys) {

    /** The keys of a queue; the dead letters have the same ones behind {@code dead:}. */
    private static final List<String> PARTS = parts();

    /** Of a message with a group the time is negative, and the length of the group is before its body. */
    private static final Pattern GROUPED = Pattern.compile("scheduled -\\d+ due \\d+ body (.)", Pattern.DOTALL);

    private static final String READ = load("snapshot.lua");
    private static final String SHIFT = load("shift.lua");

    private static List<String> parts() {
        List<String> own = new ArrayList<>(
                List.of("messages", "delayed", "leased", "state", "sessions", "config", "seen", "waiters", "index"));
        for (int priority = 1; priority <= ScheduleRequest.MAX_PRIORITY; priority++) {
            own.add("delayed:" + priority);
        }
        own.addAll(List.of("parked", "groups", "gates", "opens", "consumers"));
        List<String> all = new ArrayList<>(own);
        own.forEach(part -> all.add("dead:" + part));
        return all;
    }

    private static boolean isSortedSet(String part) {
        return part.contains("delayed")
                || part.endsWith("leased")
                || part.endsWith("seen")
                || part.endsWith("waiters")
                || part.endsWith("parked")
                || part.endsWith("groups")
                || part.endsWith("opens");
    }

    private static String load(String resource) {
        try (InputStream in = QueueSnapshot.class.getResourceAsStream(resource)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** An empty queue. */
    public static QueueSnapshot empty() {
        QueueSnapshot snapshot = new QueueSnapshot(new TreeMap<>());
        PARTS.forEach(part -> snapshot.keys.put(part, new TreeMap<>()));
        return snapshot;
    }

    public static QueueSnapshot read(RedissonClient redisson, QueueKeys queue) {
        List<Object> names = new ArrayList<>();
        PARTS.forEach(part -> names.add(queue.key(part)));
        List<byte[]> reply = redisson.getScript(ByteArrayCodec.INSTANCE)
                .eval(RScript.Mode.READ_WRITE, READ, RedissonScriptExecutor.LIST, names);
        QueueSnapshot snapshot = empty();
        int at = 0;
        for (int k = 0; k < names.size(); k++) {
            String part = PARTS.get(k);
            int count = Integer.parseInt(latin(reply.get(at++)));
            for (int i = 0; i < count; i += 2) {
                byte[] value = reply.get(at + i + 1);
                snapshot.keys
                        .get(part)
                        .put(
                                latin(reply.get(at + i)),
                                switch (part) {
                                    case "messages", "dead:messages" -> message(value);
                                    case "state", "dead:state" -> state(value);
                                    case "sessions", "dead:sessions" -> call(value);
                                    case "config", "dead:config" -> latin(value);
                                    case "gates", "dead:gates" -> gate(value);
                                    case "consumers", "dead:consumers" ->
                                        latin(value).substring(8);
                                    default -> String.valueOf((long) Double.parseDouble(latin(value)));
                                });
            }
            at += count;
        }
        return snapshot;
    }

    /** All that a queue and its dead letters may hold. */
    public static String[] allKeys(QueueKeys queue) {
        return PARTS.stream().map(queue::key).toArray(String[]::new);
    }

    /** Lets time pass: all due times, ends of leases and ends of memories come nearer. The times of scheduling stay. */
    public static void shift(RedissonClient redisson, QueueKeys queue, long micros) {
        redisson.getScript(StringCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_WRITE,
                        SHIFT,
                        RScript.ReturnType.VALUE,
                        PARTS.stream()
                                .filter(part -> isSortedSet(part) || part.matches(".*(messages|state|config|gates)"))
                                .map(part -> (Object) queue.key(part))
                                .toList(),
                        Long.toString(micros));
    }

    public static String latin(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static String message(byte[] bytes) {
        ByteBuffer in = little(bytes);
        return message((long) in.getDouble(), (long) in.getDouble(), latin(rest(in)));
    }

    public static String message(long scheduled, long due, String body) {
        return "scheduled " + scheduled + " due " + due + " body " + body;
    }

    /** The due times of a state record that leaves them out: the stored body has them. */
    public static final long AS_BODY = -1;

    private static String state(byte[] bytes) {
        ByteBuffer in = little(bytes);
        assertThat(in.get()).as("version of a state record").isEqualTo((byte) 1);
        int lost = in.get();
        int reason = in.get();
        int priority = in.get();
        int attempts = in.getInt();
        byte[] claim = new byte[ClaimId.LENGTH];
        in.get(claim);
        boolean brief = bytes.length == 24;
        return state(
                attempts,
                lost,
                reason,
                HexFormat.of().formatHex(claim),
                brief ? AS_BODY : (long) in.getDouble(),
                brief ? AS_BODY : (long) in.getDouble(),
                latin(rest(in)),
                priority);
    }

    public static String state(
            int attempts, int lost, int reason, String claim, long due, long firstDue, String failure, int priority) {
        return "attempts " + attempts + " lost " + lost + " reason " + reason + " priority " + priority + " claim "
                + claim + " due " + due + " first " + firstDue + " failure " + failure;
    }

    private static String gate(byte[] bytes) {
        ByteBuffer in = little(bytes);
        return gate((long) in.getDouble(), (long) in.getDouble(), (long) in.getDouble());
    }

    public static String gate(long next, long since, long ends) {
        return "next " + next + " paused since " + since + " until " + ends;
    }

    private static String call(byte[] bytes) {
        ByteBuffer in = little(bytes);
        return call((long) in.getDouble(), (long) in.getDouble(), latin(rest(in)));
    }

    public static String call(long sequence, long time, String result) {
        return "sequence " + sequence + " at " + time + " result "
                + HexFormat.of().formatHex(result.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static byte[] rest(ByteBuffer in) {
        byte[] rest = new byte[in.remaining()];
        in.get(rest);
        return rest;
    }

    public Map<String, String> messages() {
        return keys.get("messages");
    }

    /** The ids in a part, sorted. */
    public List<String> ids(String part) {
        return List.copyOf(keys.get(part).keySet());
    }

    /** Tells whether a message is leased by this claim. @param queue empty, or that of the dead letters */
    public boolean isLeased(String queue, String id, ClaimId claim) {
        String hex = HexFormat.of().formatHex(claim.bytes());
        return keys.get(queue + "leased").containsKey(id)
                && keys.get(queue + "state").getOrDefault(id, "").contains(" claim " + hex + " ");
    }

    /** The group of a message; empty if it has none. */
    public String groupOf(String id) {
        Matcher message = GROUPED.matcher(messages().getOrDefault(id, ""));
        int from = message.lookingAt() ? message.end() : 0;
        return from == 0
                ? ""
                : messages().get(id).substring(from, from + message.group(1).charAt(0));
    }

    /** All ids that wait, whatever their priority. */
    private List<String> waiting(String queue) {
        List<String> ids = new ArrayList<>(keys.get(queue + "delayed").keySet());
        for (int priority = 1; priority <= ScheduleRequest.MAX_PRIORITY; priority++) {
            ids.addAll(keys.get(queue + "delayed:" + priority).keySet());
        }
        ids.addAll(keys.get(queue + "parked").keySet());
        return ids;
    }

    /** The members of an index for these dead letters. */
    public static Set<String> members(Set<String> deadLetters) {
        return deadLetters.stream()
                .map(DeadLetterId::parse)
                .map(id -> id.messageId() + "\0" + id.time())
                .collect(Collectors.toSet());
    }

    /**
     * I3: an id is in exactly one of the delayed sets and leased, and has a body as long as it is in one. And none waits where
     * no claim looks.
     */
    public void assertOneStateAtATime(boolean bodiesMayBeMissing) {
        for (String queue : List.of("", "dead:")) {
            List<String> delayed = waiting(queue);
            Set<String> leased = keys.get(queue + "leased").keySet();
            Set<String> messages = keys.get(queue + "messages").keySet();
            Set<String> all = new HashSet<>(delayed);
            all.addAll(leased);
            // One without a body is no message.
            assertThat(Stream.concat(delayed.stream(), leased.stream()).filter(messages::contains))
                    .as("ids in one set each: " + delayed + leased)
                    .doesNotHaveDuplicates();
            if (bodiesMayBeMissing) {
                assertThat(all).as("ids with a body").containsAll(messages);
            } else {
                assertThat(messages).as("ids with a body").isEqualTo(all);
            }
            if (!bodiesMayBeMissing) {
                assertThat(keys.get(queue + "index").keySet())
                        .as("the index")
                        .isEqualTo(queue.isEmpty() ? Set.of() : members(messages));
            }
            assertThat(all)
                    .as("ids with a state record")
                    .containsAll(keys.get(queue + "state").keySet());
            String priorities = keys.get(queue + "config").getOrDefault("priorities", "");
            for (int priority = 1; priority <= ScheduleRequest.MAX_PRIORITY; priority++) {
                if (!keys.get(queue + "delayed:" + priority).isEmpty()) {
                    assertThat(priorities).as("priorities that claims look at").contains(String.valueOf(priority));
                }
            }
        }
    }
}
