# SPDX-License-Identifier: MIT
#
# Writes one recording of two CPUs as trace.dat, and the text that belongs to it:
#
#   make.py FILE TEXT [big] [long4] [v7] [zlib|zstd] [instance] [plain] [small] [many=N]
#
# The text is made from the values here, not from the bytes. `plain`: without losses. `small`: pages
# of 512 bytes. `many`: N more events. Also prints where the sections begin.
import struct
import sys
import trace_dat
from trace_dat import format

file_path, text_path, *words = sys.argv[1:]
many = next((int(word[5:]) for word in words if word.startswith('many=')), 0)
packing = next((word for word in words if word in ('zlib', 'zstd')), 'none')
file = trace_dat.File(is_big='big' in words, long_size=4 if 'long4' in words else 8,
                      version=7 if 'v7' in words else 6, packing=packing,
                      page_size=512 if 'small' in words else 4096)
L = file.long_size
file.cmdlines = '1 init\n42 a worker\n7 old name\n7 new name\n'
file.kallsyms = '00001000 T first\n00002000 t second\t[module]\n00003000 A absolute\n00004000 T $a\n00005000 D last\n'
file.printk = '0x7000 : "count %d of %s at %ps: %5.1s|%*d\\n"\n0x7100 : "no arguments\\n"\n'
file.options = [(5, b'Linux host 6.1.0 x86_64\0'), (4, b'local [mono] boot\0'), (9, b'test\0'), (99, b'unknown')]

# ---- formats ----

state = '__print_symbolic(REC->state, { 0, "R" }, { 1, "S" }, { 0x80, "X" })'
flags = '__print_flags(REC->flags, "|", { 0x1, "ONE" }, { (1UL << 1), "TWO" }, { 0x6, "BOTH" }, { 0, ((void *)0) })'
file.groups['test'] = [
    format('wake', 300, [('char comm[16]', 8, 16, 0), ('pid_t pid', 24, 4, 1), ('short prio', 28, 2, 1),
                         ('u8 state', 30, 1, 0), ('bool ok', 31, 1, 0), ('unsigned int flags', 32, 4, 0)],
           f'"comm=%s pid=%d prio=%hd state=%s ok=%d flags=%s", REC->comm, REC->pid, REC->prio, {state}, '
           f'REC->ok, REC->flags ? {flags} : "none"'),
    format('net', 301, [('__data_loc char[] name', 8, 4, 0), ('u8 ip[4]', 12, 4, 0), ('u8 mac[6]', 16, 6, 0),
                        ('__rel_loc char[] more', 24, 4, 0), ('u8 ip6[16]', 28, 16, 0)],
           '"name=%s ip=%pI4 mac=%pM more=%10s ip6=%pI6c", __get_str(name), REC->ip, REC->mac, '
           '__get_rel_str(more), REC->ip6'),
    format('list', 302, [('__data_loc u32[] items', 8, 4, 0), ('unsigned long ip', 8 + L, L, 0),
                         ('u64 when', 8 + 2 * L, 8, 0)],
           '"items=%s hex=%s when=%llu.%03u at %pS", '
           '__print_array(__get_dynamic_array(items), __get_dynamic_array_len(items) / 4, 4), '
           '__print_hex(__get_dynamic_array(items), 2), REC->when / 1000, (u32)(REC->when % 1000), (void *)REC->ip'),
    format('rules', 304, [('int value', 8, 4, 1), ('__data_loc unsigned long[] bits', 12, 4, 0),
                          ('__data_loc cpumask_t[] cpus', 16, 4, 0), ('u8 id[16]', 20, 16, 0)],
           '"sign=%s sub=%d up=%08x bits=%s cpus=%s id=%pUl hex=%s byte=%u", REC->value < 0 ? "minus" : "plus", '
           '10 - REC->value - 1, REC->value, __get_bitmask(bits), __get_cpumask(cpus), REC->id, '
           '__print_hex_str(REC->id, 3), (u8)REC->value'),
    format('odd', 303, [('int value', 8, 4, 1)], '"value=%d", unknown_function(REC->value)'),
]
file.ftrace = [
    format('bprint', 6, [('unsigned long ip', 8, L, 0), ('const char * fmt', 8 + L, L, 0),
                         ('u32 buf[]', 8 + 2 * L, 0, 0)], '"%ps: %s", (void *)REC->ip, REC->fmt'),
    format('print', 5, [('unsigned long ip', 8, L, 0), ('char buf[]', 8 + L, 0, 0)],
           '"%ps: %s", (void *)REC->ip, REC->buf'),
]

