#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a trace of CTF 2 with names that SQLite does not distinguish, that it needs in quotes, that it keeps for itself, and that its
own columns and tables have; and a version of a class.

    names_trace.py DIRECTORY
"""
import json
import sys
from pathlib import Path

U8 = {'type': 'fixed-length-unsigned-integer', 'length': 8, 'byte-order': 'little-endian'}
STATE = {**U8, 'mappings': {'ON': [[1, 1]]}}


def members(*fields):
    return {'type': 'structure', 'member-classes': [{'name': name, 'field-class': of} for name, of in fields]}


CLASSES = [
    (0, 'One', [('Len', U8), ('len', U8), ('CLASS', U8), ('say "x"', U8)]),
    (1, 'one', [('a', members(('b', U8))), ('a.b', U8)]),
    (2, 'events', [('s', STATE), ('s.value', U8)]),
    (3, 'two', [('x', U8)]),
    (4, 'two', [('x', STATE), ('y', U8)]),
    (5, 'json_each', [('z', U8)]),
    (6, 'sqlite_stat1', [('z', U8)]),
]
PARTS = [
    {'type': 'preamble', 'version': 2}, {'type': 'trace-class'},
    {'type': 'data-stream-class', 'event-record-header-field-class': members(('id', {**U8, 'roles': ['event-record-class-id']}))},
    *({'type': 'event-record-class', 'id': number, 'name': name, 'payload-field-class': members(*fields)} for number, name, fields in CLASSES)]

directory = Path(sys.argv[1])
directory.mkdir()
(directory / 'metadata').write_text(''.join('\x1e' + json.dumps(part) + '\n' for part in PARTS))
(directory / 'stream').write_bytes(bytes([0, 1, 2, 3, 4, 1, 5, 6, 2, 1, 8, 3, 9, 4, 1, 7, 5, 10, 6, 11]))
