#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces for tests/whole.

    traces.py DIRECTORY             CTF 2: same/NAME of equal and other identity, twice with fields of one name
    traces.py index FILE BYTES…     LTTng's index of packets of these sizes
    traces.py packet FILE           prints where the second packet of a stream of kymo ends
    traces.py last FILE             prints where its last packet begins
    traces.py without FILE FROM TO  takes out the packets from number FROM, counted from 0, up to before number TO
"""
import json
import struct
import sys
from pathlib import Path

BYTE = {'type': 'fixed-length-unsigned-integer', 'length': 8, 'byte-order': 'little-endian'}
STAMP = {'type': 'fixed-length-unsigned-integer', 'length': 64, 'byte-order': 'little-endian', 'roles': ['default-clock-timestamp']}


def structure(*members):
    return {'type': 'structure', 'member-classes': [{'name': name, 'field-class': kind} for name, kind in members]}


def write(path, fragments, data):
    path.mkdir(parents=True)
    (path / 'metadata').write_text(''.join('\x1e' + json.dumps(fragment) + '\n' for fragment in fragments), encoding='utf-8')
    (path / f'stream_of_{path.name}').write_bytes(data)


def write_identified(path, uid, clock, times):
    """Clocks count from origins of their own, so only their identity makes them comparable."""
    clock = {'type': 'clock-class', 'frequency': 10**9, 'origin': {'name': 'boot', 'uid': path.name}, **clock}
    write(path, [{'type': 'preamble', 'version': 2}, {'type': 'trace-class', 'namespace': 'n', 'name': 't', 'uid': uid}, clock,
                 {'type': 'data-stream-class', 'default-clock-class-id': clock['id'],
                  'event-record-header-field-class': structure(('ts', STAMP))},
                 {'type': 'event-record-class', 'name': 'e', 'payload-field-class': structure(('v', BYTE))}],
          b''.join(struct.pack('<QB', time, time) for time in times))


def write_all(top):
    ours = {'id': 'this-clock', 'namespace': 'n', 'name': 'm', 'uid': 'clock 1'}
    write_identified(top / 'same/a', 'trace 1', ours, [1, 3])
    write_identified(top / 'same/b', 'trace 1', ours, [2, 4])
    write_identified(top / 'same/clock', 'trace 2', ours, [5])
    write_identified(top / 'same/other', 'trace 2', {'id': 'other-clock'}, [5])
    names = ['a', 'b', 'a', 'a', 'a#2']
    write(top / 'twice', [{'type': 'preamble', 'version': 2}, {'type': 'trace-class'}, {'type': 'data-stream-class'},
                          {'type': 'event-record-class', 'name': 'e', 'payload-field-class': structure(*((name, BYTE) for name in names))}],
          bytes([1, 2, 3, 4, 5]))


def write_index(path, sizes):
    data, at = struct.pack('>4I', 0xc1f1dcc1, 1, 1, 72), 0
    for size in sizes:
        data += struct.pack('>9Q', at, size * 8, size * 8, 0, 0, 0, 0, 0, 0)
        at += size
    Path(path).write_bytes(data)


def second_packet(path):
    """Packets of kymo begin with magic number and uuid."""
    data = Path(path).read_bytes()
    head = data[:20]
    return data.index(head, data.index(head, 20) + 20)


def places(data):
    """Where the packets of a stream of kymo begin; each has its size in bits."""
    at = 0
    while at < len(data):
        yield at
        at += struct.unpack_from('=Q', data, at + 56)[0] // 8


def without(path, first, end):
    data = Path(path).read_bytes()
    starts = [*places(data), len(data)]
    Path(path).write_bytes(data[:starts[first]] + data[starts[end]:])


def main():
    if sys.argv[1] == 'index':
        write_index(sys.argv[2], [int(size) for size in sys.argv[3:]])
    elif sys.argv[1] == 'packet':
        print(second_packet(sys.argv[2]))
    elif sys.argv[1] == 'last':
        print([*places(Path(sys.argv[2]).read_bytes())][-1])
    elif sys.argv[1] == 'without':
        without(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        write_all(Path(sys.argv[1]))


if __name__ == '__main__':
    main()
