# SPDX-License-Identifier: MIT
"""Records in containers: packed here, so that kymo cat must print them, whatever a container is packed by and wherever it ends."""
import random
import struct
import subprocess
import zlib

from described import KYMO, compiled, events, fields, not_ok, ok

RECORDS = '  PREFIX p IS k: UNSIGNED 8; n: UNSIGNED 32; END;\n'
BOXES = {1: '', 2: 'AFTER ZLIB', 3: 'AFTER LZ4', 4: 'AFTER ZSTD', 5: 'AFTER XOR key'}
NAMES = {1: 'plain', 2: 'zlibbed', 3: 'lz4ed', 4: 'zstded', 5: 'mixed'}
KEY = 0x5a


def description(held='r', joined='', record='s: STRING COUNTED UNSIGNED 8;', rest='', errors=''):
    """A container of each method, which holds records of one kind, that begins with a mark."""
    kinds = ''.join(f'  RECORD {NAMES[k]} CONTROL WITH p WHEN k={k} LENGTH 6+n HOLDS {held} WITHIN n BYTES {how} {joined} IS key: UNSIGNED 8; END;\n'
                    for k, how in BOXES.items())
    return (f'TRACE t;\n  BYTES LITTLE;\n{rest}{RECORDS}{kinds}  PREFIX q IS _mark: BYTES 2="R:"; END;\n  RECORD r EVENT WITH q IS {record} END;\n'
            f'  LAYOUT REPEAT {" OR ".join(NAMES.values())};{errors}\nEND TRACE.\n')


