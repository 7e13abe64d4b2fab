#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clib's event logs: random ones, and what is in them.

    elog.py random SEED FILE     writes a log, and to the standard output what `kymo cat --format json` has to show of it
    elog.py named FILE FORMAT…   writes a log with one event of each format; FORMAT is TEXT=KINDS=VALUE,VALUE (kinds i4 and s alone)
"""
import json
import random
import re
import struct
import sys

EPOCH = 1490885108


def length(n):
    if n < 128:
        return bytes([2 * n + 1])
    if n < 128 + 16384:
        return struct.pack('<H', 4 * (n - 128) + 2)
    return struct.pack('<I', 8 * (n - 16512) + 4)


def text(value):
    return length(len(value.encode())) + value.encode()


def u64(value):
    return struct.pack('>II', value & 0xffffffff, value >> 32)


def f64(value):
    return u64(struct.unpack('>Q', struct.pack('>d', value))[0])


def make(seed):
    rng = random.Random(seed)
    start = rng.randrange(10**17, 3 * 10**17)
    heap, places = b'', {}
    for word in ['alpha', 'x' * 200, '', 'last']:
        places[word] = len(heap)
        heap += word.encode() + b'\0'
    labels = ['idle', 'busy', 'y' * 150]
    kinds = [('i', 1, '%d'), ('i', 2, '%d'), ('i', 4, '%u'), ('i', 8, '%x'), ('f', 4, '%f'), ('f', 8, '%f'), ('t', 1, '%s'),
             ('T', 4, '%s'), ('s', 16, '%s')]
    types = [[rng.choice(kinds) for _ in range(rng.randint(0, 3))] for _ in range(rng.randint(1, 5))]
    tracks = ['default', 'worker']
    out = b'\0\0\0\7elog v0' + struct.pack('>I', 64) + u64(start + 5) + u64(9) + u64(start) + u64(1) + struct.pack('>I', len(types))
    names, forms = [], []
    for i, arguments in enumerate(types):
        names.append(f'event-{i}')
        form = ' '.join([f'event-{i}:'] + [conversion for _, _, conversion in arguments])
        forms.append(form)
        out += text(form) + text(''.join(f'{kind}{size}' for kind, size, _ in arguments)) + struct.pack('>II', i + 1, len(labels))
        out += b''.join(text(label) for label in labels)
    out += struct.pack('>I', len(tracks)) + b''.join(text(track) for track in tracks)
    out += struct.pack('>I', len(heap)) + heap
    count = rng.choice([0, 1, 50, 5000])
    out += struct.pack('>I', count)
    seconds, lines = 0.0, []
    for _ in range(count):
        seconds += rng.random() * 0.001
        which, track, fields = rng.randrange(len(types)), rng.randrange(len(tracks)), {}
        out += struct.pack('>HH', which, track) + f64(seconds)
        for i, (kind, size, conversion) in enumerate(types[which]):
            if kind == 'i':
                value = rng.randrange(1 << 8 * size)
                out += u64(value) if size == 8 else value.to_bytes(size, 'big')
                if conversion == '%d' and size >= 4 and value >> (8 * size - 1):
                    value -= 1 << 8 * size
            elif kind == 'f':
                value = rng.choice([0.5, -2.25, 1024.0])
                out += f64(value) if size == 8 else struct.pack('>f', value)
            elif kind == 't':
                index = rng.randrange(len(labels))
                value = {'value': index, 'label': labels[index]}
                out += bytes([index])
            elif kind == 'T':
                value = rng.choice(list(places))
                out += struct.pack('>I', places[value])
            else:
                value = rng.choice(['', 'short', 'fifteen letters'])
                out += text(value)
            fields[f'arg{i}'] = value
        ns = EPOCH * 10**9 + start + round(seconds * 1e9)
        lines.append({'ts': ns, 'event': names[which], 'message': render(forms[which], fields), 'fields': fields, 'context': {'track': {'value': track, 'label': tracks[track]}}})
    return out, lines


def render(form, fields):
    values = [value['label'] if isinstance(value, dict) else value for value in fields.values()]
    return form % tuple(values) if values else form


def named(path, forms):
    out = b'\0\0\0\7elog v0' + struct.pack('>I', 64) + u64(5) + u64(9) + u64(5) + u64(1) + struct.pack('>I', len(forms))
    for i, (form, kinds, _) in enumerate(forms):
        out += text(form) + text(kinds) + struct.pack('>II', i + 1, 0)
    out += struct.pack('>I', 1) + text('default') + struct.pack('>I', 1) + b'\0' + struct.pack('>I', len(forms))
    for i, (_, kinds, values) in enumerate(forms):
        out += struct.pack('>HH', i, 0) + f64(i * 0.001)
        for kind, value in zip(re.findall('i4|s', kinds), values.split(',')):
            out += text(value) if kind == 's' else struct.pack('>I', int(value) & 0xffffffff)
    with open(path, 'wb') as file:
        file.write(out)


def main():
    if sys.argv[1] == 'random':
        data, lines = make(int(sys.argv[2]))
        with open(sys.argv[3], 'wb') as file:
            file.write(data)
        for line in lines:
            print(json.dumps(line, ensure_ascii=False, separators=(',', ':')))
    else:
        named(sys.argv[2], [form.rsplit('=', 2) for form in sys.argv[3:]])


if __name__ == '__main__':
    main()
