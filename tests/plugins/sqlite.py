#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds a database of examples/sink-sqlite against the JSON of the same events, value by value, as SQLite's own command prints it.

    sqlite.py DATABASE JSON
"""
import json
import math
import struct
import subprocess
import sys


def ask(database, query):
    printed = subprocess.run(['sqlite3', '-readonly', '-json', database, query], check=True, capture_output=True).stdout
    return json.loads(printed.decode('utf-8', 'replace') or '[]')


def find(fields, path):
    """The value at a path of names, which may hold dots; None: it is not there."""
    if path in fields:
        return [fields[path]]
    parts = path.split('.')
    for i in range(len(parts) - 1, 0, -1):
        inner = fields.get('.'.join(parts[:i]))
        if isinstance(inner, dict):
            found = find(inner, '.'.join(parts[i:]))
            if found is not None:
                return found
    return None


def single(number):
    """As a float of 32 bits, of which JSON has no more digits than are needed."""
    return struct.pack('f', number) if abs(number) < 3e38 else number


def is_same(stored, printed):
    if isinstance(printed, dict):
        printed = printed.get('value')
    if isinstance(printed, bool):
        return stored == int(printed)
    if printed == 'NaN':
        return stored is None
    if printed in ('Infinity', '-Infinity'):
        return isinstance(stored, float) and math.isinf(stored) and (stored < 0) == printed.startswith('-')
    if isinstance(printed, float) and stored is not None:
        return math.isclose(stored, printed, rel_tol=1e-14) or single(stored) == single(printed)
    if isinstance(printed, int) and printed > 2**63 - 1:
        return stored == str(printed)
    return stored == printed and type(stored) is type(printed)


def check_row(row, fields, mistakes):
    compared = 0
    for column, stored in row.items():
        kind = row.get('type of ' + column)
        if kind in (None, 'blob') or column == 'number':
            continue
        found = find(fields, column)
        if found is None or isinstance(found[0], list):
            continue
        compared += 1
        if not is_same(stored, found[0]):
            mistakes.append(f'{column} of event {row["number"]}: {stored!r} for {found[0]!r}')
    return compared


def main():
    database, path = sys.argv[1:]
    with open(path, encoding='utf-8') as file:
        events = [line for line in map(json.loads, file) if 'event' in line]
    mistakes, compared, seen = [], 0, 0
    rows = ask(database, 'select * from events order by number')
    if [(row['event'], row['ns']) for row in rows] != [(event['event'], event.get('ts')) for event in events]:
        mistakes.append(f'{len(rows)} rows in events, {len(events)} events printed, or others')
    for table in ask(database, "select name from sqlite_master where type = 'table' and name not in ('events', 'losses')"):
        name = table['name'].replace('"', '""')
        columns = [column['name'].replace('"', '""') for column in ask(database, f'pragma table_info("{name}")')]
        types = ''.join(f', typeof("{column}") as "type of {column}"' for column in columns)
        for row in ask(database, f'select *{types} from "{name}"'):
            seen += 1
            compared += check_row(row, events[row['number'] - 1].get('fields', {}), mistakes)
    if seen != len(events):
        mistakes.append(f'{seen} rows in the tables of classes, {len(events)} events')
    for mistake in mistakes[:10]:
        print(mistake)
    print(f'{len(events)} events, {compared} values compared')
    return 1 if mistakes or not events or compared == 0 else 0


sys.exit(main())
