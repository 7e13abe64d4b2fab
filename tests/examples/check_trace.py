# SPDX-License-Identifier: MIT
"""Holds a trace of sqlite-io, as babeltrace2 prints it, against the counters that the program printed.

usage: check_trace.py EVENTS PRINTED; prints "ok WHAT" or "not ok WHAT: WHY" for each thing.
"""
import re
import sys
from collections import Counter, defaultdict

# [time] (+delta) host name: { packet context }, { fields }
LINE = re.compile(r'^\[[^]]*\] \([^)]*\) .*? (\w+:\w+): \{ (.*?) \}, \{ (.*) \}$')
NUMBER = re.compile(r'(\w+) = (-?(?:0x[0-9A-Fa-f]+|\d+))(?=,|$)')
TEXT = re.compile(r'(\w+) = "((?:\\.|[^"\\])*)"')
MAY_BE_MISSING = {'vfs:sleep'}  # when no lock was ever in the way
LOCK_LEVELS = {'none', 'shared', 'reserved', 'exclusive'}


def fields_of(text):
    values = dict(TEXT.findall(text))
    values.update((name, int(value, 0)) for name, value in NUMBER.findall(TEXT.sub('', text)))
    return values


def read_events(path):
    events = []
    with open(path, encoding='utf-8') as file:
        for line in file:
            match = LINE.match(line)
            if not match:
                sys.exit(f'not ok every line of babeltrace2 is an event: {line.strip()}')
            events.append((match[1], fields_of(match[2]), fields_of(match[3])))
    return events


def read_counters(path):
    with open(path, encoding='utf-8') as file:
        return {name: int(count) for name, count in re.findall(r'^(\w+:\w+) +(\d+) +[\d.]+$', file.read(), re.M)}


def expect(what, why_not):
    print(f'not ok {what}: {why_not}' if why_not else f'ok {what}')


def check_counts(events, counters):
    seen = Counter(name for name, _, _ in events)
    for name in sorted(set(seen) | set(counters)):
        wrong = seen[name] != counters.get(name)
        expect(f'the trace holds every {name}',
               f'{seen[name]} in the trace, {counters.get(name)} counted' if wrong else '')
    rare = [name for name in counters if not seen[name] and name not in MAY_BE_MISSING]
    expect('every kind of event occurs', ' '.join(rare))


def check_statements(events):
    """Events come in order of time, so a statement begins before its file events and its end."""
    texts, strangers, unfinished, by_thread = {}, 0, set(), defaultdict(set)
    commits = 0
    for name, packet, fields in events:
        statement = fields.get('statement', 0)
        if name == 'sql:begin':
            texts[statement] = fields['text']
            unfinished.add(statement)
        elif name == 'sql:end':
            unfinished.discard(statement)
        elif statement and statement not in texts:
            strangers += 1
        if statement:
            by_thread[statement].add(packet['tid'])
        if name == 'vfs:sync' and texts.get(statement) == 'COMMIT':
            commits += 1
    expect('every file event comes after the beginning of its statement', f'{strangers} do not' if strangers else '')
    expect('every statement ends', f'{len(unfinished)} do not' if unfinished else '')
    shared = [statement for statement, threads in by_thread.items() if len(threads) != 1]
    expect('a statement stays on its thread', f'{len(shared)} do not' if shared else '')
    expect('commits sync', '' if commits >= 160 else f'{commits} syncs in 80 transfers')


def check_values(events):
    faults = Counter()
    names = set()
    for name, packet, fields in events:
        names.add(packet['thread_name'])
        faults[name] += fields.get('duration_ns', 0) < 0
        if name in ('vfs:read', 'vfs:write'):
            faults[name] += fields['size'] <= 0 or fields['offset'] < 0 or not fields['file']
        if name in ('vfs:write', 'vfs:sync', 'vfs:open'):
            faults[name] += fields['result'] != 0
        if name in ('vfs:lock', 'vfs:unlock'):
            faults[name] += fields['level'] not in LOCK_LEVELS
    wrong = {name: count for name, count in faults.items() if count}
    expect('offsets, sizes, results and durations make sense', str(wrong) if wrong else '')
    expected = {f'{database}-{role}-{n}' for database in ('wal', 'undo') for role in ('writer', 'reader') for n in (1, 2)}
    expect('every thread has its name', ' '.join(sorted(expected - names)))
    files = {fields.get('file') for _, _, fields in events}
    expect('both kinds of journal are used', ' '.join({'wal.db-wal', 'undo.db-journal'} - files))


def main():
    events, counters = read_events(sys.argv[1]), read_counters(sys.argv[2])
    check_counts(events, counters)
    check_statements(events)
    check_values(events)


main()