# ---- records ----


def common(id, pid, flags=1, count=2):
    return file.pack('HBBi', id, flags, count, pid)


def names_of(value, table, rest='0x%x'):
    out = []
    for bits, name in table:
        if bits and value & bits == bits:
            out.append(name)
            value &= ~bits
    return '|'.join(out + ([rest % value] if value else []))


def wake(pid, comm, other, prio, state, ok, flags):
    data = common(300, pid) + struct.pack('16s', comm.encode()) + file.pack('ihBBI', other, prio, state, ok, flags)
    letter = {0: 'R', 1: 'S', 0x80: 'X'}.get(state, '0x%x' % state)
    shown = names_of(flags, [(1, 'ONE'), (2, 'TWO'), (6, 'BOTH')]) if flags else 'none'
    return data, 'wake', f'comm={comm} pid={other} prio={prio} state={letter} ok={ok:d} flags={shown}'


def net(pid, name, more):
    start = 44
    data = common(301, pid) + file.pack('I', len(name) + 1 << 16 | start) + bytes([10, 0, 200, 1])
    data += bytes.fromhex('0011aabbccdd') + bytes(2)
    data += file.pack('I', len(more) + 1 << 16 | start + len(name) + 1 - 28)
    data += bytes.fromhex('20010db8000000000000000000000001') + name.encode() + b'\0' + more.encode() + b'\0'
    return data, 'net', f'name={name} ip=10.0.200.1 mac=00:11:aa:bb:cc:dd more={more:>10} ip6=2001:db8::1'


def items(pid, values, ip, when, where):
    place = 8 + 2 * L + 8
    data = common(302, pid) + file.pack('I', 4 * len(values) << 16 | place) + bytes(L - 4)
    data += file.long(ip) + file.pack('Q', when) + b''.join(file.pack('I', value) for value in values)
    first = b''.join(file.pack('I', value) for value in values)[:2]
    # trace-cmd reads these numbers in the order of its own machine
    shown = ['%d' % struct.unpack('<I', file.pack('I', value)) for value in values]
    return (data, 'list', 'items=' + ' '.join(shown) + ' hex=' + ' '.join('%02x' % byte for byte in first) +
            f' when={when // 1000}.{when % 1000:03} at {where}')


def rules(pid, value, bits):
    """trace-cmd computes without signs, and 10 - v - 1 as 10 - (v - 1)."""
    data = common(304, pid) + file.pack('i', value) + file.pack('I', 8 << 16 | 36) + file.pack('I', 8 << 16 | 44)
    data += bytes(range(16))
    # as a bitmap of longs, which readers take for one number of the file's order
    data += 2 * (bits.to_bytes(8, 'big' if file.is_big else 'little'))
    cpus = ','.join(str(i) for i in range(64) if bits >> i & 1)
    return (data, 'rules', f'sign=plus sub={10 - (value - 1)} up={value & 0xffffffff:08x} bits={bits >> 32:08x},'
            f'{bits & 0xffffffff:08x} cpus={cpus} id=03020100-0504-0706-0809-0a0b0c0d0e0f hex=000102 byte={value & 255}')


def odd(pid, value):
    return common(303, pid) + file.pack('i', value), 'odd', f'[FAILED TO PARSE] value={value}'


