// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.redisdelay.conformance.VectorFiles.Vector;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.ScheduleRequest;
import io.github.redisdelay.queue.internal.redis.LuaScript;
import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A Redis, and what writes vectors on it. */
abstract class RecordedIT {

    static RedisServer server;
    static VectorRecorder recorder;

    private static RedissonClient redisson;

    final List<Vector> vectors = new ArrayList<>();

    /** @param scripts all that may be called */
    static void start(LuaScript... scripts) throws IOException {
        server = RedisServer.dedicated();
        Config config = new Config();
        config.useSingleServer().setAddress(server.address());
        redisson = Redisson.create(config);
        recorder = new VectorRecorder(redisson, server.address(), scripts);
    }

    @AfterAll
    static void stop() throws IOException {
        recorder.close();
        redisson.shutdown();
        server.close();
    }

    void vector(String title, Consumer<RecordedClient> history) {
        try (RecordedClient client = new RecordedClient(recorder, redisson)) {
            history.accept(client);
            vectors.add(new Vector(title, recorder.steps()));
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    static ScheduleRequest message(String id, DueTime due) {
        return ScheduleRequest.of(id, bytes("body of " + id), due);
    }
}
