# SPDX-License-Identifier: MIT
#
# Writes one recording of two CPUs as perf.data, and the events that belong to it as JSON, in the order of time:
#
#   make.py FILE JSON [big] [pipe] [zstd|zstd2] [many=N] [program=PATH,BUILD_ID,OFFSET,LENGTH] [lost] [strange] [all] [single] [wall]
#
# The events are made from the values here, not from the bytes. `program`: a file that the process has mapped; the samples are in
# it. Also prints where the sections begin.
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'ftrace'))
import trace_dat  # noqa: E402
from perf_data import *  # noqa: E402,F403

path, json_path, *words = sys.argv[1:]
option = dict(word.split('=', 1) for word in words if '=' in word)
file = File(is_big='big' in words, is_pipe='pipe' in words, packing=next((word for word in words if word.startswith('zstd')), None))
P = file.pack

# ---- formats ----

formats = trace_dat.File(is_big=file.is_big)
formats.groups['test'] = [trace_dat.format('wake', 300, [
    ('char comm[16]', 8, 16, 0), ('pid_t pid', 24, 4, 1), ('u8 state', 28, 1, 0), ('__data_loc char[] why', 32, 4, 0)],
    '"comm=%s pid=%d state=%s why=%s", REC->comm, REC->pid, __print_symbolic(REC->state, { 0, "R" }, { 1, "S" }), __get_str(why)')]
whole = formats.bytes()
begin = whole.index(b'\0', 10) + 1  # after the version, which is another one here
end = formats.places['cmdlines'] + 8
file.features = {1: whole[:10] + b'0.6\0' + whole[begin:end], 3: file.string('host'), 4: file.string('6.1.0'), 5: file.string('6.1'), 6: file.string('x86_64'),
                 7: P('II', 2, 2), 11: P('I', 2) + file.string('perf') + file.string('record')}
if file.packing:
    file.features[27] = P('5I', 1, 1, 1, 1, 1 << 20)
if 'wall' in words:
    file.features[29] = P('IIQQ', 1, 1, 1_700_000_000_000_000_000, 1_000_000_000)

BASE = IP | TID | TIME | CPU | PERIOD | IDENTIFIER | CHAIN
clock = file.attr('cpu-clock', BASE, [11, 12], flags=(SAMPLE_ID_ALL, USE_CLOCK), clock=1)
wake = file.attr('test:wake', BASE | RAW, [21, 22], type=2, config=300, flags=(SAMPLE_ID_ALL, USE_CLOCK), clock=1)
every = file.attr('every', (1 << 24) - 1 & ~ID & ~STREAM | IDENTIFIER, [31, 32], type=0, config=0, read_format=0x1f, branch=1 << 17, regs=0x7,
                  flags=(SAMPLE_ID_ALL, USE_CLOCK), clock=1)

# ---- events ----

events = []  # (time, order, what is expected)


def note(time, name, cpu, pid, tid, comm, fields, place=None):
    events.append((time if place is None else place, len(events), dict(
        ts=None if place is not None else time, event=name, cpu=cpu, pid=pid, tid=tid, thread=comm, fields=fields)))


def head(attr, cpu, pid, tid, time, ip):
    id = file.attrs[attr][1][min(cpu, len(file.attrs[attr][1]) - 1)]
    return P('QQiiQ', id, ip, pid, tid, time), id


def chain_bytes(chain):
    marked = [CHAIN_KERNEL] + [each for each in chain if each >> 63] + [CHAIN_USER] + [each for each in chain if not each >> 63]
    return P('Q', len(marked)) + b''.join(P('Q', each) for each in marked)


def sample(time, cpu, pid, tid, comm, ip, chain):
    data, id = head(clock, cpu, pid, tid, time, ip)
    data += P('IIQ', cpu, 0, 250000) + chain_bytes(chain)
    mode = KERNEL if ip >> 63 else USER
    file.add(SAMPLE, mode, data)
    note(time, 'cpu-clock', cpu, pid, tid, comm, dict(mode=mode, id=id, ip=ip, period=250000, callchain=chain))


def tracepoint(time, cpu, pid, tid, comm, name, other, state, why):
    data, id = head(wake, cpu, pid, tid, time, 0xffffffff81000010)
    raw = P('HBBi16siB3xI', 300, 0, 0, tid, name.encode(), other, state, len(why) + 1 << 16 | 36) + why.encode() + b'\0'
    raw += bytes(-(len(raw) + 4) % 8)
    data += P('IIQ', cpu, 0, 1) + chain_bytes([0xffffffff81000010]) + P('I', len(raw)) + raw
    file.add(SAMPLE, KERNEL, data)
    note(time, 'test:wake', cpu, pid, tid, comm, dict(mode=KERNEL, id=id, ip=0xffffffff81000010, period=1, callchain=[0xffffffff81000010],
                                                      comm=name, pid=other, state=state, why=why))


