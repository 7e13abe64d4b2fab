#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo query --clickhouse: presets answer what the same presets answer about the traces in place.

    presets.py KYMO FOLDER      FOLDER has the traces one (make_trace.py) and random/* (with losses)
"""
import json
import subprocess
import sys
from pathlib import Path

from clickhouse import Server, case, convert

KYMO, FOLDER = sys.argv[1], Path(sys.argv[2])
ONE = FOLDER / 'one'
LOSSY = sorted((FOLDER / 'random').iterdir())[0]
SERVER = Server(FOLDER / 'presets').start()
URL = f'{SERVER.url}/k'


def run(*words):
    done = subprocess.run([KYMO, 'query', *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def rows(*words):
    status, printed, said = run('-q', '--format', 'json', *words)
    assert status in (0, 1) and not said, f'{words}: exit status {status}: {said}'
    return [json.loads(line) for line in printed.splitlines()]


def round_of(value):
    return round(value, 3) if isinstance(value, float) else json.loads(value) if isinstance(value, str) and value[:1] == '{' else \
        float(value) if isinstance(value, int) and abs(value) < 2**50 else value


def same(name, trace):
    """Equal in the columns that both have, in the same order up to ties; hosts and traces are numbered differently."""
    SERVER.new_database()
    status, said = convert(KYMO, [trace], URL)
    assert status in (0, 1), said
    here, there = rows(trace, '--preset', name), rows('--clickhouse', URL, '--preset', name)
    assert here, 'nothing to compare'
    columns = [column for column in here[0] if column in there[0] and column != 'trace']
    assert set(here[0]) - set(columns) <= {'trace'}, f'columns {list(there[0])}'
    ours, theirs = ([[round_of(row[column]) for column in columns] for row in each] for each in (here, there))
    assert sorted(map(str, ours)) == sorted(map(str, theirs)), f'{theirs[:3]}, not {ours[:3]}'
    key = {'top': 'count', 'latency': 'total_ns', 'gaps': 'silence_ns', 'drops': 'lost', 'slowest': 'duration_ns', 'threads': 'events'}[name]
    assert [row[key] for row in here] == [row[key] for row in there], 'another order'


def explained():
    status, printed, _ = run('--clickhouse', URL, '--preset', 'gaps', '--explain')
    assert status == 0 and printed.endswith(';\n')
    assert rows('--clickhouse', URL, printed) == rows('--clickhouse', URL, '--preset', 'gaps')
    assert printed != run('--preset', 'gaps', '--explain')[1]


def statements():
    SERVER.new_database()
    assert convert(KYMO, [ONE], URL)[0] == 0
    assert run('--clickhouse', URL, '--format', 'csv', "SELECT max(hash) AS most, 'a\\tb' AS tab, NULL AS none, 0.5 AS half FROM `net:rx`;")[:2] == \
        (0, 'most,tab,none,half\n18446744073709551615,a\tb,,0.5\n')
    assert run('--clickhouse', URL, 'SELECT host, count() AS events FROM events GROUP BY host') == (0, 'host  events\nbox     2000\n', '')
    assert run('--clickhouse', URL, 'SELECT 1 AS n WHERE 0')[1] == 'n\n'


def refusals():
    assert run('--clickhouse', URL, 'SELECT nothing FROM events') == (3, '', f'kymo query: {URL} refuses: Unknown identifier: nothing\n')
    assert run('--clickhouse', 'http://127.0.0.1:1/k', 'SELECT 1') == (3, '', "kymo query: http://127.0.0.1:1/k: Couldn't connect to server\n")
    assert run('--clickhouse', 'http://127.0.0.1:1', 'SELECT 1') == (2, '', 'kymo query: expected http://HOST:PORT/DATABASE, found "http://127.0.0.1:1"\n')
    assert run('--clickhouse', URL) == (2, '', 'kymo query: which statement? kymo query --clickhouse URL "SELECT ..."\n')
    assert run('--clickhouse', URL, str(ONE), 'SELECT 1') == (2, '', f'kymo query: --clickhouse asks about all traces on the server, not about {ONE}\n')


for preset in ('top', 'latency', 'gaps', 'slowest', 'threads'):
    case(f'the preset {preset}', same, preset, ONE)
case('the preset drops', same, 'drops', LOSSY)
case('a preset that is printed is the one that runs', explained)
case('statements', statements)
case('messages of kymo query', refusals)
SERVER.stop()
