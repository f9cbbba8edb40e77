-- SPDX-License-Identifier: Apache-2.0

-- What became of each order. What is still to be closed, and when, only Redis knows.
CREATE TABLE IF NOT EXISTS shop_order (
    id         VARCHAR(64) PRIMARY KEY,
    state      VARCHAR(7) NOT NULL,
    notify_url VARCHAR(200),
    changed_at TIMESTAMP(3) WITH TIME ZONE NOT NULL
);

-- The partner's: what it was told.
CREATE TABLE IF NOT EXISTS received_notification (
    order_id    VARCHAR(64) PRIMARY KEY,
    event       VARCHAR(16) NOT NULL,
    attempt     INTEGER NOT NULL,
    received_at TIMESTAMP(3) WITH TIME ZONE NOT NULL
);

-- Notifications that no partner took, with the last failure.
CREATE TABLE IF NOT EXISTS failed_notification (
    order_id  VARCHAR(64) PRIMARY KEY,
    url       VARCHAR,
    body      VARCHAR NOT NULL,
    reason    VARCHAR NOT NULL,
    failure   VARCHAR,
    attempts  INTEGER,
    failed_at TIMESTAMP(3) WITH TIME ZONE NOT NULL
);

-- Payments that arrived too late. found_by: look, or bank.
CREATE TABLE IF NOT EXISTS refund (
    order_id VARCHAR(64) PRIMARY KEY,
    state    VARCHAR(16) NOT NULL,
    begun_at TIMESTAMP(3) WITH TIME ZONE NOT NULL,
    done_at  TIMESTAMP(3) WITH TIME ZONE,
    found_by VARCHAR(16)
);

-- The bank's: when it will have paid.
CREATE TABLE IF NOT EXISTS bank_refund (
    order_id VARCHAR(64) PRIMARY KEY,
    done_at  TIMESTAMP(3) WITH TIME ZONE NOT NULL
);

CREATE TABLE IF NOT EXISTS event (
    id        VARCHAR(64) PRIMARY KEY,
    title     VARCHAR NOT NULL,
    starts_at TIMESTAMP(3) WITH TIME ZONE NOT NULL,
    cancelled BOOLEAN NOT NULL,
    version   BIGINT NOT NULL
);

-- One row for each reminder that was sent.
CREATE TABLE IF NOT EXISTS reminder (
    event_id  VARCHAR(64) NOT NULL,
    starts_at TIMESTAMP(3) WITH TIME ZONE NOT NULL,
    sent_at   TIMESTAMP(3) WITH TIME ZONE NOT NULL,
    PRIMARY KEY (event_id, starts_at)
);
