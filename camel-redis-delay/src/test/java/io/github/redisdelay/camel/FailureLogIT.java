// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import io.github.redisdelay.camel.monitor.MessageLog;
import io.github.redisdelay.testkit.AllLogs;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.camel.Exchange;
import org.apache.camel.Processor;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.spi.ExceptionHandler;
import org.apache.camel.support.LoggingExceptionHandler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The log of an attempt that failed: one line of ours, and one stack trace in all. */
class FailureLogIT extends ConsumerSideIT {

    private static final String LATER = "?redeliveryDelay=10s&redeliveryJitter=0";

    private final AllLogs logs = new AllLogs(Level.INFO);

    @AfterEach
    void closeLogs() {
        logs.close();
    }

    private static void fail(Exchange exchange) throws ConnectException {
        throw new ConnectException("partner is away");
    }

    /** A route with Camel's default error handler, which logs with history and stack trace. */
    private RouteBuilder route(String options, Processor processor) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                from(uri + options).routeId("send").process(processor);
            }
        };
    }

    private RouteBuilder routeWithoutErrorHandler(String options, Processor processor) {
        return new RouteBuilder() {
            @Override
            public void configure() {
                errorHandler(noErrorHandler());
                from(uri + options).routeId("send").process(processor);
            }
        };
    }

    private List<String> ours() {
        return logs.lines().stream()
                .filter(line -> line.startsWith("WARN io.github.redisdelay") && !line.contains("StartupLog"))
                .map(line -> line.substring(line.indexOf(' ', 5) + 1))
                .toList();
    }

    private List<String> traces() {
        return logs.lines().stream()
                .filter(line -> line.contains("\n\tat "))
                .map(line -> line.substring(0, line.indexOf(' ', 6)))
                .toList();
    }

    /** The exchange has ended: whoever wants to say something of it has done so. */
    private void awaitAttempts(int attempts) {
        // In this order: the counts say that the exchange has completed, and Redis has answered.
        await().until(() -> consumer("send").getRetried() + consumer("send").getDeadLettered() == attempts
                && context.getInflightRepository().size() == 0);
    }

    private String shown(String id) {
        return "message '" + id + "' of queue '" + queue + "'";
    }

    @Test
    void should_say_in_one_line_which_message_failed_and_when_it_comes_again() throws Exception {
        start(route(LATER, FailureLogIT::fail));
        schedule("P-1", "x");
        awaitAttempts(1);
        assertThat(ours())
                .containsExactly(shown("P-1")
                        + ", attempt 1 of 10 failed on route 'send', again in 10 s: ConnectException: partner is away");
        assertThat(traces())
                .as("Camel's error handler has logged it")
                .containsExactly("ERROR org.apache.camel.processor.errorhandler.DefaultErrorHandler");
    }

    @Test
    void should_have_no_second_trace_when_a_message_is_given_up() throws Exception {
        start(route("?maximumRedeliveries=0", FailureLogIT::fail));
        schedule("P-1", "x");
        awaitAttempts(1);
        await().untilAsserted(
                        () -> assertThat(ours()).singleElement().asString().startsWith(shown("P-1")));
        assertThat(traces()).hasSize(1);
    }

    @Test
    void should_log_the_trace_where_the_route_has_no_error_handler() throws Exception {
        start(routeWithoutErrorHandler(LATER + "&maximumRedeliveries=1", FailureLogIT::fail));
        schedule("P-1", "x");
        awaitAttempts(1);
        assertThat(ours())
                .singleElement()
                .asString()
                .startsWith(shown("P-1") + ", attempt 1 of 2 failed on route 'send', again in 10 s:")
                .contains("\n\tat io.github.redisdelay.camel.FailureLogIT.fail");
        await().until(() -> stats().leased() == 0); // until then it cannot be promoted
        stored().promote("P-1").result().join();
        awaitAttempts(2);
        await().untilAsserted(() -> assertThat(ours()).hasSize(2)); // a burial is logged when Redis has answered
        assertThat(traces()).as("one for each attempt").hasSize(2);
    }

    @Test
    void should_count_without_a_limit_and_say_what_the_route_asked_for() throws Exception {
        start(route(LATER + "&maximumRedeliveries=-1", exchange -> {
            exchange.setProperty(RedisDelayConstants.RETRY_AFTER, "3m");
            throw new IllegalStateException("429\nslow down");
        }));
        schedule("P-1", "x");
        awaitAttempts(1);
        assertThat(ours())
                .containsExactly(shown("P-1")
                        + ", attempt 1 failed on route 'send', again in 3 min as CamelRedisDelayRetryAfter says:"
                        + " IllegalStateException: 429 slow down");
    }

    @Test
    void should_not_warn_of_a_route_that_only_asks_for_another_delivery() throws Exception {
        start(route("", exchange -> exchange.setProperty(RedisDelayConstants.RETRY_AFTER, "3m")));
        schedule("P-1", "x");
        awaitAttempts(1);
        assertThat(ours()).isEmpty();
    }

    @Test
    void should_say_that_a_delay_cannot_be_read_and_the_policy_decides() throws Exception {
        start(route(LATER, exchange -> exchange.getMessage().setHeader(RedisDelayConstants.RETRY_AFTER, "soon")));
        schedule("P-1", "x");
        awaitAttempts(1);
        assertThat(ours())
                .singleElement()
                .asString()
                .startsWith(shown("P-1") + ", attempt 1 of 10 asked for another delivery on route 'send', again in 10 s"
                        + " as the redelivery policy says: header 'CamelRedisDelayRetryAfter'")
                .contains("'soon'");
    }

    @Test
    void should_say_that_the_exchange_was_rolled_back_without_an_exception() throws Exception {
        start(route(LATER, exchange -> exchange.setRollbackOnly(true)));
        schedule("P-1", "x");
        awaitAttempts(1);
        assertThat(ours())
                .containsExactly(shown("P-1") + ", attempt 1 of 10 failed on route 'send', again in 10 s: the exchange"
                        + " was marked rollback-only");
    }

    @Test
    void should_tell_the_life_of_a_message_when_its_logger_is_switched_on() throws Exception {
        try (AllLogs all = new AllLogs(Level.DEBUG)) {
            start(route(FAST, exchange -> {
                if (exchange.getMessage().getHeader(RedisDelayConstants.ATTEMPT, Integer.class) == 1) {
                    fail(exchange);
                }
            }));
            send(uri + "?deliverAt=2020-01-01T00:00:00Z", "x", Map.of(RedisDelayConstants.SCHEDULE_ID, "P-1"));
            String logger = "DEBUG " + MessageLog.class.getName() + " ";
            await().untilAsserted(() -> {
                List<String> life = all.lines().stream()
                        .filter(line -> line.startsWith(logger))
                        .map(line -> line.substring(logger.length()))
                        .toList();
                assertThat(life).hasSize(5).allSatisfy(line -> assertThat(line).startsWith(shown("P-1")));
                assertThat(life)
                        .anyMatch(line -> line.contains(" was scheduled at 20")
                                && line.endsWith(": SCHEDULED, due 2020-01-01T00:00:00Z"))
                        .contains(
                                shown("P-1") + ", attempt 1 is delivered, due 2020-01-01T00:00:00Z",
                                shown("P-1") + ", attempt 1 is finished, due 2020-01-01T00:00:00Z: retry")
                        .anyMatch(line -> line.startsWith(shown("P-1") + ", attempt 2 is delivered, due 20"))
                        .anyMatch(line -> line.startsWith(shown("P-1") + ", attempt 2 is finished, due 20")
                                && line.endsWith(": acknowledge"));
            });
        }
    }

    @Test
    void should_have_one_line_for_each_attempt_and_one_trace_at_the_end_as_the_page_says() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                onException(Exception.class)
                        .onWhen(header(RedisDelayConstants.ATTEMPT).isLessThan(3))
                        .logExhausted(false);
                from(uri + "?redeliveryDelays=20ms,20ms").routeId("send").process(FailureLogIT::fail);
            }
        });
        schedule("P-1", "x");
        awaitAttempts(3);
        await().untilAsserted(() -> assertThat(ours()).hasSize(3));
        assertThat(ours()).element(0).asString().contains(", attempt 1 of 3 failed on route 'send', again in ");
        assertThat(ours()).element(1).asString().contains(", attempt 2 of 3 failed on route 'send', again in ");
        assertThat(ours()).element(2).asString().contains(" is given up on route 'send' ");
        assertThat(traces()).containsExactly("ERROR org.apache.camel.processor.errorhandler.DefaultErrorHandler");
    }

    @Test
    void should_log_one_line_for_a_dead_letter() throws Exception {
        bury("P-1", "x");
        start(route(LATER + "&state=dead", FailureLogIT::fail));
        awaitAttempts(1);
        assertThat(ours())
                .singleElement()
                .asString()
                .startsWith("message 'P-1@")
                .endsWith(", attempt 1 failed on route 'send', again in 10 s: ConnectException: partner is away");
        assertThat(traces()).hasSize(1);
    }

    @Test
    void should_log_one_line_for_a_batch_with_a_few_of_its_ids() throws Exception {
        for (int i = 0; i < 12; i++) {
            schedule("P-" + i, "x");
        }
        start(route(LATER + "&batching=true&batchSize=12&batchTimeout=10s", FailureLogIT::fail));
        awaitAttempts(12);
        assertThat(ours())
                .singleElement()
                .asString()
                .startsWith("12 messages of queue '" + queue + "' failed together on route 'send': ConnectException:"
                        + " partner is away. They are 'P-")
                .endsWith("' and 7 others");
        assertThat(traces()).hasSize(1);
    }

    @Test
    void should_still_tell_a_handler_of_the_users_own() throws Exception {
        List<String> told = Collections.synchronizedList(new ArrayList<>());
        context.getRegistry().bind("own", new ExceptionHandler() {
            @Override
            public void handleException(Throwable exception) {
                told.add("exception");
            }

            @Override
            public void handleException(String message, Throwable exception) {
                told.add(message);
            }

            @Override
            public void handleException(String message, Exchange exchange, Throwable exception) {
                told.add(message + " " + exchange.getMessage().getBody() + " " + exception.getMessage());
            }
        });
        start(route(LATER + "&exceptionHandler=#own", FailureLogIT::fail));
        schedule("P-1", "x");
        awaitAttempts(1);
        await().untilAsserted(() -> assertThat(told).containsExactly("Error processing exchange x partner is away"));
        assertThat(ours()).hasSize(1);
    }

    @Test
    void should_still_tell_a_logging_handler_that_the_user_has_configured() throws Exception {
        context.getRegistry().bind("own", new LoggingExceptionHandler(context, FailureLogIT.class));
        start(route(LATER + "&exceptionHandler=#own", FailureLogIT::fail));
        schedule("P-1", "x");
        awaitAttempts(1);
        await().untilAsserted(() ->
                assertThat(ours()).hasSize(2).anyMatch(line -> line.startsWith("Error processing exchange")));
    }

    @Test
    void should_still_route_failures_to_the_bridge() throws Exception {
        List<String> bridged = Collections.synchronizedList(new ArrayList<>());
        start(new RouteBuilder() {
            @Override
            public void configure() {
                onException(IllegalStateException.class).handled(true).process(exchange -> bridged.add("route"));
                onException(ConnectException.class)
                        .handled(false)
                        .process(
                                exchange -> bridged.add(exchange.getProperty(Exchange.EXCEPTION_CAUGHT, Exception.class)
                                        .getMessage()));
                from(uri + LATER + "&bridgeErrorHandler=true").routeId("send").process(FailureLogIT::fail);
            }
        });
        schedule("P-1", "x");
        awaitAttempts(1);
        await().untilAsserted(() -> assertThat(bridged)
                .as("by the route's error handler, and by the bridge")
                .containsExactly("partner is away", "partner is away"));
        assertThat(ours()).hasSize(1);
    }

    @Test
    void should_cut_and_straighten_a_long_message() throws Exception {
        start(route(LATER, exchange -> {
            throw new IllegalStateException("a\r\nb" + "c".repeat(5000));
        }));
        schedule("P-1", "x");
        awaitAttempts(1);
        assertThat(ours())
                .singleElement()
                .asString()
                .contains(": IllegalStateException: a bccc")
                .endsWith("c…")
                .hasSizeLessThan(700);
    }

    /** Its class and words are to be had, and those of what caused it are not. */
    private static Exception withUnspeakableCause() {
        return new IllegalStateException("outer", new RuntimeException() {
            @Override
            public String getMessage() {
                throw new UnsupportedOperationException();
            }
        });
    }

    @Test
    void should_keep_to_the_policy_where_a_cause_cannot_be_described() throws Exception {
        Exception cause = withUnspeakableCause();
        start(routeWithoutErrorHandler(LATER, exchange -> {
            throw cause;
        }));
        schedule("P-1", "x");
        awaitAttempts(1);
        assertThat(ours())
                .containsExactly(shown("P-1")
                        + ", attempt 1 of 10 failed on route 'send', again in 10 s: IllegalStateException: outer");
    }

    @Test
    void should_not_hold_a_batch_whose_failure_has_a_cause_that_cannot_be_described() throws Exception {
        Exception cause = withUnspeakableCause();
        start(routeWithoutErrorHandler(
                "?maximumRedeliveries=0&batching=true&batchSize=2&batchTimeout=10s", exchange -> {
                    throw cause;
                }));
        schedule("P-1", "x");
        schedule("P-2", "x");
        await().untilAsserted(() -> assertThat(stats().dead()).isEqualTo(2));
        assertThat(ours()).anyMatch(line -> line.contains("failed together") && line.contains("outer"));
    }

    @Test
    void should_keep_to_the_policy_where_getMessage_ends_in_an_Error() throws Exception {
        start(routeWithoutErrorHandler("?maximumRedeliveries=0", exchange -> {
            throw new RuntimeException() {
                @Override
                public String getMessage() {
                    throw new NoClassDefFoundError("gone");
                }
            };
        }));
        schedule("P-1", "x");
        await().untilAsserted(() -> assertThat(stats().dead()).isOne());
        assertThat(failureOfDeadLetter()).contains("FailureLogIT", "\"failed\"");
    }

    @Test
    void should_not_let_a_failure_or_a_reason_write_lines_of_the_log_when_a_message_is_given_up() throws Exception {
        start(route("?maximumRedeliveries=0", exchange -> {
            if (exchange.getMessage().getBody(String.class).equals("reason")) {
                exchange.setProperty(RedisDelayConstants.DEAD_LETTER_REASON, "closed\nWARN forged" + "c".repeat(5000));
            } else {
                throw new IllegalStateException("a\r\nWARN forged" + "c".repeat(5000));
            }
        }));
        schedule("P-1", "failure");
        schedule("P-2", "reason");
        await().untilAsserted(() -> assertThat(ours()).hasSize(2));
        assertThat(ours()).allSatisfy(line -> assertThat(line)
                .contains(" is given up on route 'send' ", "WARN forgedccc")
                .doesNotContain("\n", "\r")
                .hasSizeLessThan(700));
    }

    @Test
    void should_name_the_route_that_polled() throws Exception {
        start(new RouteBuilder() {
            @Override
            public void configure() {
                from("direct:look")
                        .routeId("look")
                        .pollEnrich(uri + LATER, 5000)
                        .process(FailureLogIT::fail);
            }
        });
        schedule("P-1", "x");
        assertThat(send("direct:look", "x", Map.of()).isFailed()).isTrue();
        await().until(() -> !ours().isEmpty());
        assertThat(ours())
                .containsExactly(shown("P-1")
                        + ", attempt 1 of 10 failed on route 'look', again in 10 s: ConnectException: partner is away");
    }
}
