#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the traces of the suite into the current folder: kernel, floats, random.cpel, spans.cpel, packets.pcap, evil, damaged, corrupt."""
import os
import random
import shutil
import struct

META = '''/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; uint32_t stream_id; }; };
clock { name = c; freq = 1000000000; offset = 1000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := clock64;
stream { id = 0;
  packet.context := struct { clock64 timestamp_begin; clock64 timestamp_end; uint32_t content_size; uint32_t packet_size;
    uint32_t events_discarded; uint32_t cpu_id; };
  event.header := struct { uint32_t id; clock64 timestamp; };
'''
NAMES = ['k:tick', 'syscall_entry_read', 'syscall_exit_read', 'k:irq_entry', 'k:irq_exit', 'k:alone_entry']
EVIL = ['<script>alert(1)</script>', '\\"><img src=x onerror=alert(1)>', "');alert(1);//", '\\033[31mred\\033[0m', '\u202egnp.exe']
EVIL_TEXTS = [b'<script>', b'</script><b>', b'\x1b]0;title\x07', '\u202eevil'.encode(), b'bad \xff\xfe utf8', b'{"a":1}']


class Ctf:
    """A trace of two streams in packets."""

    def __init__(self, folder, names, fields, context=''):
        self.folder, self.times, self.body, self.lost = folder, [[], []], [b'', b''], [0, 0]
        os.makedirs(folder, exist_ok=True)
        with open(f'{folder}/metadata', 'w', encoding='utf-8') as out:
            out.write(META + context + '};\n')
            for i, name in enumerate(names):
                out.write(f'event {{ name = "{name}"; id = {i}; stream_id = 0; fields := struct {{ {fields} }}; }};\n')
        self.files = [open(f'{folder}/channel_{i}', 'wb') for i in range(2)]

    def add(self, cpu, kind, time, rest):
        self.times[cpu].append(time)
        self.body[cpu] += struct.pack('<IQ', kind, time) + rest

    def flush(self, cpu, lost=0):
        times, body = self.times[cpu], self.body[cpu]
        if times:
            self.files[cpu].write(struct.pack('<IIQQIIII', 0xc1fc1fc1, 0, times[0], times[-1], (40 + len(body)) * 8, (48 + len(body)) * 8,
                                              self.lost[cpu], cpu) + body + bytes(8))
        self.lost[cpu] += lost
        self.times[cpu], self.body[cpu] = [], b''

    def close(self):
        for cpu in range(2):
            self.flush(cpu)
            self.files[cpu].close()


def kernel():
    rng, time = random.Random(7), 0
    trace = Ctf('kernel', NAMES, 'uint32_t value;',
                'event.context := struct { uint32_t vtid; integer { size = 8; align = 8; signed = true; encoding = UTF8; } procname[8]; };')
    for i in range(12000):
        time += rng.choice([0, 1, 10, 1000])
        cpu, tid = rng.randrange(2), rng.randrange(5)
        trace.add(cpu, rng.choice([0, 1, 2, 3, 4, 5, 0, 0]), time, struct.pack('<I8sI', 100 + tid, b'proc%d' % (tid // 2), i % 500))
        if len(trace.times[cpu]) == 300:
            trace.flush(cpu, rng.choice([0, 0, 0, 2]))
    trace.close()


# of many sizes, on both sides of zero; the least ones of all are below 2^-1022
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0.75, -0.75, 1e300, -1e300, 1.7976931348623157e308, 5e-324, -5e-324, 2.2e-310, 3.5, -3.5, float('inf'), float('-inf'), float('nan'), float('inf'), -1.7976931348623157e308]


def floats():
    rng = random.Random(9)
    trace = Ctf('floats', ['f:value'], 'uint32_t i; floating_point { exp_dig = 11; mant_dig = 53; byte_order = le; align = 8; } x;')
    for i in range(3000):
        value = FLOATS[i] if i < len(FLOATS) else rng.choice([rng.gauss(0, 100), rng.lognormvariate(0, 4)])
        trace.add(i % 2, 0, 1000 + 10 * i, struct.pack('<Id', i, value))
        if i % 500 == 499:
            trace.flush(i % 2)
    trace.close()


def evil():
    trace = Ctf('evil', EVIL, 'string text;')
    for i in range(60):
        trace.add(i % 2, i % len(EVIL), 1000 + i, EVIL_TEXTS[i % len(EVIL_TEXTS)] + b'\0')
    trace.close()


def cpel(path, kinds, seed):
    rng, strings = random.Random(seed), bytearray(b'T\0')

    def add(text):
        at = len(strings)
        strings.extend(text.encode() + b'\0')
        return at
    names = [add(name) for name in kinds]
    number, tracks, time, events = add('%d'), [add(f'worker {i}') for i in range(5)], 0, b''
    for _ in range(8000):
        time += rng.choice([1, 10, 1000, 50000])
        events += struct.pack('>QIII', time, rng.randrange(5), rng.choice([0, 0, 1, 1, 2]), rng.randrange(100))
    strings.extend(bytes(-len(strings) % 4))
    table = b'T'.ljust(64, b'\0')
    sections = [(1, bytes(strings)),
                (3, table + struct.pack('>I', 3) + b''.join(struct.pack('>III', i, name, number) for i, name in enumerate(names))),
                (4, table + struct.pack('>I', 5) + b''.join(struct.pack('>II', i, track) for i, track in enumerate(tracks))),
                (5, table + struct.pack('>II', 8000, 1000000000) + events)]
    with open(path, 'wb') as file:
        file.write(struct.pack('>BBHI', 1, 0, 4, 0) + b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))


def pcap():
    rng, time = random.Random(3), 0
    with open('packets.pcap', 'wb') as out:
        out.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for _ in range(2000):
            time += rng.choice([1, 100, 20000])
            data = bytes(rng.randrange(256) for _ in range(rng.randrange(60, 90)))
            out.write(struct.pack('<IIII', 1700000000 + time // 1000000, time % 1000000, len(data), len(data)) + data)


def broken():
    """A trace that ends in the middle of a packet, and one with bytes of another packet overwritten."""
    for name in ('damaged', 'corrupt'):
        shutil.copytree('kernel', name, dirs_exist_ok=True)
    os.truncate('damaged/channel_0', os.path.getsize('kernel/channel_0') - 5000)
    with open('corrupt/channel_1', 'r+b') as file:
        file.seek(300 * 24 + 48 + 1000)
        file.write(b'\xff' * 12000)


if __name__ == '__main__':
    kernel()
    floats()
    evil()
    cpel('random.cpel', ('begin', 'end', 'tick'), 5)
    cpel('spans.cpel', ('work_begin', 'work_end', 'tick'), 6)
    pcap()
    broken()
