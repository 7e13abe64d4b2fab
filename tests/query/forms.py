#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each form of a statement beside a count of the same from `kymo cat --format json` by Python.

    forms.py KYMO TRACE…      traces of make_trace.py
"""
import json
import subprocess
import sys
from collections import Counter, defaultdict
from fractions import Fraction

import imported

KYMO, TRACES = sys.argv[1], sys.argv[2:]
EVENTS = imported.events_of(KYMO, TRACES)
RX = [event for event in EVENTS if event['event'] == 'net:rx']
ALLOC = [event for event in EVENTS if event['event'] == 'alloc']
FAILED = []


def query(*words):
    done = subprocess.run([KYMO, 'query', *TRACES, *words, '--format', 'json'], stdout=subprocess.PIPE, check=False)
    assert done.returncode == 0, f'{words}: exit status {done.returncode}'
    return [tuple(json.loads(line).values()) for line in done.stdout.decode().splitlines()]


def same(what, got, wanted):
    got, wanted = [tuple(row) for row in got], [tuple(row) for row in wanted]
    if got != wanted:
        FAILED.append(what)
        print(f'not ok {what}: {len(got)} rows, not {len(wanted)}: {[row for row in got if row not in wanted][:3]}, not {[row for row in wanted if row not in got][:3]}')
    else:
        print(f'ok {what}')


def percentile(values, wanted):
    """Between two integers, the nearest number to the exact one: no digits come from rounding on the way."""
    values, place = sorted(values), Fraction(str(wanted)) / 100 * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    exact = values[below] + (values[above] - values[below]) * (place - below)
    return int(exact) if exact.denominator == 1 else float(exact)


def spans():
    """Pairs, last in, first out, by thread; then what is left open."""
    opened, pairs = defaultdict(list), []
    for event in EVENTS:
        stack = opened[event['tid']]
        if event['event'] == 'work_begin':
            stack.append((event, len(stack)))
        elif event['event'] == 'work_end' and stack:
            begin, depth = stack.pop()
            pairs.append(('work', begin['ts'], event['ts'], event['ts'] - begin['ts'], event['tid'], depth, begin['fields'], 'complete'))
    left = sorted((begin['ts'], begin['tid'], depth, begin['fields']['job']) for stack in opened.values() for begin, depth in stack)
    return pairs, [('work', ts, None, None, tid, depth, {'job': job}, 'open') for ts, tid, depth, job in left]


def rows_of(event):
    return event['ts'], event['event'], event.get('thread'), event.get('tid'), event.get('cpu'), event.get('trace', 0), event['fields']


same('all events, with their fields', query('SELECT ts, class, thread, tid, cpu, trace, fields FROM events'), map(rows_of, EVENTS))
same('count(*)', query('SELECT count(*) FROM events'), [(len(EVENTS),)])
for name, count in sorted(Counter(event['event'] for event in EVENTS).items()):
    same(f'count(*) of {name}', query(f'SELECT count(*) FROM "{name}"'), [(count,)])
    same(f'count(*) where class = {name}', query(f"SELECT count(*) FROM events WHERE class = '{name}'"), [(count,)])
same('GROUP BY class', query('SELECT class, count(*) FROM events GROUP BY class'), sorted(Counter(event['event'] for event in EVENTS).items()))
same('GROUP BY class with other columns', query('SELECT class, min(ts), count(DISTINCT tid) FROM events GROUP BY class'),
     [(name, min(e['ts'] for e in EVENTS if e['event'] == name), len({e['tid'] for e in EVENTS if e['event'] == name}))
      for name in sorted({event['event'] for event in EVENTS})])
same('DISTINCT class', query('SELECT DISTINCT class FROM events'), [(name,) for name in sorted({event['event'] for event in EVENTS})])
same('ORDER BY ts', query('SELECT ts FROM events ORDER BY ts'), sorted((event['ts'],) for event in EVENTS))
same('ORDER BY ts DESC', query('SELECT ts FROM events ORDER BY ts DESC LIMIT 20'), sorted(((event['ts'],) for event in EVENTS), reverse=True)[:20])
middle = sorted(event['ts'] for event in EVENTS)[len(EVENTS) // 2]
for form, test in {'=': lambda ts: ts == middle, '<': lambda ts: ts < middle, '<=': lambda ts: ts <= middle, '>': lambda ts: ts > middle,
                   '>=': lambda ts: ts >= middle}.items():
    same(f'ts {form}', query(f'SELECT count(*) FROM events WHERE ts {form} {middle}'), [(sum(test(event['ts']) for event in EVENTS),)])
same('a window of time', query(f'SELECT class, count(*) FROM events WHERE ts BETWEEN {middle} AND {middle + 3000000} GROUP BY class'),
     sorted(Counter(event['event'] for event in EVENTS if middle <= event['ts'] <= middle + 3000000).items()))
for column, value in {'tid': 101, 'cpu': 1, 'trace': 0}.items():
    same(f'{column} =', query(f'SELECT count(*) FROM events WHERE {column} = {value}'), [(sum(event.get(column, 0) == value for event in EVENTS),)])
same('thread =', query("SELECT count(*) FROM events WHERE thread = 'worker 1'"), [(sum(event['thread'] == 'worker 1' for event in EVENTS),)])
same('process and pid', query("SELECT DISTINCT process, pid FROM events ORDER BY pid"), [('server', 4001 + i) for i in range(len(TRACES))])
same('a field', query('SELECT ts, len FROM "net:rx" WHERE len > 100'), [(e['ts'], e['fields']['len']) for e in RX if e['fields']['len'] > 100])
same('an enumeration', query('SELECT ts, state, "state.value" FROM "net:rx" WHERE state = \'HALF OPEN\''),
     [(e['ts'], e['fields']['state']['label'], e['fields']['state']['value']) for e in RX if e['fields']['state']['label'] == 'HALF OPEN'])
same('a value without a name', query('SELECT count(*) FROM "net:rx" WHERE state IS NULL'), [(sum(e['fields']['state']['label'] is None for e in RX),)])
same('a text', query("SELECT ts, iface FROM \"net:rx\" WHERE iface = 'it''s'"), [(e['ts'], e['fields']['iface']) for e in RX if e['fields']['iface'] == "it's"])
same('a nested field', query('SELECT ts, "where.x" FROM "net:rx" WHERE "where.x" < 0'), [(e['ts'], e['fields']['where']['x']) for e in RX if e['fields']['where']['x'] < 0])
same('a list as JSON', query('SELECT ts, lengths FROM "net:rx"'), [(e['ts'], e['fields']['lengths']) for e in RX])
same('elements of a list', query('SELECT sum(value) FROM "net:rx", json_each(lengths)'), [(sum(sum(e['fields']['lengths']) for e in RX),)])
same('a field that is called like a column', query('SELECT ts, "fields.ts" FROM "net:rx"'), [(e['ts'], e['fields']['ts']) for e in RX])
same('all 64 bits', query('SELECT hash FROM "net:rx"'), [(imported.number(e['fields']['hash']),) for e in RX])
same('the order of numbers of 64 bits', query('SELECT hash FROM "net:rx" ORDER BY hash'), [(imported.number(value),) for value in sorted(e['fields']['hash'] for e in RX)])
same('the largest number', query('SELECT max(hash) FROM "net:rx"'), [(imported.number(max(e['fields']['hash'] for e in RX)),)])
same('a number of 2^63 and more', query("SELECT count(*) FROM \"net:rx\" WHERE hash = '9223372036854775809'"), [(sum(e['fields']['hash'] == 2**63 + 1 for e in RX),)])
same('numbers from 2^63 on', query('SELECT count(*) FROM "net:rx" WHERE hash > 9223372036854775807'), [(sum(e['fields']['hash'] >= 2**63 for e in RX),)])
same('numbers in groups', query('SELECT size, count(*) FROM alloc GROUP BY size'), [(imported.number(size), count) for size, count in sorted(Counter(e['fields']['size'] for e in ALLOC).items())])
same('a floating-point number', query('SELECT ts, ratio FROM alloc WHERE ratio < 0'),
     [(e['ts'], imported.real(e['fields']['ratio'])) for e in ALLOC if (imported.real(e['fields']['ratio']) or 0) < 0])
same('what is no number', query('SELECT count(*) FROM alloc WHERE ratio IS NULL'), [(sum(e['fields']['ratio'] == 'NaN' for e in ALLOC),)])
same('percentile', query('SELECT percentile("left", 50), percentile(ratio, 0), percentile(ts, 100), percentile(ts, 0) FROM alloc'),
     [(percentile([e['fields']['left'] for e in ALLOC], 50), -1.25, max(e['ts'] for e in ALLOC), min(e['ts'] for e in ALLOC))])
times = [json.loads(line)['time'] for line in subprocess.run([KYMO, 'query', *TRACES, 'SELECT time FROM events', '--format', 'json'], stdout=subprocess.PIPE, check=True).stdout.splitlines()]
csv = subprocess.run([KYMO, 'cat', '-q', '--format', 'csv', *TRACES], stdout=subprocess.PIPE, check=True).stdout.decode()
same('times as texts', [(time,) for time in times], [(line.split(',')[1],) for line in csv.splitlines()[1:] if line.startswith('17')])
same('ns_to_text', query('SELECT ns_to_text(ts) FROM events'), [(time,) for time in times])
pairs, left = spans()
got = query('SELECT name, "begin", "end", duration, tid, depth, fields, state FROM spans')
same('spans', got[:len(pairs)], pairs)
same('spans without an end', sorted(got[len(pairs):], key=lambda row: (row[1], row[4], row[5])), left)
durations = [pair[3] for pair in pairs]
same('the preset latency', query('--preset', 'latency'), [('work', len(pairs), min(durations), percentile(durations, 50), percentile(durations, 90),
                                                         percentile(durations, 99), max(durations), sum(durations))])
by_job = {}
for event in EVENTS:
    if event['event'] == 'work_begin':
        by_job.setdefault(event['fields']['job'], []).append(event['ts'])
jobs = []
for event in EVENTS if len(TRACES) == 1 else []:
    if event['event'] == 'work_end' and event['fields']['job'] in by_job:
        jobs.append((event['fields']['job'], event['ts'] - by_job.pop(event['fields']['job'])[0]))
if jobs:
    same('spans by a key', query("SELECT key, duration FROM spans('job') WHERE state = 'complete' ORDER BY key"), sorted(jobs))
top = query('--preset', 'top')
same('the preset top', [row[:3] for row in top if row[0] == 'event'],
     [('event', name, count) for name, count in sorted(Counter(e['event'] for e in EVENTS).items(), key=lambda item: (-item[1], item[0]))])
same('… and its percentages', [(abs(row[3] - 100 * row[2] / len(EVENTS)) < 0.051,) for row in top if row[0] == 'event'], [(True,)] * len(set(e['event'] for e in EVENTS)))
same('… and its time', [row[1:] for row in top if row[0] == 'span'], [('work', len(pairs), 100.0, sum(durations))])
same('the preset slowest', [(row[1],) for row in query('--preset', 'slowest')], [(value,) for value in sorted(durations, reverse=True)[:20]])
threads = Counter((event.get('trace', 0), event['tid']) for event in EVENTS)
same('the preset threads', sorted((row[0], row[4], row[5]) for row in query('--preset', 'threads')), sorted((*thread, count) for thread, count in threads.items()))
gaps = {}
for thread in threads:
    own = [event['ts'] for event in EVENTS if (event.get('trace', 0), event['tid']) == thread]
    gaps[thread] = max(b - a for a, b in zip(own, own[1:]))
same('the preset gaps', sorted((row[0], row[2], row[3]) for row in query('--preset', 'gaps')), sorted((*thread, gap) for thread, gap in gaps.items()))
same('the preset drops', query('--preset', 'drops'), [])
sys.exit(bool(FAILED))
