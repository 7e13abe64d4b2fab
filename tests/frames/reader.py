# SPDX-License-Identifier: MIT
"""A second reader of framed logs, written from the tables of docs/bprintf.md: what files hold, in the order of the numbers."""
import struct

MAGIC = b'\xf0\x9f\xa9\xba'
CUT, TEXT = 1 << 31, 1 << 30


class File:
    """A file: its header, and its frames as (number, flags, bytes)."""

    def __init__(self, data, order=None):
        self.data, self.frames, self.whos = data, [], []
        self.header, at, flags, who_bytes, self.is_from_start = None, 0, 0, 0, False
        if data[:8] == b'KYMOSTR\n':
            order = {b'\4\3\2\1': '<', b'\1\2\3\4': '>'}[data[8:12]]
            version, at = struct.unpack_from(order + 'HH', data, 12)
            self.id = data[16:32]
            self.who, self.part, how, self.pid, self.begun = struct.unpack_from(order + 'IIIIQ', data, 32)
            self.header, flags = data[:at], 0xf0000000
            self.is_cpu, who_bytes = how & 1, 4 if how & 2 else 0
            self.is_from_start = not how & 6 and not self.part
            assert version == 1 and at == 64
        self.order = order
        while at < len(data):
            if not self.header and data[at] == 0:
                at += 1
                continue
            assert data[at:at + 4] == MAGIC, f'no frame at {at}'
            number, length = struct.unpack_from(order + 'II', data, at + 4)
            size = length & ~flags & 0xffffffff
            assert at + 12 + size <= len(data), f'the frame at {at} is cut off'
            self.frames.append((number, length & flags, data[at + 12 + who_bytes:at + 12 + size]))
            self.whos.append(struct.unpack_from(order + 'I', data, at + 12)[0] if who_bytes else getattr(self, 'who', None))
            at += 12 + size


def near(first, number):
    """The number continued beyond 32 bits, from the one that is near to it."""
    return first + (number - first + (1 << 31)) % (1 << 32) - (1 << 31)


def merged(files):
    """(number, who, flags, bytes) of all, and the number of missing ones before each, as {number: count}."""
    first = next(file.frames[0][0] for file in files if file.frames)
    every = []
    for file in files:
        last = first
        for (number, flags, content), who in zip(file.frames, file.whos):
            last = near(last, number)
            every.append((last, who, flags, content))
    every.sort(key=lambda event: event[0])
    gaps = {b[0] % (1 << 32): b[0] - a[0] - 1 for a, b in zip(every, every[1:]) if b[0] - a[0] > 1}
    if every[0][0] and all(file.is_from_start and (not file.frames or file.frames[0][0] < 1 << 31) for file in files):
        gaps[every[0][0]] = every[0][0]
    return [(number % (1 << 32), who, flags, content) for number, who, flags, content in every], gaps


def write(path, header, order, frames):
    """A file of these frames."""
    with open(path, 'wb') as file:
        file.write(header or b'')
        for number, flags, content in frames:
            file.write(MAGIC + struct.pack(order + 'II', number, len(content) | flags) + content)
