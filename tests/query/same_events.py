#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All events of any traces: the table of all events, and the tables of all classes, have what `kymo cat --format json` prints.

    same_events.py KYMO TRACE…
"""
import json
import subprocess
import sys
from collections import Counter

KYMO, TRACES = sys.argv[1], sys.argv[2:]


def run(*words):
    done = subprocess.run([KYMO, *words], stdout=subprocess.PIPE, check=False)
    assert done.returncode in (0, 1), f'{words}: exit status {done.returncode}'
    return [json.loads(line, object_pairs_hook=list) for line in done.stdout.decode().splitlines()]


def query(statement):
    return [tuple(value for _, value in row) for row in run('query', '-q', *TRACES, statement, '--format', 'json')]


def flat(value):
    return json.dumps(value)


lines = [dict(line) for line in run('cat', '-q', '--format', 'json', *TRACES)]
events = [line for line in lines if 'event' in line]
wanted = [(e.get('ts'), e['event'], e.get('thread'), e.get('tid'), e.get('cpu'), flat(e['fields'])) for e in events]
got = [(*row[:5], flat(row[5])) for row in query('SELECT ts, class, thread, tid, cpu, fields FROM events')]
for index, (one, other) in enumerate(zip(got, wanted)):
    assert one == other, f'event {index + 1}: {one}, not {other}'
assert len(got) == len(wanted), f'{len(got)} events, not {len(wanted)}'
counts = Counter(e['event'] for e in events if e['event'])
for name, count in counts.items():
    quoted = name.replace('"', '""')
    rows = query(f'SELECT fields, ts FROM "{quoted}"')
    assert rows == [(e['fields'], e.get('ts')) for e in events if e['event'] == name], f'the table {name}'
    assert len(query(f'SELECT * FROM "{quoted}"')) == count
assert sorted(query('SELECT class, count(*) FROM events GROUP BY class')) == sorted(Counter(e['event'] for e in events).items())
assert [row[0] for row in query('SELECT ts FROM events ORDER BY ts')] == sorted((e.get('ts') for e in events), key=lambda ts: -2**63 if ts is None else ts)
