#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py WHAT TRACE [PROTO]: compares TRACE.WHAT with what kymo cat prints of TRACE.

Spans are paired here once more: an end belongs to the latest open begin of its name in its thread.
"""
import collections
import json
import os
import re
import subprocess
import sys

KYMO = os.environ['KYMO']


def same(name, got, wanted):
    if got == wanted:
        print(f'ok {name}')
        return
    print(f'    got    {str(got)[:1500]}\n    wanted {str(wanted)[:1500]}\nnot ok {name}: they differ')


def events_of(trace):
    said = subprocess.run([KYMO, 'cat', '-f', 'json', trace], capture_output=True, check=False).stdout.decode()
    return [json.loads(line) for line in said.splitlines() if '"event":' in line]


def edge_of(event):
    """The name of its kind of spans, and whether it begins one."""
    found = re.fullmatch(r'(.*)_(begin|end)', event['event'])
    return (found[1], found[2] == 'begin') if found else (None, False)


def pair(events):
    """Spans as (thread, name, begin, end, fields of the begin), those that stay open, and instants."""
    open_, spans, instants = collections.defaultdict(list), [], []
    for event in events:
        name, begins = edge_of(event)
        if name is None:
            instants.append((event['tid'], event['event'], event['ts'], arguments_of(event)))
        elif begins:
            open_[event['tid'], name].append(event)
        else:
            first = open_[event['tid'], name].pop()
            spans.append((event['tid'], name, first['ts'], event['ts'], arguments_of(first)))
    left = [(tid, name, event['ts']) for (tid, name), events in open_.items() for event in events]
    return sorted(spans, key=str), sorted(left), instants


def arguments_of(event):
    return ({'message': event['message']} if 'message' in event else {}) | event['fields']


# ---- slices of a viewer ----

class Rows:
    """Puts slices together again: `goes on` ends one part and begins the next one."""

    def __init__(self):
        self.open, self.spans, self.instants, self.broken, self.apart, self.faults = collections.defaultdict(list), [], [], 0, set(), []

    def begin(self, row, tid, name, time, arguments, is_apart):
        if is_apart:
            self.apart.add(name)
        if arguments.pop('goes on', False):
            earlier = self.paused[name].pop()
            self.open[row].append((name, *earlier))
            return
        self.open[row].append((name, time, arguments))

    def end(self, row, tid, name, time, arguments):
        if not self.open[row] or (name and self.open[row][-1][0] != name):
            self.faults.append(f'{name} ends at {time} in {row}, where {[item[0] for item in self.open[row]]} are open')
            return
        top, begin, first = self.open[row].pop()
        if arguments.get('goes on'):
            self.broken += 1
            self.paused[top].append((begin, first))
        else:
            self.spans.append((tid, top, begin, time, first))

    paused = collections.defaultdict(list)

    def left(self, tid_of):
        return sorted((tid_of(row), name, begin) for row, items in self.open.items() for name, begin, _ in items)


def hold(what, rows, tid_of, trace):
    spans, left, instants = pair(events_of(trace))
    same(f'{what}: slices of a row are nested', rows.faults, [])
    same(f'{what}: spans have their times, threads and fields', sorted(rows.spans, key=str), spans)
    same(f'{what}: spans that do not end stay open', rows.left(tid_of), left)
    same(f'{what}: all other events are instants', rows.instants, instants)
    same(f'{what}: the first span that overlaps another one is divided, later ones of its kind are apart', (rows.broken > 0, rows.apart), (True, {'io:read'}))


def chrome_file(trace):
    with open(f'{trace}.chrome', encoding='utf-8') as file:
        return json.load(file)


def chrome(trace):
    file, rows, names = chrome_file(trace), Rows(), {}
    origin = int(file['otherData']['origin_ns'])

    def time(line):
        whole, part = line['ts'].split('.')
        return origin + int(whole) * 1000 + int(part)

    with open(f'{trace}.chrome', encoding='utf-8') as text:
        lines = json.loads(re.sub(r'"ts":(-?[0-9.]+)', r'"ts":"\1"', text.read()))['traceEvents']
    for line in lines:
        row = (line['tid'], line.get('id'))
        if line['ph'] == 'M':
            names[line['name'], line['tid']] = line['args']['name']
        elif line['ph'] in 'Bb':
            rows.begin(row, line['tid'], line['name'], time(line), line['args'], line['ph'] == 'b')
        elif line['ph'] in 'Ee':
            rows.end(row, line['tid'], line['name'], time(line), line['args'])
        elif line['ph'] == 'i':
            rows.instants.append((line['tid'], line['name'], time(line), line['args']))
    hold('chrome', rows, lambda row: row[0], trace)
    events = events_of(trace)
    same('chrome: threads have names', {tid: name for (what, tid), name in names.items() if what == 'thread_name'}, {event['tid']: event['thread'] for event in events})
    same('chrome: the process has a number and a name', ({line['pid'] for line in lines}, [name for (what, _), name in names.items() if what == 'process_name']), ({process_of(trace)}, ['program']))
    same('chrome: the origin is that of the first event', (origin, file['otherData']['epoch']), (events[0]['ts'], 'true'))


def process_of(trace):
    said = subprocess.run([KYMO, 'info', trace], capture_output=True, text=True, check=False).stdout
    return int(re.search(r'vpid = (\d+)', said)[1])


def folded(trace):
    stacks, wanted, last, sums = collections.defaultdict(list), collections.Counter(), {}, collections.Counter()
    for event in events_of(trace):
        name, begins = edge_of(event)
        if name is None:
            continue
        stack = stacks[event['tid']]
        if stack:
            stack[-1][2] += event['ts'] - stack[-1][3]
        if begins:
            path = (stack[-1][1] if stack else event['thread']) + ';' + name
            stack.append([name, path, 0, event['ts']])
            continue
        at = max(i for i, item in enumerate(stack) if item[0] == name)
        item = stack.pop(at)
        wanted[item[1]] += item[2]
        if stack:
            stack[-1][3] = event['ts']
    with open(f'{trace}.folded', encoding='utf-8') as file:
        lines = file.read().splitlines()
    for line in lines:
        path, number = line.rsplit(' ', 1)
        sums[path] += int(number)
    same('folded: the time of each stack is that in which its last span was the innermost', sums, wanted)
    same('folded: lines are sorted, and each stack is there once', lines, sorted(lines) if len(sums) == len(lines) else None)


# ---- Perfetto ----

def decode(trace, proto):
    """protoc's text as lists of (name, value); a message is such a list."""
    folder, name = os.path.split(proto)
    with open(f'{trace}.perfetto', 'rb') as file:
        said = subprocess.run(['protoc', f'--proto_path={folder}', '--decode=Trace', name], stdin=file, capture_output=True, check=True).stdout
    stack = [[]]
    for line in said.decode('ascii').splitlines():
        line = line.strip()
        if line.endswith('{'):
            stack.append([])
            stack[-2].append((line[:-2], stack[-1]))
        elif line == '}':
            stack.pop()
        else:
            key, value = line.split(': ', 1)
            stack[-1].append((key, value_of(value)))
    return stack[0]


