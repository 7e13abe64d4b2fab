#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events of some classes, for which the others are dropped before merging, beside the same events of which SQLite tests the class: the same
rows in the same order, the same messages about damage and losses in the same order, the same exit code. Of sound, damaged and truncated
traces with the headers of most tracers, also of streams in which times go back.

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
    return bad > 0 or codes != {0, 1} or backs == 0


sys.exit(main())
