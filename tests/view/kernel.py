#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a trace of LTTng's layout: streams of processors, threads in the context, losses, pairs by their names.

    kernel.py DIRECTORY EVENTS
"""
import os
import random
import struct
import sys

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
  event.context := struct { uint32_t vtid; integer { size = 8; align = 8; signed = true; encoding = UTF8; } procname[8]; }; };
'''
NAMES = ['k:tick', 'syscall_entry_read', 'syscall_exit_read', 'k:irq_entry', 'k:irq_exit', 'k:alone_entry']
rng = random.Random(7)
FOLDER, EVENTS = sys.argv[1], int(sys.argv[2])
os.makedirs(FOLDER)
with open(f'{FOLDER}/metadata', 'w') as out:
    out.write(META)
    for i, name in enumerate(NAMES):
        out.write(f'event {{ name = "{name}"; id = {i}; stream_id = 0; fields := struct {{ uint32_t value; }}; }};\n')
time, streams, lost = 0, [[], []], [0, 0]
files = [open(f'{FOLDER}/channel_{i}', 'wb') for i in range(2)]
def flush(cpu):
    events = streams[cpu]
    body = b''.join(event for _, event in events)
    if not events: return
    size = 48 + len(body)
    files[cpu].write(struct.pack('<IIQQIIII', 0xc1fc1fc1, 0, events[0][0], events[-1][0], 40 * 8 + len(body) * 8, size * 8, lost[cpu], cpu)
                     + body + bytes(8))
    lost[cpu] += rng.choice([0, 0, 0, 2])
    streams[cpu] = []
for i in range(EVENTS):
    time += rng.choice([0, 1, 10, 1000])
    cpu, tid = rng.randrange(2), rng.randrange(5)
    streams[cpu].append((time, struct.pack('<IQI8sI', rng.choice([0, 1, 2, 3, 4, 5, 0, 0]), time, 100 + tid, b'proc%d' % (tid // 2), i % 500)))
    if len(streams[cpu]) == 300: flush(cpu)
for cpu in range(2): flush(cpu)
