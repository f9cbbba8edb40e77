-- SPDX-License-Identifier: Apache-2.0
-- Changes a row for the first who finds out only.
UPDATE refund SET state = 'DONE', done_at = CURRENT_TIMESTAMP, found_by = :#${variable.foundBy}
WHERE order_id = :#${variable.refund} AND state = 'PENDING'
