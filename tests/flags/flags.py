#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds all outputs and filters against the rule of CTF 2 for flags: one is set if any bit of its ranges is 1.

    flags.py DIRECTORY      an empty one

One event for each value of a map of eight bits whose flags have one and several bits, and share some.
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

KYMO = os.environ['KYMO']
FLAGS = {'Earth': [[0, 0]], 'Mars': [[1, 2]], 'Venus': [[2, 2]], 'Outer': [[4, 5], [7, 7]], 'Pluto': [[5, 6]]}


def bits_of(ranges):
    return sum(1 << bit for low, high in ranges for bit in range(low, high + 1))


BITS = {name: bits_of(ranges) for name, ranges in FLAGS.items()}
FRAGMENTS = [
    {'type': 'preamble', 'version': 2},
    {'type': 'trace-class'},
    {'type': 'data-stream-class'},
    {'type': 'event-record-class', 'name': 'e', 'payload-field-class': {'type': 'structure', 'member-classes': [
        {'name': 'map', 'field-class': {'type': 'fixed-length-bit-map', 'length': 8, 'byte-order': 'little-endian', 'flags': FLAGS}},
        {'name': 'plain', 'field-class': {'type': 'fixed-length-bit-array', 'length': 16, 'byte-order': 'little-endian'}}]}},
]


def write_trace(path):
    path.mkdir()
    (path / 'metadata').write_text(''.join('\x1e' + json.dumps(fragment) + '\n' for fragment in FRAGMENTS), encoding='utf-8')
    (path / 'stream').write_bytes(b''.join(bytes([value, 57, 48]) for value in range(256)))


def cat(trace, *options):
    result = subprocess.run([KYMO, 'cat', *options, str(trace)], capture_output=True, check=False, encoding='utf-8')
    return result.stdout + result.stderr


def wanted(value):
    return {name for name, bits in BITS.items() if value & bits}


def of_text(trace):
    return [{word for word in re.search(r'map = (\S+),', line)[1].split('|') if word in BITS}
            for line in cat(trace, '-f', 'text').splitlines()]


def of_json(trace):
    lines = [json.loads(line)['fields'] for line in cat(trace, '-f', 'json').splitlines()]
    for number, fields in enumerate(lines):
        names = set(fields['map']['labels'])
        told = 0
        for name in names:
            told |= BITS[name]
        assert fields['map'].get('rest', 0) == number & ~told, fields
        assert fields['plain'] == 12345, fields
    return [set(fields['map']['labels']) for fields in lines]


def of_csv(trace):
    rows = csv.DictReader(io.StringIO(cat(trace, '-f', 'csv'), newline=''))
    return [{word for word in row['map.label'].split('|') if word in BITS} for row in rows]


def of_babeltrace2(trace):
    return [set(re.findall('"(.*?)"', line)) for line in cat(trace, '-f', 'babeltrace2').splitlines()]


def values(trace, expression):
    return {json.loads(line)['fields']['map']['value'] for line in cat(trace, '-f', 'json', '--filter', expression).splitlines()}


def main():
    trace = Path(sys.argv[1], 'trace')
    write_trace(trace)
    names = [wanted(value) for value in range(256)]
    for of in of_text, of_json, of_csv, of_babeltrace2:
        found = of(trace)
        differing = [value for value in range(256) if value >= len(found) or found[value] != names[value]]
        assert not differing, f'{of.__name__}: {len(differing)} of 256 values differ: {differing[:8]}'
    everything = set(range(256))
    for name, bits in BITS.items():
        is_set = {value for value in everything if value & bits}
        assert values(trace, f'map HAS ANY OF ("{name}")') == is_set, f'ANY of {name}'
        assert values(trace, f'map HAS NONE OF ("{name}")') == everything - is_set, f'NONE of {name}'
        assert values(trace, f'map HAS ALL OF ("{name}")') == {v for v in everything if v & bits == bits}, f'ALL of {name}'
    two = BITS['Mars'] | BITS['Pluto']
    assert values(trace, 'map HAS ALL OF ("Mars", "Pluto")') == {v for v in everything if v & two == two}
    assert values(trace, 'map HAS ANY OF ("Mars", "Pluto")') == {v for v in everything if v & two}


if __name__ == '__main__':
    main()
