#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a CTF trace for SQL: fields of all sorts, four streams of packets, spans, large numbers, odd texts.

    make_trace.py DIRECTORY [SEED [EVENTS]] [--back]     --back: some packets are earlier than the ones before them
"""
import random
import struct
import sys
from pathlib import Path

METADATA = '''/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 16; align = 8; signed = false; } := u16;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 32; align = 8; signed = true; } := i32;
typealias integer { size = 64; align = 8; signed = true; } := i64;
typealias integer { size = 64; align = 8; map = clock.wall.value; } := time;
trace {
  major = 1; minor = 8; byte_order = le; uuid = "%s";
  packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; };
};
env { hostname = "box"; procname = "server"; vpid = %d; };
clock { name = wall; absolute = true; freq = 1000000000; offset_s = 1700000000; };
stream {
  id = 0;
  packet.context := struct { time timestamp_begin; time timestamp_end; u64 content_size; u64 packet_size; u32 cpu_id; };
  event.header := struct { u16 id; time timestamp; };
  event.context := struct { i32 _vtid; string _procname; };
};
event { name = "net:rx"; id = 0; stream_id = 0; fields := struct {
  u16 _port; i64 _len; u64 _hash; enum : u8 { "OPEN" = 1, "HALF OPEN" = 2 ... 3, "SHUT" = 4 } _state; string _iface;
  struct { i32 _x; i32 _y; } _where; u8 _count; u16 _lengths[_count]; u32 _ts; }; };
event { name = "alloc"; id = 1; stream_id = 0; fields := struct {
  u64 _size; floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _ratio; i32 _left; string _who; }; };
event { name = "work_begin"; id = 2; stream_id = 0; fields := struct { u32 _job; }; };
event { name = "work_end"; id = 3; stream_id = 0; fields := struct { u32 _job; i32 _result; }; };
'''
TEXTS = ['eth0', 'eth1', 'lo', '', 'a b', "it's", 'ETH0', 'x\x1b[31m', 'tab\tnew\nline', 'é']
HASHES = [0, 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 10**19, 9 * 10**18, 9500000000000000000]


def text(value):
    return value.encode() + b'\0'


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.open = {stream: [] for stream in range(4)}
        self.jobs = 0

    def rx(self, _):
        count = self.random.randrange(4)
        return 0, struct.pack('<HqQB', self.random.choice([22, 80, 443, 8080]), self.random.choice([-1, 0, 5, 64, 1500, 2**40, -2**63]),
                              self.random.choice(HASHES), self.random.choice([1, 2, 3, 4, 9])) + text(self.random.choice(TEXTS)) + \
            struct.pack('<iiB', self.random.randrange(-3, 3), self.random.randrange(100), count) + \
            struct.pack(f'<{count}H', *[self.random.randrange(65536) for _ in range(count)]) + struct.pack('<I', self.random.randrange(10))

    def alloc(self, _):
        return 1, struct.pack('<Qdi', self.random.choice([16, 32, 4096, 2**63, 2**64 - 2]),
                              self.random.choice([0.5, -1.25, 1e300, 3.0, float('nan'), float('inf')]),
                              self.random.randrange(-5, 5)) + text(self.random.choice(TEXTS))

    def begin(self, stream):
        self.jobs += 1
        self.open[stream].append(self.jobs)
        return 2, struct.pack('<I', self.jobs)

    def end(self, stream):
        job = self.open[stream].pop() if self.open[stream] else 0
        return 3, struct.pack('<Ii', job, self.random.choice([0, 0, -1]))

    def event(self, stream, time):
        make = self.random.choices([self.rx, self.alloc, self.begin, self.end], [5, 4, 1, 1])[0]
        number, body = make(stream)
        return struct.pack('<HQ', number, time) + struct.pack('<i', 100 + stream) + text(f'worker {stream % 2}') + body


def write_trace(directory, seed, events, goes_back):
    maker, uuid = Maker(seed), bytes((seed * 7 + i) % 256 for i in range(16))
    directory.mkdir()
    name = uuid.hex()
    name = '-'.join((name[:8], name[8:12], name[12:16], name[16:20], name[20:]))
    (directory / 'metadata').write_text(METADATA % (name, 4000 + seed))
    times, time = {stream: [] for stream in range(4)}, 1000 + seed
    for _ in range(events):
        time += maker.random.choice([0, 1, 5, 1000, 100000])
        times[maker.random.randrange(4)].append(time)
    for stream, own in times.items():
        packets = [own[i:i + 50] for i in range(0, len(own), 50)]
        if goes_back and len(packets) > 3:
            packets[1], packets[2] = packets[2], packets[1]
        data = b''
        for packet in packets:
            body = b''.join(maker.event(stream, time) for time in packet)
            size = (4 + 16 + 4 + 8 + 8 + 8 + 8 + 8 + 4 + len(body)) * 8
            data += struct.pack('<I', 0xC1FC1FC1) + uuid + struct.pack('<IQ', 0, stream) + \
                struct.pack('<QQQQI', packet[0], packet[-1], size, size, stream // 2) + body
        (directory / f'stream_{stream}').write_bytes(data)


if __name__ == '__main__':
    words = [word for word in sys.argv[1:] if word != '--back']
    write_trace(Path(words[0]), int(words[1]) if len(words) > 1 else 1, int(words[2]) if len(words) > 2 else 2000,
                '--back' in sys.argv)
