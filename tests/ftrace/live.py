# SPDX-License-Identifier: MIT
#
# live.py TRACEFS FILE TEXT: records events of this kernel in an ftrace instance of its own, which no other user sees and which is gone
# afterwards. FILE becomes a trace.dat of the raw pages, TEXT what the kernel itself prints of them.
import errno
import os
import sys
import time
import trace_dat

tracefs, file_path, text_path = sys.argv[1:]
EVENTS = ('sched/sched_switch', 'sched/sched_wakeup', 'sched/sched_process_fork', 'sched/sched_process_exec',
          'signal/signal_generate', 'task/task_rename', 'syscalls/sys_enter_write', 'syscalls/sys_exit_write')
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


def work():
    with open('/dev/null', 'w') as null:
        for i in range(100):
            os.write(null.fileno(), b'x')
            time.sleep(0.0005)
            if i % 10 == 0:
                os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)


file = trace_dat.File(is_big=sys.byteorder == 'big', page_size=os.sysconf('SC_PAGESIZE'))
os.mkdir(instance)
try:
    put('tracing_on', '0')
    put('trace_clock', 'mono')
    there = [event for event in EVENTS if os.path.exists(f'{instance}/events/{event}/enable')]
    for event in there:
        put(f'events/{event}/enable', '1')
    put('tracing_on', '1')
    work()
    put('tracing_on', '0')
    with open(f'{instance}/trace') as shown, open(text_path, 'w') as to:
        to.writelines(line for line in shown if not line.startswith('#'))
    cpus = sorted(int(name[3:]) for name in os.listdir(f'{instance}/per_cpu'))
    file.buffers = [('', 'mono', {cpu: read_pages(cpu, file.page_size) for cpu in cpus})]
finally:
    os.rmdir(instance)
for event in there:
    group, name = event.split('/')
    with open(f'{tracefs}/events/{event}/format') as text:
        file.groups.setdefault(group, []).append(text.read())
file.options = [(4, b'[mono] local\0')]
with open(file_path, 'wb') as to:
    to.write(file.bytes())
