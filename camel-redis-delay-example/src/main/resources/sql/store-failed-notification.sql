-- SPDX-License-Identifier: Apache-2.0
-- A dead letter that is delivered twice is stored once.
MERGE INTO failed_notification
    (dead_letter_id, message_id, order_id, url, exception, message, attempts, failed_at)
KEY (dead_letter_id)
VALUES (
    :#${header.CamelRedisDelayDeadLetterId},
    :#${header.CamelRedisDelayMessageId},
    :#${header.CamelRedisDelayMessageId},
    :#${header.notifyUrl},
    :#${header.CamelRedisDelayFailureException},
    -- Given up without an exception, there is a reason only.
    COALESCE(
        CAST(:#${header.CamelRedisDelayFailureMessage} AS VARCHAR),
        CAST(:#${header.CamelRedisDelayDeadLetterReason} AS VARCHAR)),
    :#${header.CamelRedisDelayFailureAttempts},
    :#${variable.failedAt}
)
