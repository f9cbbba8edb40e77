// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The figures of other pages are those of the benchmark's results, rounded. */
class FiguresTest {

    /**
     * @param text of a page; each {@code #} stands for a figure
     * @param experiment the first cell of a row of the results
     * @param metric the second cell of that row, or of one that follows it without a first cell
     * @param columns the columns of the figures
     */
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            README.md ; a due backlog[^|]*[|] #/s [|] #/s ; deliver fifo ; rate ; through Camel, RDelayedQueue
            README.md ; kept up [|] #/s [|] #/s ; all ; sustained ; through Camel, RDelayedQueue
            README.md ; at 1 000/s, p99 [|] # ms [|] # ms ; rate=1000 ; p99 ; through Camel, RDelayedQueue
            README.md ; one caller[^|]* [|] #/s [|] #/s ; schedule callers=1 ; rate ; through Camel, RDelayedQueue
            README.md ; a shop.s mix[^|]*[|] #/s [|] #/s ; callers=16 shop ; rate ; through Camel, RDelayedQueue
            docs/operating.md ; takes about # bytes ; body=0 ; Redis memory ; through Camel
            docs/operating.md ; empty [|] # [|] ; body=0 ; Redis memory ; through Camel
            docs/operating.md ; text of 200 bytes [|] # [|] ; body=200 ; Redis memory ; through Camel
            docs/operating.md ; text of 2 000 bytes [|] # [|] ; body=2000 ; Redis memory ; through Camel
            docs/operating.md ; tried, # a second, was kept up ; all ; sustained ; through Camel
            docs/scheduling.md ; about # µs of Redis ; callers=16 get ; redis cpu ; through Camel
            docs/operating.md ; takes # µs of Redis ; callers=200 queues=200 evenly ; redis cpu ; queue layer
            docs/operating.md ; on one queue it takes # µs ; callers=200 one queue ; redis cpu ; queue layer
            docs/operating.md ; a queue take # µs ; callers=200 queues=200 bursts of 100 ; redis cpu ; queue layer
            docs/operating.md ; # schedules a second by turns ; callers=200 queues=200 evenly ; rate ; queue layer
            docs/operating.md ; instead of # on one ; callers=200 one queue ; rate ; queue layer
            docs/operating.md ; promoted after # s ; a node dies ; promoted after ; queue layer
            docs/operating.md ; lasted # s for ; a node dies ; the killed node is a replica after ; queue layer
            docs/operating.md ; gaps of at most # s ; a node dies ; longest time without a delivery of the others ; queue layer
            docs/operating.md ; acknowledged to a producer: # with ; a node dies ; with waitForReplicas=1: acknowledged ; queue layer
            docs/operating.md ; lost # of 160 000 ; a node dies on a busy machine ; without: acknowledged and lost ; queue layer
            docs/operating.md ; replicas [|] # bytes for both ; a node dies on a busy machine ; to a replica of the other nodes ; queue layer
            docs/monitoring.md ; takes # ns without a registry ; Delivery.plain ; time ; queue layer
            docs/monitoring.md ; and # ns with that of Prometheus ; Delivery.measured ; time ; queue layer
            docs/monitoring.md ; allocates # bytes in both ; Delivery.measured ; allocated ; queue layer
            docs/monitoring.md ; scheduled message takes # ns ; Delivery.scheduleMeter ; time ; queue layer
            docs/monitoring.md ; timer of a script call # ns ; Delivery.callMeter ; time ; queue layer
            docs/monitoring.md ; delivered message allocates # bytes ; body=200 ; allocated by delivery ; through Camel
            """)
    void should_be_those_of_the_results(String page, String text, String experiment, String metric, String columns)
            throws IOException {
        Matcher found = Pattern.compile(text.replace(" ", "\\s").replace("#", "(\\d[\\d .]*\\d|\\d)"))
                .matcher(Files.readString(Block.ROOT.resolve(page)));
        assertThat(found.find()).as(page + ": " + text).isTrue();
        String[] names = columns.split(", ");
        assertThat(found.groupCount()).isEqualTo(names.length);
        for (int i = 0; i < names.length; i++) {
            assertRounded(found.group(i + 1), result(experiment, metric, names[i]));
        }
    }

    /** As many digits of a result as the figure has, not counting the zeros at its end. */
    private static void assertRounded(String figure, String result) {
        BigDecimal rounded = number(figure);
        int digits = Math.max(1, rounded.stripTrailingZeros().precision());
        assertThat(List.of(
                        number(result).round(new MathContext(digits)),
                        number(result).round(new MathContext(digits + 1))))
                .as("the figure " + figure + " for the result " + result)
                .usingElementComparator(BigDecimal::compareTo)
                .contains(rounded);
    }

    private static BigDecimal number(String text) {
        return new BigDecimal(text.replace(" ", ""));
    }

    private static String result(String experiment, String metric, String column) throws IOException {
        List<String> header = List.of();
        String first = "";
        for (String line : Files.readAllLines(Block.ROOT.resolve("docs/benchmark/results.md"))) {
            List<String> cells = List.of(line.split(" *[|] *", -1));
            if (line.contains("| unit |")) {
                header = cells;
            } else if (cells.size() == header.size()) {
                first = cells.get(1).isEmpty() ? first : cells.get(1);
                if (first.equals(experiment) && cells.get(2).equals(metric) && header.contains(column)) {
                    return cells.get(header.indexOf(column)).replaceFirst(" \\(.*", "");
                }
            }
        }
        throw new AssertionError("no result '" + metric + "' of '" + experiment + "' in column '" + column + "'");
    }

    @Test
    void should_notice_a_figure_that_is_no_result() {
        assertRounded("5 400", "5 358");
        assertRounded("0.9", "0.85");
        assertRounded("40 000", "40 000");
        assertThatThrownBy(() -> assertRounded("197", "198")).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> assertRounded("5 300", "5 358")).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> result("deliver fifo", "rates", "through Camel"))
                .isInstanceOf(AssertionError.class);
    }
}
