#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the traces of the pictures into the current folder: server and before, requests of a web server on six threads, and
torn, which is server with a file that ends too early. They are the same each time."""
import os
import random
import shutil
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'serve'))
from data import Ctf  # noqa: E402  pylint: disable=wrong-import-position

NAMES = ['http:request_begin', 'http:request_end', 'db:query_begin', 'db:query_end', 'cache:miss', 'net:rx', 'net:tx', 'gc:pause_begin', 'gc:pause_end']
THREADS = ['web-1', 'web-2', 'web-3', 'web-4', 'db', 'gc']
PATHS = ['/', '/', '/', '/search', '/search', '/cart', '/image', '/login']


def requests(rng, slow):
    """Events as (time, thread, kind, id, size, path)."""
    events, number = [], 0
    for thread in range(4):
        time = rng.randrange(1000, 4000000)
        while time < 400000000:
            number, path = number + 1, rng.choice(PATHS)
            begin, size = time, int(rng.lognormvariate(6.5, 1))
            events += [(time, thread, 0, number, size, path), (time + 1500, thread, 5, number, size, path)]
            time += int(rng.lognormvariate(11, .5))
            for _ in range(rng.choice([0, 1, 1, 2, 3])):
                events.append((time, thread, 4, number, size, path))
                query = int(rng.lognormvariate(13.2 if path == '/search' else 12, .6) * slow)
                events += [(time + 2000, thread, 2, number, size, path), (time + 2000 + query, thread, 3, number, size * 3, path)]
                events += [(time + 9000, 4, 5, number, size, path), (time + query - 6000, 4, 6, number, size * 3, path)] if query > 20000 else []
                time += query + rng.randrange(5000, 60000)
            time += 9000000 if number == 137 else rng.randrange(20000, 90000)
            size = 60000 if number in (90, 137) else size * 4
            events += [(time, thread, 6, number, size, path), (time + 800, thread, 1, number, size, path)]
            time += int(rng.expovariate(1 / (600000 if (begin // 60000000) % 2 else 3000000)))
    for begin in range(30000000, 400000000, 72000000):
        events += [(begin, 5, 7, 0, 0, ''), (begin + 4000000, 5, 8, 0, 0, '')]
    return sorted(events)


def write(folder, seed, slow):
    trace = Ctf(folder, NAMES, 'uint32_t id; uint32_t size; integer { size = 8; align = 8; signed = true; encoding = UTF8; } path[8];',
                'event.context := struct { uint32_t vtid; integer { size = 8; align = 8; signed = true; encoding = UTF8; } procname[8]; };')
    for i, (time, thread, kind, number, size, path) in enumerate(requests(random.Random(seed), slow)):
        cpu = thread % 2
        trace.add(cpu, kind, time, struct.pack('<I8sII8s', 4000 + thread, THREADS[thread].encode(), number, size, path.encode()))
        if len(trace.times[cpu]) == 200:
            trace.flush(cpu, 3 if 600 < i < 700 else 0)
    trace.close()


write('server', 1, 1)
write('before', 2, .8)
shutil.copytree('server', 'torn', dirs_exist_ok=True)
os.truncate('torn/channel_0', os.path.getsize('torn/channel_0') - 3000)
