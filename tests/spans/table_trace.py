#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a trace of spans, functions and calls of libc at known times: nested, recursive and overlapping ones, of two threads, one that
never ends and an end that never began.

    table_trace.py DIRECTORY [no-epoch]
"""
import json
import os
import struct
import sys

directory, has_epoch = sys.argv[1], 'no-epoch' not in sys.argv
os.makedirs(directory)


def integer(size, role=None, signed=False):
    field = {'type': f'fixed-length-{"" if signed else "un"}signed-integer', 'length': size, 'byte-order': 'little-endian', 'alignment': 8}
    return dict(field, roles=[role]) if role else field


def struct_of(**members):
    return {'type': 'structure', 'member-classes': [{'name': name, 'field-class': field} for name, field in members.items()]}


spans = ['http:request', 'db:query', 'db:a_name_of_a_span_that_is_much_longer_than_the_others', 'net:tls', 'ui:wait']
names = [f'{span}_{edge}' for span in spans for edge in ('begin', 'end')] + ['functions:enter', 'functions:exit', 'libc:write']
classes = []
for number, name in enumerate(names):
    class_ = {'type': 'event-record-class', 'id': number, 'data-stream-class-id': 0, 'name': name}
    if name.split('_')[-1] in ('begin', 'end'):
        class_['attributes'] = {'kymo.span': name.split('_')[-1]}
    if name.startswith('functions:'):
        class_['payload-field-class'] = struct_of(function=integer(64))
    if name == 'libc:write':
        class_['payload-field-class'] = struct_of(result=integer(64, signed=True), error=integer(32, signed=True), duration_ns=integer(64))
    classes.append(class_)
clock = {'type': 'clock-class', 'id': 'c', 'name': 'c', 'frequency': 1000000000, 'offset-from-origin': {'seconds': 1700000000 if has_epoch else 5}}
clock['origin'] = 'unix-epoch' if has_epoch else {'name': 'boot', 'uid': 'x'}
fragments = [
    {'type': 'preamble', 'version': 2},
    {'type': 'trace-class', 'packet-header-field-class': struct_of(magic=integer(32, 'packet-magic-number'), stream=integer(64, 'data-stream-class-id'))},
    clock,
    {'type': 'data-stream-class', 'id': 0, 'default-clock-class-id': 'c',
     'packet-context-field-class': struct_of(size=integer(64, 'packet-content-length'), whole=integer(64, 'packet-total-length'), tid=integer(32)),
     'event-record-header-field-class': struct_of(id=integer(16, 'event-record-class-id'), time=integer(64, 'default-clock-timestamp'))},
] + classes
with open(os.path.join(directory, 'metadata'), 'w', encoding='utf-8') as file:
    file.write(''.join('\x1e' + json.dumps(fragment) + '\n' for fragment in fragments))

US, MS, S = 1000, 1000000, 1000000000


def begin(name, time): return (time, f'{name}_begin', b'')
def end(name, time): return (time, f'{name}_end', b'')


def requests(first):
    for i in range(40):
        at = first + i * 7 * MS
        took = 400 * US + (37 * i * i % 101) * 11 * US + (1234567 if i == 23 else i)
        yield begin('http:request', at)
        yield begin('db:query', at + 20 * US)
        if i % 4 == 0:  # a query inside of a query
            yield begin('db:query', at + 30 * US)
            yield end('db:query', at + 90 * US + i)
        if i % 5 == 0:
            yield begin(spans[2], at + 95 * US)
            yield end(spans[2], at + 95 * US + 105)
        yield end('db:query', at + 120 * US + i)
        yield end('http:request', at + took)


def write(size, error, took): return struct.pack('<qiQ', -1 if error else size, error, took)


one = list(requests(1 * S))
one += [begin('net:tls', 2 * S), begin('ui:wait', 2 * S + 100), end('net:tls', 2 * S + 300), end('ui:wait', 2 * S + 90 * S),
        end('ui:wait', 2 * S + 91 * S), begin('ui:wait', 2 * S + 92 * S)]
two = list(requests(1 * S + 3 * MS))
calls = [('enter', 0x401000, 0), ('enter', 0x402000, 10), ('enter', 0x402000, 25), ('exit', 0x402000, 40), ('exit', 0x402000, 1500), ('exit', 0x401000, 2 * MS)]
two += [(3 * S + time, f'functions:{edge}', struct.pack('<Q', address)) for edge, address, time in calls]
two += [(4 * S, 'libc:write', write(100, 0, 1500)), (4 * S + 10, 'libc:write', write(0, 11, 200)), (4 * S + 20, 'libc:write', write(7, 0, 2 * MS))]
for tid, events in ((7, one), (8, two)):
    body = b''.join(struct.pack('<HQ', names.index(name), time) + payload for time, name, payload in events)
    bits = (12 + 20 + len(body)) * 8
    with open(os.path.join(directory, f'stream{tid}'), 'wb') as file:
        file.write(struct.pack('<IQQQI', 0xC1FC1FC1, 0, bits, bits, tid) + body)
