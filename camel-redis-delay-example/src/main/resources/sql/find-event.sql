-- SPDX-License-Identifier: Apache-2.0
SELECT title FROM event WHERE id = :#${variable.event}
