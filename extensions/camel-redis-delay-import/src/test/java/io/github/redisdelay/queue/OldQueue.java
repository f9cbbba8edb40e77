// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.queue;

import io.github.redisdelay.imports.queue.ImportScripts;
import io.github.redisdelay.queue.internal.redis.QueueKeys;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.redisson.api.RList;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/** A delayed queue of Redisson's as its clients leave it in Redis, of any release. */
public final class OldQueue {

    public final String name;
    /** The names of its keys. */
    public final String pendingKey;

    public final String orderKey;
    private final RedissonClient redisson;
    private final Random random = new Random(7);

    public OldQueue(RedissonClient redisson, String name) {
        this.redisson = redisson;
        this.name = name;
        List<Object> keys = ImportScripts.keys(QueueKeys.of("p", "q"), name).foreign();
        pendingKey = (String) keys.get(0);
        orderKey = (String) keys.get(2);
    }

    public RScoredSortedSet<byte[]> pending() {
        return redisson.getScoredSortedSet(pendingKey, ByteArrayCodec.INSTANCE);
    }

    public RList<byte[]> order() {
        return redisson.getList(orderKey, ByteArrayCodec.INSTANCE);
    }

    public RList<byte[]> ready() {
        return redisson.getList(name, ByteArrayCodec.INSTANCE);
    }

    /** An element as Redisson 4.7.0 packs it, or 3.12.5. */
    public byte[] element(boolean newFormat, byte[] payload) {
        ByteBuffer bytes =
                ByteBuffer.allocate((newFormat ? 17 : 16) + payload.length).order(ByteOrder.LITTLE_ENDIAN);
        if (newFormat) {
            bytes.put((byte) 8);
        }
        return bytes.putDouble(random.nextDouble())
                .putLong(payload.length)
                .put(payload)
                .array();
    }

    /** Puts an element where an offer does. */
    public void offer(byte[] element, double dueMillis) {
        redisson.getScript(ByteArrayCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_WRITE,
                        "redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2]) redis.call('RPUSH', KEYS[2], ARGV[2])",
                        RScript.ReturnType.VALUE,
                        List.of(pendingKey, orderKey),
                        RealQueueIT.bytes(Double.toString(dueMillis).replace("Infinity", "inf")),
                        element);
    }

    public void offer(String payload, long dueMillis) {
        offer(element(true, payload.getBytes(StandardCharsets.UTF_8)), dueMillis);
    }

    /** Puts a message where consumers take it. */
    public void ready(String payload) {
        ready().add(payload.getBytes(StandardCharsets.UTF_8));
    }

    /** Moves due messages to the ready ones, at most so many, as each client of Redisson 4.7.0 does all the time. */
    public void transfer(int most) {
        redisson.getScript(ByteArrayCodec.INSTANCE)
                .eval(
                        RScript.Mode.READ_WRITE,
                        "for i, v in ipairs(redis.call('zrangebyscore', KEYS[1], 0, ARGV[1], 'limit', 0, ARGV[2])) do "
                                + "local id, value = struct.unpack('Bc0Lc0', v) "
                                + "redis.call('rpush', KEYS[2], value) redis.call('lrem', KEYS[3], 1, v) "
                                + "redis.call('zrem', KEYS[1], v) end",
                        RScript.ReturnType.VALUE,
                        List.of(pendingKey, name, orderKey),
                        RealQueueIT.bytes(Long.toString(System.currentTimeMillis())),
                        RealQueueIT.bytes(Integer.toString(most)));
    }

    /** Takes a ready message as take() does; null if there is none. */
    public String poll() {
        byte[] payload =
                redisson.<byte[]>getQueue(name, ByteArrayCodec.INSTANCE).poll();
        return payload == null ? null : RealQueueIT.text(payload);
    }

    public long size() {
        return pending().size() + ready().size();
    }
}
