-- SPDX-License-Identifier: Apache-2.0
-- Writes down that the reminder is sent: once, and only if the event is still to start then.
INSERT INTO reminder (event_id, starts_at, sent_at)
SELECT id, starts_at, CURRENT_TIMESTAMP
FROM event
WHERE id = :#${variable.event} AND starts_at = :#${variable.startsAt} AND NOT cancelled
  AND NOT EXISTS (SELECT 1 FROM reminder WHERE event_id = event.id AND starts_at = event.starts_at)
