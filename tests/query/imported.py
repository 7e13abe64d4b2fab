# SPDX-License-Identifier: MIT
"""The events of traces as tables of Python's SQLite, made from `kymo cat --format json`: what the virtual tables are
compared with. Nothing of src/query takes part."""
import json
import sqlite3
import subprocess

LIMIT = 2**63 - 1


def events_of(kymo, traces):
    done = subprocess.run([kymo, 'cat', '-q', '--format', 'json', *traces], stdout=subprocess.PIPE, check=False)
    assert done.returncode in (0, 1), done.returncode
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    return [line for line in lines if 'event' in line]


def number(value):
    """As the virtual tables have it: numbers of 2^63 and more are texts."""
    return str(value) if isinstance(value, int) and value > LIMIT else value


def real(value):
    return {'NaN': None, 'Infinity': float('inf'), '-Infinity': float('-inf')}[value] if isinstance(value, str) else float(value)


def order(a, b):
    """The collation of such texts."""
    a, b = ((0 if text.isdigit() else 1, len(text) if text.isdigit() else 0, text) for text in (a, b))
    return (a > b) - (a < b)


def common(event):
    return [event['ts'], event.get('thread'), event.get('tid'), event.get('cpu')]


COMMON = 'ts INTEGER, thread TEXT, tid INTEGER, cpu INTEGER'
TABLES = {
    'net:rx': (f'{COMMON}, port INTEGER, len INTEGER, hash COLLATE kymo_number, state TEXT, "state.value" INTEGER, '
               'iface TEXT, "where.x" INTEGER, "where.y" INTEGER, count INTEGER, lengths TEXT, "fields.ts" INTEGER',
               lambda f: [f['port'], f['len'], number(f['hash']), f['state']['label'], f['state']['value'], f['iface'],
                          f['where']['x'], f['where']['y'], f['count'], json.dumps(f['lengths'], separators=(',', ':')), f['ts']]),
    'alloc': (f'{COMMON}, size COLLATE kymo_number, ratio REAL, "left" INTEGER, who TEXT',
              lambda f: [number(f['size']), real(f['ratio']), f['left'], f['who']]),
    'work_begin': (f'{COMMON}, job INTEGER', lambda f: [f['job']]),
    'work_end': (f'{COMMON}, job INTEGER, result INTEGER', lambda f: [f['job'], f['result']]),
}


def open_file(path):
    db = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
    db.create_collation('kymo_number', order)
    return db


def database(kymo, traces):
    db = sqlite3.connect(':memory:')
    db.create_collation('kymo_number', order)
    db.execute(f'CREATE TABLE events({COMMON}, class TEXT, "group" TEXT, trace INTEGER, fields TEXT)')
    for name, (columns, _) in TABLES.items():
        db.execute(f'CREATE TABLE "{name}"({columns})')
    for event in events_of(kymo, traces):
        name, fields = event['event'], event['fields']
        group = name.split(':')[0] if ':' in name else ''
        db.execute('INSERT INTO events VALUES(?,?,?,?,?,?,?,?)', [*common(event), name, group, event.get('trace', 0), json.dumps(fields)])
        row = common(event) + TABLES[name][1](fields)
        db.execute(f'INSERT INTO "{name}" VALUES({",".join("?" * len(row))})', row)
    return db
