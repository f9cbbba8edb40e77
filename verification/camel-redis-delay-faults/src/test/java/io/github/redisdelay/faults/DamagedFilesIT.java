// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.faults.DamagedServer.Part;
import io.github.redisdelay.faults.DamagedServer.Stored;
import io.github.redisdelay.faults.PowerCut.Binary;
import io.github.redisdelay.queue.CheckResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Redis' files were damaged by a power cut or a disk: whether Redis starts, and what is left of the messages. The table
 * of the documentation is written from it.
 */
@Tag("faults")
class DamagedFilesIT {

    private static final Logger LOG = LoggerFactory.getLogger("io.github.redisdelay.test.Faults");
    private static final Path TABLE = Path.of("target", "damagedfiles.md");
    private static final long SEED = Long.getLong("faults.seed", System.nanoTime());
    private static final int BITS = PowerCut.isLong() ? 20 * Experiment.rounds() : 4;
    /** By damage and server: what came out, and how often. */
    private static final Map<String, Map<Binary, Map<String, Integer>>> RESULTS = new LinkedHashMap<>();

    static List<Binary> servers() throws Exception {
        return PowerCut.servers();
    }

    /** What a start has shown. */
    private record Outcome(String refusal, Stored stored, CheckResult check) {}

    private final Random random = new Random(SEED);

    @AfterAll
    static void write() throws IOException {
        LOG.info("damaged files: -Dfaults.seed={} -Dfaults.rounds={}", SEED, Experiment.rounds());
        StringBuilder table = new StringBuilder();
        RESULTS.forEach((damage, results) -> results.forEach((binary, counts) -> table.append("| ")
                .append(damage)
                .append(" | ")
                .append(binary)
                .append(" | ")
                .append(counts.entrySet().stream()
                        .map(count -> count.getKey() + (count.getValue() == 1 ? "" : ": " + count.getValue()))
                        .collect(Collectors.joining("; ")))
                .append(" |\n")));
        Files.writeString(TABLE, table.toString());
    }

    private static void note(String damage, Binary binary, String result) {
        LOG.info("damaged files, {}, {}: {}", damage, binary, result);
        RESULTS.computeIfAbsent(damage, key -> new LinkedHashMap<>())
                .computeIfAbsent(binary, key -> new LinkedHashMap<>())
                .merge(result, 1, Integer::sum);
    }

    /** Starts the server, and looks what it has; it is stopped again. */
    private static Outcome start(DamagedServer server) throws Exception {
        String refusal = server.refusal();
        if (refusal != null) {
            return new Outcome(refusal, null, null);
        }
        Stored stored = server.stored();
        CheckResult check = server.check();
        server.stop();
        return new Outcome(null, stored, check);
    }

    private static String said(String log) {
        return log.lines()
                .filter(line -> line.matches(".* # .*") && !line.contains("Done loading"))
                .map(line -> line.replaceFirst(".* # ", ""))
                .filter(line -> line.matches("(?i).*(AOF|RDB|append only|EOF|format|checksum|short read|error).*"))
                .findFirst()
                .orElse("nothing");
    }

    private static Outcome started(DamagedServer server) throws Exception {
        Outcome outcome = start(server);
        assertThat(outcome.refusal).as("why it does not start").isNull();
        int messages = outcome.stored.messages().size();
        assertThat(outcome.check).as("what is to be mended").isEqualTo(new CheckResult(messages, 0, 0, 0));
        return outcome;
    }

    private static Outcome refused(DamagedServer server) throws Exception {
        Outcome outcome = start(server);
        assertThat(outcome.stored)
                .as("what it has, although it should not start")
                .isNull();
        return outcome;
    }

    @ParameterizedTest
    @MethodSource("servers")
    void should_be_as_the_documentation_says(Binary binary) throws Exception {
        try (DamagedServer server = new DamagedServer(binary)) {
            server.reset();
            assertThat(started(server).stored).as("without a damage").isEqualTo(server.all);
            tornRecord(server, binary);
            zeros(server, binary);
            bits(server, binary, "a bit of a call", server.calls);
            bits(server, binary, "a bit of the last call", server.last);
            rdb(server, binary, "the RDB of the AOF", server.base);
            rdb(server, binary, "the RDB file", server.rdb, "appendonly no");
            manifest(server, binary);
        }
    }

