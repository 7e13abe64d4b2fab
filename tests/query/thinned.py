#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events of some classes, for which the others are dropped before merging, beside the same events of which SQLite tests the class: the same
rows in the same order, the same messages about damage and losses in the same order, the same exit code. Of sound, damaged and truncated
traces with the headers of most tracers, also of streams in which times go back. What is corrupt long after a window of time is not met.

    thinned.py KYMO SEEDS
"""
import random
import subprocess
import sys
from pathlib import Path

import counted

CHOICES = [["none"], ["two"], ["text", "texts"], ["list", "none", "two"]]
REST = ['', ' LIMIT 3', ' ORDER BY ts']


def answer(kymo, column, names, rest):
    names = ', '.join(f"'{name}'" for name in names)
    statement = f'SELECT ts, class, fields FROM events WHERE {column} IN ({names}){rest}'
    done = subprocess.run([kymo, 'query', 'thinned', statement, '--format', 'csv'], capture_output=True, check=False)
    return done.stdout, done.stderr, done.returncode


def goes_back(rows):
    times = [int(row.split(b',')[0]) for row in rows.splitlines()[1:] if row[:1].isdigit()]
    return times != sorted(times)


def ends_early(kymo):
    """The window ends after the seventh of a thousand events, the last one that is wanted; at the end, a stream is corrupt."""
    counted.begin_trace(Path('thinned'), 'large')
    for stream in 0, 1:
        kinds = [0 if i % 3 == 0 and i < 7 else 1 for i in range(1000)] + [77] * (stream == 0)
        events = (counted.header('large', kind, 1000 + 10 * i, True) + (b'12345' if kind == 1 else b'') for i, kind in enumerate(kinds))
        Path(f'thinned/stream_{stream}').write_bytes(counted.packet(stream, 0, (1000, 11010), b''.join(events)))
    for column in 'class', "class || ''":
        rows, said, code = answer(kymo, column, ['none'], ' AND ts <= 1700000000000001060')
        if (rows.count(b'\n'), said, code) != (7, b'', 0):
            print(f'a window before what is corrupt, by {column}: {rows}, {said}, {code}')
            return False
    return True


def main():
    kymo, seeds, bad, codes, backs = sys.argv[1], int(sys.argv[2]), 0, set(), 0
    for seed in range(seeds):
        for kind in counted.HEADERS:
            r = random.Random(f'thinned {seed} {kind}')
            counted.write(Path('thinned'), kind, r, r.random() < 0.5)
            for rest in REST:
                names = r.choice(CHOICES)
                one, other = (answer(kymo, column, names, rest) for column in ('class', "class || ''"))
                codes.add(one[2])
                backs += not rest and goes_back(one[0])
                if one != other:
                    bad += 1
                    print(f'seed {seed}, {kind}, {names}{rest}:', *(f'{a} is thinned, {b} is whole' for a, b in zip(one, other) if a != b), sep='\n  ')
    if backs == 0:
        print('no times that go back')
    return not ends_early(kymo) or bad > 0 or codes != {0, 1} or backs == 0


sys.exit(main())
