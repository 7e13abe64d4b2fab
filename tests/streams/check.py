# SPDX-License-Identifier: MIT
"""Reads streams of program.c with nothing but their description: check.py [--framed] [--gaps] FILE… Prints what is in them."""
import struct
import sys

TEXT = b'abcdefghijklmnopqrstuvwxyz'


def events(data):
    """(who, number) of the events in raw bytes."""
    at = 0
    while at < len(data):
        assert data[at:at + 1] == b'w', f'no event at {at}'
        who, number, length = struct.unpack_from('=IIB', data, at + 1)
        text = data[at + 10:at + length]
        assert text == (b'handler\0' if who == 100 else TEXT[number % 27:] + b'\0'), f'at {at}: {text}'
        yield who, number
        at += length
    assert at == len(data), 'the last event is incomplete'


def frames(data, uuids):
    """(sequence, flags, bytes) of a framed file."""
    assert data[:8] == b'KYMOSTR\n', 'no header'
    order, version, size = struct.unpack_from('=IHH', data, 8)
    assert (order, version, size) == (0x01020304, 1, 64)
    uuids.add(data[16:32])
    at = size
    while at < len(data):
        magic, sequence, length = struct.unpack_from('=4sII', data, at)
        assert magic == b'\xf0\x9f\xa9\xba', f'no frame at {at}'
        end = at + 12 + (length & 0x3fffffff)
        assert end <= len(data), 'the last frame is incomplete'
        yield sequence, length >> 30, data[at + 12:end]
        at = end


def main(arguments):
    names = [name for name in arguments if not name.startswith('--')]
    last, counts, sequences, uuids, texts = {}, {}, [], set(), 0
    for name in names:
        data = open(name, 'rb').read()
        whole = [(None, 0, data)] if '--framed' not in arguments else frames(data, uuids)
        for sequence, flags, content in whole:
            sequences.append(sequence)
            if flags & 1:
                texts += 1
                continue
            for who, number in events(content):
                assert '--gaps' in arguments or number == last.get(who, -1) + 1, f'{name}: {who} {number} behind {last.get(who)}'
                assert '--cpu' in arguments or number > last.get(who, -1), f'{name}: {who} {number} behind {last.get(who)}'
                last[who] = number
                counts[who] = counts.get(who, 0) + 1
    print(' '.join(f'{who}:{counts[who]}' for who in sorted(counts) if who != 100), f'text:{texts}' if texts else '')
    if '--framed' in arguments:
        assert len(uuids) == 1 and ('--gaps' in arguments or sorted(sequences) == list(range(len(sequences)))), 'numbers'


main(sys.argv[1:])
