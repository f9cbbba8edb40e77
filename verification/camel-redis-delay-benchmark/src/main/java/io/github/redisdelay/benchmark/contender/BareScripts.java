// SPDX-License-Identifier: Apache-2.0
package io.github.redisdelay.benchmark.contender;

import io.github.redisdelay.benchmark.Subject;

/**
 * Bare scripts for a hash of bodies, a sorted set of due times and one of leases. KEYS of a claim: messages, delayed,
 * leased, state, sessions. KEYS of an acknowledgement: messages, leased, state, sessions. Each set of scripts needs the
 * first of them.
 */
enum BareScripts {

    /** The least that Redis can be asked to do: no check, and no record of a delivery. */
    FLOOR(
            Subject.FLOOR,
            3,
            // Reply ids, bodies
            """
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 256)
            if #ids == 0 then
              return ids
            end
            local expires = string.format('%.0f', now + 30000000)
            local leases = {}
            for i = 1, #ids do
              leases[2 * i - 1], leases[2 * i] = expires, ids[i]
            end
            redis.call('ZREM', KEYS[2], unpack(ids))
            redis.call('ZADD', KEYS[3], unpack(leases))
            local bodies = redis.call('HMGET', KEYS[1], unpack(ids))
            local count = #ids
            for i = 1, count do
              ids[count + i] = bodies[i]
            end
            return ids
                        """,
            2,
            // ARGV ids
            """
            redis.call('ZREM', KEYS[2], unpack(ARGV))
            return redis.call('HDEL', KEYS[1], unpack(ARGV))
                        """),

    /**
     * A claim writes a state record for each message, with the claim's id, and an acknowledgement is good only for
     * messages whose records have it: what the layout costs if a message is to be acknowledged by nobody but who holds
     * it.
     */
    FENCED(
            Subject.FENCED_FLOOR,
            4,
            // ARGV claim id  Reply ids, bodies
            """
            local time = redis.call('TIME')
            local now = time[1] * 1000000 + time[2]
            local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'WITHSCORES', 'LIMIT', 0, 256)
            if #due == 0 then
              return due
            end
            local expires = string.format('%.0f', now + 30000000)
            local head = struct.pack('<BBBBI4c16', 1, 0, 0, 0, 1, ARGV[1])
            local ids, leases, records = {}, {}, {}
            for i = 1, #due / 2 do
              local id, time = due[2 * i - 1], tonumber(due[2 * i])
              ids[i] = id
              leases[2 * i - 1], leases[2 * i] = expires, id
              records[2 * i - 1], records[2 * i] = id, head .. struct.pack('<dd', time, time)
            end
            redis.call('ZREM', KEYS[2], unpack(ids))
            redis.call('ZADD', KEYS[3], unpack(leases))
            redis.call('HSET', KEYS[4], unpack(records))
            local bodies = redis.call('HMGET', KEYS[1], unpack(ids))
            local count = #ids
            for i = 1, count do
              ids[count + i] = bodies[i]
            end
            return ids
                        """,
            3,
            // ARGV id and claim id of each message: those of a call may be of several claims
            """
            local ids = {}
            for i = 1, #ARGV / 2 do
              ids[i] = ARGV[2 * i - 1]
            end
            local records = redis.call('HMGET', KEYS[3], unpack(ids))
            local held = {}
            for i = 1, #ids do
              if records[i] and string.sub(records[i], 9, 24) == ARGV[2 * i] then
                held[#held + 1] = ids[i]
              end
            end
            if #held == 0 then
              return 0
            end
            redis.call('ZREM', KEYS[2], unpack(held))
            redis.call('HDEL', KEYS[3], unpack(held))
            return redis.call('HDEL', KEYS[1], unpack(held))
                        """),

