#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pairs spans by a plain stack per thread and kind, from lines of JSON (kymo cat), and compares with rows of `kymo stat latency --by event`.

    check.py STATISTICS EVENTS KIND...
"""
import json
import sys

statistics, events, *kinds = sys.argv[1:]
rows = [json.loads(line) for line in open(statistics)]
found, stacks = {}, {}
for event in (json.loads(line) for line in open(events)):
    name, thread = event.get('event', ''), event.get('tid')
    for kind in kinds:
        if name == kind + '_begin':
            stacks.setdefault((thread, kind), []).append(event['ts'])
        elif name == kind + '_end':
            found.setdefault(name, []).append(event['ts'] - stacks[thread, kind].pop())
assert found and not any(stacks.values()), stacks
rows = {row['event']: row for row in rows if 'count' in row and row['event']}
assert rows.keys() == found.keys(), (rows.keys(), found.keys())
for name, times in found.items():
    row = rows[name]
    assert (row['count'], row['min'], row['max'], row['total']) == (len(times), min(times), max(times), sum(times)), (row, times)
