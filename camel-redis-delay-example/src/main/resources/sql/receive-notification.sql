-- SPDX-License-Identifier: Apache-2.0
INSERT INTO received_notification (order_id, event, attempt, received_at)
SELECT CAST(:#${variable.told.order} AS VARCHAR), CAST(:#${variable.told.event} AS VARCHAR),
       CAST(:#${variable.attempt} AS INTEGER), CURRENT_TIMESTAMP
WHERE NOT EXISTS (SELECT 1 FROM received_notification WHERE order_id = :#${variable.told.order})
