-- SPDX-License-Identifier: Apache-2.0
DELETE FROM failed_notification
WHERE order_id = :#${variable.failed[ORDER_ID]} AND failed_at = :#${variable.failed[FAILED_AT]}
