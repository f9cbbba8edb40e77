#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the vectors of camel-redis-delay against a Redis: python3 play.py [redis://[user:password@]host:port] [folder]

README.md beside this file says what a vector has. The server must be no cluster. All keys that begin with "conformance:" are
deleted before each vector, and at the end.
"""
import hashlib
import json
import pathlib
import re
import socket
import sys
import urllib.parse

from plain import check, check_row, data

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INCLUDED = ROOT / 'camel-redis-delay/src/main/resources/io/github/redisdelay/queue/lua/include'
BASE, CLOCK = 'conformance:{orders}', 'conformance:clock'
STOPPED = ("local function stopped_clock() local now = tonumber(redis.call('GET', '" + CLOCK
           + "')) return { math.floor(now / 1000000), now % 1000000 } end\n")


class Redis:
    def __init__(self, address):
        url = urllib.parse.urlparse(address)
        self.socket = socket.create_connection((url.hostname, url.port or 6379), 10)
        self.input = self.socket.makefile('rb')
        if url.password:
            self.call('AUTH', *filter(None, [url.username]), url.password)

    def send(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b'*%d\r\n' % len(words) + b''.join(b'$%d\r\n%s\r\n' % (len(word), word) for word in words))

    def receive(self):
        line = self.input.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b'-':
            return RuntimeError(rest.decode())
        if kind == b'$':
            return None if rest == b'-1' else self.input.read(int(rest) + 2)[:-2]
        if kind == b'*':
            return [self.receive() for _ in range(int(rest))]
        return int(rest) if kind == b':' else rest

    def call(self, *words):
        self.send(*words)
        reply = self.receive()
        if isinstance(reply, RuntimeError):
            raise reply
        return reply


def keys_of(redis):
    """The content of all keys, and their times to live in seconds, rounded up to whole minutes."""
    state, ttl = {}, {}
    for key in redis.call('KEYS', 'conformance:*'):
        kind, millis = redis.call('TYPE', key), redis.call('PTTL', key)
        if kind == b'string':
            state[key] = redis.call('GET', key)
        elif kind == b'list':
            state[key] = redis.call('LRANGE', key, 0, -1)
        else:
            found = redis.call('HGETALL', key) if kind == b'hash' else redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
            state[key] = {name: float(value) if kind == b'zset' else value for name, value in zip(found[::2], found[1::2])}
        if millis >= 0:
            ttl[key] = -(-millis // 60000) * 60
    state.pop(CLOCK.encode(), None)
    return state, ttl


def merge(state, changes):
    """Changes a copy of a state: null removes."""
    merged = dict(state)
    for name, value in changes.items():
        key = data(name)
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            merged[key] = merge(state.get(key, {}), value)
        elif isinstance(value, list):
            merged[key] = [data(each) for each in value]
        else:
            merged[key] = data(value) if isinstance(value, str) else value
    return merged


def texts(folder):
    """The text of each script with a clock that stands, and the names of its keys."""
    def included(path):
        return re.sub(r'(?m)^--@include (\S+)$', lambda m: included(INCLUDED / m[1]), path.read_text('utf-8'))
    scripts = {}
    for row in [row for path in folder.glob('*scripts.json') for row in json.loads(path.read_text('utf-8'))]:
        text = row['head'] + included(ROOT / row['file'])
        check('SHA-1 of ' + row['script'], hashlib.sha1(text.encode()).hexdigest(), row['sha1'])
        scripts[row['script']] = STOPPED + text.replace("redis.call('TIME')", 'stopped_clock()'), row['keys']
    return scripts


def check_reply(reply, wanted):
    if not isinstance(wanted, dict):
        check('reply', reply, [data(each) for each in wanted] if isinstance(wanted, list) else data(wanted))
    elif 'error' in wanted:
        check('refused', isinstance(reply, RuntimeError) and wanted['error'] in str(reply) or reply, True)
    else:
        check('matches', bool(re.search(wanted['matches'], reply.decode())) or reply, True)


def wakeups(ear):
    """What was published since the last look: its channel and text."""
    ear.send('PING')
    heard, reply = [], ear.receive()
    while reply[0] == b'pmessage':
        heard.append([reply[2].decode(), reply[3].decode()])
        reply = ear.receive()
    return heard


def clear(redis):
    for key in redis.call('KEYS', 'conformance:*'):
        redis.call('DEL', key)


def full(changes):
    return {name if name.startswith('conformance:') else BASE + ':' + name: value for name, value in changes.items()}


def play(redis, ear, scripts, step, state, ttl):
    if 'redis' in step:
        redis.call(*step['redis'])
    else:
        text, names = scripts[step['script']]
        keys = ['%s:%s' % (step.get('base', BASE), name) for name in names[:step['keys']]]
        redis.call('SET', CLOCK, step['at'])
        redis.send('EVAL', text, len(keys), *keys, *map(data, step['argv']))
        check_reply(redis.receive(), step['reply'])
        check('wake-ups', wakeups(ear), step.get('wakeups', []))
    state, ttl = merge(state, full(step.get('after', {}))), merge(ttl, full(step.get('ttl', {})))
    found = keys_of(redis)
    check('keys', found[0], state)
    check('times to live', found[1], ttl)
    return state, ttl


def main(address='redis://localhost:6379', folder=HERE / 'vectors'):
    folder, failures, count = pathlib.Path(folder), [], 0
    scripts, redis, ear = texts(folder), Redis(address), Redis(address)
    ear.call('PSUBSCRIBE', 'conformance:wakeup:*')
    for path in sorted(folder.glob('*.json')):
        for row in json.loads(path.read_text('utf-8')):
            count, number, state, ttl = count + 1, 0, {}, {}
            try:
                clear(redis)
                for number, step in enumerate(row.get('steps', []), 1):
                    state, ttl = play(redis, ear, scripts, step, state, ttl)
                check_row(row)
            except AssertionError as error:
                failures.append('%s: %s, step %d: %s' % (path.name, row.get('vector', row), number, error))
    clear(redis)
    print(*failures, sep='\n')
    print('%d of %d vectors of %s failed on %s' % (len(failures), count, folder, address))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
