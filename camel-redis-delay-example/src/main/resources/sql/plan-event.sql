-- SPDX-License-Identifier: Apache-2.0
-- A plan that arrives late, after a newer one, changes nothing.
MERGE INTO event USING (
    VALUES (
        CAST(:#${variable.event} AS VARCHAR),
        CAST(:#${variable.title} AS VARCHAR),
        CAST(:#${variable.startsAt} AS TIMESTAMP(3) WITH TIME ZONE),
        CAST(:#${variable.version} AS BIGINT))
) plan (id, title, starts_at, version)
ON event.id = plan.id
WHEN MATCHED AND plan.version >= event.version THEN
    UPDATE SET title = plan.title, starts_at = plan.starts_at, cancelled = FALSE, version = plan.version
WHEN NOT MATCHED THEN
    INSERT (id, title, starts_at, cancelled, version)
    VALUES (plan.id, plan.title, plan.starts_at, FALSE, plan.version)
