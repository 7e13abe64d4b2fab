# SPDX-License-Identifier: MIT
"""One small file for each construct of TDL: what kymo cat prints must be exactly what was packed."""
import functools
import json
import os
import pathlib
import struct
import subprocess
import zlib

import boxes
import seeds
from described import DESCRIPTION, IS_SANITIZED, KYMO, compiled, events, fields, not_ok, ok, read

CASES = []


def case(function):
    CASES.append(function)
    return function


def trace(items, declarations='BYTES LITTLE;', layout='REPEAT r;', rest='', head='RECORD r EVENT IS', end='END;'):
    """A trace with one kind of records."""
    return f'TRACE t;\n{declarations}\n{rest}\n{head}\n{items}\n{end}\nLAYOUT {layout}\nEND TRACE.\n'


def check(name, tdl, data, wanted, words=None, status=None, kinds=None, times=None):
    """`wanted`: the fields of each event; `words`: text that the error stream has to contain."""
    files = data if isinstance(data, tuple) else (data,)
    out, said, code = events(name, tdl, *files)
    if len(files) == 1 and code >= 0 and not IS_SANITIZED:
        seeds.hold(name, f'{name}.key', files[0])
        seeds.hold_text(name, tdl, files[0])
    out = [event for event in out if 'event' in event]
    got = [fields(event) for event in out]
    status = (1 if words else 0) if status is None else status
    if got != wanted:
        not_ok(name, f'fields are {got}, not {wanted}; says {said!r}')
    elif kinds and [event['event'] for event in out] != kinds:
        not_ok(name, f'kinds are {[event["event"] for event in out]}')
    elif times and [event.get('ts') for event in out] != times:
        not_ok(name, f'times are {[event.get("ts") for event in out]}')
    elif code != status or (words or '') not in said:
        not_ok(name, f'exit status {code}, says {said!r}')
    elif not words and said:
        not_ok(name, f'says {said!r}')
    else:
        ok(name)


# ---- types ----

@case
def whole_numbers_of_both_orders():
    check('whole_numbers_of_both_orders',
          trace('a: UNSIGNED 8; b: INTEGER 16; c: UNSIGNED 24; d: INTEGER 32 BIG; e: UNSIGNED 64; f: INTEGER 64 BIG; g: INTEGER 40;'),
          struct.pack('<Bh', 200, -2) + (0x123456).to_bytes(3, 'little') + struct.pack('>i', -70000) + struct.pack('<Q', 2**64 - 1)
          + struct.pack('>q', -2**63) + (-5).to_bytes(5, 'little', signed=True),
          [dict(a=200, b=-2, c=0x123456, d=-70000, e=2**64 - 1, f=-2**63, g=-5)])


@case
def bits_from_the_lowest():
    check('bits_from_the_lowest', trace('a: UNSIGNED 3; b: INTEGER 5; c: UNSIGNED 12; d: UNSIGNED 4;'),
          bytes([0b10110_101, 0xcd, 0x7a]), [dict(a=5, b=-10, c=0xacd, d=7)])


@case
def bits_from_the_highest():
    check('bits_from_the_highest', trace('a: UNSIGNED 3; b: INTEGER 5; c: UNSIGNED 12; d: UNSIGNED 4;', 'BYTES BIG;'),
          bytes([0b101_10110, 0xcd, 0x7a]), [dict(a=5, b=-10, c=0xcd7, d=10)])


@case
def bits_in_an_order_of_their_own():
    check('bits_in_an_order_of_their_own', trace('a: UNSIGNED 4; b: UNSIGNED 4; c: UNSIGNED 16;', 'BYTES LITTLE; BITS MSB FIRST;'),
          b'\x12\x34\x56', [dict(a=1, b=2, c=0x5634)])


@case
def floats():
    check('floats', trace('h: FLOAT 16; f: FLOAT 32; d: FLOAT 64; b: FLOAT 64 BIG;'),
          struct.pack('<efd', 1.5, 0.1, 1e300) + struct.pack('>d', -2.5),
          [dict(h=1.5, f=0.1, d=1e300, b=-2.5)])


@case
def long_floats():
    ext = (0xc000000000000000).to_bytes(8, 'little') + struct.pack('<H', 0x3fff)
    quad = (0x4000800000000000 << 64).to_bytes(16, 'little')
    check('long_floats', trace('a: FLOAT 80; b: FLOAT 128;'), ext + quad, [dict(a=1.5, b=3.0)])


@case
def fixed_point_and_bcd():
    check('fixed_point_and_bcd', trace('a: FIXED 16 FRACTION 8; b: BCD 16; c: BCD 8;'),
          struct.pack('<h', -384) + bytes([0x12, 0x34, 0x56]), [dict(a=-1.5, b=1234, c=56)])


@case
def variable_lengths():
    check('variable_lengths', trace('a: VARINT LEB; b: VARINT SLEB; c: VARINT ZIGZAG; d: VARINT MSB; e: VARINT LEB MAX 2;'),
          bytes([0xe5, 0x8e, 0x26, 0x80, 0x7f, 0x03, 0x81, 0x00, 0x05]), [dict(a=624485, b=-128, c=-2, d=128, e=5)])


@case
def what_was_expected_and_found():
    tdl = trace('_m: UNSIGNED 16=0xb10c; a: UNSIGNED 8 IN (1..3); b: UNSIGNED 8 TOKEN t; n: UNSIGNED 8; c: STRING n="yes"; d: TEXT NUMBER 2;'
                ' e: INTEGER 8=0;', 'BYTES LITTLE; TOKEN t=("on"=1) OR ERROR;')
    data = struct.pack('<HBBB', 0xb10c, 3, 1, 3) + b'yes42\0'
    bad = struct.pack('<HBBB', 0xb1ff, 9, 7, 2) + b'n\xff x\xfb'
    _, said, _ = events('what_was_expected_and_found', tdl, data + bad + data)
    wanted = [(11, '_m is not 0xb10c, found 0xb1ff'), (13, 'a is not in 1..3, found 9'), (14, 'b is none of t, found 7'),
              (16, 'c is not "yes", found x"6e ff"'), (18, 'expected a number in base 10, found " x"'), (20, 'e is not 0, found -5')]
    lines = [f'kymo cat: what_was_expected_and_found.bin: byte {at}: R{5 if "none" in word else 4}: {word}' for at, word in wanted]
    ok('what_was_expected_and_found') if said.splitlines() == lines else not_ok('what_was_expected_and_found', said)


@case
def filters_know_the_interpretations():
    name = 'filters_know_the_interpretations'
    tdl = trace('EVENT: UNSIGNED 8 TOKEN t;', 'BYTES LITTLE; TOKEN t=("note on"=1, "note off"=2);')
    wrong = 'kymo %s: %s:1:9: %s%s\n  EVENT = "note onn"\n          ^\n'
    out, said, status = events(name, tdl, b'\1\2', options=('--filter', 'EVENT = "note onn"'))
    same = (out, said, status) == ([], wrong % ('cat', '--filter', 'error: E32 EVENT is never "note onn"', ' (did you mean "note on"?)'), 2)
    key, _ = compiled(name, trace('EVENT: UNSIGNED 8 TOKEN names; DEFINE names[1] = "note on";', 'BYTES LITTLE; TABLE names KEY NUMBER HOLDS NAMES;'))
    pathlib.Path(f'{name}.fdl').write_text('EVENT = "note onn"')
    done = subprocess.run([KYMO, 'compile', '--key', key, f'{name}.fdl'], capture_output=True, text=True)
    same &= done.stderr == wrong % ('compile', f'{name}.fdl', 'warning: W24 "note onn" is no name that is known now; the trace may have it', '')
    ok(name) if same else not_ok(name, f'{said!r} {status} {done.stderr!r}')


@case
def texts():
    check('texts', trace('a: STRING 4; b: STRING 6 PADDED 0x20; c: STRING ENDED 0x0a; d: STRING COUNTED UNSIGNED 16; e: STRING TO END;',
                         head='RECORD r EVENT LENGTH 29 IS'),
          b'ab\0zhi    line\n\3\0xyzrest and ', [dict(a='ab', b='hi', c='line', d='xyz', e='rest and ')])


@case
def bytes_and_lengths():
    check('bytes_and_lengths', trace('n: UNSIGNED 8 LENGTH OF b MINUS 1; m: UNSIGNED 8; a: BYTES 2; b: BYTES; c: BYTES m*2;'),
          b'\4\1AB123XY', [dict(n=4, m=1, a='4142', b='313233', c='5859')])


@case
def numbers_in_text():
    check('numbers_in_text', trace('a: TEXT NUMBER 4; b: TEXT NUMBER ENDED 0x2c BASE 16; c: TEXT NUMBER ENDED 0x0a;'),
          b' -12ff,7\n', [dict(a=-12, b=255, c=7)])


@case
def text_that_is_no_number():
    """It is absent, and so is what is computed of it; no comparison with it holds."""
    check('text_that_is_no_number', trace('a: TEXT NUMBER 2; LET b=a+1; IF a NOT IN (5..6) THEN c: UNSIGNED 8; END;'), b'12*x-05',
          [dict(a=12, b=13, c=42), dict(a=None, b=None, c=None), dict(a=5, b=6, c=None)], words='byte 3: R4: expected a number in base 10, found "x-"')


@case
def scales_of_decimal_fractions():
    check('scales_of_decimal_fractions', trace('a: UNSIGNED 16 SCALE 0.001; b: INTEGER 32 SCALE 1e-7; REPEAT TIMES 2 IS c: UNSIGNED 8 SCALE 0.1; END;'),
          struct.pack('<HiBB', 3300, -479876543, 3, 7), [dict(a=3.3, b=-47.9876543, c=[0.3, 0.7])])


@case
def rows_of_csv():
    """An absent field leaves its cell empty, not those after it; a field that only the decoder needs has no column."""
    tdl = trace('k: UNSIGNED 8; IF k=1 THEN a: UNSIGNED 8; d: BYTES k; END; b: STRING 2; REPEAT TIMES k IS e: BYTES k; END;')
    key, _ = compiled('rows_of_csv', tdl)
    pathlib.Path('rows_of_csv.bin').write_bytes(b'\0hi' + b'\1\7xyoz')
    done = subprocess.run([KYMO, 'cat', '--key', key, '--format', 'csv', 'rows_of_csv.bin'], capture_output=True, text=True)
    wanted = 'ts,time,event,tid,thread,cpu,k,a,d,b,e\n,,t:r,,,,0,,,hi,[]\n,,t:r,,,,1,7,78,yo,"[""7a""]"\n'
    ok('rows_of_csv') if done.stdout == wanted else not_ok('rows_of_csv', done.stdout)


@case
def arrays():
    check('arrays', trace('n: UNSIGNED 8; a: ARRAY 3 OF UNSIGNED 16 BIG; b: ARRAY n OF ARRAY 2 OF INTEGER 8; c: ARRAY 2 OF STRING 3;'),
          b'\2\0\1\0\2\0\3\xff\1\2\3ab\0xyz', [dict(n=2, a=[1, 2, 3], b=[-1, 1, 2, 3], c=['ab', 'xyz'])])


@case
def computed_widths():
    check('computed_widths', trace('w: UNSIGNED 8; v: UNSIGNED 8*w; f: FLOAT 32*w;'),
          b'\2\1\2' + struct.pack('<d', 0.5) + b'\1\7' + struct.pack('<f', 0.25), [dict(w=2, v=0x201, f=0.5), dict(w=1, v=7, f=0.25)])


@case
def named_types():
    check('named_types', trace('a,b: id BIG; c: id;', 'BYTES LITTLE; TYPE id=UNSIGNED 16 SHOW HEX UNITS "n";'),
          b'\1\2\1\3\1\4', [dict(a=0x102, b=0x103, c=0x401)])


@case
def encodings():
    tdl = trace('a: STRING 8; b: STRING COUNTED UNSIGNED 8;', 'BYTES LITTLE; ENCODING "%s";')
    for name, word, codec in (('iso-8859-1', 'f\xfcr', 'latin-1'), ('UTF-16LE', 'h\u20ac\U0001f600', 'utf-16-le'), ('UTF-16BE', 'z\xe9', 'utf-16-be')):
        data = word.encode(codec)
        check(f'encoding {name}', tdl % name, data.ljust(8, b'\0') + bytes([len(data)]) + data, [dict(a=word, b=word)])
    out, said, _ = events('encoding_unknown', tdl % 'klingon', b'')
    if said.startswith('kymo compile: encoding_unknown.tdl:2:24: error: E31 no encoding "klingon"'):
        ok('encoding_unknown')
    else:
        not_ok('encoding_unknown', said)


# ---- attributes ----

@case
def constants_are_checked():
    check('constants_are_checked', trace('a: UNSIGNED 8=7; b: UNSIGNED 8 IN (1,3..5);'), b'\7\1\7\4\7\5',
          [dict(a=7, b=1), dict(a=7, b=4), dict(a=7, b=5)])


@case
def wrong_constants_are_damage():
    check('wrong_constants_are_damage', trace('a: UNSIGNED 8=7; b: UNSIGNED 8 IN (1,3..5);'), b'\6\1\7\2\7\5',
          [dict(a=6, b=1), dict(a=7, b=2), dict(a=7, b=5)], words='a is not 7')


@case
def fields_elsewhere():
    check('fields_elsewhere', trace('a: UNSIGNED 8; b: UNSIGNED 8 AT 3; c: UNSIGNED 8 AT a; d: UNSIGNED 8; FILLER TO 4;'),
          b'\2\x0b\x0c\x0d', [dict(a=2, b=13, c=12, d=11)])


@case
def absent_values():
    check('absent_values', trace('a: UNSIGNED 8 ABSENT WHEN 0xff; LET b=a+1; LET c=default(a,99); LET d=present(a);'), b'\5\xff',
          [dict(a=5, b=6, c=5, d=1), dict(a=None, b=None, c=99, d=0)])


