// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.redisdelay.camel.OptionReader;
import io.github.redisdelay.camel.RedisDelayConfiguration;
import io.github.redisdelay.camel.fake.RecordingDelivery;
import io.github.redisdelay.camel.message.FailureRecord;
import io.github.redisdelay.camel.redelivery.MessagePolicy;
import io.github.redisdelay.queue.Settlement;
import io.github.redisdelay.queue.envelope.Envelope;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The decisions about messages and dead letters as tables: what came, how its route ended, what is decided. */
class DeliveryPolicyTest {

    /** The failure that is stored with each delivery. */
    private static final byte[] EARLIER = new FailureRecord("E", "known", "r", "h", 1, Instant.EPOCH, null).encode();

    private static final Map<String, RouteOutcome> OUTCOMES = Map.of(
            "success", RouteOutcome.SUCCEEDED,
            "failure", RouteOutcome.failed(new IllegalStateException("down")),
            "rollback", new RouteOutcome(true, null, null, null, null, null, false, false),
            "asks for 7s", new RouteOutcome(false, null, Duration.ofSeconds(7), null, null, null, false, false),
            "asks badly", new RouteOutcome(false, null, null, null, "soon is no delay", null, false, false),
            "gives up", new RouteOutcome(false, null, null, null, null, "no such account", false, false));

    private static DeliveryPolicy policy(String kept) {
        RedisDelayConfiguration options = new RedisDelayConfiguration();
        options.setMaximumRedeliveries(2);
        options.setRedeliveryJitter(0);
        options.setMaximumRedeliveryDelay("5m");
        options.setState(kept.equals("dead letters") ? "dead" : null);
        options.setDeadLetter(!kept.equals("nothing"));
        options.setOnExpiry(kept.equals("all but expired") ? "drop" : "dead");
        return new DeliveryPolicy(
                new OptionReader(options).consumer("orders", Set.of()),
                "host",
                InstantSource.fixed(Instant.EPOCH),
                () -> 0L);
    }

    private static RecordingDelivery delivery(int attempt) {
        RecordingDelivery delivery = new RecordingDelivery(attempt);
        delivery.lastFailure = EARLIER;
        return delivery;
    }

    /** A decision as one word or two, with its reason. */
    private static String shown(Decision decision) {
        Settlement how = decision.settlement();
        if (how instanceof Settlement.Acknowledge done) {
            return "acknowledge" + (done.remember().isZero() ? "" : " " + done.remember());
        }
        if (how instanceof Settlement.Retry again) {
            String failure = FailureRecord.decode(again.failure()).message();
            return "retry in " + again.delay().toSeconds() + " s: " + failure;
        }
        if (how instanceof Settlement.DeadLetter dead) {
            FailureRecord failure = FailureRecord.decode(dead.failure());
            assertThat(failure.reason()).isEqualTo(decision.why().text());
            return "dead-letter: " + failure.reason() + ": " + failure.message();
        }
        if (how instanceof Settlement.Drop) {
            return "drop: " + decision.why().text() + ", " + decision.option();
        }
        throw new AssertionError(decision);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            all          | 1 | success     | acknowledge
            all          | 3 | success     | acknowledge
            all          | 1 | failure     | retry in 10 s: down
            all          | 2 | failure     | retry in 20 s: down
            all          | 3 | failure     | dead-letter: failed: down
            nothing      | 3 | failure     | drop: failed, deadLetter=false
            all          | 1 | rollback    | retry in 10 s: the exchange was marked rollback-only
            all          | 3 | rollback    | dead-letter: failed: the exchange was marked rollback-only
            all          | 1 | asks for 7s | retry in 7 s: the route asked for another delivery in PT7S (CamelRedisDelayRetryAfter)
            all          | 3 | asks for 7s | dead-letter: retryAfter: the route asked for another delivery in PT7S (CamelRedisDelayRetryAfter)
            all          | 2 | asks badly  | retry in 20 s: soon is no delay
            all          | 3 | asks badly  | dead-letter: retryAfter: soon is no delay
            all          | 1 | gives up    | dead-letter: no such account:
            nothing      | 1 | gives up    | drop: no such account, deadLetter=false
            dead letters | 1 | success     | acknowledge
            dead letters | 1 | failure     | retry in 10 s: known
            dead letters | 9 | failure     | retry in 300 s: known
            dead letters | 9 | asks for 7s | retry in 7 s: known
            dead letters | 2 | asks badly  | retry in 20 s: known
            dead letters | 1 | rollback    | retry in 10 s: known
            dead letters | 1 | gives up    | retry in 10 s: known
            """)
    void should_decide_by_how_the_route_ended(String kept, int attempt, String outcome, String decision) {
        RecordingDelivery delivery = delivery(attempt);
        DeliveryPolicy policy = policy(kept);
        MessagePolicy terms = policy.admit(delivery(1), "route").terms();
        String decided = shown(policy.decide(delivery, terms, "route", OUTCOMES.get(outcome)));
        assertThat(decided.replace(": null", ":")).isEqualTo(decision);
        assertThat(delivery.calls).as("it only decides").isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"20, 30, false", "30, 20, false", "40, 30, true", "20, 40, true"})
    void should_give_a_run_up_if_its_delay_or_the_pause_of_its_group_ends_after_the_next_one_is_due(
            int delay, int pause, boolean givenUp) {
        RecordingDelivery run = delivery(1);
        run.group = "g";
        run.nextRunMicros = 35_000_000;
        DeliveryPolicy policy = policy("all");
        RouteOutcome outcome = new RouteOutcome(
                true, null, Duration.ofSeconds(delay), Duration.ofSeconds(pause), null, null, false, false);
        Settlement how = policy.decide(run, policy.admit(run, "route").terms(), "route", outcome)
                .settlement();
        assertThat(how instanceof Settlement.DeadLetter).isEqualTo(givenUp);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            all             | 1 | 0 | readable   | begin
            all             | 3 | 2 | readable   | begin
            all             | 4 | 0 | readable   | dead-letter: leaseExpired: known
            nothing         | 4 | 0 | readable   | drop: leaseExpired, deadLetter=false
            all             | 1 | 0 | expired    | dead-letter: expired: known
            all             | 4 | 0 | expired    | dead-letter: expired: known
            all but expired | 1 | 0 | expired    | drop: expired, onExpiry=drop
            all but expired | 4 | 0 | readable   | dead-letter: leaseExpired: known
            nothing         | 1 | 0 | expired    | drop: expired, deadLetter=false
            nothing         | 1 | 0 | unreadable | drop: unreadable, deadLetter=false
            dead letters    | 9 | 1 | readable   | begin
            dead letters    | 9 | 0 | expired    | begin
            dead letters    | 1 | 0 | unreadable | begin
            dead letters    | 3 | 2 | readable   | retry in 300 s: known
            """)
    void should_decide_before_the_route_begins(
            String kept, int attempt, int lostLeases, String stored, String decision) {
        RecordingDelivery delivery = delivery(attempt);
        delivery.lostLeases = lostLeases;
        if (stored.equals("unreadable")) {
            delivery.body = new byte[] {1, 2};
        } else if (stored.equals("expired")) {
            Envelope.Settings own = new Envelope.Settings(null, Duration.ofSeconds(1), null);
            delivery.body = Envelope.of("x", null, Map.of(), own).encode();
            delivery.claimedMicros = 2_000_000;
        }
        Decision refusal = policy(kept).admit(delivery, "route").refusal();
        assertThat(refusal == null ? "begin" : shown(refusal)).isEqualTo(decision);
        assertThat(delivery.calls).as("it only decides").isEmpty();
    }
}
