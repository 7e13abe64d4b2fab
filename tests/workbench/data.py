#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Descriptions and files for the suites of the workbench, in the current folder:

  lift.tdl  good.log  bad.log    all fits; a check fails, then a record ends within a field, and the rest is not read
  names.tdl  'a<b>&.log'         texts of the description and of the file that are HTML
  boxes.tdl  boxes.log           records in containers that are packed, between bytes that belong to no record
  many.tdl  many.log             more records and longer ones than a page shows
"""
import struct
import zlib
from pathlib import Path

LIFT = '''TRACE lift;
  BYTES LITTLE;
  CLOCK up IS RESOLUTION 1 ms;
  TOKEN door=("opens"=0, "closes"=1);
  RECORD head CONTROL IS
    _mark: BYTES 4="LIFT";
    version: UNSIGNED 16;
    FILLER 2 BYTES = 0;
  END;
  PREFIX begin IS
    _kind: UNSIGNED 8;
    _size: UNSIGNED 8 LENGTH OF RECORD;
    ACQUISITION: UNSIGNED 16 TIME up POINT;
  END;
  RECORD doors EVENT WITH begin WHEN _kind=1 IS
    EVENT: UNSIGNED 8 TOKEN door;
    a,b: UNSIGNED 4;
  END;
  RECORD ride EVENT WITH begin WHEN _kind=2 IS
    floor: UNSIGNED 8;
    CHECK floor < 10 "there is no such floor";
    m: REPEAT TIMES 2 IS
      x: UNSIGNED 8;
      y: UNSIGNED 8;
    END;
    IF floor > 3 THEN
      note: STRING COUNTED UNSIGNED 8;
    END;
  END;
  LAYOUT head;
    REPEAT doors OR ride;
END TRACE.
'''


def lift():
    Path('lift.tdl').write_text(LIFT)
    good = b'LIFT\1\0\0\0' + struct.pack('<BBHBB', 1, 6, 500, 0, 0x21)
    good += struct.pack('<BBHB4B', 2, 13, 600, 5, 1, 2, 3, 4) + b'\2hi' + b'?'  # a byte that no field covers
    Path('good.log').write_bytes(good)
    Path('bad.log').write_bytes(good + struct.pack('<BBHB4B', 2, 9, 700, 50, 1, 2, 3, 4) + b'\x09\x07abcdefgh')


def names():
    evil = '<img src=x onerror=alert(1)></script><script>alert(2)</script>'
    Path('names.tdl').write_text(f'''TRACE names; -- {evil}
  BYTES LITTLE;
  TOKEN what=("{evil}"=1);
  TYPES word=("u8"=UNSIGNED 8);
  TABLE forms KEY NUMBER HOLDS RECORDS;
  PREFIX p IS _kind: UNSIGNED 8; END;
  RECORD form DEFINITION WITH p WHEN _kind=1 IS
    name: STRING COUNTED UNSIGNED 8;  list: STRING COUNTED UNSIGNED 8;
    DEFINE forms[2] AS RECORD name FIELDS BY TEXT word OF list SPLIT ";";
  END;
  RECORD value EVENT WITH p WHEN _kind=2 FROM forms[2];
  RECORD told EVENT WITH p WHEN _kind=3 IS
    `<i>"it's"`: UNSIGNED 8 TOKEN what;
    text: STRING COUNTED UNSIGNED 8;
    CHECK text = "no" "{evil}";
  END;
  LAYOUT REPEAT form OR value OR told;
END TRACE.
''')
    counted = lambda text: bytes([len(text)]) + text
    data = b'\1' + counted(b'<b>bold</b>') + counted(b'u8 <u>x</u>') + b'\2\7'
    data += b'\3\1' + counted(evil.encode() + b'\xe2\x80\xae\xff')
    Path('a<b>&.log').write_bytes(data)


def boxes():
    Path('boxes.tdl').write_text('''TRACE boxes;
  BYTES LITTLE;
  RECORD box CONTROL LENGTH 4+n HOLDS sample WITHIN n BYTES AFTER ZLIB IS
    _mark: BYTES 2="BX";
    n: UNSIGNED 16;
  END;
  RECORD sample EVENT IS
    value: UNSIGNED 16 IN (1..100);
  END;
  LAYOUT box;
    box AT 64;
END TRACE.
''')
    box = lambda values: (lambda packed: b'BX' + struct.pack('<H', len(packed)) + packed)(zlib.compress(struct.pack(f'<{len(values)}H', *values), 0))
    Path('boxes.log').write_bytes(box([7, 8]).ljust(64, b'.') + box([9, 300]) + b'end')


def many():
    Path('many.tdl').write_text('''TRACE many;
  BYTES LITTLE;
  CLOCK up IS RESOLUTION 1 s;
  RECORD big EVENT IS
    ACQUISITION: UNSIGNED 16 TIME up POINT;
    data: BYTES 2000;
    REPEAT TIMES 1500 IS v: UNSIGNED 8; END;
  END;
  LAYOUT REPEAT big;
END TRACE.
''')
    Path('many.log').write_bytes(b''.join(struct.pack('<H', i) + bytes(3500) for i in range(60)))


for make in lift, names, boxes, many:
    make()
