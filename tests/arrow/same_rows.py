#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What npm's apache-arrow reads is what `kymo cat --format json` prints.

    same_rows.py KYMO READ.mjs OPTIONS TRACE…      OPTIONS: those of --to arrow, or -
"""
import json
import math
import struct
import subprocess
import sys
import tempfile
from collections import deque
from pathlib import Path

KYMO, READ, OPTIONS, TRACES = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
FIXED = ('ts', 'thread', 'tid', 'cpu', 'trace', 'message', 'context', 'event_context')


def lines_of(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, check=False)
    assert done.returncode in (0, 1), f'{words}: exit status {done.returncode}'
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def is_labelled(value):
    return isinstance(value, dict) and 'value' in value and set(value) <= {'value', 'label', 'labels', 'rest', 'symbol'}


def label_of(value):
    if 'label' in value:
        return value['label']
    return '|'.join(value.get('labels', []) + ([str(value['rest'])] if 'rest' in value else [])) or None


def same_number(one, other):
    if isinstance(other, bool) or isinstance(one, bool):
        return one is other
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    if 'NaN' in (one, other) or isinstance(one, str) or isinstance(other, str):
        return one == other
    one, other = float(one), float(other)
    if one == other:
        return math.copysign(1, one) == math.copysign(1, other)
    try:  # digits that are enough for 32 bits
        return struct.pack('<f', one) == struct.pack('<f', other)
    except OverflowError:
        return False


def same(wanted, got):
    if is_labelled(wanted) and isinstance(got, dict) and 'label' in got:  # an element of a list
        return same_members({'label': wanted}, got)
    if isinstance(wanted, dict) and isinstance(got, dict) and same_members(wanted, got):
        return True
    if isinstance(got, dict):  # a variant: one option is there
        there = {name: value for name, value in got.items() if value is not None}
        if is_labelled(wanted):
            return sorted(map(repr, there.values())) == sorted(repr(x) for x in (label_of(wanted), wanted['value']) if x is not None)
        return len(there) == 1 and same(wanted, next(iter(there.values()))) or (wanted is None and not there)
    if isinstance(wanted, list):
        return isinstance(got, list) and len(wanted) == len(got) and all(map(same, wanted, got))
    return wanted == got if isinstance(wanted, (str, type(None))) else same_number(wanted, got)


def same_members(wanted, got):
    left = dict(got)
    for name, value in wanted.items():
        if is_labelled(value) and f'{name}.value' in left:
            if left.pop(name, None) != label_of(value) or left.pop(f'{name}.value') != value['value']:
                return False
        else:
            own = name if name in left else f'{name}#2'  # the first one is the number of an enumeration
            if own not in left or not same(value, left.pop(own)):
                return False
    return not left


def check_row(event, row, where):
    for name in ('ts', 'thread', 'tid', 'cpu', 'message'):
        assert event.get(name) == row[name], f'{where}: {name} is {row[name]}, not {event.get(name)}'
    assert row['trace'] == event.get('trace', 0), f'{where}: the trace is {row["trace"]}'
    for name in ('context', 'event_context'):
        own = row.get(name) or {}
        shown = {key: value for key, value in own.items() if key.removesuffix('.value') in event.get(name, {})}
        assert same_members(event.get(name, {}), shown), f'{where}: {name} is {own}, not {event.get(name)}'
    fields = {name.removeprefix('fields.') if name.removeprefix('fields.') in FIXED else name: value for name, value in row.items() if name not in FIXED}
    assert same_members(event['fields'], fields), f'{where}:\n{fields}, not\n{event["fields"]}'


def read(*paths):
    """Of each file the head and the rows. One process reads all: its start takes longer than reading."""
    lines = deque(lines_of('node', READ, *paths))
    files = [(head := lines.popleft(), [lines.popleft() for _ in range(head['rows'])]) for _ in paths]
    assert not lines, f'{len(lines)} more lines'
    return files


def check_classes(events, folder):
    files = sorted(Path(folder).iterdir())
    left = {}
    for event in events:
        left.setdefault(event['event'], []).append(event)
    versions = {}
    for file, (_, rows) in zip(files, read(*files)):
        name = file.name.rsplit('.', 1)[0]
        versions.setdefault(name, []).extend(rows)
    by_name = {}
    for name, rows in versions.items():
        by_name.setdefault(name.split('#')[0], []).append(deque(rows))
    for name, own in left.items():
        lists = by_name.pop(name.replace('/', '_') or '_')
        for event in own:  # the versions of a class have a file each
            for rows in lists:
                try:
                    assert rows
                    check_row(event, rows[0], name)
                except (AssertionError, KeyError):
                    if len(lists) == 1:
                        raise
                    continue
                rows.popleft()
                break
            else:
                raise AssertionError(f'{name}: no file has {event}')
        assert not any(lists), f'{name}: there are more rows'
    assert not by_name, f'more files: {list(by_name)}'
    return len(files)


def check_events(events, path):
    head, rows = read(path)[0]
    assert len(rows) == len(events), f'{len(rows)} rows, not {len(events)}'
    for index, (event, row) in enumerate(zip(events, rows)):
        where = f'row {index + 1}'
        assert row['class'] == event['event'], where
        for name in ('ts', 'thread', 'tid', 'cpu', 'message'):
            assert event.get(name) == row[name], f'{where}: {name} is {row[name]}, not {event.get(name)}'
        assert json.loads(row['fields']) == event['fields'] or 'NaN' in row['fields'], f'{where}: {row["fields"]}'
    return head['batches']


with tempfile.TemporaryDirectory() as folder:
    out = Path(folder) / 'out'
    known = [line for line in lines_of(KYMO, 'cat', '-q', '--format', 'json', *TRACES) if 'event' in line]
    assert known
    form = 'arrow' if OPTIONS == '-' else f'arrow:{OPTIONS}'
    done = subprocess.run([KYMO, 'convert', '-q', '--to', form, '-o', out, *TRACES], check=False)
    assert done.returncode in (0, 1), f'exit status {done.returncode}'
    count = check_events(known, out) if 'events' in OPTIONS else check_classes(known, out)
    print(f'{len(known)} events, {count} {"batches" if "events" in OPTIONS else "files"}')
