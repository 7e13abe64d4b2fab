# SPDX-License-Identifier: MIT
#
# made.py FILE [lost] [bare] [unseen]: a trace.dat of two CPUs whose times in each state are known (expected.py):
#
#   1000            2100         5000    7000     8000    9000  9500            12000
#   a  runs         in futex     woken   runs     page    woken runs
#                   by b                          fault   by an interrupt
#   b    1500 runs                                                 9700 blocked
#   c               runs                 runnable runs          blocked
#   d                                                           9600 forked, runs from 9700 to 10000
#
# and spans of a and b in events of a program. `lost`: events of CPU 1 between 5000 and 9700 are lost; `bare`: without
# wakeups and system calls; `unseen`: the switch at 8000 is missing, although no loss is noted; `early`: a is woken at 2200.
import os
import struct
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'ftrace'))
import trace_dat  # noqa: E402
from trace_dat import format  # noqa: E402

path, *words = sys.argv[1:]
file = trace_dat.File(version=7)
names = {0: 'swapper', 100: 'a', 200: 'b', 300: 'c', 400: 'd'}
thread = [('char comm[16]', 8, 16, 0), ('pid_t pid', 24, 4, 1)]
file.groups['sched'] = [
    format('sched_switch', 10, [('char prev_comm[16]', 8, 16, 0), ('pid_t prev_pid', 24, 4, 1), ('long prev_state', 32, 8, 1),
                                ('char next_comm[16]', 40, 16, 0), ('pid_t next_pid', 56, 4, 1)], '"%d", REC->next_pid'),
    format('sched_waking', 11, thread, '"%d", REC->pid'),
    format('sched_wakeup', 12, thread, '"%d", REC->pid'),
    format('sched_process_fork', 13, [('char parent_comm[16]', 8, 16, 0), ('pid_t parent_pid', 24, 4, 1),
                                      ('char child_comm[16]', 28, 16, 0), ('pid_t child_pid', 44, 4, 1)], '"%d", REC->child_pid'),
]
file.groups['syscalls'] = [format(f'sys_{edge}_{call}', id, [('int nr', 8, 4, 1)], '"%d", REC->nr')
                           for id, edge, call in ((20, 'enter', 'futex'), (21, 'exit', 'futex'), (22, 'enter', 'nanosleep'))]
file.groups['app'] = [format(f'work_{edge}', id, [('int n', 8, 4, 1)], '"%d", REC->n') for id, edge in ((30, 'begin'), (31, 'end'))]


def common(id, pid, flags=1):
    return file.pack('HBBi', id, flags, 0, pid)


def comm(pid):
    return struct.pack('16s', names[pid].encode())


def switch(prev, state, next):
    return (common(10, prev) + comm(prev) + file.pack('iiq', prev, 0, state) + comm(next) + file.pack('i', next))


def wake(id, by, pid, flags=1):
    return common(id, by, flags) + comm(pid) + file.pack('i', pid)


def fork(pid, child):
    return common(13, pid) + comm(pid) + file.pack('i', pid) + comm(child) + file.pack('i', child)


def simple(id, pid):
    return common(id, pid) + file.pack('i', 0)


S, D, X, PREEMPTED, IRQ = 1, 2, 0x10, 0x100, 0x09
events = [  # time, CPU, bytes
    (1000, 0, switch(0, 0, 100)), (1500, 1, switch(0, 0, 200)), (1500, 0, simple(30, 100)), (1600, 1, simple(30, 200)),
    (2000, 0, simple(20, 100)), (2100, 0, switch(100, S, 300)),
    (5000, 1, wake(11, 200, 100)), (5050, 0, wake(12, 300, 100, IRQ)), (7000, 0, switch(300, PREEMPTED, 100)),
    (7100, 0, simple(21, 100)), (8000, 0, switch(100, D, 300)), (9000, 0, wake(12, 300, 100, IRQ)),
    (9500, 0, switch(300, S, 100)), (9550, 0, simple(31, 100)), (9600, 0, fork(100, 400)), (9650, 1, simple(31, 200)),
    (9700, 1, switch(200, S, 400)), (10000, 1, switch(400, X, 0)), (11000, 0, simple(30, 100)), (12000, 0, simple(22, 100)),
    (13000, 0, simple(31, 100)),
]
if 'bare' in words:
    events = [event for event in events if event[2][0] in (10, 13, 30, 31)]
if 'early' in words:
    events = [({5000: 2200, 5050: 2250}.get(time, time), cpu, data) for time, cpu, data in events]
if 'unseen' in words:
    events = [event for event in events if event[0] != 8000]


def pages_of(is_wanted):
    """The pages of each CPU."""
    pages, last = {0: [], 1: []}, {}
    for time, cpu, data in events:
        if not is_wanted(data[0]):
            continue
        is_gap = 'lost' in words and time == 9700
        if not pages[cpu] or is_gap:
            pages[cpu].append(file.page(time, 5 if is_gap else None))
            last[cpu] = time
        pages[cpu][-1].record(time - last[cpu], data)
        last[cpu] = time
    return pages


# an instance has the program's events
file.buffers = [('', 'mono', pages_of(lambda id: id < 30)), ('program', 'mono', pages_of(lambda id: id >= 30))]
file.options = [(4, b'[mono] local\0')]
with open(path, 'wb') as to:
    to.write(file.bytes())