def all_fields(time, cpu, pid, tid, comm):
    data, id = head(every, cpu, pid, tid, time, 0x1234)
    data += P('Q', 0xabcd) + P('IIQ', cpu, 0, 77)                                             # addr, cpu, period
    data += P('Q', 2) + P('QQ', 100, 90) + P('QQQ', 5, 31, 0) + P('QQQ', 6, 32, 1)            # a group of counters
    data += chain_bytes([0x1234, 0x5678])
    data += P('I', 12) + b'raw bytes!!!'
    data += P('Q', 1) + P('Q', 3) + P('QQQ', 0x10, 0x20, 0x1)                                 # an index, one branch
    data += P('Q', 2) + P('QQQ', 7, 8, 9)                                                     # registers
    data += P('Q', 16) + b'stack...unused..' + P('Q', 8)
    data += P('QQQ', 55, 0x66, 0x77)                                                          # weight, source, transaction
    data += P('Q', 0)                                                                         # no registers of the kernel
    data += P('Q', 0x88) + P('QQQ', 99, 4096, 8192)                                           # physical; cgroup, sizes of pages
    data += P('Q', 8) + b'aux.data'
    file.add(SAMPLE, USER, data)
    note(time, 'every', cpu, pid, tid, comm, dict(
        mode=USER, id=id, ip=0x1234, addr=0xabcd, period=77, time_enabled=100, time_running=90,
        values=[dict(value=5, id=31, lost=0), dict(value=6, id=32, lost=1)], callchain=[0x1234, 0x5678], raw=b'raw bytes!!!'.hex(), branch_index=3,
        branches=[{'from': 0x10, 'to': 0x20, 'flags': 1}], user_abi=2, user_regs=[7, 8, 9], user_stack=b'stack...'.hex(), weight=55, data_source=0x66,
        transaction=0x77, abi=0, regs=[], physical_address=0x88, cgroup=99, data_page_size=4096, code_page_size=8192, aux=b'aux.data'.hex()))


def comm(time, cpu, pid, tid, name, before, is_exec=False):
    file.comm(pid, tid, name, is_exec, dict(pid=pid, tid=tid, time=time, cpu=cpu))
    note(time, 'PERF_RECORD_COMM', cpu, pid, tid, name, dict(pid=pid, tid=tid, exec=is_exec, comm=name), None if time else 0)


def fork(time, cpu, type, pid, ppid, tid, ptid, comm):
    file.fork(type, pid, ppid, tid, ptid, dict(pid=ppid, tid=ptid, time=time, cpu=cpu))
    note(time, {FORK: 'PERF_RECORD_FORK', EXIT: 'PERF_RECORD_EXIT'}[type], cpu, ppid, ptid, comm, dict(pid=pid, ppid=ppid, tid=tid, ptid=ptid))


def mapped(time, cpu, pid, start, length, offset, name, comm, build_id=None):
    file.mmap2(pid, start, length, offset, name, build_id, (8, 1, 77), dict(pid=pid, tid=pid, time=time, cpu=cpu))
    ids = dict(major=0, minor=0, inode=0, generation=0, build_id=build_id.hex()) if build_id else dict(
        major=8, minor=1, inode=77, generation=0, build_id='')
    note(time, 'PERF_RECORD_MMAP2', cpu, pid, pid, comm, dict(pid=pid, tid=pid, start=start, length=length, offset=offset, protection=5, flags=2, file=name, **ids),
         None if time else 0)


S = 1_000_000_000
program, build_id, offset, length = option.get('program', '/nowhere/program,0123456789abcdef,4096,8192').split(',')
build_id, offset, length = bytes.fromhex(build_id), int(offset), int(length)
START = 0x555500000000
comm(0, 0, 100, 100, 'parent', None)
mapped(0, 0, 100, START, length, offset, program, 'parent', build_id)
# CPU 0, then CPU 1, whose records are earlier
sample(S + 100, 0, 100, 100, 'parent', START + 16, [START + 16, START + 32])
fork(S + 200, 0, FORK, 101, 100, 101, 100, 'parent')
sample(S + 900, 0, 100, 100, 'parent', 0xffffffff81000020, [0xffffffff81000020, START + 48])
tracepoint(S + 150, 1, 7, 7, ':7', 'someone', 42, 1, 'a reason')
sample(S + 250, 1, 101, 101, 'parent', START + 64, [START + 64])
comm(S + 300, 1, 101, 101, 'child', 'parent', True)
sample(S + 350, 1, 101, 101, 'child', START + 80, [START + 80])
file.round()
if 'all' in words:
    all_fields(S + 800, 0, 100, 100, 'parent')
tracepoint(S + 1000, 0, 0, 0, 'swapper', 'x' * 16, -1, 0, '')
if 'single' not in words:
    mapped(S + 400, 1, 101, START, length, offset, '/other/program', 'child')
sample(S + 500, 1, 101, 101, 'child', START + 96, [])
file.round()
fork(S + 2000, 1, EXIT, 101, 100, 101, 100, 'parent')
file.add(SWITCH, 1 << 13, file.tail(pid=100, tid=100, time=S + 1500, cpu=0))
note(S + 1500, 'PERF_RECORD_SWITCH', 0, 100, 100, 'parent', dict(out=True, preempted=False))
if 'strange' in words:
    file.add(60, 0, b'unknown.' + file.tail(pid=100, tid=100, time=S + 1600, cpu=0))
    note(S + 1600, 'PERF_RECORD_OTHER', 0, 100, 100, 'parent', dict(type=60, data=b'unknown.'.hex()))
if 'lost' in words:
    file.add(LOST, 0, P('QQ', 11, 5) + file.tail(pid=100, tid=100, time=S + 1700, cpu=0))
    note(S + 1700, 'PERF_RECORD_LOST', 0, 100, 100, 'parent', dict(id=11, lost=5))
many = int(option.get('many', 0))
for i in range(many):
    cpu = i // 50 % 2
    if i % 100 == 0:
        file.round()
    # 50 of one CPU, then 50 of the other one, between the same times
    time = 2 * S + i // 100 * 100000 + i % 50 * 2000 + cpu * 1000
    if i % 3:
        sample(time, cpu, 100, 100, 'parent', START + i % 64, [START + i % 64, START + 5])
    else:
        tracepoint(time, cpu, 100, 100, 'parent', f'n{i}', i, i % 2, 'why' * (i % 5))

with open(path, 'wb') as out:
    out.write(file.bytes())
with open(json_path, 'w') as out:
    for _, _, event in sorted(events, key=lambda each: each[:2]):
        print(json.dumps(event, sort_keys=True), file=out)
for name, place in file.places.items():
    print(place, name)