    /** The last record was being written. */
    private void tornRecord(DamagedServer server, Binary binary) throws Exception {
        for (int i = 0; i < BITS / 4; i++) {
            long at = 1 + random.nextInt((int) server.last.length() - 1);
            server.reset();
            server.last.end(at);
            assertThat(started(server).stored).as("all but the torn call").isEqualTo(server.beforeLast);
            note("the last record is torn", binary, "starts, without that call");

            server.reset("aof-load-truncated no");
            server.last.end(at);
            String refusal = refused(server).refusal;
            assertThat(refusal).contains("Unexpected end of file reading the append only file");
            server.fix();
            assertThat(started(server).stored).as("all but the torn call").isEqualTo(server.beforeLast);
            note("the same, aof-load-truncated no", binary, "refuses; after --fix without that call");
        }
    }

    /** A file system may have made the file longer, and not have written what belongs there. */
    private void zeros(DamagedServer server, Binary binary) throws Exception {
        server.reset();
        server.last.end(0);
        server.last.end(server.last.length());
        String refusal = refused(server).refusal;
        assertThat(said(refusal)).contains("Bad file format");
        note("zeros instead of the last record", binary, "refuses: " + said(refusal));
        server.fix();
        assertThat(started(server).stored).as("after --fix").isEqualTo(server.beforeLast);
    }

    /** The append-only file has no checksums. */
    private void bits(DamagedServer server, Binary binary, String damage, Part part) throws Exception {
        for (int i = 0; i < BITS; i++) {
            long at = random.nextInt((int) part.length());
            int bit = random.nextInt(8);
            server.reset();
            part.turn(at, bit);
            Outcome outcome = start(server);
            String result = "refuses";
            if (outcome.refusal != null) {
                String fixed = server.fix();
                Outcome after = start(server);
                result += after.refusal == null
                        ? "; starts after --fix"
                        : "; --fix does not help: " + said(after.refusal) + " / "
                                + fixed.lines().reduce("", (a, b) -> b);
                // The tool knows no names of commands, but MULTI: without it, it cuts off the EXEC alone.
                String again = after.refusal == null ? "" : server.fix();
                assertThat(after.refusal == null || again.contains("is valid"))
                        .as("it starts, or the tool finds nothing wrong any more: %s, %s", again, after.refusal)
                        .isTrue();
                if (after.refusal == null) {
                    int lost = after.stored.lost(server.all);
                    assertThat(lost)
                            .as("lost by --fix")
                            .isBetween(1, part == server.last ? 1 : 1 + DamagedServer.MESSAGES);
                    assertThat(after.stored.changed(server.all))
                            .as("changed after --fix")
                            .isZero();
                    lost(damage + ", lost by --fix", binary, lost);
                }
            } else {
                int lost = outcome.stored.lost(server.all);
                int changed = outcome.stored.changed(server.all);
                result = lost + changed == 0
                        ? "starts, all is there"
                        : "starts, " + (lost > 0 ? "messages are lost" : "") + (lost > 0 && changed > 0 ? " and " : "")
                                + (changed > 0 ? "messages are changed" : "");
                if (lost > 0) {
                    lost(damage + ", lost by a start", binary, lost);
                }
            }
            note(damage, binary, result);
        }
    }

    private static void lost(String what, Binary binary, int lost) {
        note(what, binary, Integer.toString(lost));
    }

    /** An RDB has a checksum. */
    private void rdb(DamagedServer server, Binary binary, String name, Part part, String... settings) throws Exception {
        for (int i = 0; i < BITS / 4; i++) {
            server.reset(settings);
            part.turn(random.nextInt((int) part.length()), random.nextInt(8));
            refused(name + ", a bit", binary, server);
            server.reset(settings);
            part.end(1 + random.nextInt((int) part.length() - 1));
            refused(name + ", truncated", binary, server);
        }
    }

    private static void refused(String damage, Binary binary, DamagedServer server) throws Exception {
        note(damage, binary, "refuses: " + said(refused(server).refusal));
    }

    /** From Redis 7.0 on. */
    private static void manifest(DamagedServer server, Binary binary) throws Exception {
        server.reset();
        if (server.manifest() == null) {
            return;
        }
        Files.delete(server.manifest());
        assertThat(started(server).stored.messages())
                .as("what is left without a manifest")
                .isEmpty();
        note("no manifest", binary, "starts empty");
    }
}
