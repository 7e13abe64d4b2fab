# SPDX-License-Identifier: MIT
"""Records that files define themselves, with types that name each other, sizes that the definition says, and padding. What is good holds for
the described file and for the CTF 1 and 2 that are written from it; definitions that make no sense get one clear message."""
import json
import os
import random
import re
import struct
import subprocess
import time

import seeds
from described import IS_SANITIZED, KYMO, compiled, events, fields, not_ok, ok, written

TDL = '''TRACE t;
  BYTES LITTLE;
  CLOCK c IS RESOLUTION 1 us;
  TYPES w=("u8"=UNSIGNED 8, "u16"=UNSIGNED 16, "i32"=INTEGER 32, "f32"=FLOAT 32, "char"=STRING, "raw"=BYTES, "number"=TEXT NUMBER,
    "two"=ARRAY 2 OF UNSIGNED 8, "cm"=INTEGER 16 SCALE 0.01 UNITS "m", "bit"=UNSIGNED 1, "z"=STRING 4);
  TABLE forms KEY NAME HOLDS RECORDS;
  TABLE ids KEY NUMBER HOLDS NAMES;
  PREFIX p IS kind: UNSIGNED 8;  _n: UNSIGNED 16 LENGTH OF RECORD PLUS 3; END;
  RECORD d DEFINITION WITH p WHEN kind=1 IS
    id: UNSIGNED 8;  name: STRING ENDED 58;  all: STRING TO END;
    FORGET ids[id];  DEFINE ids[id]=name;
    DEFINE forms[name] AS RECORD name FIELDS BY TEXT w OR forms OF all SPLIT ";"
      FIELD "t" IS TIME c POINT  FIELD LIKE "_pad*" IS FILLER;
  END;
  RECORD e EVENT WITH p WHEN kind IN ids FROM forms[ids[kind]];
  LAYOUT REPEAT d OR e;
END TRACE.
'''


def hold(name, got, wanted):
    if got == wanted:
        ok(name)
    else:
        not_ok(name, f'{got!r} is not {wanted!r}')


def record(kind, payload):
    return struct.pack('<BH', kind, len(payload)) + payload


def define(kind, text):
    return record(1, bytes([kind]) + text.encode())


SEEDS = {'types in types', 'a type that is defined anew', 'types by number, and their sizes', 'padding of types', 'types that contain each other',
         'the time is that of the record, not of a type in it', 'texts, bytes and numbers as long as the definition says', 'types in each other too deep',
         'values of types that mean absent', 'scale, offset, unit and what is absent', 'fields of a second list', 'records from a definition define'}


def seed(name, tdl, data):
    if IS_SANITIZED or name not in SEEDS:
        return
    what = 'defined-' + re.sub(r'\W+', '-', name)
    seeds.hold(what, compiled(what, tdl)[0], data)
    seeds.hold_text(what, tdl, data)


