-- SPDX-License-Identifier: Apache-2.0
-- The reminders that were not sent: somebody has to look.
create table failed_reminder (
    dead_letter    varchar(300) primary key,
    customer_order varchar(64) not null,
    reason         varchar(4096) not null,
    failure        varchar(4096)
);
