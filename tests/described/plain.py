# SPDX-License-Identifier: MIT
"""Records of the fast path and the same records by the machine: equal events, messages and exit status, also of files that
are corrupt at any place. A LET with `%` of a field keeps a kind from the fast path; a constant would not."""
import pathlib
import random
import struct
import subprocess

from described import IS_SANITIZED, KYMO, compiled, not_ok, ok

TURNS = 4 if IS_SANITIZED else 12  # 0 to 3 bytes changed; a start of kymo is slow with sanitizers
WALL = 'CLOCK wall IS EPOCH "1970-01-01T00:00:00Z";'

# name, declarations, items, a record's bytes by its number, a filter
SHAPES = [
    ('one_size', f'BYTES LITTLE; {WALL}', 'ACQUISITION: UNSIGNED 64 TIME wall POINT UNIT 1 ns; value: UNSIGNED 32; kind: UNSIGNED 16; cpu: INTEGER 16;',
     lambda i, r: struct.pack('<QIHh', i * 10, r.randrange(2000), i % 7, -(i % 3)), 'value > 1000'),
    ('big', f'BYTES BIG; {WALL}', 'ACQUISITION: UNSIGNED 32 TIME wall POINT UNIT 1 s; : UNSIGNED 32 TIME wall ADD UNIT 1 us; a: INTEGER 8; b: UNSIGNED 64; c: FLOAT 32;',
     lambda i, r: struct.pack('>IIbQf', i // 9, i % 9, -(i % 100), i << (i % 54), i / 4), 'a < -50'),
    ('counted', f'BYTES LITTLE; {WALL}', 'ACQUISITION: UNSIGNED 32 TIME wall POINT UNIT 1 ms; n: UNSIGNED 16 LENGTH OF data; CHECK n<=60; x: UNSIGNED 8; data: BYTES;',
     lambda i, r: struct.pack('<IHB', i, i % 50 + 20 * (i % 400 == 399), i % 256) + b'd' * (i % 50 + 20 * (i % 400 == 399)), 'x = 77'),
    ('text', 'BYTES LITTLE;', 'n: UNSIGNED 8 LENGTH OF RECORD; x: UNSIGNED 16; name: STRING 6; rest: STRING TO END;',
     lambda i, r: struct.pack('<BH6s', 9 + i % 5, i % 1000, [b'abc', b'abcdef', b'', b'a\0b'][i % 4]) + b'r\0stu'[:i % 5], 'x < 100'),
    ('words', 'BYTES BIG;', 'n: UNSIGNED 8; a: INTEGER 16; b: BYTES n*4+1; ',
     lambda i, r: struct.pack('>Bh', i % 4, i - 500) + b'w' * (i % 4 * 4 + 1), 'a > 0'),
    ('codes', 'BYTES LITTLE; TOKEN t=("none"=0, "one"=1, "many"=300);', 'EVENT: UNSIGNED 16 TOKEN t; x: INTEGER 8; CHECK x>=-5; y: UNSIGNED 8; CHECK y=1;',
     lambda i, r: struct.pack('<Hbb', [0, 1, 300, 9][i % 4], i % 20 - 5 - (i == 703), 1), 'x > 3'),
    ('scaled', 'BYTES LITTLE;', 'a: UNSIGNED 16 SCALE 0.1; b: INTEGER 32 UNITS "m"; LET c=7; d: FLOAT 64;',
     lambda i, r: struct.pack('<Hid', i, -i, i / 8), 'b < -700'),
    ('wide', f'BYTES LITTLE; {WALL}', 'ACQUISITION: UNSIGNED 64 TIME wall POINT UNIT 1 us; a: UNSIGNED 64; b: INTEGER 64;',
     lambda i, r: struct.pack('<QQq', 2**62 if i == 444 else i, 2**64 - 1 - i if i % 97 == 5 else i, -i << 40), 'a > 900'),
]


def said(command, key, path, *options):
    done = subprocess.run([KYMO, *command, '--key', key, *options, path], capture_output=True)
    return done.stdout, done.stderr, done.returncode


def compare(name, fast, slow, path, *options):
    ours, theirs = said(['cat', '--format', 'json'], fast, path, *options), said(['cat', '--format', 'json'], slow, path, *options)
    if ours != theirs:
        pathlib.Path(f'{name}.fast').write_bytes(ours[0] + ours[1])
        pathlib.Path(f'{name}.slow').write_bytes(theirs[0] + theirs[1])
        not_ok(name, f'the fast path prints {len(ours[0])} bytes, the machine {len(theirs[0])}; {ours[1:]} and {theirs[1:]}')
        return None
    return ours


def hold(shape):
    name, declarations, items, record, words = shape
    chance, keys = random.Random(name), []
    for kind, more in ('fast', ''), ('slow', f'LET _slow={words.split()[0]}%7;'):
        text = f'TRACE t;\n{declarations}\nRECORD r EVENT IS {items} {more} END;\nLAYOUT REPEAT r;\nEND TRACE.\n'
        key, problem = compiled(f'plain_{name}_{kind}', text)
        if not key:
            return not_ok(f'plain_{name}', problem)
        keys.append(key)
    data = b''.join(record(i, chance) for i in range(1500))
    path = f'plain_{name}.bin'
    pathlib.Path(path).write_bytes(data)
    whole = compare(f'plain_{name}', *keys, path)
    part = compare(f'plain_{name}_filtered', *keys, path, '--filter', words)
    if whole and part and not 0 < len(part[0]) < len(whole[0]):
        return not_ok(f'plain_{name}', f'{words} selects {len(part[0])} of {len(whole[0])} bytes')
    for turn in range(TURNS):
        torn = bytearray(data)
        for _ in range(turn % 4):
            torn[chance.randrange(len(torn))] = chance.choice([0, 255, chance.randrange(256)])
        del torn[len(torn) - (chance.randrange(40) if turn % 3 else 0):]
        pathlib.Path(path).write_bytes(torn)
        if compare(f'plain_{name}_corrupt', *keys, path) is None:
            return None
    if whole and part:
        ok(f'plain_{name}')
    return None


for each in SHAPES:
    hold(each)
