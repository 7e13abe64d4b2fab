#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small files of foreign formats, for faults to be tried on: a capture, a Gist log with its header, descriptions, filters.

    data.py DIRECTORY
"""
import os
import struct
import sys

os.makedirs(sys.argv[1], exist_ok=True)
os.chdir(sys.argv[1])

with open('some.pcap', 'wb') as out:
    out.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for i in range(20):
        data = bytes(range(i))
        out.write(struct.pack('<IIII', 1700000000 + i, 1000 * i, len(data), len(data)) + data)

with open('some.ev', 'wb') as out:
    out.write(struct.pack('>I', 20))
    for i in range(20):
        out.write(struct.pack('>QIII', 5_000_000_000 + 1000 * i, 1 + i % 3, 1 + i % 4, i))
with open('some.h', 'w') as out:
    out.write('#define A 1 /* boot */\n#define B 2 /* halt: 100%% %u */\n#define C 3 /* rx: port %d */\n')

with open('some.tdl', 'w') as out:
    out.write('''TRACE some VERSION 1;
  CLOCK mono IS RESOLUTION 1 us;
  TOKEN state = ("open"=1, "half"=2..3, "shut"=4);
  RECORD sample EVENT IS
    kind: UNSIGNED 8 TOKEN state;
    ACQUISITION: UNSIGNED 32 LITTLE TIME mono POINT;
    _n: UNSIGNED 8;
    REPEAT TIMES _n IS a: UNSIGNED 8; END;
    name: BYTES 3;
  END;
  LAYOUT REPEAT sample;
END TRACE.
''')
with open('some.bin', 'wb') as out:
    for i in range(30):
        out.write(struct.pack('<BIB', 1 + i % 4, 1000 * i, i % 4) + bytes(range(i % 4)) + b'abc')

with open('some.fdl', 'w') as out:
    out.write('FILTER some;\n  SELECT sample AND (kind = "open" OR name = 0x616263).')
with open('some_types.h', 'w') as out:
    out.write('struct sample { unsigned char kind; unsigned int time; short values[4]; char name[8]; };\n')