@case
def changed_values():
    check('changed_values', trace('a: UNSIGNED 16 AS (VALUE&0x1fff)*power(8,VALUE>>13); b: INTEGER 8 AS -VALUE;'),
          struct.pack('<Hb', 5 | 2 << 13, 3), [dict(a=320, b=-3)])


@case
def scales():
    check('scales', trace('a: INTEGER 16 SCALE 0.01; b: UNSIGNED 8 SCALE -0.5 OFFSET 10;'), struct.pack('<hB', -250, 4),
          [dict(a=-2.5, b=8.0)])


@case
def tokens():
    check('tokens', trace('EVENT: UNSIGNED 8 TOKEN t; v: INTEGER 8 TOKEN u;',
                          'BYTES LITTLE; TOKEN t=("one"=1,"many"=2..9); TOKEN u=("minus"=-1);'), b'\1\xff\5\0\x0b\0',
          [dict(EVENT=(1, 'one'), v=(-1, 'minus')), dict(EVENT=(5, 'many'), v=(0, None)), dict(EVENT=(11, None), v=(0, None))],
          kinds=['t:one', 't:many', 't:r'])


@case
def unknown_tokens_are_errors():
    check('unknown_tokens_are_errors', trace('a: UNSIGNED 8 TOKEN t;', 'BYTES LITTLE; TOKEN t=("one"=1) OR ERROR;'), b'\1\2',
          [dict(a=(1, 'one')), dict(a=(2, None))], words='a is none of t')


@case
def flags():
    check('flags', trace('a: UNSIGNED 8 FLAGS f;', 'BYTES LITTLE; FLAGS f=("x"=BIT 0,"y"=BIT 1,"z"=MASK 0x30);'), b'\3\x30',
          [dict(a=(3, ['x', 'y'])), dict(a=(0x30, ['z']))])


@case
def flags_of_values():
    name = 'flags_of_values'
    tdl = trace('a: UNSIGNED 8 FLAGS f;', 'BYTES LITTLE; FLAGS f=("door"=BIT 0, "slow"=MASK 0x30 VALUE 0x10, "fast"=MASK 0x30 VALUE 0x20,'
                ' "full"=MASK 0x30 VALUE 0x30, "split"=MASK 0x84, "idle"=MASK 0xc0 VALUE 0, "wide"=MASK 0x300 VALUE 0x100);')
    data = b'\x00\x11\x20\x31\xc4\x40'
    shown = ['idle', 'door|slow|idle', 'fast|idle', 'door|full|idle', 'split|0x40', '0x40']
    check(name, tdl, data, [dict(a=(0, ['idle'])), dict(a=(0x11, ['door', 'slow', 'idle'])), dict(a=(0x20, ['fast', 'idle'])),
                            dict(a=(0x31, ['door', 'full', 'idle'])), dict(a=(0xc4, ['split'])), dict(a=(0x40, []))])
    key, _ = compiled(name, tdl)
    path = f'{name}.bin'

    def lines(*options):
        done = subprocess.run([KYMO, 'cat', '--key', key, *options, path], capture_output=True, text=True)
        return [line.split('a = ')[1] for line in done.stdout.splitlines()]
    asked = [('ALL OF ("door", "slow")', [1]), ('ANY OF ("full", "split")', [3, 4]), ('NONE OF ("idle")', [4, 5])]
    same = lines() == shown and all(lines('--filter', f'a HAS {what}') == [shown[i] for i in which] for what, which in asked)
    texts = []
    for source in (key, f'{name}.reg.key'):
        texts.append(subprocess.run([KYMO, 'describe', '--as', 'registry', source], capture_output=True, text=True).stdout)
        pathlib.Path(f'{name}.reg').write_text(texts[-1])
        subprocess.run([KYMO, 'compile', '-o', f'{name}.reg.key', f'{name}.reg'], check=True)
    without = texts[0].split('\n', 4)
    same &= 'slow = 4,\n  slow = 69,' in texts[0] and without[4] == texts[1].split('\n', 2)[2]
    same &= without[2] == '// This was a compiled description: the plan, by which files are read, is not in the text.'
    done = subprocess.run([KYMO, 'cat', '--key', f'{name}.reg.key', path], capture_output=True, text=True)
    same &= done.stderr == 'kymo cat: the description: a description of events, but not of files: it has no plan, as kymo compile makes of a TDL text\n'
    done = subprocess.run([KYMO, 'convert', '--key', key, '-o', f'{name}.ctf', path], capture_output=True, text=True)
    back = subprocess.run([KYMO, 'cat', f'{name}.ctf'], capture_output=True, text=True)
    same &= [line.split('a = ')[1] for line in back.stdout.splitlines()] == shown
    ok(name + ' elsewhere') if same else not_ok(name + ' elsewhere', f'{lines()} {texts} {done.stderr!r} {back.stdout!r}')


@case
def shows():
    check('shows', trace('a: BYTES 4 SHOW ADDRESS; b: BYTES 16 SHOW ADDRESS; c: BYTES 16 SHOW UUID; d: UNSIGNED 8 SHOW CHAR;'),
          bytes([192, 0, 2, 17]) + bytes.fromhex('20010db8000000000000000000000042') + bytes(range(16)) + b'x',
          [dict(a='192.0.2.17', b='2001:db8::42', c='00010203-0405-0607-0809-0a0b0c0d0e0f', d='x')])


# ---- lengths ----

@case
def lengths_of_records():
    check('lengths_of_records', trace('n: UNSIGNED 8 LENGTH OF RECORD PLUS 1; a: UNSIGNED 8; rest: BYTES TO END;'), b'\4abcd\1z',
          [dict(n=4, a=97, rest='626364'), dict(n=1, a=122, rest='')])


@case
def unread_bytes_are_skipped():
    check('unread_bytes_are_skipped', trace('n: UNSIGNED 8; a: UNSIGNED 8;', head='RECORD r EVENT LENGTH n+1 IS'), b'\4abcd\1z',
          [dict(n=4, a=97), dict(n=1, a=122)])


@case
def lengths_before_and_behind():
    check('lengths_before_and_behind',
          trace('n: UNSIGNED 8 LENGTH OF RECORD; p: UNSIGNED 8 LENGTH OF PREVIOUS; FILLER n-3 BYTES; m: UNSIGNED 8 LENGTH OF RECORD;'),
          b'\3\0\3\5\3..\5\4\5.\4', [dict(n=3, p=0, m=3), dict(n=5, p=3, m=5), dict(n=4, p=5, m=4)])


@case
def wrong_lengths_are_damage():
    check('wrong_lengths_are_damage', trace('n: UNSIGNED 8 LENGTH OF RECORD; m: UNSIGNED 8 LENGTH OF RECORD;'), b'\2\3\2\2',
          [dict(n=2, m=3), dict(n=2, m=2)], words='a length of 3 bytes in a record of 2')


@case
def positions():
    check('positions', trace('a: UNSIGNED 8; LET p=POSITION; LET q=REMAINING; b: UNSIGNED 8; s: STRING ENDED 0; LET z=SIZE OF s; LET y=POSITION;',
                             head='RECORD r EVENT LENGTH 8 IS'),
          b'\1\2abc\0..', [dict(a=1, p=1, q=7, b=2, s='abc', z=4, y=6)])


@case
def filler():
    check('filler', trace('a: UNSIGNED 8; FILLER 2 BYTES; b: UNSIGNED 8; FILLER ALIGN 8; c: UNSIGNED 4; FILLER 4 BITS; FILLER TO 12; d: UNSIGNED 8;'),
          b'\1..\2....\3...\4', [dict(a=1, b=2, c=3, d=4)])


@case
def filler_of_a_value():
    check('filler_of_a_value', trace('a: UNSIGNED 8; FILLER 2 BYTES=0xee; b: UNSIGNED 4; FILLER 4 BITS=5;'),
          b'\1\xee\xee\x52\1\xee\xef\x52\1\xee\xee\x62', [dict(a=1, b=2)] * 3, words='expected filler of 0xee, found 0xef')


@case
def aligned_records():
    check('aligned_records', trace('n: UNSIGNED 8; t: BYTES n;', head='RECORD r EVENT ALIGN 4 IS'), b'\1a..\4bcde...\0',
          [dict(n=1, t='61'), dict(n=4, t='62636465'), dict(n=0, t='')])


@case
def aligned_records_of_several_kinds():
    check('aligned_records_of_several_kinds', """TRACE t; BYTES LITTLE;
          PREFIX p IS _k: UNSIGNED 8; END;
          RECORD a EVENT WITH p WHEN _k=1 ALIGN 4 IS s: STRING ENDED 0; END;
          RECORD b EVENT WITH p WHEN _k=2 ALIGN 4 IS n: UNSIGNED 16; END;
          LAYOUT REPEAT a OR b; END TRACE.
          """, b'\1xyz\0...\2\7\0.\2\10\0', [dict(s='xyz'), dict(n=7), dict(n=8)])


# ---- items ----

@case
def branches():
    check('branches', trace('k: UNSIGNED 8; IF k=1 THEN a: UNSIGNED 8; ELSIF k=2 THEN a: STRING 2; ELSE b: UNSIGNED 16; END; z: UNSIGNED 8;'),
          b'\1\7\x0a\2hi\x0b\3\1\2\x0c',
          [dict(k=1, a=7, b=None, z=10), dict(k=2, a='hi', b=None, z=11), dict(k=3, a=None, b=0x201, z=12)])


@case
def cases():
    check('cases', trace('k: UNSIGNED 8; CASE k*2 WHEN 2,4 THEN a: UNSIGNED 8; WHEN 6..10 THEN a: UNSIGNED 16; ELSE LET a=0; END;'),
          b'\1\7\2\x08\4\1\1\x63', [dict(k=1, a=7), dict(k=2, a=8), dict(k=4, a=257), dict(k=99, a=0)])


@case
def cases_of_texts():
    check('cases_of_texts', trace('k: STRING 1; CASE k WHEN "a","b" THEN x: UNSIGNED 8; WHEN "c" THEN y: UNSIGNED 8; END;'), b'a\1b\2c\3d',
          [dict(k='a', x=1, y=None), dict(k='b', x=2, y=None), dict(k='c', x=None, y=3), dict(k='d', x=None, y=None)])


@case
def repetition():
    check('repetition', trace('n: UNSIGNED 8; REPEAT TIMES n IS a: UNSIGNED 8; b: STRING 1; END; REPEAT UNTIL c=0 IS c: UNSIGNED 8; END; '
                              'LET m=COUNT OF a; LET last=a;'),
          b'\2\1x\2y\5\6\0', [dict(n=2, repeat=[dict(a=1, b='x'), dict(a=2, b='y')], c=[5, 6, 0], m=2, last=2)])


@case
def repetition_to_the_end():
    check('repetition_to_the_end', trace('n: UNSIGNED 8; REPEAT TO END IS a: UNSIGNED 16; END;', head='RECORD r EVENT LENGTH n IS'),
          b'\5\1\0\2\0\1', [dict(n=5, a=[1, 2]), dict(n=1, a=[])])


@case
def turns_forget():
    check('turns_forget', trace('REPEAT TIMES 3 IS k: UNSIGNED 8; IF k=1 THEN a: UNSIGNED 8; END; LET s=default(a,100); END; LET last=a;'),
          b'\1\7\0\0\0\0\0', [dict(repeat=[dict(k=1, a=7, s=7)] + 2 * [dict(k=0, a=None, s=100)], last=7),
                              dict(repeat=3 * [dict(k=0, a=None, s=100)], last=None)])


@case
def nested_repetition():
    check('nested_repetition', trace('n: UNSIGNED 8; REPEAT TIMES n IS m: UNSIGNED 8; REPEAT TIMES m IS a: UNSIGNED 8; END; LET s=a; END;'),
          b'\3\2\1\2\0\1\3', [dict(n=3, repeat=[dict(m=2, a=[1, 2], s=2), dict(m=0, a=[], s=None), dict(m=1, a=[3], s=3)])])


@case
def variants_in_sequences():
    check('variants_in_sequences', trace('n: UNSIGNED 8; REPEAT TIMES n IS k: UNSIGNED 8; IF k=1 THEN v: UNSIGNED 16; ELSIF k=2 THEN v: FLOAT 32; '
                                         'ELSE v: STRING COUNTED UNSIGNED 8; END; END;'),
          b'\3\1\2\1\2' + struct.pack('<f', 1.5) + b'\3\2hi', [dict(n=3, repeat=[dict(k=1, v=258), dict(k=2, v=1.5), dict(k=3, v='hi')])])


@case
def lists_of_blobs_and_variants():
    name = 'lists_of_blobs_and_variants'
    tdl = trace('l: REPEAT TO END IS k: UNSIGNED 8; x: BYTES k; IF k=1 THEN v: UNSIGNED 8; ELSE v: STRING 1; END; END;', head='RECORD r EVENT LENGTH 7 IS')
    data = b'\x01a\x07\x02bcA\x01d\x09\x01e\x09\x00'
    wanted = [dict(l=[dict(k=1, x='61', v=7), dict(k=2, x='6263', v='A')])]
    check(name, tdl, data[:7], wanted)
    key, _ = compiled(name, tdl)
    asked = [('l.x=x"6263" AND l.v=7', 1), ('COUNT OF l=2 AND COUNT OF l.x=2 AND l.v="A"', 1), ('l.x=x"6264" OR COUNT OF l=1', 0)]
    got = [len(read(key, f'{name}.bin', options=('--filter', what))[0]) for what, _ in asked]
    rows = [subprocess.run([KYMO, 'cat', '--key', key, '--format', form, f'{name}.bin'], capture_output=True, text=True).stdout.splitlines()[-1]
            for form in ('text', 'csv')]
    same = got == [count for _, count in asked] and rows[0].endswith('l = [{ k = 1, x = <61>, v = 7 }, { k = 2, x = <62 63>, v = "A" }]')
    same &= rows[1].endswith('"[{""k"":1,""x"":""61"",""v"":7},{""k"":2,""x"":""6263"",""v"":""A""}]"')
    ok(name + ' elsewhere') if same else not_ok(name + ' elsewhere', f'{got} {rows}')


