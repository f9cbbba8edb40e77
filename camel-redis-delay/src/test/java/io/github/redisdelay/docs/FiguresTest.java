// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The figures of other pages are those of the benchmark's results and of the reports, rounded. */
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
            docs/operating.md ; # schedules a second in turn ; callers=200 queues=200 evenly ; rate ; queue layer
            docs/operating.md ; instead of # on one ; callers=200 one queue ; rate ; queue layer
            docs/operating.md ; promoted after # s ; a node dies ; promoted after ; queue layer
            docs/operating.md ; lasted # s for ; a node dies ; the killed node is a replica after ; queue layer
            docs/operating.md ; gaps of at most # s ; a node dies ; longest time without a delivery of the others ; queue layer
            docs/operating.md ; confirmed message was lost: # with ; a node dies ; with waitForReplicas=1: acknowledged ; queue layer
            docs/operating.md ; lost # of 160 000 ; a node dies on a busy machine ; without: acknowledged and lost ; queue layer
            docs/operating.md ; replicas [|] # bytes for both ; a node dies on a busy machine ; to a replica of the other nodes ; queue layer
            docs/operating.md ; took # µs of it at ; offered=5000 ; redis cpu ; through Camel
            docs/operating.md ; and # µs at 20 000 ; offered=20000 ; redis cpu ; through Camel
            docs/performance.md ; caller reaches # schedules ; schedule callers=1 link=0.5ms ; rate ; through Camel
            docs/performance.md ; at a time reach # ; schedule async=2000 link=0.5ms ; rate ; through Camel
            docs/performance.md ; its route # ms after ; due at once ; p50 ; through Camel
            docs/performance.md ; with `RDelayedQueue` after # ms ; due at once ; p50 ; RDelayedQueue
            docs/monitoring.md ; takes # ns without a registry ; Delivery.plain ; time ; queue layer
            docs/monitoring.md ; and # ns with that of Prometheus ; Delivery.measured ; time ; queue layer
            docs/monitoring.md ; allocates # bytes in both ; Delivery.measured ; allocated ; queue layer
            docs/monitoring.md ; scheduled message takes # ns ; Delivery.scheduleMeter ; time ; queue layer
            docs/monitoring.md ; timer of a script call # ns ; Delivery.callMeter ; time ; queue layer
            docs/monitoring.md ; delivered message allocates # bytes ; body=200 ; allocated by delivery ; through Camel
            """)
    void should_be_those_of_the_results(String page, String text, String experiment, String metric, String columns)
            throws IOException {
        Matcher found = find(page, text);
        String[] names = columns.split(", ");
        assertThat(found.groupCount()).isEqualTo(names.length);
        for (int i = 0; i < names.length; i++) {
            assertRounded(found.group(i + 1), result(experiment, metric, names[i]));
        }
    }

    private static Matcher find(String page, String text) throws IOException {
        Matcher found = Pattern.compile(text.replace(" ", "\\s").replace("#", "(\\d[\\d .]*\\d|\\d)"))
                .matcher(Files.readString(Block.ROOT.resolve(page)));
        assertThat(found.find()).as(page + ": " + text).isTrue();
        return found;
    }

    /**
     * @param text of the page on performance; each {@code #} stands for a rate, divided by that of {@code RDelayedQueue}
     * @param experiment the first cell of a row of the results
     */
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            one waiting caller [|] # [|] # [|] ; schedule callers=1
            [|] 16 waiting callers [|] # [|] # [|] ; schedule callers=16
            64 waiting callers [|] # [|] # [|] ; schedule callers=64
            2 000 asynchronous schedules at a time [|] # [|] # [|] ; schedule async=2000
            lists of 100 [|] # [|] # [|] ; schedule batch=100
            delivery of a due backlog [|] # [|] # [|] ; deliver fifo
            delivery of a backlog at random due times [|] # [|] # [|] ; deliver random
            16 callers reach # times the rate ; callers=16 shop
            """)
    void should_be_ratios_of_the_results(String text, String experiment) throws IOException {
        Matcher found = find("docs/performance.md", text);
        BigDecimal other = number(result(experiment, "rate", "RDelayedQueue"));
        List<String> columns = List.of("through Camel", "queue layer");
        for (int i = 0; i < found.groupCount(); i++) {
            BigDecimal rate = number(result(experiment, "rate", columns.get(i)));
            assertRounded(
                    found.group(i + 1),
                    rate.divide(other, MathContext.DECIMAL32).toPlainString());
        }
    }

    /**
     * @param text of the page on performance; its two figures are what was wanted and what was measured
     * @param target the first cell of a row of the results' targets
     */
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            one waiting caller ÷ `offer` [|] # [|] # ; scheduling, one waiting caller: through Camel ÷ `offer`
            CPU of it ÷ that of `offer`, at most [|] # [|] # ; Redis CPU of scheduling, one waiting caller: through Camel ÷ `offer`
            16 waiting callers ÷ 16 of `offer` [|] # [|] # ; scheduling, 16 waiting callers: through Camel ÷ `RDelayedQueue.offer` by 16
            in lists ÷ 16 of `offer` [|] # [|] #, ; scheduling, asynchronous: through Camel ÷ `RDelayedQueue.offer` by 16
            in lists ÷ 16 of `offer` [|] # [|] 6.4, # ; scheduling, batches of 100: through Camel ÷ `RDelayedQueue.offer` by 16
            lists of 100, queue layer ÷ floor [|] # [|] # ; scheduling in batches: queue layer, of the floor
            beyond two round trips, at most [|] # ms [|] # ms ; a lone message, due at once: p50 − 2 round trips, through Camel
            delayed ÷ with 10 000 [|] # [|] # ; scheduling with 5 000 000 pending, of the rate with 10 000: through Camel
            a claim with nothing due, at most [|] # µs [|] # µs ; Redis time of a claim with nothing due
            10 000 groups ÷ without [|] # [|] # ; delivery with 10 000 groups, of that without: through Camel
            beyond one without, at most [|] # bytes [|] # bytes ; Redis memory of a message with a group beyond one without: delayed
            of a parked one [|] # bytes [|] # bytes ; Redis memory of a message with a group beyond one without: parked
            """)
    void should_be_targets_of_the_results(String text, String target) throws IOException {
        Matcher found = find("docs/performance.md", text);
        List<String> cells = row("docs/benchmark/results.md", target);
        for (int i = 1; i <= 2; i++) {
            String cell = cells.get(i + 1);
            BigDecimal value = number(cell.replaceAll("[^\\d.]", ""));
            assertRounded(found.group(i), (cell.contains("%") ? value.movePointLeft(2) : value).toPlainString());
        }
    }

    /**
     * @param text of the page on reliability
     * @param fault the first cell of a row of the table of faults, or a pattern for those of several: then the largest counts
     * @param column of that table; milliseconds are seconds on the page
     */
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            load # faults of ; soak: 60.0 minutes of mixed load, random faults ; 2
            kinds hit # messages ; soak: 60.0 minutes of mixed load, random faults ; 3
            of the # duplicates ; soak: 60.0 minutes of mixed load, random faults ; 6
            slow or half-open [|] 0 [|][^|]*[|] # s ; half-open ; 7
            restarted, `appendfsync always` [|] 0 [|][^|]*[|] # s ; kill -9 and restart, appendfsync always ; 7
            failover, `waitForReplicas=1` [|] 0 [|][^|]*[|] # s ; Sentinel: master killed.*, waitForReplicas=1 ; 7
            lags, without `waitForReplicas` [|] [*][*]# of ; Sentinel: master killed that was not replicated, without waitForReplicas ; 5
            [*][*]408 of #[*][*] ; Sentinel: master killed that was not replicated, without waitForReplicas ; 3
            [|] the same [|] # s ; Sentinel: master killed that was not replicated, without waitForReplicas ; 7
            side, without `waitForReplicas` [|] [*][*]# of ; Sentinel: master cut off, with a producer on its side ; 5
            random moment [|] 0 [|] after its lease [|] # s ; (death|SIGKILL) .* ; 7
            slots moved [|] 0 [|][^|]*[|] # s ; cluster: .* ; 7
            """)
    void should_be_those_of_the_report_on_faults(String text, String fault, int column) throws IOException {
        BigDecimal largest = rows("docs/reports/faults.md", fault)
                .map(cells -> cells.get(column))
                .map(cell ->
                        cell.endsWith(" ms") ? number(cell.replace(" ms", "")).movePointLeft(3) : number(cell))
                .max(Comparator.naturalOrder())
                .orElseThrow(() -> new AssertionError("no row '" + fault + "'"));
        assertRounded(find("docs/reliability.md", text).group(1), largest.toPlainString());
    }

    private static List<String> row(String page, String first) throws IOException {
        return rows(page, Pattern.quote(first))
                .findFirst()
                .orElseThrow(() -> new AssertionError(page + " has no row '" + first + "'"));
    }

    /** The rows whose first cell matches. */
    private static Stream<List<String>> rows(String page, String first) throws IOException {
        return Files.readAllLines(Block.ROOT.resolve(page)).stream()
                .map(line -> List.of(line.split(" *[|] *", -1)))
                .filter(cells -> cells.size() > 2 && cells.get(1).matches(first));
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
