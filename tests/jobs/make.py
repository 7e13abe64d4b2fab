#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a CTF 1.8 trace of many packets, by chance, for tests of several jobs.

    make.py FOLDER SEED STREAMS PACKETS [HABIT …]

    loss      packets that are missing, and events that were discarded
    backward  events whose times go back, within a packet and from packet to packet
    same      many events have the same time, in all streams
    days      some events are days later
    early     the heads of packets say that they begin long before their first event, so seeks go too far
    bad       a packet is corrupt
    single    one event a packet
    large     10,000 events a packet, but in every second one
    sparse    of two event classes, one is rare
    brief     the first stream is one packet of some nanoseconds

The same arguments make the same trace.
"""
import random
import struct
import sys
from pathlib import Path

METADATA = '''/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; uint32_t stream_id; }; };
env { hostname = "host"; domain = "ust"; };
clock { name = c; freq = 1000000000; offset_s = 1700000000; absolute = true; };
typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := time_t;
stream { id = 0;
  packet.context := struct { time_t timestamp_begin; time_t timestamp_end; uint64_t content_size; uint64_t packet_size;
    uint64_t packet_seq_num; uint64_t events_discarded; uint32_t cpu_id; };
  event.header := struct { uint8_t id; time_t timestamp; };
  event.context := struct { uint32_t vtid; }; };
event { name = "test:number"; id = 0; stream_id = 0; fields := struct { uint32_t value; }; };
event { name = "test:text"; id = 1; stream_id = 0; fields := struct { string text; uint8_t flag; }; };
'''
DAY = 86400 * 10**9


class Stream:
    def __init__(self, rng, number, habits):
        self.rng, self.number, self.habits = rng, number, habits
        self.time, self.sequence, self.discarded, self.end = rng.randrange(1000), 0, 0, 0
        self.data = bytearray()
        self.is_brief = 'brief' in habits and number == 0

    def step(self):
        rng = self.rng
        if self.is_brief:
            self.time += 1
        elif 'same' in self.habits:
            self.time += rng.choice([0, 0, 0, 0, 0, 1000])
        else:
            self.time += rng.randrange(1, 3000)
        if 'days' in self.habits and rng.random() < 0.0005:
            self.time += DAY + rng.randrange(DAY)
        if 'backward' in self.habits and rng.random() < 0.05:
            return max(0, self.time - rng.randrange(20000))
        return self.time

    def event(self, time):
        rng = self.rng
        rare = 0.002 if 'sparse' in self.habits else 0.3
        tid = struct.pack('<I', 100 + self.number)
        if rng.random() < rare:
            text = bytes(rng.choice(b'abc "\\\n') for _ in range(rng.randrange(12)))
            return struct.pack('<BQ', 1, time) + tid + text + b'\0' + bytes([rng.randrange(256)])
        return struct.pack('<BQ', 0, time) + tid + struct.pack('<I', rng.randrange(1000))

    def event_count(self):
        if 'large' in self.habits and self.sequence % 2:
            return 10000
        if self.is_brief:
            return 50
        return 1 if 'single' in self.habits else self.rng.randrange(0, 60)

    def packet(self):
        rng, events, times = self.rng, b'', []
        for _ in range(self.event_count()):
            times.append(self.step())
            events += self.event(times[-1])
        begin = min(times, default=self.time)
        end = max([self.time, *times])
        if 'early' in self.habits:
            begin = max(0, begin - 100000)
        if 'loss' in self.habits and rng.random() < 0.1:
            self.discarded += rng.randrange(1, 20)
        if 'loss' in self.habits and rng.random() < 0.05:
            self.sequence += 1
        head = struct.pack('<II', 0xc1fc1fc1, 0)
        content = len(head) + 6 * 8 + 4 + len(events)
        size = (content + 63) // 64 * 64
        head += struct.pack('<QQQQQQI', begin, end, 8 * content, 8 * size, self.sequence, self.discarded, self.number)
        self.sequence += 1
        self.data += head + events + bytes(size - content)


def main():
    folder, seed, streams, packets, *habits = sys.argv[1:]
    rng = random.Random(f'{seed} {streams} {packets} {habits}')
    Path(folder).mkdir(parents=True)
    (Path(folder) / 'metadata').write_text(METADATA, encoding='ascii')
    for number in range(int(streams)):
        stream = Stream(rng, number, habits)
        bad = rng.randrange(int(packets)) if 'bad' in habits and number == 0 else None
        for packet in range(1 if stream.is_brief else int(packets)):
            begin = len(stream.data)
            stream.packet()
            if packet == bad:
                at = begin + rng.choice([0, 25])  # the magic number, the size of the content
                stream.data[at] ^= 0xff
        (Path(folder) / f'stream_{number}').write_bytes(stream.data)


if __name__ == '__main__':
    main()
