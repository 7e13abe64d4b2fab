#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rows in ClickHouse beside what `kymo cat --format json` prints, and beside the tables of kymo query.

    same_rows.py KYMO FOLDER      FOLDER has the traces one, two (make_trace.py) and random/*
"""
import json
import math
import re
import subprocess
import sys
from pathlib import Path

from clickhouse import Server, case, check_once, convert, events_of, expected, multiset, summary

KYMO, FOLDER = sys.argv[1], Path(sys.argv[2])
ONE, TWO = FOLDER / 'one', FOLDER / 'two'
SERVER = Server(FOLDER / 'server').start()


def text(value):
    return json.dumps(value, separators=(',', ':'))


# What the columns of a class are, by the fields of an event.
COLUMNS = {
    'net:rx': (['port', 'len', 'hash', 'state', 'state.value', 'iface', 'where.x', 'where.y', 'count', 'lengths', 'fields.ts'],
               lambda f: [f['port'], f['len'], f['hash'], f['state']['label'], f['state']['value'], f['iface'], f['where']['x'], f['where']['y'],
                          f['count'], text(f['lengths']), f['ts']]),
    'alloc': (['size', 'ratio', 'left', 'who'], lambda f: [f['size'], real(f['ratio']), f['left'], f['who']]),
    'work_begin': (['job'], lambda f: [f['job']]),
    'work_end': (['job', 'result'], lambda f: [f['job'], f['result']]),
}


def real(value):
    value = {'NaN': 'nan', 'Infinity': 'inf', '-Infinity': '-inf', 'nan': 'nan', 'inf': 'inf', '-inf': '-inf'}.get(value, value)
    return value if isinstance(value, str) else float(value)


def send(*traces, words=()):
    status, said = convert(KYMO, traces, f'{SERVER.url}/k', *words)
    assert (status, said) == (0, ''), f'exit status {status}: {said}'


def fields_equal():
    SERVER.new_database()
    send(ONE, TWO)
    events = events_of(KYMO, [ONE, TWO])
    for name, (columns, values) in COLUMNS.items():
        names = ['ts', 'thread', 'tid', 'cpu', 'host', 'process', *columns]
        got = [[row[column] for column in names] for row in SERVER.rows(f"SELECT {', '.join(f'`{column}`' for column in names)} FROM `{name}`")]
        if name == 'alloc':
            got = [[real(value) if index == 7 else value for index, value in enumerate(row)] for row in got]
        wanted = [[e['ts'], e['thread'], e['tid'], e['cpu'], 'box', 'server', *values(e['fields'])] for e in events if e['event'] == name]
        assert wanted and multiset(got) == multiset(wanted), f'{name}: {list((multiset(got) - multiset(wanted)))[:2]}, not {list((multiset(wanted) - multiset(got)))[:2]}'
    check_once(SERVER, expected(KYMO, ONE, TWO))


def known_by_trace():
    rows = SERVER.rows('SELECT DISTINCT toString(trace) AS trace, pid FROM events ORDER BY pid')
    uuid = [bytes((seed * 7 + i) % 256 for i in range(16)).hex() for seed in (1, 2)]
    assert [(row['trace'].replace('-', ''), row['pid']) for row in rows] == [(uuid[0], 4001), (uuid[1], 4002)], rows
    rows = SERVER.rows('SELECT stream, packet, max(seq) AS last FROM events WHERE pid = 4001 GROUP BY stream, packet ORDER BY stream, packet')
    assert {row['stream'] for row in rows} == {0, 1, 2, 3} and all(row['last'] == 49 for row in rows if {**row, 'packet': row['packet'] + 1, 'last': 0}['packet'] in
                                                                  {other['packet'] for other in rows if other['stream'] == row['stream']}), rows[:5]


def spans_equal():
    done = subprocess.run([KYMO, 'query', '-q', ONE, '--format', 'json', 'SELECT name, begin, end, duration, thread, tid, fields, depth, state FROM spans'],
                          stdout=subprocess.PIPE, check=True)
    wanted = multiset(json.loads(line) for line in done.stdout.decode().splitlines())
    rows = SERVER.rows("SELECT name, begin, end, duration, thread, tid, fields, depth, state FROM spans WHERE process = 'server' AND trace = '0708090a-0b0c-0d0e-0f10-111213141516'")
    got = multiset({**row, 'fields': json.loads(row['fields'])} for row in rows)
    assert wanted and got == wanted, f'{list(got - wanted)[:2]}, not {list(wanted - got)[:2]}'


def again_changes_nothing():
    before = SERVER.rows("SELECT name FROM system.parts WHERE database = 'k' AND active")
    send(TWO)
    send(ONE)
    send(ONE, TWO, words=['--jobs', '3'])
    assert SERVER.rows("SELECT name FROM system.parts WHERE database = 'k' AND active") == before
    check_once(SERVER, expected(KYMO, ONE, TWO))


def chosen_then_all():
    SERVER.new_database()
    send(ONE, words=['--event', 'net'])
    assert SERVER.rows('SELECT DISTINCT class FROM events') == [{'class': 'net:rx'}]
    send(ONE)
    check_once(SERVER, expected(KYMO, ONE))


def random_traces(trace):
    """All columns of all tables, beside those of kymo query, which has no unsigned integers and no NaN."""
    SERVER.new_database()
    status, said = convert(KYMO, [trace], f'{SERVER.url}/k')
    assert status in (0, 1), said
    check_once(SERVER, summary((e['event'] or '', e['ts'] if e.get('ts') is not None else -2**63) for e in events_of(KYMO, [trace])))
    for row in SERVER.rows("SELECT table, groupArray(name) AS names FROM system.columns WHERE database = 'k' GROUP BY table"):
        if row['table'] in ('events', 'spans', 'losses'):
            continue
        names = row['names'][row['names'].index('cpu') + 1:]
        quoted = [name.replace('`', '``') for name in names]
        if not names or any('\\' in name or '`' in name or '"' in name for name in names):
            continue
        done = subprocess.run([KYMO, 'query', '-q', trace, '--format', 'json', f"SELECT {', '.join(chr(34) + n + chr(34) for n in quoted)} FROM \"{row['table']}\""],
                              stdout=subprocess.PIPE, check=False)
        ours = multiset(comparable(json.loads(line)) for line in done.stdout.decode().splitlines())
        theirs = multiset(comparable({n: r[n] for n in names}) for r in SERVER.rows(f"SELECT {', '.join(f'`{n}`' for n in quoted)} FROM `{row['table']}`"))
        assert ours == theirs, f"{row['table']}: {list(theirs - ours)[:2]}, not {list(ours - theirs)[:2]}"


def plain(value):
    """Numbers that are equal are equal texts, also in lists that one side has as a text."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if value in ('nan', '-nan') or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return {'inf': 'Infinity', '-inf': '-Infinity'}.get(value, re.sub(r'^(-?\d+)\.0$', r'\1', value))
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return value if value is None else str(value)


def comparable(row):
    out = []
    for value in row.values():
        if isinstance(value, str) and value[:1] in ('[', '{'):
            try:
                value = json.loads(value)
            except ValueError:  # a text that looks like a list
                pass
        out.append(plain(value))
    return out


def versions():
    """A field of another type has a column of its own, a new field a new one."""
    SERVER.new_database()
    SERVER.ask('CREATE TABLE `work_begin` (host String, trace UUID, piece UInt64, batch UInt32, digest UInt64, day Date, process Nullable(String), class String, stream UInt64, '
               'packet UInt64, seq UInt64, ts Int64, clock_error_ns Nullable(UInt64), level Nullable(Int64), pid Nullable(Int64), thread Nullable(String), tid Nullable(Int64), '
               'cpu Nullable(UInt64), job Nullable(String)) ENGINE = MergeTree() PARTITION BY day ORDER BY (trace, stream, ts, packet, seq)', 'k')
    send(ONE)
    jobs = sorted(e['fields']['job'] for e in events_of(KYMO, [ONE]) if e['event'] == 'work_begin')
    assert [row['j'] for row in SERVER.rows('SELECT `job:Int64` AS j FROM work_begin WHERE job IS NULL ORDER BY j')] == jobs


case('fields of two traces', fields_equal)
case('host, trace, stream and packet', known_by_trace)
case('spans', spans_equal)
case('sending again changes nothing', again_changes_nothing)
case('some classes, then all', chosen_then_all)
case('a column of another type', versions)
for path in sorted((FOLDER / 'random').iterdir()):
    case(f'all columns of random/{path.name}', random_traces, path)
SERVER.stop()
