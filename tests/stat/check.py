#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Works out from lines of JSON (kymo cat --format json) what `kymo stat` has to say, event by event, and compares.

    check.py STATISTICS EVENTS latency|state|distance|counts [FROM TO]

STATISTICS is the JSON of kymo stat. Counts, sums and extremes are exact; means and deviations to 9 digits; percentiles are exact up to
4096 numbers, else within 0.4 %.
"""
import json
import math
import sys


def group_of(event):
    track = event.get('context', {}).get('track')
    if track is not None:
        return track['label'] if isinstance(track, dict) else str(track)
    name, tid = event.get('thread', ''), event.get('tid')
    return f'{name}/{tid}' if name and tid is not None else name or str(tid)


def times(events, kind, start, end):
    found, opened = {}, {}
    for event in events:
        name, group = event['event'], group_of(event)
        key = {'latency': group, 'state': 0, 'distance': name}[kind]
        begins, ends = (name == start, name == end) if kind == 'latency' else (name == start or kind == 'distance',) * 2
        if ends and opened.get(key):
            charged, begin = opened[key].pop()
            charged = charged if kind == 'state' else name if kind == 'distance' else group
            found.setdefault(charged, []).append(event['ts'] - begin)
        if begins:
            opened.setdefault(key, []).append((group, event['ts']))
    return found


def near(a, b, share):
    return abs(a - b) <= share * max(abs(a), abs(b)) + 1e-9


def check(row, values):
    values = sorted(values)
    count, mean = len(values), sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (count - 1)) if count > 1 else 0
    assert (row['count'], row['min'], row['max']) == (count, values[0], values[-1]), (row, count, values[0], values[-1])
    assert near(row['total'], sum(values), 1e-12) and near(row['mean'], mean, 1e-9), (row, mean)
    assert near(row['stdev'], deviation, 1e-6), (row, deviation)
    for name, share in (('p50', 500), ('p90', 900), ('p99', 990), ('p999', 999)):
        wanted = values[max(0, -(-count * share // 1000) - 1)]
        assert near(row[name], wanted, 0 if count <= 4096 else .004), (row, name, wanted)


def main():
    statistics, events, kind, *names = sys.argv[1:]
    rows = [json.loads(line) for line in open(statistics)]
    events = [event for event in map(json.loads, open(events)) if 'event' in event]
    by = 'event' if kind in ('distance', 'counts') else 'track'
    if kind == 'counts':
        wanted = {}
        for event in events:
            wanted[event['event']] = wanted.get(event['event'], 0) + 1
        assert {row[by]: row['count'] for row in rows if row[by] is not None} == wanted, rows
        moments = [event['ts'] for event in events]
        span, everything = max(moments) - min(moments), [row for row in rows if row[by] is None]
        assert [(row['count'], row['span']) for row in everything] == [(len(events), span)], everything
        for row in rows:  # over one span, or rates could not be compared
            assert math.isclose(row['rate'], row['count'] / span * 1e9), row
        return
    wanted = times(events, kind, *(names + [None, None])[:2])
    groups = {row[by]: row for row in rows if 'count' in row and row[by] is not None}
    assert groups.keys() == wanted.keys(), (groups.keys(), wanted.keys())
    for name, row in groups.items():
        check(row, wanted[name])
    everything = [row for row in rows if 'count' in row and row[by] is None]
    check(everything[0], [value for values in wanted.values() for value in values])
    longest = [row['longest'] for row in rows if 'longest' in row]
    assert longest == sorted((value for values in wanted.values() for value in values), reverse=True)[:len(longest)], longest
    for row in rows:
        if 'longest' in row:
            begin, end = (events[number - 1] for number in row['events'])
            assert end['ts'] - begin['ts'] == row['longest'] and begin['ts'] == row['begin'], row


main()
