// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel.producer;

import io.github.redisdelay.camel.option.OptionValues;
import io.github.redisdelay.queue.DelayQueue;
import io.github.redisdelay.queue.DueTime;
import io.github.redisdelay.queue.Outlook;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The steps of the operation outlook.
 *
 * @param step how long each is, 1 ms or more
 * @param steps how many, 1 to {@value Outlook#MAX_STEPS}; all together not above 100 years
 */
public record OutlookSteps(Duration step, int steps) {

    private static final Duration LONGEST = Duration.ofDays(36_500);

    /** @throws IllegalArgumentException naming the option, its value and what would be right */
    public OutlookSteps {
        OptionValues.check("outlookSteps", steps, 1, Outlook.MAX_STEPS, "from 1 to " + Outlook.MAX_STEPS);
        if (step.compareTo(LONGEST.dividedBy(steps)) > 0) {
            throw new IllegalArgumentException("options 'outlookStep' (" + step + ") and 'outlookSteps' (" + steps
                    + ") reach over more than 100 years: make one of the two less");
        }
    }

    /** Looks ahead, from now on. */
    CompletableFuture<Outlook> ahead(DelayQueue queue) {
        return queue.admin().outlook(0, step, steps);
    }

    /** Looks back, up to now. */
    CompletableFuture<Outlook> back(DelayQueue queue) {
        return queue.admin().outlook(List.of(0L, 1L)).thenCompose(now -> {
            long from = now.timeMicros() - DueTime.toMicros(step) * steps;
            return queue.admin().outlook(Outlook.bounds(Math.max(0, from), step, steps));
        });
    }

    /** An outlook as plain values. */
    Map<String, Object> figures(Outlook outlook) {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("fromTime", outlook.boundsMicros().get(0) / 1000);
        figures.put("stepMillis", step.toMillis());
        figures.put("before", outlook.before());
        figures.put("counts", outlook.counts());
        figures.put("after", outlook.after());
        return figures;
    }
}