def cat(*arguments):
    done = subprocess.run([KYMO, 'cat', '--format', 'json', *arguments], capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def check(name, data, wanted, tdl=TDL):
    """wanted: (event, time in ns or None, fields) of each."""
    seed(name, tdl, data)
    for form, arguments in written(re.sub(r'\W+', '-', name), tdl, data):
        got, said = cat(*arguments)
        got = [(event['event'].split(':', 1)[1], event.get('ts'), {k: v for k, v in fields(event).items() if k != 'kind'}) for event in got]
        hold(f'{name}, {form}', (got, said), (wanted, ''))


def wrong(name, data, message, tdl=TDL, count=None):
    """The message without the name of the file; and how many records there are nevertheless."""
    seed(name, tdl, data)
    out, said, status = events(re.sub(r'\W+', '-', name), tdl, data)
    lines = [line.split('.bin: ', 1)[1] for line in said.splitlines() if '.bin: ' in line]
    wanted = [message] if isinstance(message, str) else message
    hold(name, (lines, status, len(out) if count is not None else None), (wanted, 1, count))


# ---- types that other definitions define ----

POINT = define(9, 'point:u8 x;i32 y')
check('a type that is another definition', POINT + define(8, 'move:u16 n;point from;point to;u8 z') +
      record(8, struct.pack('<HBiBiB', 7, 1, -2, 3, -4, 5)), [('move', None, {'n': 7, 'from.x': 1, 'from.y': -2, 'to.x': 3, 'to.y': -4, 'z': 5})])
check('a type that is defined later', define(8, 'move:point to') + POINT + record(8, struct.pack('<Bi', 3, -4)),
      [('move', None, {'to.x': 3, 'to.y': -4})])
check('lists of such a type', POINT + define(8, 'way:u8 n;point[2] a;point b[1]') + record(8, struct.pack('<BBiBiBi', 9, 1, 2, 3, 4, 5, 6)),
      [('way', None, dict(n=9, a=[dict(x=1, y=2), dict(x=3, y=4)], b=[dict(x=5, y=6)]))])
check('types in types', POINT + define(7, 'line:point[2] p;u8 colour') + define(6, 'box:line[2] side;line top') + define(8, 'all:box b;u8 end') +
      record(8, b''.join(struct.pack('<BiBiB', i, i + 1, i + 2, i + 3, i + 4) for i in (10, 20, 30)) + b'\x63'),
      [('all', None, {'b.side': [dict(p=[dict(x=10, y=11), dict(x=12, y=13)], colour=14), dict(p=[dict(x=20, y=21), dict(x=22, y=23)], colour=24)],
                      'b.top.p': [dict(x=30, y=31), dict(x=32, y=33)], 'b.top.colour': 34, 'end': 99})])
check('a list in a type that occurs once', define(7, 'inner:u8[3] a;two b') + define(8, 'outer:inner i;inner[2] l') + record(8, bytes(range(15))),
      [('outer', None, {'i.a': [0, 1, 2], 'i.b': [3, 4], 'l': [dict(a=[5, 6, 7], b=[8, 9]), dict(a=[10, 11, 12], b=[13, 14])]})])
check('a type without fields', define(7, 'nothing:') + define(8, 'r:nothing a;u8 b;nothing[3] c') + record(8, b'\5'), [('r', None, dict(b=5))])
check('views of a type hold in the types that have it', define(7, 'inner:cm d') + define(8, 'r:inner i;inner[1] l') + record(8, struct.pack('<hh', 150, -25)),
      [('r', None, {'i.d': 1.5, 'l': [dict(d=-0.25)]})])
check('a type that is defined anew', POINT + define(8, 'r:point p') + record(8, struct.pack('<Bi', 1, 2)) + record(8, struct.pack('<Bi', 3, 4)),
      [('r', None, {'p.x': 1, 'p.y': 2}), ('r', None, {'p.x': 3, 'p.y': 4})])
wrong('another definition of a type is reported, and holds from there on', POINT + define(8, 'r:point p') + record(8, struct.pack('<Bi', 1, 2)) +
      define(9, 'point:u8 x') + record(8, b'\7'), 'byte 45: R7: another definition of the key "point"', count=2)

# ---- times ----

check('the time is that of the record, not of a type in it', define(7, 'inner:i32 t;u8 a') + define(8, 'r:inner i;i32 t;inner[2] l') +
      record(8, struct.pack('<iBiiBiB', 5, 1, 77, 6, 2, 0, 3)),
      [('r', 77000, {'i.t': 5000, 'i.a': 1, 'l': [dict(t=6000, a=2), dict(t=0, a=3)]})])
check('a type has a time, its record has none', define(7, 'inner:i32 t') + define(8, 'r:inner i;u8 a') + record(8, struct.pack('<iB', 5, 1)),
      [('r', None, {'i.t': 5000, 'a': 1})])

# ---- sizes that the definition says ----

check('texts, bytes and numbers as long as the definition says', define(8, 'r:char[5] s;raw[3] b;number[4] n;char c;char[2] d') +
      record(8, b'hi\0zz\1\2\3 42 Xab'), [('r', None, dict(s='hi', b='010203', n=42, c='X', d='ab'))])
check('the same in types', define(7, 'inner:char[2] s;raw[1] b') + define(8, 'r:inner i;inner[2] l') + record(8, b'ab\1cd\2ef\3'),
      [('r', None, {'i.s': 'ab', 'i.b': '01', 'l': [dict(s='cd', b='02'), dict(s='ef', b='03')]})])
BY_LIST = '''TRACE t;
  BYTES LITTLE;
  TYPES w=("1"=UNSIGNED 8, "2"=UNSIGNED 16, "7"=STRING, "13"=BYTES);
  TABLE forms KEY NUMBER HOLDS RECORDS;
  TABLE types KEY NUMBER HOLDS RECORDS;
  PREFIX p IS kind: UNSIGNED 8; END;
  RECORD d DEFINITION WITH p WHEN kind IN (1, 2) IS
    id,n: UNSIGNED 8;
    f: REPEAT TIMES n IS name: STRING 1;  type,size: UNSIGNED 8; END;
    IF kind=1 THEN DEFINE types[id] AS RECORD "type" FIELDS BY LIST w NAME f.name TYPE f.type SIZE f.size;
    ELSE DEFINE forms[id] AS RECORD "r" FIELDS BY LIST w OR types NAME f.name TYPE f.type SIZE f.size; END;
  END;
  RECORD e EVENT WITH p WHEN kind IN forms FROM forms[kind];
  LAYOUT REPEAT d OR e;
END TRACE.
'''
check('sizes in a list', b'\2\x08\5a\1\1b\2\4c\7\3d\x0d\2e\7\0' + b'\x08\1\2\0\3\0xy\0\xaa\xbb', [('r', None, dict(a=1, b=[2, 3], c='xy', d='aabb', e=''))], BY_LIST)
check('types by number, and their sizes', b'\1\x14\2x\1\1y\2\2' + b'\2\x08\3a\x14\3b\x14\6c\1\1' + b'\x08\1\2\0' + b'\3\4\0\5\6\0' + b'\7',
      [('r', None, {'a.x': 1, 'a.y': 2, 'b': [dict(x=3, y=4), dict(x=5, y=6)], 'c': 7})], BY_LIST)
wrong('a size that a type in a list cannot have', b'\1\x14\2x\1\1y\2\2' + b'\2\x08\1a\x14\4' + b'\x08\1\2\0\4',
      'byte 16: R7: a record whose definition is one with a size that its type cannot have, found 20, in "a" of "r"', BY_LIST, 1)

# ---- padding ----

check('padding is not shown', define(8, 'r:u8 a;u8[3] _pad0;u16 b;char[2] _pad1') + record(8, b'\1xyz\2\0zz'), [('r', None, dict(a=1, b=2))])
check('padding at the end may be left out', define(8, 'r:u8 a;u8[3] _pad0;u16 b;u8[7] _pad1;u8 _pad2') + record(8, b'\1xyz\2\0') + record(8, b'\1xyz\3\0\1\1'),
      [('r', None, dict(a=1, b=2)), ('r', None, dict(a=1, b=3))])
check('padding of types', define(7, 'inner:u8 a;u8[2] _pad0') + define(6, 'none:u8[2] _pad0') + define(8, 'r:inner i;inner[2] l;none[2] m;u8 b;inner z') +
      record(8, b'\1xx\2xx\3xx' + b'xxxx' + b'\4\5'), [('r', None, {'i.a': 1, 'l': [dict(a=2), dict(a=3)], 'b': 4, 'z.a': 5})])
wrong('padding in the middle may not be left out', define(8, 'r:u8 a;u8[3] _pad0;u8 b') + record(8, b'\1xyz') + record(8, b'\1xyz\2'),
      ['byte 27: R7: a record whose definition does not fit its length, in "b" of "r"',
                                                           'byte 34: R7: a record whose definition does not fit its length, in "r"'], count=2)

# ---- what means absent ----

ABSENT = TDL.replace('"u8"=UNSIGNED 8,', '"u8"=UNSIGNED 8 ABSENT WHEN 255,').replace('"i32"=INTEGER 32,', '"i32"=INTEGER 32 ABSENT WHEN -1,').replace(
    '"f32"=FLOAT 32,', '"f32"=FLOAT 32 ABSENT WHEN 0xffffffff,').replace('"char"=STRING,', '"char"=STRING ABSENT WHEN "",').replace(
    'FIELD LIKE "_pad*"', 'FIELD "o" IS ABSENT WHEN 7 UNITS "m"  FIELD LIKE "_pad*"')
check('values of types that mean absent', define(8, 'r:u8 a;u8 b;i32 c;i32 d;f32 e;f32 f;char[2] g;char[2] h;u16 i') +
      record(8, struct.pack('<BBiifI2s2sH', 1, 255, -2, -1, 0.5, 0xffffffff, b'x', b'', 65535)),
      [('r', None, dict(a=1, b=None, c=-2, d=None, e=0.5, f=None, g='x', h=None, i=65535))], ABSENT)
check('absent values of a list are left out of it', define(8, 'r:u8[3] a;u8[2] b') + record(8, b'\1\xff\3\xff\xff'), [('r', None, dict(a=[1, 3], b=[]))], ABSENT)
check('FIELD says what means absent', define(7, 'inner:u8 o') + define(8, 'r:u8 o;inner[3] l;inner i') + record(8, b'\7\7\xff\1\7'),
      [('r', None, {'o': None, 'l': [dict(o=None), dict(o=255), dict(o=1)], 'i.o': None})], ABSENT)
wrong('a number that is none is absent', define(8, 'r:number[3] n;number[3] m') + record(8, b' 12   '), 'byte 35: R4: expected a number in base 10, found "   "', count=1)

# ---- what a list says of each field ----

ALL = '''TRACE t;
  BYTES LITTLE;
  TYPES w=(1=UNSIGNED 8, 2=UNSIGNED 16, 3=INTEGER 16 BIG, 4=FLOAT 32, 7=STRING, 9=INTEGER 8 SCALE 10 UNITS "V");
  TYPES v=("1"=UNSIGNED 8, "2"=UNSIGNED 16);
  TOKEN kinds=("red"=1, "green"=2..3, "blue"=-4);
  TABLE forms KEY NUMBER HOLDS RECORDS;
  TABLE seen KEY NUMBER HOLDS NUMBERS;
  TABLE words KEY NUMBER HOLDS NAMES;
  PREFIX p IS kind: UNSIGNED 8; END;
  RECORD d DEFINITION WITH p WHEN kind=1 IS
    id,big,n,m: UNSIGNED 8;
    ORDER BIG IF big=1, ELSE LITTLE;
    f: REPEAT TIMES n IS
      number,type,size: UNSIGNED 8;  has: UNSIGNED 8;
      IF bits(has,0,1)=1 THEN over: UNSIGNED 8; END;
      IF bits(has,1,1)=1 THEN minus: INTEGER 8; END;
      IF bits(has,2,1)=1 THEN unit: STRING 2; END;
      IF bits(has,3,1)=1 THEN none: UNSIGNED 16; END;
      IF bits(has,4,1)=1 THEN times: UNSIGNED 8; END;
      LET _name=default(kinds[number],join("f",number));
    END;
    REPEAT TIMES m IS label: STRING 1;  code: UNSIGNED 8; END;
    FORGET forms[id];
    DEFINE forms[id] AS RECORD join(join("r",id),default(words[id],"")) SAME ORDER
      FIELDS BY LIST w NAME f._name TYPE f.type SIZE f.size ABSENT WHEN f.none SCALE f.times OVER f.over OFFSET -f.minus UNITS f.unit
        FIELD "blue" IS SCALE 0.5
      THEN BY LIST v NAME label TYPE code
        FIELD "a" IS SHOW CHAR;
  END;
  RECORD e EVENT WITH p WHEN kind IN forms FROM forms[kind] IS
    LET number=NUMBER OF FIELD "f9";
    LET text=TEXT OF FIELD "f8";
    LET none=NUMBER OF FIELD "f8";
    IF number>100 THEN
      DEFINE seen[number]=kind;
      LET twice=2*number;
    END;
    DEFINE words[number]=text;
    LET known=seen[number];
  END;
  LAYOUT REPEAT d OR e;
END TRACE.
'''


def listed(number, type_, size, over=None, minus=None, unit=None, none=None, times=None):
    has = sum(1 << bit for bit, each in enumerate((over, minus, unit, none, times)) if each is not None)
    out = struct.pack('BBBB', number, type_, size, has)
    for form, each in (('B', over), ('b', minus), ('2s', unit), ('H', none), ('B', times)):
        if each is not None:
            out += struct.pack('>' + form if big_lists else '<' + form, each.encode() if form == '2s' else each)
    return out


big_lists = False
NOTHING = dict(number=None, text=None, none=None, twice=None, known=None)


def say(number, fields_, more=b'', big=0):
    global big_lists
    big_lists = bool(big)
    return struct.pack('BBBBB', 1, number, big, len(fields_), len(more) // 2) + b''.join(listed(*each[0], **each[1]) for each in fields_) + more


def of(number, type_, size, **rest):
    return ((number, type_, size), rest)


check('scale, offset, unit and what is absent', say(8, [of(5, 2, 2, over=10, minus=5, unit='m'), of(6, 2, 2, none=0xfffe), of(7, 1, 1, times=3), of(10, 1, 1)]) +
      b'\x08' + struct.pack('<HHBB', 985, 0xfffe, 4, 5) + b'\x08' + struct.pack('<HHBB', 50, 1, 5, 6),
      [('r8', None, dict(NOTHING, f5=93.5, f6=None, f7=12.0, f10=5)), ('r8', None, dict(NOTHING, f5=0.0, f6=1, f7=15.0, f10=6))], ALL)
check('a scale of 1 leaves numbers whole, and one of a text has no meaning', say(8, [of(5, 2, 2, over=1, minus=0, times=1), of(6, 7, 2, over=2), of(7, 1, 1, over=0)]) + b'\x08\1\2ab\3',
      [('r8', None, dict(NOTHING, f5=513, f6='ab', f7=3))], ALL)
check('lists are scaled, and floating point', say(8, [of(5, 1, 3, over=2), of(6, 4, 4, times=2)]) + b'\x08\1\2\3' + struct.pack('<f', 1.25),
      [('r8', None, dict(NOTHING, f5=[0.5, 1.0, 1.5], f6=2.5))], ALL)
check('FIELD counts more than the definition, and that more than the type', say(8, [of(252, 1, 1, over=10), of(5, 9, 1), of(6, 9, 1, over=4)]) + b'\x08\4\3\5',
      [('r8', None, dict(NOTHING, f252=0.4, f5=30.0, f6=1.25))], ALL)
check('numbers to names by a table of the description', say(8, [of(1, 1, 1), of(2, 1, 1), of(4, 1, 1)]) + b'\x08\1\2\3', [('r8', None, dict(NOTHING, red=1, green=2, f4=3))], ALL)
check('the byte order of the definition', say(8, [of(5, 2, 2), of(6, 3, 2), of(10, 2, 4)], big=1) + b'\x08\1\2\1\2\1\2\3\4' + say(8, [of(5, 2, 2), of(6, 3, 2)]) + b'\x08\1\2\1\2',
      [('r8', None, dict(NOTHING, f5=0x102, f6=0x102, f10=[0x102, 0x304])), ('r8', None, dict(NOTHING, f5=0x201, f6=0x102))], ALL)
check('fields of a second list', say(8, [of(5, 1, 1, over=2)], b'a\1b\2') + b'\x08\3A\1\2', [('r8', None, dict(NOTHING, f5=1.5, a='A', b=513))], ALL)
check('a second list alone', say(8, [], b'b\1') + b'\x08\3', [('r8', None, dict(NOTHING, b=3))], ALL)
wrong('one name in both lists', say(8, [of(1, 1, 1)], b'a\1a\1') + b'\x08\1\2\3', ['byte 11: R7: a definition of a record with two fields of one name, found "a", in "a" of "r8"',
                                                                                       'byte 14: R7: a record whose definition does not fit its length, in "r8"'], ALL)

# Values of hidden lists are known by their place alone: one that is missing would be that of another field
HIDDEN = ALL.replace('f: REPEAT TIMES n IS', 'REPEAT TIMES n IS').replace('number,type,size: UNSIGNED 8;  has', '_number,_type,_size: UNSIGNED 8;  _has').replace(
    'over:', '_over:').replace('minus:', '_minus:').replace('unit:', '_unit:').replace('none: UNSIGNED 16', '_none: UNSIGNED 16').replace('times:', '_times:').replace(
    'bits(has', 'bits(_has').replace('kinds[number]', 'kinds[_number]').replace('join("f",number)', 'join("f",_number)')
HIDDEN = re.sub(r'f\._?(name|type|size|none|times|over|minus|unit)', r'_\1', HIDDEN)
check('hidden lists that are whole', say(8, [of(5, 1, 1, over=2, minus=1, unit='m', none=9, times=1), of(6, 1, 1, over=4, minus=0, unit='s', none=8, times=1)]) + b'\x08\3\x08',
      [('r8', None, dict(NOTHING, f5=0.5, f6=None))], HIDDEN)
wrong('hidden lists in which a value is missing', say(8, [of(5, 1, 1, over=2), of(6, 1, 1)]) + b'\x08\3\x08',
      ['byte 0: R7: a definition of a record by lists of different lengths, in "r8"', 'byte 15: R7: a record whose definition does not fit its length, in "r8"'], HIDDEN)

# ---- actions on records that came from a definition ----

check('records from a definition define', say(8, [of(9, 1, 1), of(8, 7, 2)]) + b'\x08\x65hi' + b'\x08\5yo' + b'\x08\x65hi' + say(101, [of(3, 1, 1)]) + b'\x65\1',
      [('r8', None, dict(number=101, text='hi', none=None, twice=202, known=8, f9=101, f8='hi')),
       ('r8', None, dict(number=5, text='yo', none=None, twice=None, known=None, f9=5, f8='yo')),
       ('r8', None, dict(number=101, text='hi', none=None, twice=202, known=8, f9=101, f8='hi')), ('r101hi', None, dict(NOTHING, green=1))], ALL)
check('a list of values is no value', say(8, [of(9, 1, 2), of(8, 7, 2)]) + b'\x08\1\2hi', [('r8', None, dict(NOTHING, text='hi', f9=[1, 2], f8='hi'))], ALL)
wrong('two records that define differently', say(8, [of(9, 1, 1), of(8, 7, 2)]) + b'\x08\1hi' + b'\x08\1yo',
      'byte 19: R7: another definition of the key 1, expected "hi", found "yo"', ALL, 2)

# ---- definitions that make no sense ----

R = record(8, b'\0' * 8)
wrong('a type that is not defined', define(8, 'r:u8 a;pint p') + R + R,
      [f'byte {at}: R7: a record whose definition is one with a type that is not defined, found "pint", in "p" of "r"' for at in (20, 31)], count=2)
wrong('a type that contains itself', define(8, 'r:u8 a;r p') + R, 'byte 17: R7: a record whose definition is one with a type that contains itself, found "r", in "p" of "r"', count=1)
wrong('types that contain each other', define(7, 'a:b b') + define(8, 'b:a[2] a') + R,
      'byte 24: R7: a record whose definition is one with a type that contains itself, found "b", in "a.b" of "b"', count=1)
wrong('a type whose definition makes no sense', define(7, 'a:u8 x;u8 x') + define(8, 'b:a y') + R,
      ['byte 14: R7: a definition of a record with two fields of one name, found "x", in "x" of "a"',
       'byte 27: R7: a record whose definition is one with a type whose definition makes no sense, found "a", in "y" of "b"'], count=1)
wrong('two fields of one name', define(8, 'r:u8 a;u16 b;i32 a') + R,
      ['byte 21: R7: a definition of a record with two fields of one name, found "a", in "a" of "r"',
       'byte 25: R7: a record whose definition does not fit its length, in "r"'], count=1)
wrong('types in each other too deep', b''.join(define(8, f'n{i}:n{i + 1}[1] a') for i in range(40)) + define(8, 'n40:u8 a') + define(8, 'n0:n1[1] a') + R,
      ['byte 650: R7: a record whose definition is one with types in each other more than 28 deep, found "n29", in "a.a.a.a.a.a.a.a." … of "n0"'], count=1)

# ---- definitions that would cost too much ----

def quick(name, data, message, count=None, seconds=10):
    begin = time.monotonic()
    wrong(name, data, message, count=count)
    took = time.monotonic() - begin
    hold(f'{name}: soon', took < seconds, True)


doubled = b''.join(define(7, f'n{i}:n{i + 1} a;n{i + 1} b') for i in range(26))
quick('types that double 26 times', doubled + define(7, 'n26:u8 a') + define(8, 'r:n0 a') + R,
      'byte 491: R7: a record whose definition is one with too many types in each other, in "a.a.a.a.a.a.a.a." … of "r"', 1)
quick('nothing that is doubled 26 times', doubled + define(7, 'n26:') + define(8, 'r:n0 a') + R,
      'byte 487: R7: a record whose definition is one with too many types in each other, in "r"', 1)
quick('lists of lists of lists', define(7, 'a:u8[65536] a') + define(6, 'b:a[65536] a') + define(8, 'r:b[65536] b') + R,
      'byte 52: R7: a record whose definition is one with more than 1048576 values, in "b.a" of "r"', 1)
wide = define(7, 'a:' + ';'.join(f'u8 f{i:03}' for i in range(1000)))
quick('a type of a thousand fields twice', wide + define(8, 'r:a a;a b') + R,
      'byte 8021: R7: a record whose definition is one with more than 1024 fields, in "b.f024" of "r"', 1)


def changing():
    """Each record needs its definition resolved again: the bytes of the file do not bound what that costs. With sanitizers,
    which are slow, the changes are few: each frees what was resolved before."""
    data = wide + define(8, 'r:a a') + b''.join(define(6, f'b:u8 x{i % 2}') + record(8, bytes(1000)) for i in range(40 if IS_SANITIZED else 1100))
    begin = time.monotonic()
    out, said, status = events('changing', TDL, data)
    lines = [line for line in said.splitlines() if 'another definition of the key' not in line]
    hold('types that change again and again', ([line.split('R9: ')[-1] for line in lines], status, len(out)),
         ([], 1, 40) if IS_SANITIZED else (['definitions that name each other, and change too often (55759 bytes skipped)'], 1, 1045))
    hold('types that change again and again: soon', time.monotonic() - begin < 60, True)


changing()

# ---- by chance ----

SCALARS = {'u8': ('B', lambda rng: rng.randrange(256)), 'u16': ('H', lambda rng: rng.randrange(65536)), 'i32': ('i', lambda rng: rng.randrange(-2**31, 2**31)),
           'f32': ('f', lambda rng: rng.randrange(-1000, 1000) / 8)}


def any_type(rng, depth, types):
    """The names and types of the fields of a new definition; types: all definitions by name."""
    fields_ = []
    for number in range(rng.randrange(1, 5)):
        kind = rng.choice(list(SCALARS) + ['char', 'raw', '_pad'] + (list(types) if depth else []))
        count = rng.choice([0, 0, 1, 2, 3])
        fields_.append((f'_pad{number}' if kind == '_pad' else f'f{number}', 'u8' if kind == '_pad' else kind, count))
    return fields_


def any_value(rng, fields_, types, before=''):
    """(bytes, what the fields are called and are) of a record of these fields, by the rules of the document alone."""
    data, out = b'', {}
    for name, kind, count in fields_:
        if kind in SCALARS:
            form, make = SCALARS[kind]
            values = [make(rng) for _ in range(count or 1)]
            data += struct.pack(f'<{len(values)}{form}', *values)
            shown = values if count else values[0]
        elif kind == 'char':
            text = ''.join(rng.choice('abc') for _ in range(rng.randrange((count or 1) + 1)))
            data += text.encode().ljust(count or 1, b'\0')
            shown = text
        elif kind == 'raw':
            value = rng.randbytes(count or 1)
            data += value
            shown = value.hex()
        elif count:
            elements = [any_value(rng, types[kind], types) for _ in range(count)]
            data += b''.join(each for each, _ in elements)
            shown = [each for _, each in elements]
            if not any(shown):
                continue
        else:
            inner, members = any_value(rng, types[kind], types, f'{before}{name}.')
            data += inner
            out.update(members)
            continue
        if not name.startswith('_pad'):
            out[before + name] = shown
    return data, out


def text_of(name, fields_):
    return f'{name}:' + ';'.join(f'{kind}[{count}] {field}' if count else f'{kind} {field}' for field, kind, count in fields_)


def by_chance(rng):
    types = {}
    for number in range(rng.randrange(1, 6)):
        types[f't{number}'] = any_type(rng, number, dict(types))
    definitions = [define(10 + number, text_of(name, types[name])) for number, name in enumerate(types)]
    rng.shuffle(definitions)
    data, wanted = b''.join(definitions), []
    for _ in range(rng.randrange(1, 8)):
        number = rng.randrange(len(types))
        payload, shown = any_value(rng, types[f't{number}'], types)
        data += record(10 + number, payload)
        wanted.append((f't{number}', None, shown))
    return data, wanted


def many(count):
    for number in range(count):
        data, wanted = by_chance(random.Random(number))
        for form, arguments in written('by-chance', TDL, data):
            got, said = cat(*arguments)
            got = [(event['event'].split(':', 1)[1], event.get('ts'), {k: v for k, v in fields(event).items() if k != 'kind'}) for event in got]
            if (got, said) != (wanted, ''):
                not_ok('types by chance', f'number {number}, {form}: {got!r} is not {wanted!r}: {said}')
                return
    ok('types by chance')


many(int(os.environ['DEFINED_ROUNDS']))
seeds.tell()
