#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes CTF traces whose times and writers change in every way, and the lines that kymo cat must print for them, computed here.

  lines.py FOLDER    FOLDER/times and FOLDER/writers: traces; FOLDER/NAME.lines: the lines
"""
import datetime
import random
import struct
import sys
from pathlib import Path

SECOND = 1_000_000_000
START = 1_700_006_398 * SECOND  # two seconds before midnight
CLOCK = 'clock { name = c; freq = 1000000000; offset = 0; absolute = true; uuid = "11111111-2222-3333-4444-555555555555"; };\n'
TIMES = '''/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
%s
stream {
  packet.context := struct { integer { size = 64; align = 8; } content_size; integer { size = 64; align = 8; } packet_size;
    integer { size = 64; align = 8; map = clock.c.value; } timestamp_begin;
    integer { size = 64; align = 8; map = clock.c.value; } timestamp_end; integer { size = 64; align = 8; } events_discarded; };
  event.header := struct { integer { size = 64; align = 8; map = clock.c.value; } timestamp; };
};
event { name = e; fields := struct { integer { size = 32; align = 8; } v; }; };
'''
# The body of an event begins within a byte, and a thread id ends in another one: 12 bits, then 16 of the id.
WRITERS = '''/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
%s
stream {
  event.header := struct { integer { size = 4; align = 1; } id; integer { size = 8; align = 1; map = clock.c.value; } timestamp; };
  event.context := struct { integer { size = 16; align = 1; } tid; };
};
event { name = e; id = 0; fields := struct { integer { size = 4; align = 1; } v; }; };
'''


def times():
    """Steps of all sizes, forward and back; a packet ends after each 40 events, every third time with a loss."""
    chance = random.Random(17)
    now, list_ = START, []
    for _ in range(600):
        step = chance.choice([0, 1, 9_999, 10_000, 123_456_789, SECOND - 1, SECOND, SECOND + 1, chance.randrange(1 << 34),
                              -1, -chance.randrange(SECOND), chance.randrange(1 << 14), chance.randrange(1 << 14)])
        now += step if now + step >= START else 0
        list_.append(now)
    return list_


def seconds(ns):
    sign, size = ('-', -ns) if ns < 0 else ('+', ns)
    return f'{sign}{size // SECOND}.{size % SECOND:09}'


def write_times(folder):
    (folder / 'metadata').write_text(TIMES % CLOCK, encoding='ascii')
    list_, lines, day, last, lost = times(), [], None, None, 0
    with open(folder / 'stream', 'wb') as file:
        for first in range(0, len(list_), 40):
            part = list_[first:first + 40]
            lost += 7 if first // 40 % 3 == 2 else 0
            body = b''.join(struct.pack('<QI', ns, first + i) for i, ns in enumerate(part))
            size_bits = (40 + len(body)) * 8
            file.write(struct.pack('<QQQQQ', size_bits, size_bits, part[0], part[-1], lost) + body)
            for i, ns in enumerate(part):
                at = datetime.datetime.fromtimestamp(ns // SECOND, datetime.timezone.utc)
                if at.date() != day:
                    day = at.date()
                    lines.append(f'# {day} +0000')
                delta = ns - last if last is not None else 0
                last = ns
                lines.append(f'[{at:%H:%M:%S}.{ns % SECOND:09}] {seconds(delta)} #0 e v = {first + i}')
    return lines


def write_writers(folder):
    (folder / 'metadata').write_text(WRITERS % CLOCK, encoding='ascii')
    chance, lines, last = random.Random(18), ['# 1970-01-01 +0000'], None
    with open(folder / 'stream', 'wb') as file:
        for i in range(200):
            tid, now = chance.choice([0x1005, 0x2005, 0x2005, 0x2006, 0x7005]), i // 4
            file.write(struct.pack('<I', now << 4 | tid << 12 | (i & 15) << 28))
            delta = now - last if last is not None else 0
            last = now
            lines.append(f'[00:00:00.{now:09}] {seconds(delta)} {tid} e v = {i & 15}')
    return lines


def main():
    root = Path(sys.argv[1])
    for name, write in (('times', write_times), ('writers', write_writers)):
        (root / name).mkdir(parents=True)
        lines = write(root / name)
        (root / f'{name}.lines').write_text(''.join(f'{line}\n' for line in lines), encoding='ascii')


main()