def value_of(text):
    if text.startswith('"'):
        return bytes(text[1:-1], 'ascii').decode('unicode_escape').encode('latin-1').decode('utf-8')
    if re.fullmatch(r'-?\d+', text):
        return int(text)
    return float(text) if re.fullmatch(r'-?[0-9.]+', text) else {'true': True, 'false': False}.get(text, text)


def annotation(message, names):
    """The name and value of one, as kymo cat prints it as JSON."""
    name, value, members, elements = None, None, {}, []
    for key, item in message:
        if key == 'name_iid':
            name = names[item]
        elif key == 'name':
            name = item
        elif key == 'dict_entries':
            inner, members_value = annotation(item, names)
            members[inner] = members_value
        elif key == 'array_values':
            elements.append(annotation(item, names)[1])
        else:
            value = item
    return name, members or elements or value


def perfetto(trace, proto):
    packets, rows, tracks, event_names, names = decode(trace, proto), Rows(), {}, {}, {}
    clock, unknown = None, [key for _, packet in packets for key, _ in packet if key.isdigit()]
    for _, packet in packets:
        fields = dict(packet)
        for table, into in (('event_names', event_names), ('debug_annotation_names', names)):
            for key, item in fields.get('interned_data', []):
                if key == table:
                    into[dict(item)['iid']] = dict(item)['name']
        if 'trace_packet_defaults' in fields:
            clock = (dict(fields['trace_packet_defaults'])['timestamp_clock_id'], dict(fields['clock_snapshot'])['primary_trace_clock'])
        if 'track_descriptor' in fields:
            track = dict(fields['track_descriptor'])
            tracks[track['uuid']] = track
        if 'track_event' in fields:
            take(fields, rows, tracks, event_names, names)
    hold('perfetto', rows, lambda row: tid_of(tracks, row), trace)
    threads = [dict(track['thread']) for track in tracks.values() if 'thread' in track]
    process = [dict(track['process']) for track in tracks.values() if 'process' in track]
    pid = process_of(trace)
    same('perfetto: threads have numbers and names', {thread['tid']: (thread['pid'], thread['thread_name']) for thread in threads}, {event['tid']: (pid, event['thread']) for event in events_of(trace)})
    same('perfetto: the process has a number and a name', process, [{'pid': pid, 'process_name': 'program'}])
    same('perfetto: times are real time, and no field is unknown', (clock, unknown), ((1, 1), []))


def tid_of(tracks, uuid):
    track = tracks[uuid]
    return dict(track['thread'])['tid'] if 'thread' in track else tid_of(tracks, track['parent_uuid'])


def take(fields, rows, tracks, event_names, names):
    event, time = fields['track_event'], fields['timestamp']
    arguments = dict(annotation(item, names) for key, item in event if key == 'debug_annotations')
    event = dict(event)
    row, name = event['track_uuid'], event_names.get(event.get('name_iid'))
    tid = tid_of(tracks, row)
    if event['type'] == 'SLICE_BEGIN':
        rows.begin(row, tid, name, time, arguments, 'thread' not in tracks[row])
    elif event['type'] == 'SLICE_END':
        rows.end(row, tid, name, time, arguments)
    else:
        rows.instants.append((tid, name, time, arguments))


# ---- losses ----

def losses(trace):
    said = subprocess.run([KYMO, 'cat', '-f', 'json', trace], capture_output=True, check=False).stdout.decode()
    wanted = [json.loads(line)['lost'] for line in said.splitlines() if line.startswith('{"lost"')]
    file = chrome_file(trace)
    origin = int(file['otherData']['origin_ns'])
    lines = [line for line in file['traceEvents'] if line.get('cat') == 'lost']
    got = [(begin['name'], round(begin['ts'] * 1000) + origin, round(end['ts'] * 1000) + origin) for begin, end in zip(lines[::2], lines[1::2])]
    same('losses are there, with their times', (len(got) > 0, got), (True, [(f'{lost["count"]} {lost["what"]} lost', lost['begin'], lost['end']) for lost in wanted]))


if __name__ == '__main__':
    {'chrome': chrome, 'folded': folded, 'perfetto': perfetto, 'losses': losses}[sys.argv[1]](*sys.argv[2:])
