-- SPDX-License-Identifier: Apache-2.0
SELECT CASE WHEN done_at <= CURRENT_TIMESTAMP THEN 'DONE' ELSE 'PENDING' END
FROM bank_refund WHERE order_id = :#${variable.refund}
