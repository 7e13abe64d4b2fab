#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts of whole traces, for which streams are counted in turn, beside counts of rows, for which events are merged: of sound, damaged and
truncated traces with the headers of most tracers. Also what is said of damage and of losses, and the exit codes.

    counted.py KYMO SEEDS
"""
import random
import shutil
import struct
import subprocess
import sys
from pathlib import Path

METADATA = '''/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 16; align = 8; signed = false; } := u16;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; u64 stream_instance_id; }; };
clock { name = c; freq = %d; offset_s = 1700000000; };
%s
stream { id = 0; event.header := struct HEADER;
  packet.context := struct { time timestamp_begin; time timestamp_end; u64 content_size; u64 packet_size; u64 packet_seq_num; u32 events_discarded; }; };
event { name = "none"; id = 0; stream_id = 0; fields := struct { }; };
event { name = "two"; id = 1; stream_id = 0; fields := struct { u32 _a; u8 _b; }; };
event { name = "text"; id = 2; stream_id = 0; fields := struct { u16 _a; string _s; }; };
event { name = "list"; id = 3; stream_id = 0; fields := struct { u8 _n; u16 _l[_n]; u32 _a; }; };
event { name = "texts"; id = 5; stream_id = 0; fields := struct { string _s; string _t; u8 _a; }; };
'''
HEADERS = {
    'packed': '''struct HEADER { integer { size = 16; align = 8; } id; integer { size = 48; align = 1; map = clock.c.value; } timestamp; } align(8);''',
    'compact': '''struct HEADER { enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;
  variant <id> { struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp; } compact; struct { u32 id; time timestamp; } extended; } v; } align(8);''',
    'large': '''struct HEADER { enum : u16 { compact = 0 ... 65534, extended = 65535 } id;
  variant <id> { struct { integer { size = 32; align = 8; map = clock.c.value; } timestamp; } compact; struct { u32 id; time timestamp; } extended; } v; } align(8);''',
}
BODIES = {0: lambda r: b'', 1: lambda r: r.randbytes(5), 2: lambda r: r.randbytes(2) + b'x' * r.choice([0, 1, 7, 8, 30]) + b'\0',
          3: lambda r: (lambda n: bytes([n]) + r.randbytes(2 * n + 4))(r.randrange(6)), 5: lambda r: b'a' * r.randrange(9) + b'\0b\0\5'}
STATEMENTS = {'counted': 'SELECT class, count(*) FROM events GROUP BY class',
              'by rows': "SELECT c, count(ts) FROM (SELECT class || '' AS c, ts FROM events) GROUP BY c"}


def header(kind, number, time, is_long):
    if kind == 'packed':
        return struct.pack('<Q', number | (time & (1 << 48) - 1) << 16)
    if kind == 'compact':
        return struct.pack('<BIQ', 31, number, time) if is_long else struct.pack('<I', number | (time & (1 << 27) - 1) << 5)
    return struct.pack('<HIQ', 65535, number, time) if is_long else struct.pack('<HI', number, time & (1 << 32) - 1)


def packet(stream, sequence, times, body, padding=0, discarded=0):
    size = 16 + 44 + len(body)
    return struct.pack('<IIQQQQQQI', 0xC1FC1FC1, 0, stream, *times, size * 8, (size + padding) * 8, sequence, discarded) + body + bytes(padding)


def begin_trace(folder, kind, frequency=1000000000):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / 'metadata').write_text(METADATA % (frequency, HEADERS[kind]))


def write(folder, kind, r, goes_back=False):
    is_far = r.random() < 0.2  # times that do not fit 64-bit nanoseconds
    begin_trace(folder, kind, 1 if is_far else 1000000000)
    for stream in range(r.choice([1, 3, 4, 5, 9])):
        data, time, discarded = b'', 2**33 - 5000 if is_far else 1000, 0
        for sequence in range(r.randrange(1, 4)):
            events, begin = [], time
            for _ in range(r.choice([0, 1, 63, 64, 65, 66, 400])):
                time += r.choice([0, 1, 1000, 10**6 if not is_far else 1])
                number = r.choice(list(BODIES))
                is_long = r.random() < (0.3 if goes_back else 0.02)
                at = max(time - r.randrange(5000), 0) if goes_back and is_long else time
                events.append(header(kind, number, at, is_long) + BODIES[number](r))
            padding = r.choice([0, 8, 100])
            discarded += r.choice([0, 0, 0, 3])
            data += packet(stream, sequence, (begin, time), b''.join(events), padding, discarded)
        data = bytearray(data)
        for _ in range(r.choice([0, 0, 0, 1, 3])):
            at = r.randrange(len(data))
            data[at:at + 4] = r.randbytes(len(data[at:at + 4]))
        if r.random() < 0.1:
            del data[r.randrange(len(data)):]
        (folder / f'stream_{stream}').write_bytes(data)


def answer(kymo, folder, statement, *options):
    done = subprocess.run([kymo, 'query', folder, statement, *(options or ('--format', 'csv'))], capture_output=True, check=False)
    return done.stdout.split(b'\n', 1)[-1], sorted(done.stderr.splitlines()), done.returncode


def main():
    kymo, seeds, bad, codes, plans = sys.argv[1], int(sys.argv[2]), 0, set(), set()
    for seed in range(seeds):
        for kind in HEADERS:
            r = random.Random(f'{seed} {kind}')
            write(Path('counted'), kind, r)
            one, other = (answer(kymo, 'counted', statement) for statement in STATEMENTS.values())
            codes.add(one[2])
            if one[2] == 0 and not plans:
                plans |= {name for name, statement in STATEMENTS.items() if b', counted)' in answer(kymo, 'counted', statement, '--explain')[0]}
            if one != other:
                bad += 1
                print(f'seed {seed}, {kind}:', *(f'{a} is counted, {b} by rows' for a, b in zip(one, other) if a != b), sep='\n  ')
    if plans != {'counted'}:
        print('statements for which streams are counted:', *plans)
    return bad > 0 or codes != {0, 1} or plans != {'counted'}


if __name__ == '__main__':
    sys.exit(main())