@case
def groups():
    check('groups', trace('a: UNSIGNED 8; USE g (a); from: USE h (a+1); LET s=from.x+y;', rest='GROUP g (n) IS y: UNSIGNED 8*n; END;\n'
                          'GROUP h (n) IS x: UNSIGNED 8*n; LET w=n; END;'),
          b'\1\5\1\2', [{'a': 1, 'y': 5, 'from.x': 513, 'from.w': 2, 's': 518}])


@case
def groups_within_groups():
    declarations = 'BYTES LITTLE; GROUP inner IS q: UNSIGNED 8; END; GROUP outer IS c: UNSIGNED 8; i: USE inner; END; GROUP plain IS USE outer; END;'
    check('groups that are hidden', trace('_o: USE outer; s: UNSIGNED 8; LET z=_o.i.q;', declarations), b'\1\2\3', [dict(s=3, z=2)])
    check('groups_within_groups', trace('o: USE outer; p: USE plain; LET z=o.i.q*p.i.q;', declarations), b'\1\2\3\4',
          [{'o.c': 1, 'o.i.q': 2, 'p.c': 3, 'p.i.q': 4, 'z': 8}])


@case
def segments_of_files():
    tdl = ('TRACE t; BYTES LITTLE;\nPREFIX p IS k: UNSIGNED 8; END;\nRECORD s SEGMENT WITH p WHEN k=0 IS END;\n'
           'RECORD r EVENT WITH p IS a: UNSIGNED 8; END;\nLAYOUT REPEAT s OR r;\nEND TRACE.\n')
    got = []
    for segments in ('1', '2', '2..3', '4'):
        out, _, _ = events('segments_of_files', tdl, b'\1\1\0\1\2\1\3\0\1\4', options=('--filter', f'SEGMENT IN ({segments})'))
        got.append([fields(event)['a'] for event in out if 'event' in event])
    ok('segments_of_files') if got == [[1], [2, 3], [2, 3, 4], []] else not_ok('segments_of_files', f'{got}')


@case
def windows():
    check('windows', trace('n: UNSIGNED 8; p: USE g WITHIN n BYTES; z: UNSIGNED 8;', rest='GROUP g IS a: UNSIGNED 8; t: BYTES TO END; LET p=POSITION; END;'),
          b'\3abcd', [{'n': 3, 'p.a': 97, 'p.t': '6263', 'p.p': 3, 'z': 100}])


@case
def orders_from_the_data():
    check('orders_from_the_data', trace('m: UNSIGNED 8; ORDER LITTLE IF m=1, BIG IF m=2, ELSE FAIL "no order"; a: UNSIGNED 16; b: UNSIGNED 16 BIG; c: UNSIGNED 4; d: UNSIGNED 4;',
                                        ''), b'\1\1\2\1\2\x12\2\1\2\1\2\x12',
          [dict(m=1, a=0x201, b=0x102, c=2, d=1), dict(m=2, a=0x102, b=0x102, c=1, d=2)])


@case
def the_clock_of_events_is_that_of_the_trace():
    """Not that of the header before them, which comes first in the file."""
    tdl = '''TRACE t;
  BYTES LITTLE;
  CLOCK up IS RESOLUTION 1 ms;
  CLOCK wall IS EPOCH "1970-01-01T00:00:00Z" RESOLUTION 1 s;
  RECORD head CONTROL LENGTH 12 HOLDS r IS since: UNSIGNED 32 TIME up POINT; now: UNSIGNED 32 TIME wall POINT; END;
  RECORD r EVENT IS past: UNSIGNED 32; LET ACQUISITION=head.now-past TIME wall POINT; END;
  LAYOUT REPEAT head;
END TRACE.
'''
    key, _ = compiled('clock_of_events', tdl)
    pathlib.Path('clock_of_events.bin').write_bytes(struct.pack('<III', 3600000, 1700000000, 10))
    out = subprocess.run([KYMO, 'cat', '--key', key, 'clock_of_events.bin'], capture_output=True, text=True).stdout
    if out.startswith('# 2023-11-14 +0000\n[22:13:10.000000000]'):
        ok('the_clock_of_events_is_that_of_the_trace')
    else:
        not_ok('the_clock_of_events_is_that_of_the_trace', f'{out!r}')


@case
def order_of_a_prefix_holds_in_the_record():
    check('order_of_a_prefix_holds_in_the_record', '''TRACE t;
  BYTES LITTLE;
  PREFIX p IS k: UNSIGNED 8; ORDER BIG IF k=1, ELSE LITTLE; n: UNSIGNED 16; END;
  PREFIX q IS k: UNSIGNED 8; END;
  RECORD x EVENT WITH p WHEN k<9 IS a: UNSIGNED 16; f: FLOAT 32; END;
  RECORD y EVENT WITH q IS a: UNSIGNED 16; f: FLOAT 32; END;
  LAYOUT REPEAT x OR y;
END TRACE.
''', struct.pack('>BHHf', 1, 2, 3, .5) + struct.pack('<BHHf', 2, 4, 5, 1.5) + struct.pack('<BHf', 9, 6, 2.5),
          [dict(k=1, n=2, a=3, f=.5), dict(k=2, n=4, a=5, f=1.5), dict(k=9, a=6, f=2.5)])


def defined_in_orders(bytes_order):
    """Records that the file defines, in the byte order that their prefix says."""
    return f'''TRACE t;
  {bytes_order}
  TYPES code=("h"=UNSIGNED 16, "b"=UNSIGNED 8, "f"=FLOAT 32);
  TABLE forms KEY NUMBER HOLDS RECORDS;
  PREFIX d IS k: UNSIGNED 8; END;
  PREFIX p IS k: UNSIGNED 8; ORDER BIG IF k=5, ELSE LITTLE; END;
  RECORD define DEFINITION WITH d WHEN k=0 IS
    id: UNSIGNED 8;  name,codes,names: STRING COUNTED UNSIGNED 8;
    DEFINE forms[id] AS RECORD name FIELDS BY LETTERS code OF codes NAMES names SPLIT ",";
  END;
  RECORD defined EVENT WITH p FROM forms[k];
  LAYOUT REPEAT define OR defined;
END TRACE.
'''


@case
def order_of_a_prefix_holds_in_defined_records():
    data = (b'\0\5\2ev\3hbf\5x,y,z' + b'\0\6\2ev\3hbf\5x,y,z'
            + struct.pack('>BHBf', 5, 2, 3, .5) + struct.pack('<BHBf', 6, 4, 5, 1.5))
    wanted = [dict(k=5, x=2, y=3, z=.5), dict(k=6, x=4, y=5, z=1.5)]
    check('order_of_a_prefix_holds_in_defined_records', defined_in_orders('BYTES BIG;'), data, wanted)
    check('order_of_a_prefix_is_enough_for_defined_records', defined_in_orders(''), data, wanted)


@case
def records_defined_by_numbers():
    """Templates in the manner of NetFlow 9: fields have numbers, and their sizes determine the types."""
    tdl = '''TRACE t;
  BYTES BIG;
  TYPES sizes=("1"=UNSIGNED 8, "2"=UNSIGNED 16, "4"=UNSIGNED 32);
  TABLE forms KEY NUMBER HOLDS RECORDS;
  PREFIX p IS id: UNSIGNED 16; END;
  RECORD template DEFINITION WITH p WHEN id=0 IS
    to,n: UNSIGNED 16;
    REPEAT TIMES n IS field: INTEGER 16; bytes: UNSIGNED 16; END;
    DEFINE forms[to] AS RECORD "flow" FIELDS BY LIST sizes NAME field TYPE bytes SIZE bytes;
  END;
  RECORD flow EVENT WITH p FROM forms[id];
  LAYOUT REPEAT template OR flow;
END TRACE.
'''
    data = struct.pack('>HHHhHhHhH', 0, 256, 3, 8, 4, -7, 2, 4, 1) + struct.pack('>HIHB', 256, 0x0a000001, 443, 6)
    check('records_defined_by_numbers', tdl, data, [{'id': 256, '8': 0x0a000001, '-7': 443, '4': 6}])
    out, said, _ = read(f'records_defined_by_numbers.{DESCRIPTION}', 'records_defined_by_numbers.bin', options=['--filter', '`-7`=443'])
    if len(out) == 1 and not said:
        ok('filter_of_a_number_as_name')
    else:
        not_ok('filter_of_a_number_as_name', f'{out}, says {said!r}')


@case
def records_defined_with_too_many_values():
    """Types without bytes, or counts whose product has more than 32 bits, are bounded by nothing in the file."""
    tdl = '''TRACE t;
  BYTES LITTLE;
  TYPES word=("none"=BYTES 0, "many"=ARRAY 65536 OF BYTES 0, "u8"=UNSIGNED 8);
  TABLE forms KEY NUMBER HOLDS RECORDS;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD define DEFINITION WITH p WHEN k=0 IS
    id: UNSIGNED 8;  all: STRING COUNTED UNSIGNED 16;
    DEFINE forms[id] AS RECORD "ev" FIELDS BY TEXT word OF all SPLIT ";";
  END;
  RECORD defined EVENT WITH p FROM forms[k];
  LAYOUT REPEAT define OR defined;
END TRACE.
'''
    for name, text in (('a_product', 'many[65536] x;u8 y'), ('a_sum', ';'.join(f'none[65536] x{i}' for i in range(17)))):
        data = b'\0\5' + struct.pack('<H', len(text)) + text.encode() + b'\5\7'
        check(f'records_defined_with_too_many_values_by_{name}', tdl, data, [{'k': 5, 'data': '07'}],
              words='R7: a definition of a record with more than 1048576 values')
    text = 'none[16] x;u8 y'
    check('records_defined_with_values_of_no_bytes', tdl, b'\0\5' + struct.pack('<H', len(text)) + text.encode() + b'\5\7',
          [{'k': 5, 'x': [''] * 16, 'y': 7}])


@case
def orders_that_fail():
    check('orders_that_fail', trace('m: UNSIGNED 8; ORDER LITTLE IF m=1, ELSE FAIL "no order"; a: UNSIGNED 16;', ''), b'\1\1\2\3\0\0',
          [dict(m=1, a=0x201)], words='no order')


@case
def orders_of_files():
    tdl = '''TRACE t;
  RECORD h CONTROL IS m: UNSIGNED 8; ORDER FILE BIG IF m=2, ELSE LITTLE; END;
  RECORD r EVENT IS a: UNSIGNED 16; END;
  LAYOUT h; REPEAT r;
END TRACE.
'''
    check('orders_of_files', tdl, b'\2\1\2\3\4', [dict(a=0x102), dict(a=0x304)])


@case
def checks():
    check('checks', trace('a: UNSIGNED 8; CHECK a<5 "a is too large"; b: UNSIGNED 8;'), b'\1\2\6\3', [dict(a=1, b=2), dict(a=6, b=3)],
          words='a is too large')


@case
def expressions():
    items = '''a: UNSIGNED 8; b: INTEGER 8; t: STRING 3;
      LET c=(a+b)*2-a/3%4; LET d=a<<4|b&0xf^1; LET e=~a>>1; LET f=bits(a,1,3); LET g=signed(a,4); LET h=min(a,b)+max(a,b);
      LET i=align(a,8); LET j=(IF a>b AND NOT b=0 OR a=9 THEN 1 ELSE 2); LET k=a IN (1,5..20); LET l=t="abc"; LET m=-b;
      LET n=t IN ("xyz","abc"); LET o=power(2,a); LET p=a<>b; LET q=a NOT IN (1,2);'''
    a, b = 13, -3
    check('expressions', trace(items), struct.pack('<Bb', a, b) + b'abc',
          [dict(a=a, b=b, t='abc', c=(a + b) * 2 - a // 3 % 4, d=a << 4 | b & 0xf ^ 1, e=~a >> 1, f=a >> 1 & 7, g=-3, h=a + b, i=16, j=1, k=1,
                l=1, m=3, n=1, o=8192, p=1, q=1)])


@case
def constants():
    check('constants', trace('a: UNSIGNED size*4; b: UNSIGNED 8=-low+20;', 'BYTES LITTLE; CONST size=0x4; CONST low=size*2-0b11;'), b'\1\2\x0f',
          [dict(a=0x201, b=15)])


@case
def hidden_fields():
    check('hidden_fields', trace('_n: UNSIGNED 8; _a: BYTES _n; b: UNSIGNED 8; : UNSIGNED 16;'), b'\2xx\7..', [dict(b=7)])


# ---- kinds of records ----

@case
def prefixes():
    tdl = '''TRACE t; BYTES LITTLE;
  PREFIX p IS kind: UNSIGNED 8; size: UNSIGNED 8 LENGTH OF RECORD; END;
  RECORD a EVENT WITH p WHEN kind=1 IS x: UNSIGNED 8; END;
  RECORD b EVENT WITH p WHEN kind=2 IS y: BYTES TO END; END;
  RECORD c CONTROL WITH p WHEN kind=3 IS n: UNSIGNED 8; END;
  RECORD d EVENT WITH p IS LET last=c.n; END;
  LAYOUT REPEAT a OR b OR c OR d;
END TRACE.
'''
    check('prefixes', tdl, b'\1\3x\2\5abc\3\3\7\4\2\1\4y.',
          [dict(kind=1, size=3, x=120), dict(kind=2, size=5, y='616263'), dict(kind=4, size=2, last=7), dict(kind=1, size=4, x=121)],
          kinds=['t:a', 't:b', 't:d', 't:a'])


