-- SPDX-License-Identifier: Apache-2.0
INSERT INTO bank_refund (order_id, done_at)
SELECT CAST(:#${variable.refund} AS VARCHAR), CAST(:#${variable.doneAt} AS TIMESTAMP(3) WITH TIME ZONE)
WHERE NOT EXISTS (SELECT 1 FROM bank_refund WHERE order_id = :#${variable.refund})
