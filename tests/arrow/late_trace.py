#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a trace of CTF 2 with more events than a batch has rows, of which the later ones have labels that the first ones lack.

    late_trace.py DIRECTORY
"""
import json
import sys
from pathlib import Path

U8 = {'type': 'fixed-length-unsigned-integer', 'length': 8, 'byte-order': 'little-endian'}
STATE = {**U8, 'mappings': {'EARLY': [[1, 1]], 'LATE': [[2, 2]], 'LAST': [[3, 3]]}}
FIELDS = [('state', STATE), ('list', {'type': 'static-length-array', 'length': 2, 'element-field-class': STATE})]
PARTS = [
    {'type': 'preamble', 'version': 2}, {'type': 'trace-class'}, {'type': 'data-stream-class'},
    {'type': 'event-record-class', 'name': 'step', 'payload-field-class': {
        'type': 'structure', 'member-classes': [{'name': name, 'field-class': of} for name, of in FIELDS]}}]

directory = Path(sys.argv[1])
directory.mkdir()
(directory / 'metadata').write_text(''.join('\x1e' + json.dumps(part) + '\n' for part in PARTS))
(directory / 'stream').write_bytes(bytes([1, 1, 1]) * 65600 + bytes([2, 1, 3, 9, 2, 2]) * 200)