@case
def plain_records():
    """Many of a kind after a prefix, in both orders: records that the fast path decodes, and those that it must leave to the machine."""
    tdl = '''TRACE t;
  CLOCK wall IS EPOCH "1970-01-01T00:00:00Z";
  RECORD h CONTROL IS m: UNSIGNED 8; ORDER FILE LITTLE IF m=1, BIG IF m=2, ELSE FAIL "no order"; scale: UNSIGNED 8; END;
  PREFIX p IS n: UNSIGNED 16 LENGTH OF RECORD; kind: UNSIGNED 8; small: INTEGER 8; END;
  RECORD r EVENT WITH p IS
    ACQUISITION: UNSIGNED 32 TIME wall POINT UNIT (IF h.scale>1 THEN 1 ms ELSE 1 s);
    a: UNSIGNED 32; b: INTEGER 32; c: UNSIGNED 16; d: UNSIGNED 64; big: UNSIGNED 16 BIG;
    LET most=(IF h.scale=1 OR kind>9 THEN 1000 ELSE 100); LET twice=c*2; LET unit=h.scale*10;
    CHECK kind=7 OR c<=most "c is too large";
    f: FLOAT 32; size: UNSIGNED 8 LENGTH OF data; data: BYTES; text: STRING ENDED 0;
  END;
  LAYOUT h; REPEAT r;
END TRACE.
'''
    for name, order, scale in ('little', '<', 1), ('big', '>', 2), ('little_ms', '<', 2):
        most, data, wanted, times = 1000 if scale == 1 else 100, bytes([1 if order == '<' else 2, scale]), [], []
        for i in range(3000):
            blob, text, kind, c = b'x' * (i % 50), b't' * (i % 3), 7 if i % 5 == 0 else 8, i % most + (i == 2000) * (most + 1)
            kind, d = 8 if i == 2000 else kind, 2**64 - 1 if i % 100 == 77 else i << 30
            body = struct.pack(order + 'IIiHQ', i, i * 3, -i, c, d) + struct.pack('>H', i) + struct.pack(order + 'fB', i / 2, len(blob)) + blob + text + b'\0'
            gap = bytes(i % 7)
            data += struct.pack(order + 'HBb', len(body) + len(gap) + 4, kind, -(i % 100)) + body + gap
            wanted.append(dict(n=len(body) + len(gap) + 4, kind=kind, small=-(i % 100), a=i * 3, b=-i, c=c, d=d, big=i, most=most, twice=c * 2,
                               unit=scale * 10, f=i / 2, size=len(blob), data=blob.hex(), text=text.decode()))
            times.append(i * (10**9 if scale == 1 else 10**6))
        check(f'plain_records_{name}', tdl, data, wanted, words='c is too large', times=times)


@case
def tails_to_the_end():
    """What fills the rest of a record, in the fast path: bytes, and a text that a zero cuts."""
    for name, letters, show in ('bytes', 'BYTES', bytes.hex), ('text', 'STRING', lambda tail: tail.split(b'\0')[0].decode()):
        tdl = f'TRACE t; BYTES LITTLE; RECORD r EVENT IS n: UNSIGNED 8 LENGTH OF RECORD; x: UNSIGNED 16; tail: {letters} TO END; END; LAYOUT REPEAT r; END TRACE.'
        tails = [b'ab\0cd'[:i % 6] * (i % 3) for i in range(2000)]
        data = b''.join(struct.pack('<BH', 3 + len(tail), i) + tail for i, tail in enumerate(tails))
        check(f'tails_to_the_end_{name}', tdl, data, [dict(n=3 + len(tail), x=i, tail=show(tail)) for i, tail in enumerate(tails)])


@case
def sequences_in_prefixes():
    tdl = '''TRACE t; BYTES LITTLE;
  PREFIX p IS n: UNSIGNED 8; REPEAT TIMES n IS v: UNSIGNED 8; END; kind: UNSIGNED 8; END;
  RECORD a EVENT WITH p WHEN kind=1 IS x: UNSIGNED 8; END;
  RECORD b EVENT WITH p IS LET m=COUNT OF v; LET last=v; END;
  LAYOUT REPEAT a OR b;
END TRACE.
'''
    check('sequences_in_prefixes', tdl, b'\2\7\x08\1\5\0\2\1\x09\3',
          [dict(n=2, v=[7, 8], kind=1, x=5), dict(n=0, v=[], kind=2, m=0, last=None), dict(n=1, v=[9], kind=3, m=1, last=9)])


@case
def conditions_of_kinds():
    tdl = '''TRACE t; BYTES LITTLE;
  TABLE known KEY NUMBER HOLDS NUMBERS;
  PREFIX p IS kind: UNSIGNED 8; END;
  RECORD a DEFINITION WITH p WHEN kind>=100 IS x: UNSIGNED 8; DEFINE known[x]=kind; END;
  RECORD b EVENT WITH p WHEN kind IN known IS LET k=known[kind]; END;
  RECORD c EVENT WITH p WHEN kind<>5 IS y: UNSIGNED 8; END;
  LAYOUT REPEAT a OR b OR c;
END TRACE.
'''
    check('conditions_of_kinds', tdl, b'\1\7\x65\1\1\2\x08', [dict(kind=1, y=7), dict(kind=1, k=101), dict(kind=2, y=8)],
          kinds=['t:c', 't:b', 't:c'])


@case
def held_records():
    tdl = '''TRACE t; BYTES LITTLE;
  RECORD block EVENT LENGTH size HOLDS r IS size: UNSIGNED 8; id: UNSIGNED 8; END;
  RECORD r EVENT IS a: UNSIGNED 8; LET of=block.id; END;
  LAYOUT REPEAT block;
END TRACE.
'''
    check('held_records', tdl, b'\4\7\1\2\2\x08\3\x09\3',
          [dict(size=4, id=7), dict(a=1, of=7), dict(a=2, of=7), dict(size=2, id=8), dict(size=3, id=9), dict(a=3, of=9)])


@case
def what_check_and_explain_say():
    name = 'what_check_and_explain_say'
    key, _ = compiled(name, 'TRACE t; BYTES LITTLE;\nRECORD box CONTROL LENGTH n HOLDS r IS n: UNSIGNED 8; FILLER 2 BYTES=0; FILLER 1 BYTES; END;\n'
                      'RECORD r EVENT LENGTH 2+2*n IS n: UNSIGNED 8; REPEAT TIMES n IS a: UNSIGNED 8; _b: UNSIGNED 8; END; c: UNSIGNED 8; END;\n'
                      'LAYOUT REPEAT box;\nEND TRACE.\n')
    pathlib.Path(f'{name}.bin').write_bytes(b'\x0a\0\0\7\2\1\2\3\4\5')

    def said(command, *options):
        done = subprocess.run([KYMO, command, '--key', key, *options, f'{name}.bin'], capture_output=True, text=True)
        return [' '.join(line.split()) for line in (done.stdout + done.stderr).splitlines()]
    got = [said('check'), said('explain'), said('explain', '--offset', '0'), said('explain', '--record', '0')[:1]]
    wanted = [[f'{name}.bin: 1 record "box" of 4 bytes; 1 of them without a field', f'{name}.bin: 1 record "r" of 6 bytes; 0 of them without a field',
               '1 event, 0 damaged places'],
              ['r (event), 6 bytes at 4', '4 02 n = 2', '5 01 a = 1', '6 02 _b = 2', '7 03 a = 3', '8 04 _b = 4', '9 05 c = 5'],
              ['box (control), 10 bytes at 0', '0 0a n = 10', '1 00 00 (filler)', '3 07 (not read)', '4 02 01 02 03 04 05 (records that it holds)'],
              ['kymo explain: events are counted from 1, found --record 0']]
    ok(name) if got == wanted else not_ok(name, f'{got}')


@case
def values_of_variants_and_later_records():
    name = 'values_of_variants_and_later_records'
    tdl = ('''TRACE t; BYTES LITTLE;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD a EVENT WITH p WHEN k=1 IS
    IF present(b.data) THEN LET d=b.data; LET n=b.x+1; END;
    c: UNSIGNED 8;
    IF c=7 THEN v: UNSIGNED 8; LET w=v+1; ELSE v: INTEGER 16; LET w=v-1; END;
  END;
  RECORD b EVENT WITH p WHEN k=2 IS data: BYTES 3; x: UNSIGNED 8; END;
  LAYOUT REPEAT a OR b;
END TRACE.
''')
    out, said, _ = events(name, tdl, b'\1\7\xff\2a\0b\5\1\1\0\x80')
    got = [fields(out[0]), fields(out[2])] if len(out) == 3 else said
    wanted = [{'k': 1, 'd': None, 'n': None, 'c': 7, 'v': 255, 'w': 256}, {'k': 1, 'd': '610062', 'n': 6, 'c': 1, 'v': -32768, 'w': -32769}]
    ok(name) if got == wanted else not_ok(name, f'{got}')


@case
def activities_tell_what_the_field_is():
    name = 'activities_tell_what_the_field_is'
    key, _ = compiled(name, 'TRACE t; BYTES LITTLE; CLOCK c IS;\nTOKEN one=("red"=7); TOKEN two=("blue"=7); TOKEN more=("red"=8);\n'
                      'PREFIX p IS k: UNSIGNED 8; ACQUISITION: UNSIGNED 8 TIME c POINT; END;\n'
                      'RECORD a EVENT WITH p WHEN k=1 IS STREAM: UNSIGNED 8; color: UNSIGNED 8 TOKEN one; f: FLOAT 32; v: UNSIGNED 8 TOKEN one; LET w=v+1 TOKEN more; END;\n'
                      'RECORD b EVENT WITH p WHEN k=2 IS IF k=2 THEN STREAM: UNSIGNED 16; ELSE other: UNSIGNED 8; END; color: UNSIGNED 8 TOKEN two; f: FLOAT 32;\n'
                      'IF color=7 THEN v: UNSIGNED 8 TOKEN one; LET w=v+1 TOKEN more; ELSE v: INTEGER 16; END; END;\n'
                      'LAYOUT REPEAT a OR b;\nEND TRACE.\n')
    pathlib.Path(f'{name}.bin').write_bytes(struct.pack('<BBBBfB', 1, 4, 3, 7, 0.5, 7) + struct.pack('<BBHBfB', 2, 9, 3, 7, 0.5, 7))
    got = []
    for field in ('STREAM', 'color', 'f', 'v', 'w'):
        pathlib.Path(f'{name}.fdl').write_text(f'FILTER f; ACTIVITY job FROM (KIND IN (a)) TO (KIND IN (b)) SAME {field}; SELECT job.')
        done = subprocess.run([KYMO, 'cat', '--key', key, '--format', 'json', '--filter-file', f'{name}.fdl', f'{name}.bin'], capture_output=True, text=True)
        got.append(json.loads(done.stdout)['fields'][field] if done.returncode == 0 and done.stdout else done.stdout + done.stderr)
    wanted = [3, 7, 0.5, 7, {'value': 8, 'label': 'red'}]
    ok(name) if got == wanted else not_ok(name, f'{got}')


@case
def explain_shows_what_cat_does():
    name = 'explain_shows_what_cat_does'
    key, _ = compiled(name, 'TRACE t; BYTES LITTLE;\nTOKEN state=("idle"=0,"busy"=1..5); FLAGS alarm=("door"=BIT 0,"power"=BIT 1);\n'
                      'TABLE names KEY NUMBER HOLDS NAMES;\n'
                      'RECORD r EVENT IS n: UNSIGNED 8; kind: UNSIGNED 8 TOKEN state; who: UNSIGNED 8 TOKEN names; f: UNSIGNED 8 FLAGS alarm;\n'
                      'h: UNSIGNED 16 SHOW HEX; c: UNSIGNED 8 SHOW CHAR; ip: BYTES 4 SHOW ADDRESS; warm: INTEGER 16 SCALE 0.5 OFFSET -1;\n'
                      'z: UNSIGNED 8 AS VALUE*2; DEFINE names[7]="seven";\n'
                      'REPEAT TIMES n IS a: UNSIGNED 8 AS VALUE+1; s: UNSIGNED 8 TOKEN state; u: UNSIGNED 8; IF u=1 THEN w: UNSIGNED 8; END;\n'
                      'o: UNSIGNED 8 ABSENT WHEN 0 AS VALUE*3; x: UNSIGNED 8 SHOW HEX AS VALUE<<4; IF x=0 THEN END; END; END;\n'
                      'LAYOUT REPEAT r;\nEND TRACE.\n')
    pathlib.Path(f'{name}.bin').write_bytes(bytes([2, 3, 7, 5, 0x34, 0x12, 65, 192, 168, 0, 1, 0xfd, 0xff, 21, 9, 0, 1, 77, 5, 10, 8, 9, 0, 0, 1]))
    done = subprocess.run([KYMO, 'explain', '--key', key, f'{name}.bin'], capture_output=True, text=True)
    got = [line[38:] for line in done.stdout.splitlines()[1:]]
    wanted = ['n = 2', 'kind = 3 (busy)', 'who = 7 (seven)', 'f = 5 (door|0x4)', 'h = 0x1234', 'c = 65 ("A")', 'ip = "\\xc0\\xa8\\x00\\x01" ("192.168.0.1")',
              'warm = -3 (-2.5)', 'z = 42']
    wanted += [f'repeat[0].{each}' for each in ('a = 10', 's = 0 (idle)', 'u = 1', 'w = 77', 'o = 15', 'x = 0xa0')]
    wanted += [f'repeat[1].{each}' for each in ('a = 9', 's = 9', 'u = 0', 'o = -', 'x = 0x10')]
    ok(name) if got == wanted else not_ok(name, f'{got} {done.stderr}')


