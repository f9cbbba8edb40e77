-- SPDX-License-Identifier: Apache-2.0
INSERT INTO refund (order_id, state, begun_at)
SELECT CAST(:#${variable.refund} AS VARCHAR), 'PENDING', CURRENT_TIMESTAMP
WHERE NOT EXISTS (SELECT 1 FROM refund WHERE order_id = :#${variable.refund})
