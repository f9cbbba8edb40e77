// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.redelivery;

import io.github.redisdelay.camel.option.Durations;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The number and the delays of a failed message's redeliveries. A delay is computed from the message's own attempt count, so
 * messages do not influence one another.
 *
 * <p>Without steps, the delay after attempt n is {@code redeliveryDelay × backOffMultiplier}<sup>n-1</sup>, at most {@code
 * maximumRedeliveryDelay}. With steps, it is the n-th step, and the last one repeats. Either is then spread evenly by
 * {@code redeliveryJitter}, so that messages which failed together do not all come back together. After {@value
 * #ATTEMPTS_WITHOUT_PAUSE} attempts it is {@link #SHORTEST_PAUSE} at least.
 *
 * <p>{@code OptionReader.retries} reads it from the options, {@code DeliveryPolicy.decide} applies it.
 *
 * @param maximumRedeliveries how many deliveries may follow the first one; -1 for any number
 * @param redeliveryDelay the delay after the first attempt
 * @param backOffMultiplier by what the delay grows with each attempt, 1 or more
 * @param maximumRedeliveryDelay the longest delay before it is spread; does not limit the steps
 * @param redeliveryJitter by which part of itself a delay may become shorter or longer, 0 to 1
 * @param redeliveryDelays the steps; empty for none
 */
public record RetryPolicy(
        int maximumRedeliveries,
        Duration redeliveryDelay,
        double backOffMultiplier,
        Duration maximumRedeliveryDelay,
        double redeliveryJitter,
        List<Duration> redeliveryDelays) {

    public static final int DEFAULT_MAXIMUM_REDELIVERIES = 9;

    /** So many deliveries may follow one another at once; then there is a pause. */
    static final int ATTEMPTS_WITHOUT_PAUSE = 10;

    /** One message that always fails, without a delay, took a tenth of what Redis can do; with this, a hundredth. */
    static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);

    public RetryPolicy {
        redeliveryDelays = List.copyOf(redeliveryDelays);
        if (maximumRedeliveries < -1) {
            throw new IllegalArgumentException("option 'maximumRedeliveries' is " + maximumRedeliveries
                    + ": it must be 0 or more, or -1 for any number");
        }
        if (!(backOffMultiplier >= 1 && backOffMultiplier < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("option 'backOffMultiplier' is " + backOffMultiplier
                    + ": it must be 1 or more; 1 keeps the delay the same");
        }
        if (!(redeliveryJitter >= 0 && redeliveryJitter <= 1)) {
            throw new IllegalArgumentException("option 'redeliveryJitter' is " + redeliveryJitter
                    + ": it must be from 0 (none) to 1; 0.15 spreads a delay of 10s over 8.5s to 11.5s");
        }
        if (redeliveryDelays.isEmpty() && redeliveryDelay.compareTo(maximumRedeliveryDelay) > 0) {
            throw new IllegalArgumentException("option 'redeliveryDelay' is " + redeliveryDelay
                    + ", longer than option 'maximumRedeliveryDelay', which is " + maximumRedeliveryDelay
                    + ": make that one longer too");
        }
    }

    /**
     * This policy with what a message says in the place of it.
     *
     * @param own a {@link MessageRetryPolicy} as it is stored
     * @throws IllegalArgumentException if that cannot be read
     */
    public RetryPolicy with(String own) {
        return MessageRetryPolicy.parse(own).over(this);
    }

    /** This policy with its delays for any number of redeliveries. */
    public RetryPolicy withoutLimit() {
        return new RetryPolicy(
                -1, redeliveryDelay, backOffMultiplier, maximumRedeliveryDelay, redeliveryJitter, redeliveryDelays);
    }

    /** Returns whether no delivery may follow after this attempt has failed. */
    public boolean isLast(int attempt) {
        return maximumRedeliveries >= 0 && attempt > maximumRedeliveries;
    }

    /** Returns whether this attempt is already one too many. The attempts before it ended by a crash or a lost lease. */
    public boolean isExceeded(int attempt) {
        return maximumRedeliveries >= 0 && attempt - 1 > maximumRedeliveries;
    }

    /**
     * The delay before the next delivery.
     *
     * @param attempt which delivery is followed by another one, 1 for the first
     * @param asked the delay that the route asked for; null if it asked for none
     */
    public Duration delayAfter(int attempt, Duration asked, RandomGenerator random) {
        return asked == null ? delayAfter(attempt, random) : withPause(asked, attempt);
    }

    /**
     * The delay before the next delivery, as this policy says.
     *
     * @param attempt which delivery has failed, 1 for the first
     */
    public Duration delayAfter(int attempt, RandomGenerator random) {
        double millis;
        if (redeliveryDelays.isEmpty()) {
            // Grows beyond every long, and never becomes NaN: both are above the maximum.
            millis = redeliveryDelay.isZero()
                    ? 0
                    : Math.min(
                            redeliveryDelay.toMillis() * Math.pow(backOffMultiplier, attempt - 1.0),
                            maximumRedeliveryDelay.toMillis());
        } else {
            millis = redeliveryDelays
                    .get(Math.min(attempt, redeliveryDelays.size()) - 1)
                    .toMillis();
        }
        double spread = millis * (1 + redeliveryJitter * (2 * random.nextDouble() - 1));
        return withPause(Duration.ofMillis(Math.min(Math.round(spread), Durations.MAX.toMillis())), attempt);
    }

    /**
     * A delay, or a longer one for a message that comes again and again.
     *
     * @param attempt which delivery is followed by another one, 1 for the first
     */
    static Duration withPause(Duration delay, int attempt) {
        return attempt >= ATTEMPTS_WITHOUT_PAUSE && delay.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : delay;
    }
}