@case
def steps_and_windows():
    tdl = '''TRACE t; BYTES LITTLE;
  RECORD h CONTROL IS at: UNSIGNED 8; size: UNSIGNED 8; n: UNSIGNED 8; END;
  RECORD a EVENT IS x: UNSIGNED 8; END;
  RECORD b EVENT IS y: UNSIGNED 8; END;
  LAYOUT h; REPEAT a TIMES h.n; REPEAT b AT h.at SIZE h.size;
END TRACE.
'''
    check('steps_and_windows', tdl, b'\6\2\2\1\2.\7\x08.', [dict(x=1), dict(x=2), dict(y=7), dict(y=8)])


@case
def steps_until():
    tdl = '''TRACE t; BYTES LITTLE;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD a EVENT WITH p WHEN k=1 IS END;
  RECORD b EVENT WITH p WHEN k=2 IS END;
  RECORD c EVENT IS z: UNSIGNED 8; END;
  LAYOUT REPEAT a OR b UNTIL b; REPEAT c;
END TRACE.
'''
    check('steps_until', tdl, b'\1\1\2\1\2', [dict(k=1), dict(k=1), dict(k=2), dict(z=1), dict(z=2)])


@case
def blocks():
    tdl = '''TRACE t; BYTES LITTLE;
  RECORD h CONTROL IS n: UNSIGNED 8; END;
  RECORD a EVENT IS x: UNSIGNED 8; END;
  LAYOUT BLOCKS 4 BYTES IS h; REPEAT a TIMES h.n; END BLOCKS;
END TRACE.
'''.replace('END BLOCKS;', 'END;')
    check('blocks', tdl, b'\2\1\2.\1\3..\0...', [dict(x=1), dict(x=2), dict(x=3)])


# ---- tables ----

@case
def tables():
    tdl = '''TRACE t; BYTES LITTLE;
  TABLE names KEY NUMBER HOLDS NAMES;  TABLE sizes KEY NAME HOLDS NUMBERS;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD d DEFINITION WITH p WHEN k=1 IS id: UNSIGNED 8; n: STRING 2; DEFINE names[id]=n; DEFINE sizes[n]=id*2; END;
  RECORD f DEFINITION WITH p WHEN k=2 IS id: UNSIGNED 8; FORGET names[id]; END;
  RECORD e EVENT WITH p WHEN k=3 IS id: UNSIGNED 8; LET name=names[id]; LET size=sizes[name]; LET n=COUNT OF names; END;
  LAYOUT REPEAT d OR f OR e;
END TRACE.
'''
    check('tables', tdl, b'\3\7\1\7ab\3\7\1\7cd\3\7\2\7\3\7',
          [dict(k=3, id=7, name=None, size=None, n=0), dict(k=3, id=7, name='ab', size=14, n=1), dict(k=3, id=7, name='cd', size=14, n=1),
           dict(k=3, id=7, name=None, size=None, n=0)], words='R7', status=1)


@case
def tables_known_always():
    tdl = '''TRACE t; BYTES LITTLE;
  TABLE names KEY NUMBER HOLDS NAMES KNOWN ALWAYS;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD d DEFINITION WITH p WHEN k=1 IS id: UNSIGNED 8; n: STRING 2; DEFINE names[id]=n; END;
  RECORD e EVENT WITH p WHEN k=3 IS EVENT: UNSIGNED 8 TOKEN names; END;
  LAYOUT REPEAT d OR e;
END TRACE.
'''
    check('tables_known_always', tdl, b'\3\7\3\x08\1\7ab\3\7', [dict(k=3, EVENT=(7, 'ab')), dict(k=3, EVENT=(8, None)), dict(k=3, EVENT=(7, 'ab'))],
          kinds=['t:ab', 't:e', 't:ab'])


@case
def tables_known_by_time():
    tdl = '''TRACE t; BYTES LITTLE; CLOCK c IS;
  TABLE names KEY NUMBER HOLDS NAMES KNOWN BY TIME;
  PREFIX p IS k: UNSIGNED 8; ACQUISITION: UNSIGNED 8 TIME c POINT; END;
  RECORD d DEFINITION WITH p WHEN k=1 IS id: UNSIGNED 8; n: STRING 2; DEFINE names[id]=n; END;
  RECORD e EVENT WITH p WHEN k=3 IS id: UNSIGNED 8; LET name=names[id]; END;
  LAYOUT REPEAT d OR e;
END TRACE.
'''
    check('tables_known_by_time', tdl, b'\3\x05\7\3\x0f\7\1\x0a\7ab', [dict(k=3, id=7, name=None), dict(k=3, id=7, name='ab')], times=[5, 15])


@case
def tables_per_segment():
    tdl = '''TRACE t; BYTES LITTLE;
  TABLE names KEY NUMBER HOLDS NAMES PER SEGMENT;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD s SEGMENT WITH p WHEN k=0 IS END;
  RECORD d DEFINITION WITH p WHEN k=1 IS id: UNSIGNED 8; n: STRING 2; DEFINE names[id]=n; END;
  RECORD e EVENT WITH p WHEN k=3 IS id: UNSIGNED 8; LET name=names[id]; END;
  LAYOUT REPEAT s OR d OR e;
END TRACE.
'''
    check('tables_per_segment', tdl, b'\0\1\7ab\3\7\0\3\7', [dict(k=3, id=7, name='ab'), dict(k=3, id=7, name=None)])


@case
def tables_per_value():
    tdl = '''TRACE t; BYTES LITTLE;
  TABLE names KEY NUMBER HOLDS NAMES PER cpu;
  PREFIX p IS k,cpu: UNSIGNED 8; END;
  RECORD d DEFINITION WITH p WHEN k=1 IS id: UNSIGNED 8; n: STRING 2; DEFINE names[id]=n; END;
  RECORD e EVENT WITH p WHEN k=3 IS id: UNSIGNED 8; LET name=names[id]; END;
  LAYOUT REPEAT d OR e;
END TRACE.
'''
    check('tables_per_value', tdl, b'\1\0\7ab\1\1\7cd\3\0\7\3\1\7\3\2\7',
          [dict(k=3, cpu=0, id=7, name='ab'), dict(k=3, cpu=1, id=7, name='cd'), dict(k=3, cpu=2, id=7, name=None)])


@case
def tables_of_bytes():
    tdl = '''TRACE t; BYTES LITTLE;
  TABLE heaps KEY NAME HOLDS BYTES;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD d DEFINITION WITH p WHEN k=1 IS n: UNSIGNED 8 LENGTH OF all; all: BYTES; DEFINE heaps[text(all,0)]=all; END;
  RECORD e EVENT WITH p WHEN k=3 IS h: STRING 2; at: UNSIGNED 8; LET x=text(heaps[h],at); END;
  LAYOUT REPEAT d OR e;
END TRACE.
'''
    check('tables_of_bytes', tdl, b'\1\7hh\0abc\0\3hh\3\3hh\x09', [dict(k=3, h='hh', at=3, x='abc'), dict(k=3, h='hh', at=9, x=None)])


# ---- records that are defined at run time ----

RUNTIME = '''TRACE t; BYTES LITTLE; CLOCK c IS RESOLUTION 1 us;
  TYPES l=("b"=INTEGER 8,"H"=UNSIGNED 16,"Z"=STRING 4,"f"=FLOAT 32,"a"=ARRAY 2 OF UNSIGNED 8,"c"=INTEGER 16 SCALE 0.01,
    "int8_t"=INTEGER 8,"uint16_t"=UNSIGNED 16,"char"=UNSIGNED 8);
  TABLE formats KEY NUMBER HOLDS RECORDS;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD d DEFINITION WITH p WHEN k=1 IS id,size: UNSIGNED 8; name: STRING COUNTED UNSIGNED 8; %s END;
  RECORD e EVENT WITH p WHEN k IN formats FROM formats[k];
  LAYOUT REPEAT d OR e;
END TRACE.
'''


@case
def records_by_letters():
    tdl = RUNTIME % '''fmt: STRING COUNTED UNSIGNED 8; names: STRING COUNTED UNSIGNED 8;
      DEFINE formats[id] AS RECORD name LENGTH size FIELDS BY LETTERS l OF fmt NAMES names SPLIT "," FIELD "T" IS TIME c POINT;'''
    define = b'\1\x10\x0c\2AB\5HbZac\x0bT,b,z,a,cnt'
    check('records_by_letters', tdl, define + b'\x10\1\2\xffhi\0\0\3\4\x9c\xff', [dict(k=16, b=-1, z='hi', a=[3, 4], cnt=-1.0)],
          kinds=['t:AB'], times=[513000])


@case
def records_by_text():
    tdl = RUNTIME % '''all: STRING COUNTED UNSIGNED 8; DEFINE formats[id] AS RECORD name LENGTH size FIELDS BY TEXT l OF all SPLIT ";";'''
    define = b'\1\x10\6\2AB' + bytes([len('uint16_t x;int8_t[2] y;int8_t z')]) + b'uint16_t x;int8_t[2] y;int8_t z'
    check('records_by_text', tdl, define + b'\x10\1\2\xff\5\7', [dict(k=16, x=513, y=[-1, 5], z=7)], kinds=['t:AB'])


@case
def filters_of_a_key_fit_what_files_define():
    name = 'filters_of_a_key_fit_what_files_define'
    tdl = RUNTIME % '''all: STRING COUNTED UNSIGNED 8; DEFINE formats[id] AS RECORD name LENGTH size FIELDS BY TEXT l OF all SPLIT ";";'''
    define = b'\1\x10\6\2AB' + bytes([len('uint16_t x;int8_t[2] y;int8_t z')]) + b'uint16_t x;int8_t[2] y;int8_t z'
    key, _ = compiled(name, tdl)
    pathlib.Path(f'{name}.bin').write_bytes(define + b'\x10\1\2\xff\5\7' + b'\x10\0\2\xff\5\7' + b'\x10\1\2\xff\5\x08')
    wrong = []
    late = 'warning: W24 "{}" is no {} that is known now; the trace may have it'
    for number, (text, words, wanted) in enumerate([
            ('k = 16', [], [7, 7, 8]), ('x > 512 AND z = 7', [late.format('x', 'field'), late.format('z', 'field')], [7]),
            ('EVENT = "t:AB" AND z > 7', [late.format('t:AB', 'name'), late.format('z', 'field')], [8]),
            ('q IS PRESENT', [late.format('q', 'field')], []), ('z = "up"', [late.format('z', 'field')], [])]):
        pathlib.Path(f'{name}.fdl').write_text(text)
        made = subprocess.run([KYMO, 'compile', '--key', key, '-o', f'{name}.filter', f'{name}.fdl'], capture_output=True, text=True)
        said = [line.split(': ', 1)[1] for line in made.stderr.splitlines() if 'warning: ' in line]
        out, more, status = read(key, f'{name}.bin', options=('--filter-file', f'{name}.filter'))
        found = [event['fields']['z'] for event in out]
        if (made.returncode, [line[line.index('warning'):] for line in said], found, status) != (0, words, wanted, 0):
            wrong.append(f'{text}: {made.stderr} {found} {more} {status}')
    ok(name) if not wrong else not_ok(name, repr(wrong))


@case
def records_by_list():
    tdl = RUNTIME % '''n: UNSIGNED 8; REPEAT TIMES n IS ty: STRING COUNTED UNSIGNED 8; na: STRING COUNTED UNSIGNED 8; END;
      DEFINE formats[id] AS RECORD name FIELDS BY LIST l NAME na TYPE ty;'''
    define = b'\1\x10\0\2AB\2\1H\1x\1b\1y'
    check('records_by_list', tdl, define + b'\x10\1\2\xff', [dict(k=16, x=513, y=-1)], kinds=['t:AB'])


# ---- time ----

@case
def times_in_parts():
    tdl = trace('ACQUISITION: UNSIGNED 32 TIME c POINT UNIT 1 s; : UNSIGNED 32 TIME c ADD UNIT 1 us; DURATION: UNSIGNED 16 TIME c SPAN UNIT 10 ms;',
                'BYTES LITTLE; CLOCK c IS EPOCH "1970-01-01T00:00:00Z";')
    check('times_in_parts', tdl, struct.pack('<IIH', 1700000000, 123456, 5), [dict(DURATION=50000000)], times=[1700000000123456000])


@case
def distances():
    check('distances', trace('ACQUISITION: UNSIGNED 8 TIME c DISTANCE; a: UNSIGNED 8;', 'BYTES LITTLE; CLOCK c IS RESOLUTION 1 us;'),
          b'\5\1\7\2\0\3', [dict(a=1), dict(a=2), dict(a=3)], times=[5000, 12000, 12000])


@case
def truncated_times():
    check('truncated_times', trace('ACQUISITION: UNSIGNED 8 TIME c LOW 8; a: UNSIGNED 8;', 'BYTES LITTLE; CLOCK c IS;'),
          b'\xf0\1\x10\2\x08\3', [dict(a=1), dict(a=2), dict(a=3)], times=[0xf0, 0x110, 0x208])


@case
def truncated_times_with_slack():
    check('truncated_times_with_slack', trace('ACQUISITION: UNSIGNED 8 TIME c LOW 8; a: UNSIGNED 8;', 'BYTES LITTLE; CLOCK c IS SLACK 16 ticks;'),
          b'\xf0\1\x10\2\x08\3', [dict(a=1), dict(a=2), dict(a=3)], times=[0xf0, 0x110, 0x108])


@case
def bases_and_ends():
    tdl = '''TRACE t; BYTES LITTLE; CLOCK c IS;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD b CONTROL WITH p WHEN k=1 IS base: UNSIGNED 32 TIME c BASE; END;
  RECORD r EVENT WITH p WHEN k=2 IS ACQUISITION: UNSIGNED 8 TIME c DISTANCE; until: UNSIGNED 32 TIME c UNTIL; END;
  LAYOUT REPEAT b OR r;
END TRACE.
'''
    check('bases_and_ends', tdl, b'\1\0\1\0\0\2\5\0\2\0\0\2\6\0\3\0\0', [dict(k=2, until=512), dict(k=2, until=768)], times=[261, 267])


