#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A database file has what the virtual tables have: the same tables, columns, types, and values in the same order. What the file
needs to be read is Python's SQLite alone.

    same_tables.py KYMO FILE TRACE…
"""
import json
import sqlite3
import subprocess
import sys
from collections import Counter

KYMO, FILE, TRACES = sys.argv[1], sys.argv[2], sys.argv[3:]


def run(*words):
    done = subprocess.run([KYMO, *words], stdout=subprocess.PIPE, check=False)
    assert done.returncode in (0, 1), f'{words}: exit status {done.returncode}'
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def query(statement):
    return run('query', '-q', *TRACES, statement, '--format', 'json')


def quote(name):
    return '"' + name.replace('"', '""') + '"'


def plain(value, kind):
    """As `kymo query --format json` prints a value of a column that was declared so."""
    if isinstance(value, bytes):
        return value.hex()
    if kind == 'JSON_TEXT' and value is not None:
        return json.loads(value)
    if value == 0 and kind == 'REAL':
        return 0.0  # SQLite stores -0.0 so
    return {float('inf'): 'Infinity', float('-inf'): '-Infinity'}.get(value, value) if isinstance(value, float) else value


db = sqlite3.connect(f'file:{FILE}?mode=ro', uri=True)
assert db.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
tables = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'")]
events = [line for line in run('cat', '-q', '--format', 'json', *TRACES) if 'event' in line]
counts = Counter(event['event'] for event in events)
cells = 0
for table in tables:
    own = table[1:] if table.startswith('_sqlite_') else table
    name = own.replace("'", "''")
    info = query(f"SELECT name, type, hidden FROM pragma_table_xinfo('{name}') WHERE name <> 'by'")
    wanted = [(row['name'], row['type']) for row in sorted(info, key=lambda row: row['hidden'])]
    columns = [(row[1], row[2].replace(' GENERATED ALWAYS', '')) for row in db.execute(f'PRAGMA table_xinfo({quote(table)})')]
    assert columns == wanted, f'{table}: {columns}, not {wanted}'
    names = ', '.join(quote(column) for column, _ in columns)
    got = [[plain(value, kind) for value, (_, kind) in zip(row, columns)] for row in db.execute(f'SELECT {names} FROM {quote(table)}')]
    rows = [[0.0 if value == 0 and kind == 'REAL' else value for value, (_, kind) in zip(row.values(), columns)]
            for row in query(f'SELECT {names} FROM {quote(own)}')]
    for index, (one, other) in enumerate(zip(got, rows)):
        assert repr(one) == repr(other), f'{table}, row {index + 1}:\n{one}, not\n{other}'
    assert len(got) == len(rows), f'{table}: {len(got)} rows, not {len(rows)}'
    cells += len(got) * len(columns)
assert db.execute('SELECT count(*) FROM events').fetchone() == (len(events),)
assert dict(db.execute('SELECT class, count(*) FROM events GROUP BY class')) == counts
for name, count in counts.items():
    found = [db.execute(f'SELECT count(*) FROM {quote(table)} WHERE class = ?', [name]).fetchone()[0]
             for table in tables if table not in ('events', 'spans', 'losses')]
    assert sorted(found)[-1:] == ([count] if name else [0]) and sum(found) == (count if name else 0), f'{name}: {found}, not {count}'
assert cells > 0
print(f'{len(tables)} tables, {cells} values')
