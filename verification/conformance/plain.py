# SPDX-License-Identifier: Apache-2.0
"""What a client does without a Redis, as docs/protocol.md has it: envelopes and partitions, and the checks of their vectors."""
import binascii
import re
import struct
import uuid

BODIES = ['null', 'bytes', 'text', None, 'boolean']
VALUES = {1: 'text', 2: 'boolean', 3: 'int8', 4: 'int16', 5: 'int32', 6: 'int64', 7: 'float32', 8: 'float64',
          9: 'integer', 10: 'decimal', 11: 'instant', 12: 'bytes', 13: 'uuid'}
FORMATS = {'int8': '>b', 'int16': '>h', 'int32': '>i', 'int64': '>q', 'float32': '>f', 'float64': '>d'}
MILLIS = {0x03: 'deduplicationPeriod', 0x81: 'timeToLive'}
TEXTS = {0x01: 'contentType', 0x82: 'retryPolicy'}


def data(text):
    """The bytes of a text in a vector."""
    return bytes.fromhex(text[4:]) if text.startswith('hex:') else text.encode()


def check(what, found, wanted):
    if found != wanted:
        raise AssertionError('%s\n  is     %r\n  wanted %r' % (what, found, wanted))


def varint(number):
    return bytes([number]) if number < 128 else bytes([number % 128 + 128]) + varint(number // 128)


def sized(data):
    return varint(len(data)) + data


def content(kind, value):
    if kind == 'boolean':
        return bytes([value])
    if kind in FORMATS:
        return struct.pack(FORMATS[kind], value if kind.startswith('float') else int(value))
    if kind == 'instant':
        return struct.pack('>qi', *value)
    if kind == 'uuid':
        return uuid.UUID(value).bytes
    return value if kind == 'bytes' else value.encode()


def typed(kind, value):
    return bytes([next(code for code, name in VALUES.items() if name == kind)]) + content(kind, value)


def write(envelope):
    """envelope: body (type, value), and what else it has: headers [(name, (type, value))], contentType, and so on."""
    def named(fields, make):
        return b''.join(bytes([tag]) + sized(make(envelope[name])) for tag, name in sorted(fields.items()) if name in envelope)
    fields = named({0x01: 'contentType'}, str.encode)
    for name, value in envelope.get('headers', []):
        fields += b'\x02' + sized(sized(name.encode()) + typed(*value))
    fields += named(MILLIS, lambda millis: struct.pack('>q', millis)) + named({0x82: 'retryPolicy'}, str.encode)
    kind, value = envelope['body']
    is_number = kind not in BODIES
    head = bytes([0xf9, (3 if is_number else BODIES.index(kind)) | (0x10 if fields else 0)])
    return head + (sized(fields) if fields else b'') + (typed(kind, value) if is_number else content(kind, value))


class Reader:
    def __init__(self, data):
        self.data = data

    def take(self, count):
        if count > len(self.data):
            raise ValueError('cut off')
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def section(self):
        number = 0
        for shift in range(0, 35, 7):
            byte = self.take(1)[0]
            number |= (byte & 127) << shift
            if byte < 128:
                if (shift and not byte) or number >= 2 ** 31:
                    raise ValueError('a varint of too many bytes')
                return Reader(self.take(number))
        raise ValueError('a varint without an end')

    def value(self, kind):
        data = self.data
        if kind == 'boolean':
            return {b'\0': False, b'\1': True}[data]
        if kind in FORMATS:
            number = struct.unpack(FORMATS[kind], data)[0]
            return number if kind.startswith('float') else str(number)
        if kind == 'instant':
            return list(struct.unpack('>qi', data))
        if kind == 'uuid':
            return str(uuid.UUID(bytes=data))
        if kind == 'null' and data:
            raise ValueError('a body of null')
        return data if kind == 'bytes' else data.decode()

    def typed(self):
        kind = VALUES[self.take(1)[0]]
        return kind, self.value(kind)


def read(data):
    """Returns what write takes. Raises LookupError, ValueError or struct.error for what a reader has to refuse."""
    reader = Reader(data)
    version, flags = reader.take(2)
    if version != 0xf9 or flags & 0xe0:
        raise ValueError('unknown version or flags')
    envelope, fields = {}, reader.section() if flags & 0x10 else Reader(b'')
    while fields.data:
        tag, field = fields.take(1)[0], fields.section()
        if tag == 0x02:
            name, headers = field.section().data.decode(), envelope.setdefault('headers', [])
            if any(name == other for other, _ in headers):
                raise ValueError('a second header of the same name')
            headers.append((name, field.typed()))
        elif tag in MILLIS or tag in TEXTS:
            name = MILLIS.get(tag) or TEXTS[tag]
            value = field.data.decode() if tag in TEXTS else struct.unpack('>q', field.data)[0]
            if name in envelope or tag in MILLIS and value < 1:
                raise ValueError(name)
            envelope[name] = value
        elif tag >= 0x80:
            raise ValueError('an unknown field that must not be skipped')
    kind = BODIES[flags & 15]
    envelope['body'] = (kind, reader.value(kind)) if kind else reader.typed()
    return envelope


def partition_of(message_id, count):
    """A run that was redriven stays where its schedule is."""
    return binascii.crc_hqx(re.sub(r'(.)(@[0-9]{16})+$', r'\1', message_id).encode(), 0) % count


def tag_of(queue, partition, count):
    k = 0
    while True:
        tag = '%s{%d/%d.%d' % (queue, partition, count, k)
        slot = binascii.crc_hqx(tag.encode(), 0) % 16384
        if 16384 * (4 * partition + 1) <= 4 * count * slot < 16384 * (4 * partition + 3):
            return tag
        k += 1


def check_envelope(row):
    def value(typed):
        (kind, held), = typed.items()
        return kind, data(held) if kind == 'bytes' else held
    if 'refused' in row:
        try:
            found = read(data(row['envelope']))
        except (LookupError, ValueError, struct.error):
            return
        check('read', found, row['refused'])
    wanted = {name: row[name] for name in row if name not in ('envelope', 'written')}
    wanted['body'] = value(row['body'])
    if 'headers' in row:
        wanted['headers'] = [(name, value(typed)) for name, typed in row['headers']]
    check('read', read(data(row['envelope'])), wanted)
    check('written', write(wanted), data(row.get('written', row['envelope'])))


def check_row(row):
    if 'envelope' in row:
        check_envelope(row)
    if 'partitions' in row:
        if 'id' in row:
            check('partition', partition_of(row['id'], row['partitions']), row['partition'])
        check('tag', tag_of('orders', row['partition'], row['partitions']), row['tag'])