@case
def clocks_per_value():
    check('clocks_per_value', trace('STREAM: UNSIGNED 8; ACQUISITION: UNSIGNED 8 TIME c DISTANCE;', 'BYTES LITTLE; CLOCK c IS PER STREAM;'),
          b'\0\5\1\7\0\5\1\1', [dict(STREAM=0), dict(STREAM=1), dict(STREAM=0), dict(STREAM=1)], times=[5, 7, 10, 8])


@case
def rates():
    tdl = '''TRACE t; BYTES LITTLE; CLOCK c IS RATE head.hz;
  RECORD head CONTROL IS hz: UNSIGNED 32; END;
  RECORD r EVENT IS ACQUISITION: UNSIGNED 32 TIME c POINT; d: UNSIGNED 32 TIME c SPAN RATE 1000; END;
  LAYOUT head; REPEAT r;
END TRACE.
'''
    check('rates', tdl, struct.pack('<IIIII', 4, 1, 8, 3, 0), [dict(d=0), dict(d=0)], times=[250000000, 750000000])


@case
def first_times_count():
    check('first_times_count', trace('a: UNSIGNED 16 TIME c POINT; b: UNSIGNED 16 TIME c UNTIL;', 'BYTES LITTLE; CLOCK c IS RESOLUTION 1 ms;'),
          struct.pack('<HH', 3, 4), [dict(a=3000000, b=4000000)], times=[3000000])


# ---- sequences and losses ----

@case
def times_before_the_origin():
    name = 'times_before_the_origin'
    for kind, form in (('INTEGER 64', 'q'), ('FLOAT 64', 'd'), ('VARINT SLEB', None)):
        seconds = [-3, 0, 5] if not form else [-2208988800, -1, 0, 5, -4611686018]
        data = struct.pack(f'<{len(seconds)}{form}', *seconds) if form else b'\x7d\0\5'
        check(f'{name}, {kind}', trace(f'ACQUISITION: {kind} TIME c POINT;', 'BYTES LITTLE; CLOCK c IS EPOCH "1970-01-01T00:00:00Z" RESOLUTION 1 s;'),
              data, [{}] * len(seconds), times=[second * 10**9 for second in seconds])
    check(f'{name}, with a distance', trace('d: INTEGER 8 TIME c DISTANCE;', 'BYTES LITTLE; CLOCK c IS;'), b'\xff\xfe\5',
          [dict(d=-1), dict(d=-3), dict(d=2)], times=[-1, -3, 2])
    check(f'{name}, beyond it', trace('ACQUISITION: INTEGER 64 TIME c POINT;', 'BYTES LITTLE; CLOCK c IS;'), struct.pack('<qq', -2**63, -1), [{}, {}],
          times=[-4611686018 * 10**9, -1], words='byte 0: R10: a value that does not fit its field')


@case
def epochs_far_away():
    tdl = trace('ACQUISITION: UNSIGNED 64 TIME c POINT;', 'BYTES LITTLE; CLOCK c IS EPOCH "1601-01-01T00:00:00Z" RESOLUTION 100 ns;')
    unix = 116444736000000000
    check('epochs_far_away', tdl, struct.pack('<QQQ', 133000000000000000, unix + 1, unix - 1), [{}] * 3, times=[(133000000000000000 - unix) * 100, 100, -100])
    check('epochs_far_away, beyond it', tdl, struct.pack('<QQ', unix, 0), [{}], times=[0], words='R9: a time beyond the range of its clock')


@case
def gaps():
    check('gaps', trace('SEQUENCE: UNSIGNED 8; a: UNSIGNED 8;'), b'\xfe\1\xff\2\0\3\3\4', [dict(SEQUENCE=n, a=a) for n, a in ((254, 1), (255, 2), (0, 3), (3, 4))],
          words='2')


@case
def gaps_per_stream():
    check('gaps_per_stream', trace('SEQUENCE: UNSIGNED 8 PER STREAM; STREAM: UNSIGNED 8;'), b'\1\0\5\1\2\0\6\1',
          [dict(SEQUENCE=n, STREAM=s) for n, s in ((1, 0), (5, 1), (2, 0), (6, 1))])


@case
def lost_records():
    out, said, status = events('lost_records', trace('k: UNSIGNED 8; IF k=1 THEN LOST: UNSIGNED 16; END;'), b'\0\1\5\0\0')
    lost = [event['lost']['count'] for event in out if 'lost' in event]
    if lost == [5] and [fields(event) for event in out if 'event' in event] == [dict(k=0, LOST=None), dict(k=1, LOST=5), dict(k=0, LOST=None)]:
        ok('lost_records')
    else:
        not_ok('lost_records', f'{out}; {said}')


# ---- checksums and transforms ----

def crc8(data):
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value << 1 ^ 7 if value & 0x80 else value << 1) & 0xff
    return value


def crc16(data, seed, poly, reflected):
    value = seed
    for byte in data:
        value ^= byte if reflected else byte << 8
        for _ in range(8):
            if reflected:
                value = value >> 1 ^ poly if value & 1 else value >> 1
            else:
                value = (value << 1 ^ poly if value & 0x8000 else value << 1) & 0xffff
    return value


