#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a trace of CTF 2 whose fields have names of one kind and odd ones.

    odd_trace.py DIRECTORY
"""
import json
import sys
from pathlib import Path

U8 = {'type': 'fixed-length-unsigned-integer', 'length': 8, 'byte-order': 'little-endian'}
HIDDEN = {'attributes': {'kymo.hidden': True}}


def members(*fields):
    return {'type': 'structure', 'member-classes': [{'name': name, 'field-class': U8, **more} for name, more in fields]}


out = Path(sys.argv[1])
out.mkdir()
parts = [{'type': 'preamble', 'version': 2}, {'type': 'trace-class'}, {'type': 'data-stream-class'},
         {'type': 'event-record-class', 'name': 'odd', 'payload-field-class': members(('Len', {}), ('len', {}), ('len#2', {}), ('say "x"', {}),
                                                                                      ('count', HIDDEN))}]
(out / 'metadata').write_text(''.join('\x1e' + json.dumps(part) + '\n' for part in parts))
(out / 'stream').write_bytes(bytes([1, 2, 3, 4, 5]))
