-- SPDX-License-Identifier: Apache-2.0
UPDATE event SET cancelled = TRUE, version = :#${variable.version}
WHERE id = :#${variable.event} AND version <= :#${variable.version}