def crc32c(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ 0x82f63b78 if value & 1 else value >> 1
    return value ^ 0xffffffff


@case
def checksums():
    sums = {'sum8': (8, lambda d: sum(d) & 0xff), 'sum16': (16, lambda d: sum(d) & 0xffff), 'sum32': (32, lambda d: sum(d)),
            'xor8': (8, lambda d: d[0] ^ d[1] ^ d[2]), 'crc8': (8, crc8), 'crc32': (32, zlib.crc32), 'crc32c': (32, crc32c),
            'adler32': (32, zlib.adler32), 'crc16arc': (16, lambda d: crc16(d, 0, 0xa001, True)),
            'crc16ccitt': (16, lambda d: crc16(d, 0xffff, 0x1021, False))}
    for name, (bits, function) in sums.items():
        good = b'abc' + function(b'abc').to_bytes(bits // 8, 'little')
        bad = b'abd' + function(b'abc').to_bytes(bits // 8, 'little')
        value = function(b'abc')
        tdl = trace(f'a: UNSIGNED 8; b: BYTES 2; s: UNSIGNED {bits} CHECKSUM {name} OVER a .. b;')
        check(f'checksum_{name}', tdl, good, [dict(a=97, b='6263', s=value)])
        check(f'wrong_checksum_{name}', tdl, bad + good, [dict(a=97, b='6264', s=value), dict(a=97, b='6263', s=value)], 
              words=f's is not the {name}, expected {hex(function(b"abd"))}, found {hex(value)}')


@case
def definitions_of_one_key():
    tdl = """TRACE t; BYTES LITTLE;
  TABLE names KEY NUMBER HOLDS NAMES;  TABLE sizes KEY NUMBER HOLDS NUMBERS;
  RECORD r EVENT IS id: UNSIGNED 8; name: STRING 2; size: UNSIGNED 8; DEFINE names[id] = name; DEFINE sizes[id] = size; END;
  LAYOUT REPEAT r;
END TRACE.
"""
    one, two = dict(id=7, name='ab', size=1), dict(id=7, name='ac', size=1)
    check('definitions_of_one_key, names', tdl, b'\7ab\1\7ab\1\7ac\1', [one, one, two],
          words='byte 9: R7: another definition of the key 7, expected "ab", found "ac"')
    check('definitions_of_one_key, numbers', tdl, b'\7ab\1\7ab\2', [one, dict(id=7, name='ab', size=2)],
          words='byte 4: R7: another definition of the key 7, expected 1, found 2')


@case
def checksums_over_the_record():
    value = zlib.crc32(b'\x0b\0\0\0\0xyzabc'[:11])
    data = b'\x0b' + value.to_bytes(4, 'little') + b'xyzabc'
    check('checksums_over_the_record', trace('n: UNSIGNED 8 LENGTH OF RECORD; s: UNSIGNED 32 CHECKSUM crc32 OVER RECORD; d: BYTES 3;'), data,
          [dict(n=11, s=value, d='78797a')])


@case
def transforms():
    inner = b'\5hello'
    packed = zlib.compress(inner)
    tdl = trace('n: UNSIGNED 8; p: USE g WITHIN n BYTES AFTER %s; z: UNSIGNED 8;', rest='GROUP g IS t: STRING COUNTED UNSIGNED 8; END;')
    wanted = [{'n': len(packed), 'p.t': 'hello', 'z': 7}]
    check('transform_zlib', tdl % 'ZLIB', bytes([len(packed)]) + packed + b'\7', wanted)
    check('transform_xor', tdl % 'XOR 0x55', b'\6' + bytes(each ^ 0x55 for each in inner) + b'\7', [{'n': 6, 'p.t': 'hello', 'z': 7}])
    block = bytes([len(inner) << 4]) + inner
    check('transform_lz4', tdl % 'LZ4', bytes([len(block)]) + block + b'\7', [{'n': len(block), 'p.t': 'hello', 'z': 7}])
    raw = len(inner) << 3 | 1
    frame = bytes.fromhex('28b52ffd20') + bytes([len(inner)]) + raw.to_bytes(3, 'little') + inner
    check('transform_zstd', tdl % 'ZSTD', bytes([len(frame)]) + frame + b'\7', [{'n': len(frame), 'p.t': 'hello', 'z': 7}])


# ---- policies ----

@case
def cut_files():
    check('cut_files', trace('a: UNSIGNED 32; b: UNSIGNED 8;'), b'\1\0\0\0\2\3\0', [dict(a=1, b=2)], words='2 bytes', status=1)


@case
def resynchronisation():
    tdl = '''TRACE t; BYTES LITTLE;
  PREFIX p IS _m: BYTES 2=x"a395"; END;
  RECORD r EVENT WITH p IS a: UNSIGNED 8; END;
  LAYOUT REPEAT r; ON ERROR R3 RESYNC TO x"a395";
END TRACE.
'''
    check('resynchronisation', tdl, b'\xa3\x95\1junk\xa3\xa3\x95\2', [dict(a=1), dict(a=2)], words='_m is not x"a395"')


@case
def stops():
    check('stops', trace('a: UNSIGNED 8=1;', layout='REPEAT r; ON ERROR R4 STOP;'), b'\1\2\1', [dict(a=1)], words='a is not 1')


@case
def skips():
    check('skips', trace('n: UNSIGNED 8 LENGTH OF RECORD; a: UNSIGNED 8=1; b: UNSIGNED 8;', layout='REPEAT r; ON ERROR R4 SKIP;'),
          b'\3\1\7\3\2\x08\3\1\x09', [dict(n=3, a=1, b=7), dict(n=3, a=1, b=9)], words='a is not 1')


@case
def marks_of_expressions():
    check('marks_of_expressions', trace('a: UNSIGNED 8; LET b=10/a; c: UNSIGNED 8;'), b'\2\1', [dict(a=2, b=5, c=1)])


@case
def fields_beyond_their_window():
    check('fields_beyond_their_window', trace('n: UNSIGNED 8 LENGTH OF RECORD; a: UNSIGNED 32;', layout='REPEAT r; ON ERROR R2 SKIP;'), b'\3\1\2\5\1\0\0\0',
          [dict(n=5, a=1)], words='R2: fields of 5 bytes in a record with a LENGTH of 3')


@case
def limits():
    check('limits', trace('n: UNSIGNED 8; REPEAT TIMES n LIMIT 3 IS a: UNSIGNED 8; END;'), b'\2\1\2\4\1\2\3\4', [dict(n=2, a=[1, 2])],
          words='REPEAT with 4 turns, where at most 3 are allowed')


@case
def limits_of_turns_that_consume_nothing():
    """Twelve bytes ask for 10^12 elements without bytes, or twenty thousand for two million."""
    items = 'n,m,size: UNSIGNED 32; REPEAT TIMES n IS REPEAT TIMES m IS cell: BYTES size; END; END;'
    check('turns_without_bytes', trace(items), struct.pack('<III', 3, 2, 0), [{'n': 3, 'm': 2, 'size': 0, 'cell': [''] * 6}])
    check('too_many_turns_without_bytes', trace(items), struct.pack('<III', 1000000, 1000000, 0), [],
          words='R9: REPEAT with 1048589 turns in a record that consume nothing')
    items = 'n: UNSIGNED 16; REPEAT TIMES n IS at: UNSIGNED 8; a: ARRAY 100 OF UNSIGNED 8 AT at; END;'
    check('turns_elsewhere', trace(items), struct.pack('<H', 100) + bytes(100), [dict(n=100, repeat=100 * [dict(at=0, a=[100] + [0] * 99)])])
    check('too_many_turns_elsewhere', trace(items), struct.pack('<H', 20000) + bytes(20000), [],
          words='R9: REPEAT with 1068579 turns in a record that consume nothing')


@case
def limits_of_windows():
    tdl = trace('REPEAT TO END IS n: UNSIGNED 32; USE g WITHIN n BYTES AFTER ZLIB; END;', rest='GROUP g IS a: UNSIGNED 32; END;')
    packed = zlib.compress(bytes(60 << 20), 1)
    check('windows_that_unpack_to_too_much', tdl, (struct.pack('<I', len(packed)) + packed) * 5, [],
          words='R9: a record with more than 256 MiB of unpacked bytes, joined keys and words')


@case
def limits_of_tables():
    tdl = trace('id: UNSIGNED 8; DEFINE t[id]=id;', rest='TABLE t KEY NUMBER HOLDS NUMBERS LIMIT 2;')
    check('limits_of_tables', tdl, b'\1\2\2\3', [dict(id=1), dict(id=2), dict(id=2)], words='more than 2 keys in a table')


@case
def expressions_without_a_value():
    check('expressions_without_a_value', trace('a: UNSIGNED 8; LET b=10/a; c: UNSIGNED 8;', layout='REPEAT r; ON ERROR R10 STOP;'), b'\2\1\0\1', [dict(a=2, b=5, c=1)],
          words='R10')


@case
def values_of_divisions_by_zero():
    check('values_of_divisions_by_zero', trace('a: UNSIGNED 8; LET b=10/a; LET c=a%3;'), b'\2\0', [dict(a=2, b=5, c=2), dict(a=0, b=None, c=0)],
          words='byte 1: R10: a division by zero', status=1)


@case
def expressions_that_fail_are_absent():
    """Nothing, not 0, whatever has no result; what cannot fail has a value in any case."""
    fails = ('10/a', '10%a', '1<<s', '1000>>s', 'align(s,a)', 'bits(s,w,8)', 'signed(s,a)', 'power(s,0-w)', 'w*w', 'b0+1')
    lets = ''.join(f'LET b{i}={what};' for i, what in enumerate(fails))
    tdl = trace(f'a: UNSIGNED 8; s: UNSIGNED 8; w: UNSIGNED 64; {lets} LET c=a/3; LET d=power(2,s&7); LET e=s-a;')
    bad, good = struct.pack('<BBQ', 0, 64, 1 << 63), struct.pack('<BBQ', 5, 3, 0)
    whole = [2, 0, 8, 125, 5, 3, 3, 1, 0, 3]
    fields = [dict(a=0, s=64, w=1 << 63, **{f'b{i}': None for i in range(len(fails))}, c=0, d=1, e=64),
              dict(a=5, s=3, w=0, **{f'b{i}': value for i, value in enumerate(whole)}, c=1, d=8, e=-2)]
    check('expressions_that_fail_are_absent', tdl, bad + good, fields, words='R10: a division by zero', status=1)
    key, data = f'expressions_that_fail_are_absent.{DESCRIPTION}', 'expressions_that_fail_are_absent.bin'
    found = [subprocess.run([KYMO, 'cat', '--key', key, '-f', 'csv', '--filter', test, data], capture_output=True, text=True).stdout.splitlines()[1:]
             for test in ('b2 = 0', 'b2 IS NOT PRESENT', 'b2 = 8')]
    rows = [','.join(row.split(',')[6:]) for rows in found for row in rows]
    problem = None if rows == [f'0,64,{1 << 63},,,,,,,,,,,0,1,64', '5,3,0,' + ','.join(map(str, whole)) + ',1,8,-2'] else rows
    name = 'expressions_that_fail_are_absent, in CSV and filters'
    not_ok(name, problem) if problem else ok(name)


@case
def damage_is_told_at_the_fault():
    """And kymo explain shows the record that it is in, not the next one."""
    late = """TRACE late; BYTES LITTLE; TYPES code=("b"=UNSIGNED 8, "w"=UNSIGNED 32); TABLE forms KEY NUMBER HOLDS RECORDS;
      PREFIX p IS k: UNSIGNED 8; END;
      RECORD def DEFINITION WITH p WHEN k=0 IS n: UNSIGNED 8; text: STRING n;
        DEFINE forms[1] AS RECORD "seven" FIELDS BY TEXT code OF text SPLIT ","; END;
      RECORD defined EVENT WITH p FROM forms[k];
      LAYOUT REPEAT def OR defined; END TRACE."""
    numbered = late.replace('"b"', '"7"').replace('text: STRING n;', 'REPEAT TIMES n IS t: UNSIGNED 8; f: STRING 1; END;') \
                   .replace('TEXT code OF text SPLIT ","', 'LIST code NAME f TYPE t')
    sized = numbered.replace('"7"=UNSIGNED 8', '"7"=UNSIGNED 16').replace('t: UNSIGNED 8;', 't: UNSIGNED 8; z: UNSIGNED 8;').replace('TYPE t', 'TYPE t SIZE z')
    for name, tdl, data, words, shown in (
            ('a checksum', trace('a: UNSIGNED 16; crc: UNSIGNED 32 CHECKSUM sum32 OVER a .. a;'), struct.pack('<HIHI', 1, 1, 2, 9),
             'byte 8: R4: crc is not the sum32, expected 0x2, found 0x9', '(event), 6 bytes at 6'),
            ('a type', late, b'\0\13b x,u99 y,b\1\1', 'byte 6: R7: a definition of a record with a type that is not known, found "u99"',
             'def (definition), 13 bytes at 0'),
            ('an expression', trace('a: UNSIGNED 8; LET b=1/a;'), b'\1\0\1', 'byte 1: R10: a division by zero', '(event), 1 bytes at 1'),
            ('a type by its number', numbered, b'\0\2\7a\x63b\1\1', 'byte 4: R7: a definition of a record with a type that is not known, found "99", in "b" of "seven"',
             'def (definition), 6 bytes at 0'),
            ('a size of a type', sized, b'\0\2\7\2a\7\3b\1\1', 'byte 6: R7: a definition of a record with a size that its type cannot have, found 3, in "b" of "seven"',
             'def (definition), 8 bytes at 0'),
            ('a definition too long', late, b'\0\7b x,w y\1\1\2', 'R1: the file ends 3 bytes before the record does, in "y" of "seven"', None),
            ('a definition beyond a length', late.replace('UNSIGNED 8; END', 'UNSIGNED 8; IF k=1 THEN len: UNSIGNED 8 LENGTH OF RECORD; END; END'),
             b'\0\7b x,w y\1\5\1\2\3', 'byte 12: R7: a record whose definition does not fit its length, in "y" of "seven"', 'defined (event), 5 bytes at 9'),
            ('a field of a prefix', trace('b: UNSIGNED 8;', head='RECORD r EVENT WITH p LENGTH 4 IS', rest='PREFIX p IS k: UNSIGNED 16; s: STRING k; END;'), b'\x09\0ab',
             'R1: the file ends 7 bytes before the record does, in s', None),
            ('a cut prefix', trace('b: UNSIGNED 8;', head='RECORD r EVENT WITH p IS', rest='PREFIX p IS k: UNSIGNED 16; s: UNSIGNED 32; END;'), b'\x09\0ab',
             'R1: the file ends 2 bytes before the record does, in s', None),
            ('a nameless field', trace('n: UNSIGNED 8; s: STRING n; : STRING n; a: UNSIGNED 8;', head='RECORD r EVENT LENGTH 4 IS'), b'\2abc',
             'R2: 16 bits of a field in a window with 8 left, in r after s', None),
            ('a nameless field of a turn', trace('n: UNSIGNED 8; REPEAT TIMES n IS a: UNSIGNED 8; : UNSIGNED 8; END;', head='RECORD r EVENT LENGTH 4 IS'), b'\2abc',
             'R2: 8 bits of a field in a window with 0 left, in r after a', None),
            ('a nameless field first', trace(': UNSIGNED 32; a: UNSIGNED 8;', head='RECORD r EVENT LENGTH 4 IS'), b'\2abc\2abc',
             'R2: fields of 5 bytes in a record with a LENGTH of 4, in a', None),
            ('filler', trace('n: UNSIGNED 8; s: STRING n; FILLER 4 BYTES;', head='RECORD r EVENT LENGTH 4 IS'), b'\1abc',
             'R2: 32 bits of a field in a window with 16 left, in r after s', None),
            ('filler of a prefix', trace('b: UNSIGNED 8;', head='RECORD r EVENT WITH p IS', rest='PREFIX p IS k: UNSIGNED 8; FILLER k BYTES; END;'), b'\x09ab',
             'R1: the file ends 7 bytes before the record does, in the prefix p after k', None),
            ('a window', trace('n: UNSIGNED 8; USE g WITHIN n BYTES;', head='RECORD r EVENT LENGTH 4 IS', rest='GROUP g IS a: UNSIGNED 8; END;'), b'\4abc',
             'R2: 32 bits of a field in a window with 24 left, in r after n', None),
            ('a length that cuts constant fields', trace('n: UNSIGNED 8 LENGTH OF RECORD; a: UNSIGNED 16; b: UNSIGNED 16;'), b'\4\0\0\0\0',
             'R2: fields of 5 bytes in a record with a LENGTH of 4, in b', None),
            ('a field of a length', trace('a: UNSIGNED 8; text: STRING a;', head='RECORD r EVENT LENGTH 3 IS'), b'\1xy\7abc',
             'R2: 56 bits of a field in a window with 16 left, in text', None),
            ('a cut field', trace('b: UNSIGNED 8; c: UNSIGNED 32; d: UNSIGNED 32;'), b'\0\0\0\0\0\1', 'R1: the file ends 3 bytes before the record does, in d', None)):
        name = f'damage_is_told_at_the_fault, {name}'
        _, said, status = events(name, tdl, data)
        is_said = words in said and status == 1
        place = words.split()[1].rstrip(':') if shown else '0'
        done = subprocess.run([KYMO, 'explain', '--key', f'{name}.{DESCRIPTION}', '--offset', place, f'{name}.bin'], capture_output=True, text=True)
        is_shown = not shown or shown in done.stdout.splitlines()[0]
        ok(name) if is_said and is_shown else not_ok(name, f'{said!r}; {done.stdout!r} {done.stderr!r}')


@case
def damage_beyond_the_list_is_counted():
    name = 'damage_beyond_the_list_is_counted'
    _, said, _ = events(name, trace('a: UNSIGNED 8=1;'), bytes(5000))
    done = subprocess.run([KYMO, 'info', '--key', f'{name}.{DESCRIPTION}', f'{name}.bin'], capture_output=True, text=True)
    last = said.splitlines()[-1].split(': ', 2)[-1]
    got = (len(said.splitlines()), last, done.stdout.splitlines()[-1])
    wanted = (4096, 'byte 4095: 905 damaged places from here on are counted, but not listed', 'damage     5000 (4095 listed)')
    ok(name) if got == wanted else not_ok(name, f'{got}')


@case
def holes_of_files_are_passed_at_once():
    """A search does not read holes: 64 GiB of them cost nothing, and data around them is found."""
    name = 'holes_of_files_are_passed_at_once'
    key, _ = compiled(name, trace('_mark: BYTES 4=x"cafebabe"; a: UNSIGNED 32;', rest='PREFIX p IS m: UNSIGNED 8=7; END;',
                                  head='RECORD r EVENT WITH p IS', layout='REPEAT r; ON ERROR R3 RESYNC TO x"07cafe";'))
    record = b'\7\xca\xfe\xba\xbe'
    places = [0, 1 << 30, (1 << 30) + 4093, (20 << 30) - 3, (64 << 30) - 9]
    with open(f'{name}.bin', 'wb') as file:
        for number, place in enumerate(places):
            file.seek(place)
            file.write(record + struct.pack('<I', number))
    done = subprocess.run([KYMO, 'cat', '--key', key, '--format', 'json', f'{name}.bin'], capture_output=True, text=True, timeout=120)
    got = [json.loads(line)['fields'].get('a') for line in done.stdout.splitlines()]
    os.remove(f'{name}.bin')
    ok(name) if got == [0, 1, 2, 3, 4] and done.returncode == 1 else not_ok(name, f'{got} {done.stderr!r}')


@case
def damaged_keys():
    key, _ = compiled('damaged', trace('a: UNSIGNED 8;'))
    good = pathlib.Path(key).read_bytes()
    pathlib.Path('damaged.bin').write_bytes(b'abc')
    survivors = 0
    for at in range(0, len(good), 111 if IS_SANITIZED else 37):
        pathlib.Path('bad.key').write_bytes(good[:at] + bytes([good[at] ^ 0x41]) + good[at + 1:])
        _, said, status = read('bad.key', 'damaged.bin')
        survivors += status == 0 or not said or status < 0
    if survivors:
        not_ok('damaged_keys', f'{survivors} are read as if they were sound')
    else:
        ok('damaged_keys')


@case
def keys_tell_what_they_are():
    tdl = trace('a: UNSIGNED 16; b: STRING a;')
    key, _ = compiled('told', tdl)
    for form, wanted in (('tdl', tdl), ('plan', 'byte 0: unsigned 16 little -> s0')):
        done = subprocess.run([KYMO, 'describe', '--as', form, key], capture_output=True, text=True)
        if done.returncode == 0 and (done.stdout == wanted if form == 'tdl' else wanted in done.stdout):
            ok(f'describe --as {form}')
        else:
            not_ok(f'describe --as {form}', f'{done.returncode} {done.stdout!r} {done.stderr!r}')


@case
def same_bytes():
    tdl = RUNTIME % '''fmt: STRING COUNTED UNSIGNED 8; names: STRING COUNTED UNSIGNED 8;
      DEFINE formats[id] AS RECORD name LENGTH size FIELDS BY LETTERS l OF fmt NAMES names SPLIT ",";'''
    keys = [pathlib.Path(compiled(name, tdl)[0]).read_bytes() for name in ('one', 'another')]
    if keys[0] == keys[1]:
        ok('same_bytes')
    else:
        not_ok('same_bytes', 'two compilations of one text differ')


@case
def files_merged_by_time():
    tdl = trace('ACQUISITION: UNSIGNED 8 TIME c POINT; a: UNSIGNED 8;', 'BYTES LITTLE; CLOCK c IS;', 'REPEAT r; SORTED YES; MERGE FILES BY TIME;')
    check('files_merged_by_time', tdl, (b'\1\x0a\5\x0b\7\x0c', b'\2\x14\5\x15'), [dict(a=n) for n in (10, 20, 11, 21, 12)], times=[1, 2, 5, 5, 7])


@case
def filters_of_files_with_one_key():
    name = 'filters_of_files_with_one_key'
    tdl = trace('n: UNSIGNED 8 LENGTH OF s; s: STRING;')
    out, said, status = events(name, tdl, b'\1x\2yy', b'\1z\1x', options=('--filter', 's = "x"'))
    same = [fields(event) for event in out] == [dict(n=1, s='x')] * 2 and (said, status) == ('', 0)
    ok(name) if same else not_ok(name, f'{out} {said!r} {status}')


# ---- order of time ----

def sorted_trace(sorted_, merge='MERGE FILES BY TIME;'):
    return trace('ACQUISITION: UNSIGNED 8 TIME c POINT; a: UNSIGNED 8;', 'BYTES LITTLE; CLOCK c IS;', f'REPEAT r; SORTED {sorted_}; {merge}')


@case
def records_sorted_again():
    data = b'\3\x0a\1\x0b\2\x0c\6\x0d\4\x0e\4\x0f\x09\x10', b'\2\x14\1\x15\5\x16'
    check('records_sorted_again', sorted_trace('WITHIN 2 ns'), data, [dict(a=n) for n in (11, 21, 12, 20, 10, 14, 15, 22, 13, 16)],
          times=[1, 1, 2, 2, 3, 4, 4, 5, 6, 9])
    check('records_in_the_order_of_the_file', sorted_trace('WITHIN 2 ns', ''), data[0], [dict(a=n) for n in (10, 11, 12, 13, 14, 15, 16)],
          times=[3, 1, 2, 6, 4, 4, 9])


@case
def lists_in_branches():
    tdl = trace('n: UNSIGNED 8; IF n<5 THEN REPEAT TIMES n IS l: UNSIGNED 8; END; END; LET m=COUNT OF l; LET zero=COUNT OF l=0;')
    data, empty = b'\2\7\3\0\6', [dict(n=0, l=[], m=0, zero=1), dict(n=6, l=[], m=0, zero=1)]
    check('lists_in_branches', tdl, data, [dict(n=2, l=[7, 3], m=2, zero=0)] + empty)
    out, said, _ = events('lists_in_branches, filtered', tdl, data, options=('--filter', 'COUNT OF l=m AND COUNT OF l=0'))
    ok('lists_in_branches, filtered') if [fields(event) for event in out] == empty else not_ok('lists_in_branches, filtered', f'{out} {said}')


@case
def clocks_of_two_epochs():
    tdl = '''TRACE t; BYTES LITTLE;
  CLOCK unix IS EPOCH "1970-01-01T00:00:00Z" RESOLUTION 1 s;
  CLOCK gps IS EPOCH "1980-01-06T00:00:00Z" RESOLUTION 1 ms;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD a EVENT WITH p WHEN k=1 IS ACQUISITION: UNSIGNED 32 TIME unix POINT; END;
  RECORD b EVENT WITH p WHEN k=2 IS ACQUISITION: UNSIGNED 64 TIME gps POINT; seen: UNSIGNED 32 TIME unix POINT; END;
  LAYOUT REPEAT a OR b; SORTED WITHIN 1 s; MERGE FILES BY TIME;
END TRACE.
'''
    at, epoch = 1700000000, 315964800
    data = struct.pack('<BI', 1, at) + struct.pack('<BQI', 2, (at + 2 - epoch) * 1000, at) + struct.pack('<BI', 1, at + 1)
    check('clocks_of_two_epochs', tdl, data, [dict(k=1), dict(k=1), dict(k=2, seen=at * 10**9)], times=[(at + n) * 10**9 for n in (0, 1, 2)])


@case
def promises_per_stream():
    tdl = trace('ACQUISITION: UNSIGNED 8 TIME c POINT; IF k<9 THEN STREAM: UNSIGNED 8; ELSE a: UNSIGNED 8; END;', 'BYTES LITTLE; CLOCK c IS;',
                'REPEAT r; SORTED PER STREAM;', head='PREFIX p IS k: UNSIGNED 8; END; RECORD r EVENT WITH p IS')
    sound = b'\0\5\1' b'\0\1\2' b'\0\5\1' b'\0\2\2' b'\x09\0\1'  # streams 1 and 2, and one record of none
    one, two, none = (dict(k=0, STREAM=1, a=None), dict(k=0, STREAM=2, a=None), dict(k=9, STREAM=None, a=1))
    check('promises_per_stream', tdl, sound, [one, two, one, two, none])
    check('promises_per_stream, broken', tdl, sound + b'\0\1\2' b'\0\5\1', [one, two, one, two, none, two, one],
          words='byte 15: R6: a time 1 ns before that of another record, where SORTED PER allows none')
    names = trace('ACQUISITION: UNSIGNED 8 TIME c POINT; _who: STRING 2;', 'BYTES LITTLE; CLOCK c IS;', 'REPEAT r; SORTED PER _who;')
    check('promises_per_stream, of a name', names, b'\5ab\4cd\5ab\2ab\4cd', [{}] * 5,
          words='byte 9: R6: a time 3 ns before that of another record, where SORTED PER allows none')


@case
def promises_that_are_broken():
    for name, how, merge, times in (('sorted again', 'WITHIN 2 ns', 'MERGE FILES BY TIME;', [1, 3, 2, 5, 6]), ('sorted', 'YES', '', [3, 1, 6, 2, 5]),
                                    ('in file order', 'WITHIN 2 ns', '', [3, 1, 6, 2, 5])):
        margin = 0 if how == 'YES' else 2
        check(f'promises_that_are_broken, {name}', sorted_trace(how, merge), b'\3\0\1\0\6\0\2\0\5\0', [dict(a=0)] * 5, times=times,
              words=f'byte 6: R6: a time 4 ns before that of another record, where SORTED allows {margin}')


@case
def segments_of_records_sorted_again():
    tdl = ('TRACE t; BYTES LITTLE; CLOCK c IS;\nPREFIX p IS k: UNSIGNED 8; END;\nRECORD s SEGMENT WITH p WHEN k=0 IS END;\n'
           'RECORD r EVENT WITH p IS ACQUISITION: UNSIGNED 8 TIME c POINT; LOST: UNSIGNED 8; END;\n'
           'LAYOUT REPEAT s OR r; SORTED WITHIN 3 ns; MERGE FILES BY TIME;\nEND TRACE.\n')
    out, said, status = events('segments_of_records_sorted_again', tdl, b'\0\1\2\0\1\1\0\0\1\7\0\1\5\3')
    losses = [event['lost'] for event in out if 'lost' in event]
    times = [event['ts'] for event in out if 'event' in event]
    same = times == [1, 2, 5, 7] and status == 1 and 'incomplete: 3 events are lost' in said
    ok('segments_of_records_sorted_again') if same else not_ok('segments_of_records_sorted_again', f'{out} {losses} {said}')


# ---- files merged by sequence ----

def numbered(bits, files=''):
    """Records of a number that counts through all files, and a value."""
    return trace(f'SEQUENCE: UNSIGNED {bits} PER TRACE; a: UNSIGNED 16; LET STREAM=FILE NUMBER;', layout=f'REPEAT r; MERGE FILES {files} BY SEQUENCE;')


def dealt(bits, first, owners):
    """Files in which each number is in the file of its owner; one of owner None is lost. And the expected events."""
    letter = {8: 'B', 32: 'I', 64: 'Q'}[bits]
    files = [b''] * (1 + max(owner for owner in owners if owner is not None))
    rows = []
    for at, owner in enumerate(owners):
        number = (first + at) % 2**bits
        if owner is not None:
            files[owner] += struct.pack(f'<{letter}H', number, at)
            rows.append(dict(SEQUENCE=number, a=at, STREAM=owner))
    return tuple(files), rows


@case
def files_merged_by_sequence():
    files, wanted = dealt(32, 7, [0, 1, 1, 2, 0, 0, 0, 2, 1, 2])
    check('files_merged_by_sequence', numbered(32), files, wanted)


@case
def files_merged_whose_names_fit():
    files, wanted = dealt(32, 7, [0, 1, 1, 2, 0, 0, 0, 2, 1, 2])
    check('files_merged_whose_names_fit', numbered(32, '"*merged_whose_names*"'), files, wanted)
    check('files_merged_whose_names_fit_a_set', numbered(32, '"files?merged[_]whose_names_fit_a_set[!a-z]*"'), files, wanted)


@case
def sequences_that_start_again():
    for bits, first, count in ((8, 200, 1000), (32, 2**32 - 300, 600), (64, 2**64 - 5, 20)):
        files, wanted = dealt(bits, first, [at * 7 // 3 % 3 for at in range(count)])
        check(f'sequences_that_start_again, {bits} bits', numbered(bits), files, wanted)


@case
def sequences_with_a_lost_file():
    files, wanted = dealt(8, 250, [0, 1, None, 0, None, None, 1, 0, None, 0])
    out, said, status = events('sequences_with_a_lost_file', numbered(8), *files)
    lost = [event['lost']['count'] for event in out if 'lost' in event]
    lines = ['0.bin: byte 3: R6: 1 record is missing before number 253', '1.bin: byte 3: R6: 2 records are missing before number 0',
             '0.bin: byte 9: R6: 1 record is missing before number 3']
    told = [line.split('sequences_with_a_lost_file.')[1] for line in said.splitlines() if 'incomplete' not in line]
    got = [fields(event) for event in out if 'event' in event]
    if (got, lost, told, status) == (wanted, [1, 2, 1], lines, 1):
        ok('sequences_with_a_lost_file')
    else:
        not_ok('sequences_with_a_lost_file', f'{got}; {lost}; {said!r}, exit status {status}')


@case
def equal_numbers_in_the_order_of_files():
    files = (struct.pack('<IHIH', 1, 10, 2, 11), struct.pack('<IHIH', 2, 20, 3, 21))
    check('equal_numbers_in_the_order_of_files', numbered(32), files,
          [dict(SEQUENCE=n, a=a, STREAM=s) for n, a, s in ((1, 10, 0), (2, 11, 0), (2, 20, 1), (3, 21, 1))],
          words='1.bin: byte 0: R6: expected a number after 2, found 2')


@case
def names_of_files_that_are_merged():
    """Files of other names stay streams of their own, in which every other number is missing."""
    files, wanted = dealt(32, 0, [0, 1, 0, 1])
    check('names_that_fit', numbered(32, '"names_that_*.bin"'), files, wanted)
    check('names_that_differ', numbered(32, '"other.*"'), files, [row for row in wanted if row['STREAM'] == 0] + [row for row in wanted if row['STREAM'] == 1],
          words='1.bin: byte 6: R6: 1 record is missing before number 3')


@case
def damage_of_one_of_the_files():
    """Bytes that are no record are reported with their place, and delay nothing."""
    tdl = ('TRACE t; BYTES LITTLE;\nPREFIX p IS mark: UNSIGNED 8=0xee; END;\nRECORD r EVENT WITH p IS SEQUENCE: UNSIGNED 8 PER TRACE; END;\n'
           'LAYOUT REPEAT r; ON ERROR R3 RESYNC TO x"ee"; MERGE FILES BY SEQUENCE;\nEND TRACE.\n')
    check('damage_of_one_of_the_files', tdl, (b'\xee\1\xee\3\xee\5', b'\xee\2\0\0\xee\4\xee\6'),
          [dict(mark=0xee, SEQUENCE=n) for n in range(1, 7)], words='damage_of_one_of_the_files.1.bin: byte 2: R3')


@case
def names_found_in_files_that_are_merged():
    """A name that one file defines is a class of the stream; its meaning is known in its own file only."""
    tdl = ('TRACE t; BYTES LITTLE;\nTABLE names KEY NUMBER HOLDS NAMES KNOWN ALWAYS;\nPREFIX p IS k: UNSIGNED 8; SEQUENCE: UNSIGNED 8 PER TRACE; END;\n'
           'RECORD name DEFINITION WITH p WHEN k=0 IS n: UNSIGNED 8; s: STRING 2; DEFINE names[n]=s; END;\n'
           'RECORD r EVENT WITH p IS EVENT: UNSIGNED 8 TOKEN names; END;\nLAYOUT REPEAT name OR r; MERGE FILES BY SEQUENCE;\nEND TRACE.\n')
    files = (b'\0\0\5aa\1\3\5\1\4\5', b'\0\1\6bb\1\2\6\1\5\7')
    check('names_found_in_files_that_are_merged', tdl, files,
          [dict(k=1, SEQUENCE=2, EVENT=(6, 'bb')), dict(k=1, SEQUENCE=3, EVENT=(5, 'aa')), dict(k=1, SEQUENCE=4, EVENT=(5, 'aa')),
           dict(k=1, SEQUENCE=5, EVENT=(7, None))], kinds=['t:bb', 't:aa', 't:aa', 't:r'])


@case
def steps_that_end_inside_of_a_file():
    """A fault on the way to a record is reported once, and the other file is read on."""
    tdl = ('TRACE t; BYTES LITTLE;\nRECORD r EVENT IS SEQUENCE: UNSIGNED 8 PER TRACE; END;\nLAYOUT REPEAT r AT 0 SIZE 4; MERGE FILES BY SEQUENCE;\nEND TRACE.\n')
    out, said, status = events('steps_that_end_inside_of_a_file', tdl, b'\0\2', b'\1\3\4\5')
    got = [fields(event)['SEQUENCE'] for event in out if 'event' in event]
    told = 'kymo cat: steps_that_end_inside_of_a_file.0.bin: byte 2: R1: the file ends inside of a step\n'
    if (got, said, status) == ([0, 1, 2, 3, 4, 5], told, 1):
        ok('steps_that_end_inside_of_a_file')
    else:
        not_ok('steps_that_end_inside_of_a_file', f'{got}; {said!r}, exit status {status}')


@case
def an_empty_file_among_them():
    """It is over before anything is asked of it."""
    files, wanted = dealt(8, 3, [0, 2, 0])
    check('an_empty_file_among_them', numbered(8), files, wanted)


for function in CASES + [functools.partial(each, check) for each in boxes.CASES]:
    try:
        function()
    except Exception as problem:  # one broken case must not hide the others
        not_ok(getattr(function, '__name__', function), repr(problem))
if not IS_SANITIZED:  # they are the same of any compiler's build; fuzz/described compiles them with sanitizers
    seeds.hold_descriptions()
seeds.tell()
