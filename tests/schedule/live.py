# SPDX-License-Identifier: MIT
#
# live.py TRACEFS FILE COMMAND…: runs a command and records the scheduler's events and some system calls meanwhile, in an
# ftrace instance of its own, which no other user sees and which is gone afterwards. FILE becomes a trace.dat of its raw pages.
import errno
import os
import subprocess
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'ftrace'))
import trace_dat  # noqa: E402

tracefs, path, *command = sys.argv[1:]
CALLS = 'futex', 'clock_nanosleep', 'nanosleep', 'fsync', 'wait4'  # no frequent ones: all processes of the machine make them
EVENTS = ['sched/sched_switch', 'sched/sched_waking', 'sched/sched_wakeup', 'sched/sched_wakeup_new', 'sched/sched_process_fork',
          'sched/sched_process_exit'] + [f'syscalls/sys_{edge}_{call}' for call in CALLS for edge in ('enter', 'exit')]
instance = f'{tracefs}/instances/kymo-test-{os.getpid()}'


class Raw:
    def __init__(self, data):
        self.data = data

    def bytes(self):
        return self.data


def put(name, text):
    with open(f'{instance}/{name}', 'w') as to:
        to.write(text)


def read_pages(cpu, size):
    fd = os.open(f'{instance}/per_cpu/cpu{cpu}/trace_pipe_raw', os.O_RDONLY | os.O_NONBLOCK)
    pages = []
    try:
        while page := os.read(fd, size):
            pages.append(Raw(page + bytes(size - len(page))))
    except OSError as error:
        if error.errno != errno.EAGAIN:
            raise
    finally:
        os.close(fd)
    return pages


file = trace_dat.File(is_big=sys.byteorder == 'big', page_size=os.sysconf('SC_PAGESIZE'))
os.mkdir(instance)
try:
    put('tracing_on', '0')
    put('buffer_size_kb', '16384')
    put('trace_clock', 'mono')
    there = [event for event in EVENTS if os.path.exists(f'{instance}/events/{event}/enable')]
    for event in there:
        put(f'events/{event}/enable', '1')
    put('tracing_on', '1')
    status = subprocess.run(command).returncode
    put('tracing_on', '0')
    cpus = sorted(int(name[3:]) for name in os.listdir(f'{instance}/per_cpu'))
    file.buffers = [('', 'mono', {cpu: read_pages(cpu, file.page_size) for cpu in cpus})]
finally:
    os.rmdir(instance)
for event in there:
    group, name = event.split('/')
    with open(f'{tracefs}/events/{event}/format') as text:
        file.groups.setdefault(group, []).append(text.read())
file.options = [(4, b'[mono] local\0')]
with open(path, 'wb') as to:
    to.write(file.bytes())
sys.exit(status)
