# SPDX-License-Identifier: MIT
#
# check.py EVENTS THREADS: computes from the events (kymo cat --format json) what each thread did, as a list of
# pieces of time, and compares with kymo stat threads --json. Threads with doubts are left out. Prints how many were compared.
import collections
import json
import sys

DISK = {'fsync', 'fdatasync', 'sync', 'syncfs', 'msync', 'sync_file_range'}
SOCKET = {'accept', 'accept4', 'connect', 'recvfrom', 'recvmsg', 'recvmmsg', 'sendto', 'sendmsg', 'sendmmsg'}
SLEEP = {'nanosleep', 'clock_nanosleep'}
CHILDREN = {'clone', 'clone3', 'vfork'}


def cause_of(call, state):
    if state & 12:
        return 'other', 'stopped'
    if call and 'futex' in call:
        return 'futex', call
    for name, calls in (('disk', DISK), ('socket', SOCKET), ('sleep', SLEEP), ('other', CHILDREN)):
        if call in calls:
            return name, call
    return ('disk' if state & 2 else 'other' if call else 'unknown'), call or ''


pieces = collections.defaultdict(list)  # thread: (time, what it does from then on)
calls, lives, end = {}, collections.Counter(), None
for line in open(sys.argv[1]):
    event = json.loads(line)
    group, _, name = event['event'].rpartition(':')
    fields, time, tid = event['fields'], event['ts'], event.get('tid', 0)
    if group not in ('sched', 'syscalls', 'task') or name == 'task_newtask':
        continue
    if group == 'sched' and name not in ('sched_switch', 'sched_waking', 'sched_wakeup', 'sched_wakeup_new',
                                         'sched_process_fork', 'sched_process_exit'):
        continue
    end = time
    key = tid, lives[tid]
    if tid and name != 'sched_switch' and (not pieces[key] or pieces[key][-1][1] == ('unknown',)):
        pieces[key].append((time, ('running',)))  # since when is not known
    if name == 'sched_switch':
        state = fields['prev_state']
        state = state if isinstance(state, int) else state['value']
        key = fields['prev_pid'], lives[fields['prev_pid']]
        if key[0]:
            blocked = 'blocked', *cause_of(calls.get(key), state)
            pieces[key].append((time, ('ended',) if state & 0x30 else blocked if state & 0xff else ('runnable',)))
        key = fields['next_pid'], lives[fields['next_pid']]
        if key[0]:  # it was runnable since it was woken
            if all(did == ('unknown',) for _, did in pieces[key]):
                pieces[key] = [(since, ('runnable',)) for since, _ in pieces[key]]
            pieces[key].append((time, ('running',)))
    elif name in ('sched_waking', 'sched_wakeup'):
        key = fields['pid'], lives[fields['pid']]
        if pieces[key] and pieces[key][-1][1][0] == 'blocked':
            pieces[key].append((time, ('runnable',)))
        elif not pieces[key] or pieces[key][-1][1][0] == 'unknown':
            pieces[key].append((time, ('unknown',)))
    elif name == 'sched_process_fork':
        child = fields['child_pid']
        lives[child] += bool(pieces.get((child, lives[child])))
        pieces[child, lives[child]].append((time, ('runnable',)))
        calls[child, lives[child]] = ''
    elif name.startswith('sys_enter_'):
        calls[key] = name[len('sys_enter_'):]
    elif name.startswith('sys_exit_'):
        calls[key] = ''

wanted = collections.defaultdict(list)
for (tid, _), list_ in pieces.items():
    if not tid:
        continue
    sums = collections.Counter()
    for (time, what), (after, _) in zip(list_, list_[1:] + [(end, None)]):
        sums[what] += after - time
    wanted[tid].append(sums)

compared = 0
for line in open(sys.argv[2]):
    row = json.loads(line)
    if 'thread' not in row or row['doubts']:
        continue
    causes = collections.Counter({(part['cause'], part['call']): part['total'] for part in row['blocked_in']})
    found = row['running'], row['runnable'], {key: ns for key, ns in causes.items() if ns}
    candidates = [(sums['running',], sums['runnable',], {key[1:]: ns for key, ns in sums.items() if key[0] == 'blocked' and ns})
                  for sums in wanted[row['tid']]]
    assert found in candidates, (row, candidates)
    assert row['blocked'] == sum(causes.values()), row
    compared += 1
print(compared)
