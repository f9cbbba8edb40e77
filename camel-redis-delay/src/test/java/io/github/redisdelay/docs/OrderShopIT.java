// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.test.RedisServer;
import io.github.redisdelay.testkit.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.camel.CamelContext;
import org.apache.camel.ProducerTemplate;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The README's program, in a JVM of its own, prints what the README says, in each of its languages. */
class OrderShopIT {

    /** A line that a route logs of an order. */
    private static final Pattern LINE = Pattern.compile("(\\d\\d:\\d\\d:\\d\\d\\.\\d{3}) (A-\\d .*)");

    private static final String LOGBACK = """
            <configuration>
                <appender name="CONSOLE" class="ch.qos.logback.core.ConsoleAppender">
                    <encoder><pattern>%d{HH:mm:ss.SSS} %msg%n</pattern></encoder>
                </appender>
                <root level="INFO"><appender-ref ref="CONSOLE"/></root>
            </configuration>
            """;

    @TempDir
    Path folder;

    private record Line(LocalTime time, String text) {}

    @Test
    @Timeout(120)
    void should_print_what_the_readme_says() throws Exception {
        List<List<Line>> shown = Block.all().stream()
                .filter(block ->
                        block.page().startsWith("README") && block.language().equals("text"))
                .map(block -> lines(block.code().lines()))
                .toList();
        assertThat(shown).isNotEmpty();
        List<Line> printed;
        try (RedisServer server = RedisServer.dedicated();
                Program program = new Program(server)) {
            printed = program.read(shown.get(0).size());
        }
        assertThat(shown).allSatisfy(lines -> assertThat(lines)
                .extracting(Line::text)
                .isEqualTo(printed.stream().map(Line::text).toList()));
        assertThat(Stream.concat(Stream.of(printed), shown.stream())).allSatisfy(lines -> {
            assertThat(lines.get(1).text()).isEqualTo("A-2 placed");
            assertThat(Math.floorMod( // midnight may lie between them
                            ChronoUnit.MILLIS.between(
                                    lines.get(1).time(),
                                    lines.get(lines.size() - 1).time()),
                            Duration.ofDays(1).toMillis()))
                    .as("milliseconds between the second line and the last one")
                    .isBetween(5_000L, 20_000L);
        });
    }

    /** However long the start takes: A-2 is put off, and then promoted. */
    @Test
    @Timeout(120)
    void should_start_again_while_an_order_is_delayed() throws Exception {
        try (RedisServer server = RedisServer.dedicated();
                CamelContext camel = new DefaultCamelContext()) {
            camel.start();
            ProducerTemplate queue = camel.createProducerTemplate();
            String orders = "redis-delay:orders?address=" + server.address();
            try (Program first = new Program(server)) {
                first.read(3);
                queue.sendBodyAndHeader(
                        orders + "&operation=reschedule&delay=1h", null, "CamelRedisDelayScheduleId", "A-2");
            }
            try (Program second = new Program(server)) {
                assertThat(second.read(3))
                        .extracting(Line::text)
                        .containsExactly("A-1 placed", "A-2 placed", "A-1 paid, its message was delayed");
                queue.sendBodyAndHeader(orders + "&operation=promote", null, "CamelRedisDelayScheduleId", "A-2");
                assertThat(second.read(1)).extracting(Line::text).containsExactly("A-2 not paid within 5 s: closed");
            }
        }
    }

    private static List<Line> lines(Stream<String> output) {
        return output.map(LINE::matcher)
                .filter(Matcher::matches)
                .map(line -> new Line(LocalTime.parse(line.group(1)), line.group(2)))
                .toList();
    }

    /** The README's program, until it is killed. */
    private final class Program implements AutoCloseable {

        private final Process process;
        private final BufferedReader output;

        Program(RedisServer server) throws IOException {
            Path logback = Files.writeString(folder.resolve("logback.xml"), LOGBACK);
            process = new ProcessBuilder(JavaCommand.of(
                            List.of(
                                    "-Dlogback.configurationFile=" + logback,
                                    "-Dcamel.component.redis-delay.address=" + server.address()),
                            JavaCommand.classPath(),
                            OrderShop.class))
                    .redirectErrorStream(true)
                    .start();
            output = process.inputReader();
        }

        /** The next lines that routes log. */
        List<Line> read(int lines) throws IOException {
            List<String> printed = new ArrayList<>();
            while (OrderShopIT.lines(printed.stream()).size() < lines) {
                String line = output.readLine();
                assertThat(line).as("a line after these: " + printed).isNotNull();
                printed.add(line);
            }
            return OrderShopIT.lines(printed.stream());
        }

        @Override
        public void close() throws IOException, InterruptedException {
            process.destroyForcibly().waitFor();
            output.close();
        }
    }
}
