// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.lateness;

import io.github.redisdelay.benchmark.Environment;
import io.github.redisdelay.queue.ScriptDigests;
import io.github.redisdelay.testkit.RedisSocket;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.redisson.api.RScript;
import org.redisson.client.codec.StringCodec;

/**
 * The times that Redis needs for the scripts of one idle queue to which one message after the other is sent, by its
 * slow log. The first claim after a message was scheduled takes it; those until the next one is scheduled find nothing
 * due.
 */
final class ScriptTimes implements AutoCloseable {

    /** Where the commands of a script are noted, too, those below this are not: no script takes so little. */
    private static final int SHORTEST_MICROS = 3;

    private static final int MOST_NOTES = 1_000_000;

    // Reply: digest and microseconds of each script call, the oldest first
    private static final String READ = """
            local notes, calls = redis.call('SLOWLOG', 'GET', ARGV[1]), {}
            for i = #notes, 1, -1 do
              local words = notes[i][4]
              if string.lower(words[1]) == 'evalsha' then
                calls[#calls + 1] = words[2] .. ' ' .. notes[i][3]
              end
            end
            return calls
            """;

    private final Environment environment;
    private final RedisSocket socket;

    private ScriptTimes(Environment environment, RedisSocket socket) {
        this.environment = environment;
        this.socket = socket;
    }

    /** Has Redis take notes from now on. */
    static ScriptTimes begin(Environment environment) throws IOException {
        ScriptTimes times = new ScriptTimes(environment, RedisSocket.open(environment.address()));
        times.order("CONFIG SET slowlog-max-len " + MOST_NOTES);
        times.order("CONFIG SET slowlog-log-slower-than " + SHORTEST_MICROS);
        times.order("SLOWLOG RESET");
        return times;
    }

    private void order(String command) throws IOException {
        String answer = socket.call(command);
        if (!"+OK".equals(answer)) {
            throw new IOException(command + ": " + answer);
        }
    }

    /** The median for each script, in microseconds. */
    Map<String, Double> medians() {
        List<String> calls = environment
                .control()
                .getScript(StringCodec.INSTANCE)
                .eval(RScript.Mode.READ_WRITE, READ, RScript.ReturnType.LIST, List.of(), Integer.toString(MOST_NOTES));
        Map<String, String> names = ScriptDigests.names();
        Map<String, Histogram> all = new TreeMap<>();
        boolean waiting = false;
        for (String call : calls) {
            int space = call.indexOf(' ');
            String name = names.get(call.substring(0, space));
            if (name == null) {
                continue; // somebody else's
            }
            String what = name;
            if (name.startsWith("schedule")) {
                waiting = true;
            } else if (name.equals("claim")) {
                what = waiting ? "claim of the message" : "claim with nothing due";
                waiting = false;
            }
            all.computeIfAbsent(what, any -> new Histogram(3)).recordValue(Long.parseLong(call.substring(space + 1)));
        }
        Map<String, Double> medians = new TreeMap<>();
        all.forEach((what, micros) -> medians.put(what, (double) micros.getValueAtPercentile(50)));
        return medians;
    }

    /** Redis takes notes as it does by default. */
    @Override
    public void close() throws IOException {
        order("CONFIG SET slowlog-log-slower-than 10000");
        order("CONFIG SET slowlog-max-len 128");
        order("SLOWLOG RESET");
        socket.close();
    }
}
