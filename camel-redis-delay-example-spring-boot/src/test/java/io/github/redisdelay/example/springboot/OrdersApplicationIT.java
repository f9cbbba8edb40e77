// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.example.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doCallRealMethod;
import static org.mockito.Mockito.doThrow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.redisdelay.camel.RedisDelayComponent;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.camel.RedisDelayConstants;
import io.github.redisdelay.test.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.camel.CamelContext;
import org.apache.camel.ProducerTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.api.RedissonClient;
import org.skyscreamer.jsonassert.JSONAssert;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.actuate.observability.AutoConfigureObservability;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;

/** The application as its customers see it: by HTTP. No delay is waited for; what is to be due is promoted. */
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {
            "logging.level.io.github.redisdelay.example=INFO",
            "camel.component.redis-delay.request-timeout=3s" // one test waits for it
        })
@ContextConfiguration(initializers = OrdersOnEmbeddedRedis.class)
@AutoConfigureObservability(tracing = false) // or there is no Prometheus in a test
@DirtiesContext // or its Redis runs until the JVM ends
@ExtendWith(OutputCaptureExtension.class)
class OrdersApplicationIT {

    private static final Duration SLOW_MACHINE = Duration.ofSeconds(30);

    private final HttpClient http = HttpClient.newHttpClient();

    @LocalServerPort
    private int port;

    @Autowired
    private CamelContext camel;

    @Autowired
    private ProducerTemplate template;

    @Autowired
    private RedissonClient redisson;

    @Autowired
    private RedisServer redis;

    @Autowired
    private ObjectMapper json;

    @Autowired
    private JdbcTemplate database;

    @MockitoSpyBean
    private OrderBook book;

