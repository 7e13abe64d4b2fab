#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a CTF 2 trace for the tests of filters: two streams with packets, fields of every kind that filters distinguish.

    trace.py DIRECTORY [SEED [EVENTS]]     without a seed: the fixed trace of the golden files
"""
import json
import os
import random
import struct
import sys

RS = '\x1e'


def u(bits, **more):
    return {'type': 'fixed-length-unsigned-integer', 'length': bits, 'byte-order': 'little-endian', **more}


def i(bits, order='little-endian', **more):
    return {'type': 'fixed-length-signed-integer', 'length': bits, 'byte-order': order, **more}


def struct_of(**members):
    return {'type': 'structure', 'member-classes': [{'name': name, 'field-class': of} for name, of in members.items()]}


STATES = {'OPEN': [[1, 1]], 'HALF': [[2, 3]], 'SHUT': [[4, 4]]}
FLAGS = {'syn': [[0, 0]], 'ack': [[1, 1]], 'both': [[0, 1]], 'fin': [[4, 4]]}
TEXT = {'type': 'null-terminated-string'}
FLOAT = {'type': 'fixed-length-floating-point-number', 'length': 64, 'byte-order': 'little-endian'}
RX = struct_of(
    port=u(16), state=u(8, mappings=STATES),
    flags={'type': 'fixed-length-bit-map', 'length': 8, 'byte-order': 'little-endian', 'flags': FLAGS},
    iface=TEXT, ratio=FLOAT, where=struct_of(x=i(32), y=i(16, 'big-endian')),
    address={'type': 'static-length-blob', 'length': 4}, id={'type': 'static-length-blob', 'length': 16},
    n=u(8), sizes={'type': 'dynamic-length-array', 'length-field-location': {'path': ['n']}, 'element-field-class': u(16)},
    has=u(8), more={'type': 'optional', 'selector-field-location': {'path': ['has']}, 'selector-field-ranges': [[1, 255]],
                    'field-class': u(32)},
    kind=u(8), value={'type': 'variant', 'selector-field-location': {'path': ['kind']}, 'options': [
        {'name': 'number', 'selector-field-ranges': [[0, 0]], 'field-class': i(64)},
        {'name': 'words', 'selector-field-ranges': [[1, 255]], 'field-class': TEXT}]})
TX = struct_of(port=i(32), big=u(64), small=i(64), text=TEXT, pairs={
    'type': 'static-length-array', 'length': 2, 'element-field-class': struct_of(a=u(8), b=TEXT)})
CLASSES = [('net:rx', RX), ('net:tx', TX), ('job:begin', struct_of(id=u(32))), ('job:end', struct_of(id=u(32), code=i(8))),
           ('mark', struct_of())]


def metadata():
    yield {'type': 'preamble', 'version': 2}
    yield {'type': 'trace-class', 'packet-header-field-class': struct_of(
        magic=u(32, roles=['packet-magic-number']), stream=u(8, roles=['data-stream-id']))}
    yield {'type': 'clock-class', 'id': 'wall', 'frequency': 1000000000, 'origin': 'unix-epoch',
           'offset-from-origin': {'seconds': 1700000000, 'cycles': 0}}
    yield {'type': 'data-stream-class', 'default-clock-class-id': 'wall',
           'packet-context-field-class': struct_of(
               total=u(32, roles=['packet-total-length']), content=u(32, roles=['packet-content-length']),
               begin=u(64, roles=['default-clock-timestamp']), end=u(64, roles=['packet-end-default-clock-timestamp']),
               cpu_id=u(8)),
           'event-record-header-field-class': struct_of(
               id=u(8, roles=['event-record-class-id']), time=u(64, roles=['default-clock-timestamp'])),
           'event-record-common-context-field-class': struct_of(vtid=i(32), vpid=i(32))}
    for number, (name, payload) in enumerate(CLASSES):
        yield {'type': 'event-record-class', 'id': number, 'name': name, 'payload-field-class': payload}


def text(value):
    return value.encode() + b'\0'


def rx(rng):
    n, has, kind = rng.randrange(4), rng.choice([0, 0, 1, 7]), rng.choice([0, 1])
    body = struct.pack('<HBB', rng.choice([22, 53, 80, 443, 8080, 65535]), rng.randrange(6), rng.randrange(32))
    body += text(rng.choice(['eth0', 'eth1', 'lo', 'wlan0', '', 'é.example']))
    body += struct.pack('<d', rng.choice([0.0, -1.5, 0.1, 2.5, 1e300, float('nan')]))
    body += struct.pack('<i', rng.choice([-1, 0, 7, -2**31])) + struct.pack('>h', rng.choice([-3, 0, 9]))
    body += bytes(rng.choice([(192, 0, 2, 17), (10, 0, 0, 1), (10, 0, 1, 255)]))
    body += bytes.fromhex(rng.choice(['0123456789abcdef0123456789abcdef', 'ff' * 16]))
    body += struct.pack('<B', n) + b''.join(struct.pack('<H', rng.randrange(5)) for _ in range(n))
    body += struct.pack('<B', has) + (struct.pack('<I', rng.randrange(4)) if has else b'')
    body += struct.pack('<B', kind)
    return body + (struct.pack('<q', rng.choice([-5, 0, 3])) if kind == 0 else text(rng.choice(['abc', 'xyz'])))


def tx(rng):
    body = struct.pack('<iQq', rng.choice([-1, 53, 80]), rng.choice([0, 5, 2**63, 2**64 - 1]), rng.choice([-2**63, -7, 0, 7, 2**63 - 1]))
    body += text(rng.choice(['hello', 'hello world', 'HELLO', '']))
    return body + b''.join(struct.pack('<B', rng.randrange(4)) + text(rng.choice(['p', 'q'])) for _ in range(2))


def payload(rng, number):
    return [lambda: rx(rng), lambda: tx(rng), lambda: struct.pack('<I', rng.randrange(3)),
            lambda: struct.pack('<Ib', rng.randrange(3), rng.choice([-1, 0, 1])), lambda: b''][number]()


def write(directory, seed, count):
    rng = random.Random(seed)
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, 'metadata'), 'w', encoding='utf-8') as out:
        out.writelines(RS + json.dumps(fragment) + '\n' for fragment in metadata())
    times, now = [], 0
    for _ in range(count):
        now += rng.choice([0, 1, 5, 100, 1000, 1000000])
        times.append(now)
    streams = [[], []]
    for time in times:
        number = rng.choices(range(5), [8, 5, 3, 3, 1])[0]
        event = struct.pack('<BQii', number, time, rng.choice([11, 12, 13]), rng.choice([1, 2])) + payload(rng, number)
        streams[rng.randrange(2)].append((time, event))
    for index, events in enumerate(streams):
        with open(os.path.join(directory, f'stream_{index}'), 'wb') as out:
            for first in range(0, len(events), 50):
                part = events[first:first + 50]
                bits = 8 * (5 + 25 + sum(len(event) for _, event in part))
                out.write(struct.pack('<IB', 0xc1fc1fc1, index))
                out.write(struct.pack('<IIQQB', bits, bits, part[0][0], part[-1][0], index + 4))
                out.writelines(event for _, event in part)


if __name__ == '__main__':
    write(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7, int(sys.argv[3]) if len(sys.argv) > 3 else 40)
