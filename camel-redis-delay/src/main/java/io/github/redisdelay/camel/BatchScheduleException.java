// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.camel;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.camel.RuntimeCamelException;

/**
 * Some messages of a batch were not scheduled, may not have been, or are not known to be replicated. The others are: a
 * redelivery of the step by Camel's error handler goes on with those that failed only.
 */
public class BatchScheduleException extends RuntimeCamelException {

    private static final long serialVersionUID = 1L;

    private static final int SHOWN = 10;

    private final Map<String, Throwable> failures;
    private final List<String> scheduledIds;

    /**
     * @param failed how many messages of the batch have failed; more than {@code failures} where some have the same id
     */
    public BatchScheduleException(
            String queue, Map<String, Throwable> failures, int failed, List<String> scheduledIds) {
        super(
                message(queue, failures, failed, scheduledIds),
                failures.values().iterator().next());
        this.failures = Collections.unmodifiableMap(new LinkedHashMap<>(failures));
        this.scheduledIds = List.copyOf(scheduledIds);
    }

    /**
     * The ids of the messages that failed, each with its cause, in the order of the batch. Of several messages with one id,
     * the first one's cause.
     */
    public Map<String, Throwable> getFailures() {
        return failures;
    }

    /** The ids of the messages that are scheduled, in the order of the batch. */
    public List<String> getScheduledIds() {
        return scheduledIds;
    }

    private static String message(
            String queue, Map<String, Throwable> failures, int failed, List<String> scheduledIds) {
        List<String> shown = new ArrayList<>();
        failures.entrySet().stream()
                .limit(SHOWN)
                .forEach(failure -> shown.add(
                        "'" + failure.getKey() + "' (" + failure.getValue().getMessage() + ")"));
        if (failures.size() > SHOWN) {
            shown.add("and " + (failures.size() - SHOWN) + " more");
        }
        return "queue '" + queue + "': " + failed + " of " + (failed + scheduledIds.size()) + " messages failed: "
                + String.join(", ", shown);
    }
}
