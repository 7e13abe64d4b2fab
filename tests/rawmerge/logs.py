# SPDX-License-Identifier: MIT
"""Files of records as kymo_bprintf(log, "%2n%4b%4b%s", sec, usec, text) writes them, and what merging them must give.

logs.py reference little|big OUT FILE…   merges by seconds and microseconds, equal ones in the order of the files
logs.py NAME                             writes the files of a case into the working directory
"""
import heapq
import random
import struct
import sys


def record(sec, usec, text, order='<'):
    return struct.pack(order + 'HII', 10 + len(text), sec, usec) + text


def records(data, order):
    at = 0
    while at < len(data):
        length, = struct.unpack_from(order + 'H', data, at)
        yield data[at:at + length]
        at += length


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def write(path, *parts):
    with open(path, 'wb') as file:
        file.write(b''.join(parts))


def merged(lists, key):
    return b''.join(heapq.merge(*lists, key=key))


def times(item, order='<'):
    return struct.unpack_from(order + 'II', item, 2)


def reference(order, out, *paths):
    order = {'little': '<', 'big': '>'}[order]
    write(out, merged([records(read(path), order) for path in paths], lambda item: times(item, order)))


def cases():
    """Many records, few times: most are equal. The other byte order, too."""
    generator = random.Random(8)
    for order, name in ('<', 'little'), ('>', 'big'):
        lists = []
        for file in range(3):
            now = sorted((generator.randrange(20), generator.randrange(3)) for _ in range(3000))
            lists.append([record(*time, b'%d.%d' % (file, i) * generator.randrange(1, 9), order) for i, time in enumerate(now)])
            write(f'{name}_cpu{file}', *lists[-1])
        write(f'{name}.wanted', merged(lists, lambda item: times(item, order)))


def wide():
    """Numbers of 64 bits, of which the greatest do not fit a signed one, before counted bytes."""
    generator = random.Random(64)
    lists = []
    for file in range(3):
        keys = sorted(generator.randrange(1 << generator.randrange(1, 65)) for _ in range(2000))
        lists.append([struct.pack('<QB', key, i % 50) + bytes(i % 50) + b'%05d' % i for i, key in enumerate(keys)])
        write(f'wide_cpu{file}', *lists[-1])
    write('wide.wanted', merged(lists, lambda item: struct.unpack_from('<Q', item)))


def wrap():
    """Numbers of 16 bits, dealt to three files, that start again at 0 twice."""
    generator = random.Random(2307)
    numbered = [struct.pack('<HH', 5 + n % 7, (n + 60000) & 0xffff) + b'x' * (1 + n % 7) for n in range(150000)]
    files = [[], [], []]
    for item in numbered:
        generator.choice(files).append(item)
    for file, items in enumerate(files):
        write(f'wrap_cpu{file}', *items)
    write('wrap.wanted', *numbered)


def broken():
    """What is wrong with files: cut, damaged, not in order, empty."""
    plain = [record(sec, 0, b'one') for sec in range(10)]
    other = [record(sec, 5, b'two') for sec in range(10)]
    write('plain', *plain)
    write('cut', b''.join(other)[:-2])
    write('cut-head', *other, b'\x0d')
    write('cut.wanted', merged([plain, other[:-1]], times))
    write('cut-head.wanted', merged([plain, other], times))
    write('short', *other[:4], b'\x03\0abcdefgh', *other[4:])
    write('short.wanted', merged([plain, other[:4]], times))
    late = other[:3] + other[6:] + other[3:6]
    write('late', *late)
    write('late.wanted', merged([plain, late], times))
    write('empty')


def heads():
    """A header of 8 bytes: a magic, whose byte order is the file's, a unit, and something that is not needed."""
    def file(name, items, order='<', unit=1, note=b'..'):
        write(name, struct.pack(order + 'IH', 0x4c4f4731, unit), note, *items)
    one = [record(sec, 0, b'one') for sec in range(0, 10, 2)]
    two = [record(sec, 0, b'two') for sec in range(1, 10, 2)]
    file('head1', one)
    file('head2', two)
    file('head.wanted', [item for pair in zip(one, two) for item in pair])
    file('head-note', two, note=b'!!')
    file('head-unit', two, unit=2)
    file('head-big', two, order='>')
    write('head-cut', b'1GOL\x01')
    write('head-none')


def keys():
    """Texts, floating-point numbers, signed ones; records without any of the fields."""
    def named(name, number, weight):
        return struct.pack('<BBhd', 12 + len(name), 1, number, weight) + name
    rest = [b'\x04\x02..', b'\x05\x02...']
    one = [named(b'', 5, 0.5), named(b'a', -3, 1.5), named(b'ab', 0, -1.0), named(b'z', 2, 2.0)]
    two = [named(b'a', -4, 9.0), named(b'a', -3, 1.0), named(b'b', -9, 0.0), named(b'\xff', 0, 0.0)]
    write('keys1', rest[0], one[0], rest[1], *one[1:])
    write('keys2', two[0], rest[1], rest[0], *two[1:])
    write('keys.wanted', rest[0], one[0], rest[1], two[0], rest[1], rest[0],
          one[1], two[1], one[2], two[2], one[3], two[3])
    write('weights1', *(named(b'w', 0, weight) for weight in (float('-inf'), -1.5, 0.25, float('nan'))))
    write('weights2', *(named(b'v', 0, weight) for weight in (-1.0, 0.25, float('inf'))))
    write('weights.wanted', *(named(name, 0, weight) for name, weight in (
        (b'w', float('-inf')), (b'w', -1.5), (b'v', -1.0), (b'w', 0.25), (b'v', 0.25), (b'v', float('inf')), (b'w', float('nan')))))


if __name__ == '__main__':
    if sys.argv[1] == 'reference':
        reference(*sys.argv[2:])
    else:
        globals()[sys.argv[1]]()
