# SPDX-License-Identifier: MIT
"""compare.py CSV JSON DATABASE: whether the table has the values of the lines of JSON, and whether sqlite3,
which imported it as table t of DATABASE, has the same. Prints what differs."""
import csv
import json
import sqlite3
import sys

WHO = ('tid', 'vtid', 'thread_name', 'procname', 'comm', 'cpu_id', 'cpu')


def text_of(value):
    if value is None:
        return ''
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return value if isinstance(value, str) else str(value)


def same(cell, value):
    """A cell and a value of JSON; numbers by value, since there are many ways to write one."""
    if isinstance(value, list):
        return json.loads(cell) == value
    if isinstance(value, float):
        return float(cell) == value
    return cell == text_of(value)


def is_labelled(value):
    return 'value' in value and ('label' in value or 'labels' in value)


def flatten(into, name, value):
    if isinstance(value, dict) and is_labelled(value):
        into[name] = value['value']
        labels = value.get('label', None) if 'label' in value else \
            '|'.join(value['labels'] + [str(value['rest'])] * ('rest' in value)) or None
        into[f'{name}.label'] = labels
    elif isinstance(value, dict):
        for key, inner in value.items():
            flatten(into, f'{name}.{key}', inner)
    else:
        into[name] = value


def row_of(event):
    row = {key: event[key] for key in ('ts', 'event', 'tid', 'thread', 'cpu', 'trace') if key in event}
    collides = any(key in ('ts', 'time', 'event', 'tid', 'thread', 'cpu', 'trace') for key in event['fields'])
    for key, value in event['fields'].items():
        flatten(row, f'fields.{key}' if collides else key, value)
    for scope in ('context', 'event_context'):
        for key, value in event.get(scope, {}).items():
            flatten(row, f'{scope}.{key}', value)
    return row


def main(table, lines, database):
    csv.field_size_limit(1 << 30)
    with open(table, newline='', encoding='utf-8') as file:
        header, *rows = list(csv.reader(file, strict=True))
    events = [event for event in map(json.loads, open(lines, encoding='utf-8')) if 'event' in event]
    if len(set(header)) != len(header) or len(rows) != len(events):
        print(f'{len(rows)} rows, {len(events)} events, columns {header}')
    for number, (cells, event) in enumerate(zip(rows, events), 1):
        row, expected = dict(zip(header, cells)), row_of(event)
        if len(cells) != len(header):
            print(f'row {number} has {len(cells)} cells')
        for column, cell in row.items():
            value = expected.pop(column, None)
            if column == 'time' or column.split('.')[-1] in WHO and column.startswith('context.'):
                continue
            if not same(cell, value):
                print(f'row {number}, {column}: {cell!r} is not {value!r}')
        if expected:
            print(f'row {number} lacks {expected}')
    imported = sqlite3.connect(database).execute('select * from t order by rowid').fetchall()
    if imported != [tuple(row) for row in rows]:
        print('sqlite3 has other values')


main(*sys.argv[1:])
