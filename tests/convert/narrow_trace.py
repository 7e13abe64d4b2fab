#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""narrow_trace.py DIRECTORY [without-begin]: a trace whose event headers have 27 bits of the time, of events that
come every 50 ms. Without the events `often`, those that are left are further apart than 27 bits can tell."""
import struct
import sys
from pathlib import Path

STEP, EVENTS, PACKETS, RARE = 50_000_000, 40, 3, 5
has_begin = len(sys.argv) < 3
out = Path(sys.argv[1])
out.mkdir()
times = 'u64 timestamp_begin; u64 timestamp_end;' if has_begin else ''
(out / 'metadata').write_text('''/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
clock { name = clock; freq = 1000000000; offset_s = 1700000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.clock.value; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
stream {
  id = 0;
  packet.context := struct { %s u32 content_size; u32 packet_size; u32 packet_seq_num; };
  event.header := struct {
    integer { size = 5; align = 8; signed = false; } id;
    integer { size = 27; align = 1; signed = false; map = clock.clock.value; } timestamp;
  };
};
event { name = rare; id = 0; stream_id = 0; fields := struct { u32 _number; }; };
event { name = often; id = 1; stream_id = 0; fields := struct { u32 _number; }; };
''' % times)
data, number = b'', 0
for packet in range(PACKETS):
    body, begin = b'', number * STEP
    for _ in range(EVENTS):
        word = (0 if number % RARE == 0 else 1) | (number * STEP & 0x7ffffff) << 5
        body += struct.pack('<II', word, number)
        number += 1
    size = (8 + (16 if has_begin else 0) + 12 + len(body)) * 8
    data += struct.pack('<II', 0xc1fc1fc1, 0)
    data += struct.pack('<QQ', begin, (number - 1) * STEP) if has_begin else b''
    data += struct.pack('<III', size, size, packet) + body
(out / 'stream').write_bytes(data)
