-- SPDX-License-Identifier: Apache-2.0
-- A dead letter may come twice: the second time replaces the row.
MERGE INTO failed_notification (order_id, url, body, reason, failure, attempts, failed_at) KEY (order_id)
VALUES (
    :#${header.CamelRedisDelayMessageId}, :#${header.notifyUrl}, :#${bodyAs(String)},
    :#${header.CamelRedisDelayDeadLetterReason}, :#${header.CamelRedisDelayFailureMessage},
    :#${header.CamelRedisDelayFailureAttempts}, CURRENT_TIMESTAMP)