def lz4(data):
    """One block, of literals alone."""
    rest, extended = len(data) - 15, b''
    if rest >= 0:
        extended = b'\xff' * (rest // 255) + bytes([rest % 255])
    return bytes([min(len(data), 15) << 4]) + extended + data


def zstd(data):
    """One frame of a block that is not compressed."""
    return bytes.fromhex('28b52ffda0') + struct.pack('<I', len(data)) + (len(data) << 3 | 1).to_bytes(3, 'little') + data


PACK = {1: lambda data: data, 2: zlib.compress, 3: lz4, 4: zstd, 5: lambda data: bytes(byte ^ KEY for byte in data)}


def container(data, k):
    packed = PACK[k](data)
    return struct.pack('<BIB', k, len(packed), KEY) + packed


def text(s):
    return b'R:' + bytes([len(s)]) + s.encode()


def wanted(*texts):
    return [{'s': each} for each in texts]


def said(name, tdl, data, *arguments, command='explain'):
    key, _ = compiled(name, tdl)
    with open(f'{name}.bin', 'wb') as file:
        file.write(data)
    done = subprocess.run([KYMO, command, '--key', str(key), *arguments, f'{name}.bin'], capture_output=True, text=True)
    return done.stdout + done.stderr, done.returncode


def same(name, got, expected):
    if got == expected:
        ok(name)
    else:
        not_ok(name, f'{got!r}, not {expected!r}')


def of_each_method(check):
    for k, method in NAMES.items():
        check(f'container_{method}', description(), container(text('one') + text('two'), k) + container(text('three'), k), wanted('one', 'two', 'three'))
    check('containers_of_all_methods', description(), b''.join(container(text(NAMES[k]), k) for k in NAMES), wanted(*NAMES.values()))
    check('a_container_of_no_records', description(), container(b'', 2) + container(text('x'), 2), wanted('x'))
    check('a_region_that_is_less_than_the_rest',
          'TRACE t;\n  RECORD box CONTROL LENGTH 4 HOLDS r WITHIN n BYTES IS n: UNSIGNED 8; END;\n  RECORD r EVENT IS a: UNSIGNED 8; END;\n  LAYOUT REPEAT box;\nEND TRACE.\n',
          b'\2\5\6\xff\0\xff\xff\xff\3\7\x08\x09', [{'a': each} for each in (5, 6, 7, 8, 9)])


def of_two_levels(check):
    held = ' OR '.join(NAMES.values()) + ' OR r'
    inner = container(text('a') + text('b'), 2)
    check('containers_in_containers', description(held), container(text('0') + inner + text('c'), 5) + container(text('d'), 1), wanted('0', 'a', 'b', 'c', 'd'))
    deep = text('x')
    for _ in range(4):
        deep = container(deep, 2)
    check('four_containers_within_each_other', description(held), deep, wanted('x'))
    check('five_containers_within_each_other', description(held), container(deep, 2) + container(text('y'), 1), [],
          words='R9: containers within each other deeper than 4', status=1)


def that_are_joined(check):
    tdl = description(joined='JOINED')
    stream = text('first') + text('the second one') + text('') + text('last')
    for size in (1, 2, 3, 7, 20):
        data = b''.join(container(stream[at:at + size], 1 + at // size % 5) for at in range(0, len(stream), size))
        check(f'joined_containers_of_{size}', tdl, data, wanted('first', 'the second one', '', 'last'))
    check('a_record_that_no_container_ends', tdl, container(stream + b'R:\5ab', 2), wanted('first', 'the second one', '', 'last'),
          words=f'.bin: byte 0: R1: the packed records end within a record, at byte {len(stream)} of what is unpacked there (5 bytes skipped)')
    same('the_container_of_its_begin', said('joined', tdl, container(text('a') + b'R', 2) + container(b':\3xyz', 5), '--record', '2'),
         ('r (event), 6 bytes at 0+4\n         4  52 3a                     _mark = "R:"\n         6  03                        (hidden) = 3\n'
          '         7  78 79 7a                  s = "xyz"\n', 0))


def with_state(check):
    """What a record leaves for others must not be done twice because its end was not there yet."""
    tdl = description(joined='JOINED', record='ACQUISITION: UNSIGNED 8 TIME c DISTANCE; LET count=default(t[1],0)+1; FORGET t[1]; DEFINE t[1]=count; s: STRING COUNTED UNSIGNED 8;',
                      rest='  CLOCK c IS RESOLUTION 1 ns;\n  TABLE t KEY NUMBER HOLDS NUMBERS;\n')
    stream = b''.join(b'R:' + bytes([10, 2]) + b'ab' for _ in range(20))
    for size in (1, 5, 7):
        data = b''.join(container(stream[at:at + size], 2) for at in range(0, len(stream), size))
        out, words, _ = events(f'state_{size}', tdl, data)
        got = [(event['ts'], fields(event)['count']) for event in out if 'event' in event]
        same(f'joined_containers_of_{size}_with_state', (got, words), ([(10 * (i + 1), i + 1) for i in range(20)], ''))


def that_are_corrupt(check):
    packed = bytearray(container(text('lost') * 20, 2))
    packed[-1] ^= 1
    good = container(text('kept'), 2)
    message = 'byte 15: R2: the bytes are not valid zlib data (%d bytes skipped)\n'
    for name, joined, errors in (('plain', '', ''), ('joined', 'JOINED', ''), ('resync', '', ' ON ERROR R3 RESYNC TO "R:";')):
        tdl, first = description(joined=joined, errors=errors), container(text('before'), 1)
        out, words, status = events(f'corrupt_{name}', tdl, first + bytes(packed) + good)
        same(f'a_corrupt_container_{name}', ([fields(event)['s'] for event in out if 'event' in event], words, status),
             (['before', 'kept'], f'kymo cat: corrupt_{name}.bin: ' + message % len(packed), 1))
    check('a_corrupt_container_that_stops', description(errors=' ON ERROR R2 STOP;'), container(text('before'), 1) + bytes(packed) + good, wanted('before'),
          words='byte 15: R2: the bytes are not valid zlib data (')
    rest = container(text('before') + b'R:\x0acut', 1), container(b' and lost' + text('next') + text('last'), 2)
    out, words, status = events('gap', description(joined='JOINED', errors=' ON ERROR R3 RESYNC TO "R:";'), rest[0] + bytes(packed) + rest[1])
    same('the_rest_of_a_record_whose_middle_is_lost', ([fields(event)['s'] for event in out if 'event' in event], words.count('\n'), status,
                                                      'a record that begins in the container before it is lost, too' in words), (['before', 'next', 'last'], 1, 1, True))
    check('a_record_that_does_not_fit_its_container', description(), container(text('a') + b'R:\x0ab', 2) + good, wanted('a', 'kept'),
          words='byte 0: R2: 80 bits of a field in a window with 8 left, in s, at byte 4 of what is unpacked there (4 bytes skipped)')
    check('no_record_in_a_container', description(), container(text('a') + b'what', 5) + good, wanted('a', 'kept'),
          words='byte 0: R3: _mark is not "R:", found "wh", at byte 4 of what is unpacked there (4 bytes skipped)')
    check('a_pattern_in_a_container', description(errors=' ON ERROR R3 RESYNC TO "R:";'), container(text('a') + b'what' + text('b'), 5), wanted('a', 'b'),
          words='at byte 4 of what is unpacked there (4 bytes skipped)')
    check('more_than_the_record_has', description(), struct.pack('<BIB', 1, 100, 0) + text('a'), [], words='R1: a LENGTH of 106 bytes where there are 10')


def refused(name, tdl, data, words):
    """Without a seed of the fuzzers, which it would slow down."""
    out, words_said, status = events(name, tdl, data)
    same(name, ([event for event in out if 'event' in event], words in words_said, status), ([], True, 1))


def of_too_many_bytes(check):
    bomb = zlib.compress(bytes(65 << 20), 9)
    refused('a_container_that_unpacks_to_too_much', description(), struct.pack('<BIB', 2, len(bomb), 0) + bomb + container(text('a'), 1),
            'byte 0: R9: more than 64 MiB of unpacked records (')
    inner = zlib.compress(bytes(50 << 20), 9)
    held = ' OR '.join(NAMES.values()) + ' OR zero'
    tdl = description(held).replace('  LAYOUT', '  PREFIX z IS _z: BYTES 4; END;\n  RECORD zero CONTROL WITH z WHEN _z=x"00000000" LENGTH 4+REMAINING IS END;\n  LAYOUT')
    refused('containers_that_unpack_to_too_much', tdl, container((struct.pack('<BIB', 2, len(inner), 0) + inner) * 6, 2),
            'R9: containers within a container with more than 256 MiB of unpacked bytes')


def in_other_commands(check):
    tdl = description()
    data = container(text('one') + text('two'), 2) + container(text('three'), 1)
    shown = ('r (event), 6 bytes at 0+6\n         6  52 3a                     _mark = "R:"\n         8  03                        (hidden) = 3\n'
             '         9  74 77 6f                  s = "two"\n', 0)
    same('explain_a_record_in_a_container', said('commands', tdl, data, '--record', '2'), shown)
    same('explain_its_place', said('commands', tdl, data, '--offset', '0+9'), shown)
    out, status = said('commands', tdl, data, '--offset', '9')
    same('explain_a_byte_of_the_container', (out.splitlines()[0], out.splitlines()[-1].split('  ')[-1], status),
         (f'zlibbed (control), {len(container(text("one") + text("two"), 2))} bytes at 0', '(records that it holds)', 0))
    same('explain_what_is_in_no_record', said('commands', tdl, data, '--offset', '0+12'), ('kymo explain: commands.bin: no record contains this byte\n', 3))
    same('explain_what_is_no_place', said('commands', tdl, data, '--offset', '3+')[1], 2)
    same('check_containers', said('commands', tdl, data, command='check'),
         ('commands.bin: 1 record "plain" of 6 bytes; 0 of them without a field\ncommands.bin: 1 record "zlibbed" of 6 bytes; 0 of them without a field\n'
          'commands.bin: 3 records "r" of 20 bytes; 0 of them without a field\n3 events, 0 damaged places\n', 0))


def of_random_sizes(check):
    rng = random.Random(5)
    for turn in range(12):
        texts = [''.join(rng.choice('abcR:') for _ in range(rng.choice([0, 1, 5, 40, 200]))) for _ in range(rng.randint(1, 150))]
        stream, data, at = b''.join(text(each) for each in texts), b'', 0
        while at < len(stream):
            size = rng.choice([0, 1, 2, 5, 30, 200, 3000])
            data += container(stream[at:at + size], rng.randint(1, 5))
            at += size
        out, words, status = events(f'random_{turn}', description(joined='JOINED'), data)
        got = [fields(event)['s'] for event in out if 'event' in event]
        same(f'joined_containers_of_random_sizes_{turn}', (got, words, status), (texts, '', 0))


CASES = [of_each_method, of_two_levels, that_are_joined, with_state, that_are_corrupt, of_too_many_bytes, in_other_commands, of_random_sizes]