    /**
     * The same, with attempts counted, and each call kept under its session and number, so that a repeat of it changes
     * nothing: what it costs that a lost answer neither loses nor doubles a delivery. There are no priorities, no
     * expired leases, no waiters, and no bounds.
     */
    SAFE(
            Subject.SAFE,
            5,
            // ARGV claim id, session, number  Reply ids, bodies
            """
            local time = redis.call('TIME')
            local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
            local sequence = tonumber(ARGV[3])
            local session = redis.call('HGET', KEYS[5], ARGV[2])
            if session then
              local last = struct.unpack('<d', session)
              if last > sequence then
                error('superseded')
              end
              if last == sequence then
                local ids = {}
                for id in string.gmatch(string.sub(session, 17), '%S+') do
                  ids[#ids + 1] = id
                end
                local bodies = redis.call('HMGET', KEYS[1], unpack(ids))
                for i = 1, #bodies do
                  ids[#ids + 1] = bodies[i]
                end
                return ids
              end
            end
            local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 256)
            if #due == 0 then
              return {}
            end
            local bodies = redis.call('HMGET', KEYS[1], unpack(due))
            local found = redis.call('HMGET', KEYS[4], unpack(due))
            local ids, leases, records, given = {}, {}, {}, {}
            local expires = string.format('%.0f', now + 30000000)
            local first = struct.pack('<BBBBI4c16', 1, 0, 0, 0, 1, ARGV[1])
            local at = struct.pack('<dd', now, now)
            local n = 0
            for i = 1, #due do
              local id, body, record = due[i], bodies[i], found[i]
              if body then
                n = n + 1
                ids[n], given[n] = id, body
                leases[2 * n - 1], leases[2 * n] = expires, id
                if record then
                  local attempts = struct.unpack('<I4', record, 5) + 1
                  record = struct.pack('<BBBBI4c16', 1, 0, 0, 0, attempts, ARGV[1]) .. string.sub(record, 25)
                else
                  record = first .. at
                end
                records[2 * n - 1], records[2 * n] = id, record
              end
            end
            redis.call('ZADD', KEYS[3], unpack(leases))
            redis.call('ZREM', KEYS[2], unpack(ids))
            redis.call('HSET', KEYS[4], unpack(records))
            redis.call('HSET', KEYS[5], ARGV[2], struct.pack('<dd', sequence, now) .. table.concat(ids, ' '))
            for i = 1, n do
              ids[n + i] = given[i]
            end
            return ids
            """,
            4,
            // ARGV session, number, then id and claim id of each message  Reply an outcome of each
            """
            local time = redis.call('TIME')
            local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
            local sequence = tonumber(ARGV[2])
            local session = redis.call('HGET', KEYS[4], ARGV[1])
            if session then
              local last = struct.unpack('<d', session)
              if last > sequence then
                error('superseded')
              end
              if last == sequence then
                return string.sub(session, 17)
              end
            end
            local ids, count = {}, (#ARGV - 2) / 2
            for i = 1, count do
              ids[i] = ARGV[2 * i + 1]
            end
            local records = redis.call('HMGET', KEYS[3], unpack(ids))
            local held, outcomes = {}, {}
            for i = 1, count do
              local good = records[i] and string.sub(records[i], 9, 24) == ARGV[2 * i + 2]
              outcomes[i] = good and '1' or '2'
              if good then
                held[#held + 1] = ids[i]
              end
            end
            if #held > 0 then
              redis.call('ZREM', KEYS[2], unpack(held))
              redis.call('HDEL', KEYS[3], unpack(held))
              redis.call('HDEL', KEYS[1], unpack(held))
            end
            local reply = table.concat(outcomes)
            redis.call('HSET', KEYS[4], ARGV[1], struct.pack('<dd', sequence, now) .. reply)
            return reply
            """);

    final String subject;
    final int claimKeys;
    final String claim;
    final int acknowledgeKeys;
    final String acknowledge;

    BareScripts(String subject, int claimKeys, String claim, int acknowledgeKeys, String acknowledge) {
        this.subject = subject;
        this.claimKeys = claimKeys;
        this.claim = claim;
        this.acknowledgeKeys = acknowledgeKeys;
        this.acknowledge = acknowledge;
    }

    /** True if a claim and an acknowledgement have a claim's id. */
    boolean isFenced() {
        return this != FLOOR;
    }

    /** True if they have a session and a number. */
    boolean isRepeatable() {
        return this == SAFE;
    }
}