def bprint(pid):
    words = file.pack('i', -3) + b'text\0' + bytes(3) + file.long(0x1010)
    words += bytes(-len(words) % 4) + b'ab\0' + bytes(1) + file.pack('ii', 4, 12)
    data = common(6, pid) + file.long(0x2004) + file.long(0x7000) + words
    return data, 'bprint', 'second: count -3 of text at first:     a|  12'


def print_(pid, text):
    return common(5, pid) + file.long(0x9999) + text.encode() + b'\0', 'print', f'0x9999: {text}'


names = {0: '<idle>', 1: 'init', 42: 'a worker', 7: 'old name'}
lines = []  # (time, cpu, text)


class Cpu:
    """Puts events on pages, and notes what must be printed of them."""

    def __init__(self, cpu, time, to):
        self.cpu, self.time, self.to = cpu, time, to
        self.pages = [file.page(time)]

    def add(self, delta, event, counted=False, lost=''):
        data, name, text = event
        self.time += delta
        self.pages[-1].record(delta, data, counted)
        pid, = struct.unpack(('>' if file.is_big else '<') + 'i', data[4:8])
        us = (self.time + 500) // 1000
        who = f'{names.get(pid, "<...>"):>16}-{pid:<5d} [{self.cpu:03d}]'
        self.to.append((self.time, self.cpu, f'{lost}{who} {us // 1000000:5d}.{us % 1000000:06d}: {name}: ' +
                        ' ' * (20 - len(name)) + text))

    def page(self, time, lost=None):
        self.time = time
        self.pages.append(file.page(time, lost))


def record(to):
    one, two = Cpu(0, 5000000000, to), Cpu(1, 5000000100, to)
    one.add(0, wake(0, 'swapper', 1, -5, 0, True, 0))
    two.add(250, wake(1, 'init', 42, 120, 1, False, 7))
    one.add(400, net(42, 'eth0', 'x'))
    one.pages[-1].discarded(50, 24)
    one.time += 50
    one.add(1 << 29, items(7, [1, 0xdeadbeef, 3], 0x1004, 1234567, 'first+0x4'))
    two.add(10, bprint(1234567))
    two.add(10, print_(42, 'hello'))
    two.pages[-1].stamp(7000000000)
    two.time = 7000000000
    two.add(0, wake(42, 'a worker', -1, 0x7fff, 0x80, True, 0x80000006), counted=True)
    one.add(3, odd(1, -77))
    one.add(4, rules(1, -4, 1 << 40 | 0x105))
    one.pages[-1].padding(20)
    lost = not 'plain' in words
    one.page(8000000000, 12 if lost else None)
    one.add(5, net(1, 'lo', 'a longer text'), lost='CPU:0 [12 EVENTS DROPPED]\n' if lost else '')
    two.page(8000001000, 0 if lost else None)
    two.add(7, items(0, [256], 0x6000, 5, '0x6000'), lost='CPU:1 [EVENTS DROPPED]\n' if lost else '')
    for i in range(many):
        cpu = (one, two)[i % 2]
        if len(cpu.pages[-1].data) > 3500:
            cpu.page(cpu.time + 10)
        cpu.add(997, wake(i % 3, 'many', i, i % 100, i % 2, False, i % 8) if i % 5 else net(i % 50, f'n{i}', 'm'))
    return {0: one.pages, 1: two.pages}


file.buffers = [('', 'mono', record(lines))]
inner = []
if 'instance' in words:
    file.buffers.append(('inner', 'mono', record(inner)))
with open(file_path, 'wb') as out:
    out.write(file.bytes())
with open(text_path, 'w') as out:
    out.write('cpus=2\n')
    named = [(time, 0, cpu, '       ' if inner else '', text) for time, cpu, text in lines]
    named += [(time, 1, cpu, 'inner: ', text) for time, cpu, text in inner]
    for _, _, _, name, text in sorted(named, key=lambda line: line[:3]):
        out.write(f'{name}{text}\n')
for name, place in file.places.items():
    print(place, name)
