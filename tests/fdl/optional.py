#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a CTF 2 trace with three events: a list that is absent, empty, of two elements.

    optional.py DIRECTORY
"""
import json
import os
import sys


def number(kind):
    return {'type': kind, 'length': 8, 'byte-order': 'little-endian'}


def at(name):
    return {'origin': 'event-record-payload', 'path': [name]}


LIST = {'type': 'dynamic-length-array', 'element-field-class': number('fixed-length-unsigned-integer'), 'length-field-location': at('n')}
FIELDS = {'n': number('fixed-length-unsigned-integer'), 'has': number('fixed-length-boolean'),
          'list': {'type': 'optional', 'selector-field-location': at('has'), 'field-class': LIST}}
PAYLOAD = {'type': 'structure', 'member-classes': [{'name': name, 'field-class': of} for name, of in FIELDS.items()]}
FRAGMENTS = [{'type': 'preamble', 'version': 2}, {'type': 'trace-class'}, {'type': 'data-stream-class'},
             {'type': 'event-record-class', 'name': 'e', 'payload-field-class': PAYLOAD}]
os.makedirs(sys.argv[1])
with open(f'{sys.argv[1]}/metadata', 'w') as file:
    file.writelines('\x1e' + json.dumps(fragment) + '\n' for fragment in FRAGMENTS)
with open(f'{sys.argv[1]}/stream', 'wb') as file:
    file.write(bytes([0, 0, 0, 1, 2, 1, 7, 8]))
