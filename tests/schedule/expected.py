# SPDX-License-Identifier: MIT
#
# expected.py KIND THREADS SPANS: what kymo stat must say of the traces of made.py, by their drawing there.
import json
import sys

kind = sys.argv[1]
rows = [json.loads(line) for line in open(sys.argv[2])]
threads = {row['thread']: row for row in rows if 'thread' in row}
kernel = next(row['kernel'] for row in rows if 'kernel' in row)
spans = [json.loads(line) for line in open(sys.argv[3])]
spans = {(row['thread'], row['begin']): row for row in spans if 'span' in row}  # by the kernel's name


def shares(row):
    causes = {(part['cause'], part['call']): part['total'] for part in row['blocked_in']}
    return row['running'], row['runnable'], row['blocked'], row['not_seen'], causes


def is_same(what, found, wanted):
    assert found == wanted, f'{what}: expected {wanted}, found {found}'


futex, disk, none = ('futex', 'futex'), ('disk', ''), ('unknown', '')
wanted = {  # running, runnable, blocked, not seen, causes; doubts
    'plain': {'a': ((4600, 2500, 3900, 0, {futex: 2900, disk: 1000}), 0), 'b': ((8200, 0, 2300, 500, {none: 2300}), 0),
              'c': ((6400, 1000, 2500, 1100, {none: 2500}), 0), 'd': ((300, 100, 0, 0, {}), 0)},
    # from the last event of CPU 1 on, only those that run on CPU 0 are known, until an event says what another one does; what
    # events have said meanwhile is not sure for those that do not run on CPU 0 when CPU 1 has events again. Two doubts: at
    # the begin and at the end
    'lost': {'a': ((4600, 2450, 3900, 50, {futex: 2900, disk: 1000}), 2), 'b': ((3500, 0, 2300, 5200, {none: 2300}), 2),
             'c': ((6400, 1000, 0, 3600, {}), 2), 'd': ((300, 0, 0, 100, {}), 1)},
    'bare': {'a': ((2600, 0, 6400, 0, {none: 4900, disk: 1500}), 0), 'b': ((8200, 0, 300, 500, {none: 300}), 0),
             'c': ((6400, 1000, 500, 1100, {none: 500}), 0), 'd': ((300, 100, 0, 0, {}), 0)},
    # that c runs at 9000 contradicts that it waits since 7000, and that a runs there
    'unseen': {'a': ((3600, 2500, 2900, 2000, {futex: 2900}), 1), 'b': ((8200, 0, 2300, 500, {none: 2300}), 0),
               'c': ((5400, 0, 2500, 3100, {none: 2500}), 1), 'd': ((300, 100, 0, 0, {}), 0)},
}[kind]
is_same('threads', sorted(threads), sorted(wanted))
for name, (figures, doubts) in wanted.items():
    is_same(name, shares(threads[name]), figures)
    is_same(f'doubts of {name}', threads[name]['doubts'], doubts)
is_same('at the end', {name: row['at_end'] for name, row in threads.items()},
        {'a': 'running', 'b': 'blocked', 'c': 'unknown' if kind == 'lost' else 'blocked', 'd': 'ended'})
is_same('losses', (kernel['losses'], kernel['contradictions']), {'lost': (1, 0), 'unseen': (0, 2)}.get(kind, (0, 0)))
is_same('without wakeup', (kernel['without_wakeup'], kernel['without_wakeup_ns']), (2, 6400) if kind == 'bare' else (0, 0))
longest = threads['a']['longest']
if kind != 'bare':
    is_same('the longest wait of a', (longest['begin'], longest['end'], longest['call'], longest['woken_by']),
            (2100, 5000, 'futex', {'interrupt': False, 'tid': 200, 'thread': 'b'}))
    why = spans['a', 1500]['why']
    figures = {'unseen': (650, 2500, 2900, 2000, {futex: 2900}), 'lost': (1650, 2450, 3900, 50, {futex: 2900, disk: 1000}),
               'plain': (1650, 2500, 3900, 0, {futex: 2900, disk: 1000})}[kind]
    is_same('the span of a', shares(why), figures)
    is_same('its longest wait', why['longest'], longest)
    is_same('its doubts', why['doubts'], {'unseen': 1, 'lost': 2}.get(kind, 0))
    is_same('the span after the last event', shares(spans['a', 11000]['why']), (1000, 0, 0, 1000, {}))
if kind == 'plain':
    is_same('the span of b', shares(spans['b', 1600]['why']), (8050, 0, 0, 0, {}))
    waits = [row for row in rows if 'thread' in row and row['thread'] == 'a'][0]
    is_same('waits of a', waits['waits'], 2)