    @Test
    void the_console_shows_both_queues() throws Exception {
        HttpResponse<String> answer = send("/actuator/camel/redis-delay", "GET", "");

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body()).contains("\"orders\"", "\"reminders\"", "close-unpaid");
    }

    @Test
    void the_story_of_the_readme(CapturedOutput output) throws Exception {
        String answer = "";
        String command = "";
        int asked = 0;
        for (Readme.Block block : Readme.blocks()) {
            switch (block.kind()) {
                case "sh" -> {
                    if (block.text().startsWith("curl")) {
                        command = block.text();
                        answer = send(command);
                        asked++;
                    }
                }
                case "log" -> {
                    promote("reminders", "A-1");
                    await().atMost(SLOW_MACHINE).until(() -> output.getOut().contains("order A-1 is not paid"));
                    promote("orders", "A-1");
                    await().atMost(SLOW_MACHINE).until(() -> output.getOut().contains("order A-1 of Ada"));
                    awaitAcknowledged("orders", "A-1");
                    assertThat(output.getOut()).contains(block.text().lines().toList());
                }
                case "json" -> {
                    if (command.contains("/health")) {
                        // A consumer's health has Redis' figures once it has asked for them.
                        String health = command;
                        await().atMost(SLOW_MACHINE)
                                .untilAsserted(() -> JSONAssert.assertEquals(
                                        withoutTimes(block.text()), withoutTimes(send(health)), false));
                    } else {
                        JSONAssert.assertEquals(withoutTimes(block.text()), withoutTimes(answer), false);
                    }
                }
                case "text" -> assertThat(withoutValues(answer)).isEqualTo(withoutValues(block.text()));
                default -> throw new IllegalArgumentException("not known how to try a block " + block.kind());
            }
        }
        assertThat(asked).isEqualTo(9);
    }

    private static String withoutTimes(String text) {
        return text.replaceAll("\\d{4}-[-\\d]*T[\\d:.]*Z", "a time");
    }

    /**
     * Names and labels of meters; the figures, the context's number and the digits that stand for the server are others
     * each time.
     */
    private static List<String> withoutValues(String metrics) {
        return metrics.lines()
                .map(line -> line.replaceAll(",server=\"\\w*\"|\\} .*|(?<=camelContext=\"camel-)\\d+", ""))
                .toList();
    }

    @Test
    void an_order_is_closed_once_and_paid_once() throws Exception {
        place("B-1");
        assertThat(waiting("reminders", "B-1")).isEqualTo("delayed");
        assertThat(pay("B-1")).isEqualTo("200 PAID");
        assertThat(pay("B-1")).isEqualTo("200 PAID_BEFORE");
        assertThat(state("B-1")).isEqualTo("PAID");
        assertThat(waiting("orders", "B-1")).isEqualTo("none");
        assertThat(waiting("reminders", "B-1")).isEqualTo("none");

        place("B-2");
        promote("orders", "B-2");
        await().atMost(SLOW_MACHINE).until(() -> state("B-2").equals("CLOSED"));
        awaitAcknowledged("orders", "B-2");
        assertThat(pay("B-2")).isEqualTo("409 CLOSED");
        assertThat(post("/orders", order("B-2")).statusCode()).isEqualTo(409);

        assertThat(pay("B-3")).isEqualTo("404 UNKNOWN");
        assertThat(send("/orders/B-3", "GET", "").statusCode()).isEqualTo(404);
    }

    /** As after a crash between the two. */
    @Test
    void an_order_that_redis_has_and_the_book_has_not_is_there() throws Exception {
        template.sendBodyAndHeader("redis-delay:orders?delay=1h", order("D-1"), RedisDelayConstants.SCHEDULE_ID, "D-1");

        HttpResponse<String> answer = post("/orders", order("D-1"));

        assertThat(answer.statusCode()).isEqualTo(409);
        assertThat(answer.body()).contains("order D-1 is there already");
        assertThat(pay("D-1")).isEqualTo("200 PAID");
    }

    /** The book decides, and not who is faster in Redis. */
    @Test
    void a_payment_that_is_noted_first_is_in_time_although_the_closing_has_begun() throws Exception {
        CountDownLatch closing = new CountDownLatch(1);
        CountDownLatch paid = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        doAnswer(settle -> {
                    closing.countDown();
                    paid.await();
                    Object state = settle.callRealMethod();
                    closed.countDown();
                    return state;
                })
                .when(book)
                .settle("L-1", OrderState.CLOSED);
        place("L-1");
        promote("orders", "L-1");
        assertThat(closing.await(30, TimeUnit.SECONDS)).isTrue();
        try {
            assertThat(pay("L-1")).isEqualTo("200 PAID");
        } finally {
            paid.countDown();
        }
        assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(state("L-1")).isEqualTo("PAID");
    }

    /** Whichever of note and cancel comes first, this payment ends before the second. */
    @Test
    void a_payment_that_is_killed_between_its_note_and_its_cancel_leaves_no_order_neither_paid_nor_closed(
            CapturedOutput output) throws Exception {
        place("K-9");
        doAnswer(settle -> {
                    if (waiting("orders", "K-9").equals("delayed")) {
                        settle.callRealMethod();
                    }
                    throw new IllegalStateException("killed");
                })
                .doCallRealMethod()
                .when(book)
                .settle("K-9", OrderState.PAID);

        assertThat(post("/orders/K-9/payment", "").statusCode()).isEqualTo(500);

        assertThat(state("K-9")).isEqualTo("PAID");
        promote("orders", "K-9");
        awaitAcknowledged("orders", "K-9");
        assertThat(state("K-9")).isEqualTo("PAID");
        assertThat(output).doesNotContain("order K-9 of Ada was not paid");
        assertThat(pay("K-9")).isEqualTo("200 PAID_BEFORE");
        assertThat(waiting("reminders", "K-9")).isEqualTo("none");
    }

    @Test
    void a_reminder_that_has_failed_for_good_is_in_the_database() throws Exception {
        place("F-1");
        doThrow(new IllegalStateException("no mail server")).when(book).state("F-1");
        await().atMost(SLOW_MACHINE).until(() -> {
            ask("promote", "reminders", "F-1"); // each of its tries
            return !database.queryForList("select * from failed_reminder").isEmpty();
        });

        assertThat(database.queryForMap("select * from failed_reminder"))
                .containsEntry("CUSTOMER_ORDER", "F-1")
                .containsEntry("REASON", "failed")
                .containsEntry("FAILURE", "no mail server");
        await().atMost(SLOW_MACHINE)
                .until(() -> template.requestBody("redis-delay:reminders?operation=list&state=dead", null, List.class)
                        .isEmpty());
        doCallRealMethod().when(book).state("F-1");
    }

    @Test
    void the_report_runs_once_and_comes_again_in_the_morning(CapturedOutput output) throws Exception {
        place("S-1");
        promote("daily-report", "daily-report");
        await().atMost(SLOW_MACHINE).until(() -> output.getOut().contains("orders that are not paid yet: "));
        await().atMost(SLOW_MACHINE)
                .until(() -> waiting("daily-report", "daily-report").equals("delayed"));

        Map<String, Object> schedule = ask("get", "daily-report", "daily-report");
        assertThat(schedule).containsEntry(RedisDelayConstants.RULE, "cron 0 6 * * * Europe/Berlin");
        Instant next = Instant.ofEpochMilli((long) schedule.get(RedisDelayConstants.DUE_TIME));
        assertThat(next.atZone(ZoneId.of("Europe/Berlin")).toLocalTime()).isEqualTo(LocalTime.of(6, 0));
        assertThat(next).isAfter(Instant.now());
        assertThat(output.getOut()).containsOnlyOnce("orders that are not paid yet: ");
        assertThat(pay("S-1")).isEqualTo("200 PAID");
    }

    @Test
    void without_redis_the_same_request_is_sent_again(CapturedOutput output) throws Exception {
        place("R-1");
        redis.stop();
        HttpResponse<String> unavailable = post("/orders/R-1/payment", "");
        redis.start();
        await().atMost(SLOW_MACHINE).until(() -> pay("R-1").startsWith("200 PAID"));

        assertThat(unavailable.statusCode()).isEqualTo(503);
        assertThat(json.readTree(unavailable.body()).get("detail").asText())
                .isEqualTo("not possible now, send the same request again");
        assertThat(output).contains("request failed", redis.address());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"id":"A 3","customer":"Ada","amount":1}                          | id must be 1 to 64 letters, digits, '.', '_' or '-'
            {"customer":"Ada","amount":1}                                     | id must not be null
            {"id":"I-1","customer":" ","amount":-1}                           | amount must be greater than 0, customer must not be blank
            {"id":"I-1","customer":"Ada","amount":"x"}                        | amount 'x' is not a number
            {"id":"I-1","customer":"Ada","amount":1,"paymentWindow":"5 s"}    | paymentWindow '5 s' is not a duration such as PT30M
            {"id":"I-1","customer":"Ada","amount":1,"paymentWindow":"PT-5S"}  | paymentWindow must be longer than or equal to 1 milli
            {"id":"I-1","customer":"Ada","amount":1,"paymentWindow":"P300Y"}  | paymentWindow 'P300Y' is not a duration such as PT30M
            {"id":"I-1","customer":"Ada","amount":1,"paymentWindow":"P300000D"} | 'PT3600000H' is no duration of at most 104249 days
            {"id":"I-1",                                                      | the body is not the JSON of an order: Unexpected end-of-input
            ``                                                                | there is no body, it should be the JSON of an order
            """)
    void what_is_wrong_in_a_request_is_named(String order, String reason) throws Exception {
        HttpResponse<String> answer = post("/orders", order);

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(json.readTree(answer.body()).get("detail").asText()).contains(reason);
        assertThat(waiting("orders", "I-1")).isEqualTo("none");
        assertThat(waiting("reminders", "I-1")).isEqualTo("none");
    }

    @Test
    void an_id_that_redis_cannot_have_is_no_error_of_the_server() throws Exception {
        assertThat(post("/orders/" + "a".repeat(300) + "/payment", "").statusCode())
                .isEqualTo(400);
    }

    @Test
    void the_starters_give_the_component_its_options_and_its_client() throws Exception {
        assertThat(camel.getComponent("redis-delay", RedisDelayComponent.class).getConfiguration())
                .returns(redisson, RedisDelayConfiguration::getRedisson)
                .returns("shop", RedisDelayConfiguration::getKeyPrefix)
                .returns("20s", RedisDelayConfiguration::getVisibilityTimeout)
                .returns("1s", RedisDelayConfiguration::getRedeliveryDelay)
                .returns(5, RedisDelayConfiguration::getMaximumRedeliveries);
        place("K-1");
        assertThat(redisson.getKeys().getKeys())
                .allMatch(key -> key.startsWith("shop:"))
                .anyMatch(key -> key.startsWith("shop:{orders}:"));
    }

    /** By a placeholder of Spring in the route. */
    @Test
    void the_payment_window_of_the_shop_holds_for_orders_without_one() throws Exception {
        Instant before = Instant.now();

        JsonNode placed = json.readTree(place("P-1"));

        assertThat(Duration.between(before, Instant.parse(placed.get("closesAt").asText())))
                .isBetween(Duration.ofMinutes(29), Duration.ofMinutes(31));
    }

    private static String order(String id) {
        return "{\"id\":\"" + id + "\",\"customer\":\"Ada\",\"amount\":12.5}";
    }

    private String place(String id) throws IOException, InterruptedException {
        HttpResponse<String> answer = post("/orders", order(id));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
        assertThat(answer.headers().firstValue("Location")).contains("/orders/" + id);
        return answer.body();
    }

    private String pay(String id) throws IOException, InterruptedException {
        HttpResponse<String> answer = post("/orders/" + id + "/payment", "");
        return answer.statusCode() + " "
                + json.readTree(answer.body()).path("result").asText();
    }

    private String state(String id) throws IOException, InterruptedException {
        return json.readTree(send("/orders/" + id, "GET", "").body())
                .path("state")
                .asText();
    }

    private HttpResponse<String> post(String path, String body) throws IOException, InterruptedException {
        return send(path, "POST", body == null ? "" : body);
    }

    private HttpResponse<String> send(String path, String method, String body)
            throws IOException, InterruptedException {
        return http.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                        .header("Content-Type", "application/json")
                        .method(method, BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    /** The answer to a command of the page, as a terminal shows it. */
    private String send(String command) throws IOException, InterruptedException {
        Readme.Curl curl = Readme.Curl.of(command, port);
        return http.send(curl.request(), BodyHandlers.ofString())
                .body()
                .lines()
                .filter(curl.shown())
                .collect(Collectors.joining("\n"));
    }

    private void promote(String queue, String id) {
        assertThat(ask("promote", queue, id)).containsEntry(RedisDelayConstants.PREVIOUS_STATE, "delayed");
    }

    /** Until then an order whose closing is done is still being closed. */
    private void awaitAcknowledged(String queue, String id) {
        await().atMost(SLOW_MACHINE).until(() -> waiting(queue, id).equals("none"));
    }

    private Object waiting(String queue, String id) {
        return ask("get", queue, id).get(RedisDelayConstants.MESSAGE_STATE);
    }

    private Map<String, Object> ask(String operation, String queue, String id) {
        return template.request("redis-delay:" + queue + "?operation=" + operation, asking -> asking.getMessage()
                        .setHeader(RedisDelayConstants.SCHEDULE_ID, id))
                .getMessage()
                .getHeaders();
    }
}
