#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""twin_trace.py DIRECTORY: a trace of two stream classes, described in the reverse order of their ids, whose events
come at the same times: those of the lower id are read first."""
import struct
import sys
from pathlib import Path

out = Path(sys.argv[1])
out.mkdir()
stream = '''
stream {
  id = %d;
  packet.context := struct { u32 content_size; u32 packet_size; };
  event.header := struct { u64 timestamp; };
  event.context := struct { u32 %s; };
};
event { name = %s; stream_id = %d; fields := struct { u32 _number; }; };
'''
(out / 'metadata').write_text('''/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
clock { name = clock; freq = 1000000000; offset_s = 1700000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.clock.value; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
''' + stream % (1, 'left', 'second', 1) + stream % (0, 'right', 'first', 0))
for number in (0, 1):
    body = b''.join(struct.pack('<QII', time * 1000, time, time) for time in range(10))
    size = (16 + len(body)) * 8
    (out / f'stream_{number}').write_bytes(struct.pack('<IIII', 0xc1fc1fc1, number, size, size) + body)
