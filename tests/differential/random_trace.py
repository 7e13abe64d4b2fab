#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a random CTF 1.8 trace: random types, values, byte orders, clocks, packets.

    random_trace.py DIRECTORY SEED          one, in the directory
    random_trace.py DIRECTORY FIRST LAST    one for each seed, in DIRECTORY/SEED

A type here knows three things: its TSDL text, its alignment, and how to write a random value of
itself. Bits are packed as CTF demands: from the least significant bit of each byte in
little-endian fields, from the most significant one in big-endian fields. The same seed always
makes the same trace.
"""
import os
import random
import struct
import sys


class Bits:
    """A growing packet: whole bytes plus a position in bits."""

    def __init__(self):
        self.data = bytearray()
        self.at = 0

    def reserve(self, end):
        self.data.extend(bytes(max(0, (end + 7) // 8 - len(self.data))))

    def align(self, align):
        self.at = (self.at + align - 1) // align * align
        self.reserve(self.at)

    def put(self, value, size, order):
        end = self.at + size
        self.reserve(end)
        value &= (1 << size) - 1
        for i in range(size):
            at = self.at + i
            if order == 'le':
                bit = value >> i & 1
                self.data[at // 8] |= bit << at % 8
            else:
                bit = value >> (size - 1 - i) & 1
                self.data[at // 8] |= bit << (7 - at % 8)
        self.at = end


class Integer:
    def __init__(self, rng, order, packed=True, **fixed):
        self.size = fixed.get('size') or rng.choice([8, 16, 32, 64, rng.randint(1, 64)])
        self.signed = fixed.get('signed', rng.random() < 0.5)
        self.base = fixed.get('base') or rng.choice([2, 8, 10, 10, 10, 16])
        self.order = order
        aligns = [8, self.size] if self.size in (8, 16, 32, 64) else [1, 1, 8]
        self.align = fixed.get('align') or (rng.choice(aligns + [1]) if packed else 8)
        self.clock = fixed.get('clock')

    def text(self):
        clock = f' map = clock.{self.clock}.value;' if self.clock else ''
        return (f'integer {{ size = {self.size}; align = {self.align}; signed = {str(self.signed).lower()};'
                f' base = {self.base}; byte_order = {self.order};{clock} }}')

    def declare(self, name):
        return f'{self.text()} {name};'

    def limits(self):
        if self.signed:
            return -(1 << self.size - 1), (1 << self.size - 1) - 1
        return 0, (1 << self.size) - 1

    def value(self, rng):
        low, high = self.limits()
        few = [low, high, 0, 1 if high >= 1 else 0, -1 if low < 0 else 0]
        return rng.choice(few + [rng.randint(low, high), min(high, rng.randint(0, 300))])

    def write(self, bits, rng, context):
        self.put(bits, self.value(rng))

    def put(self, bits, value):
        bits.align(self.align)
        bits.put(value, self.size, self.order)


class Enumeration(Integer):
    def __init__(self, rng, order, packed=True, **fixed):
        super().__init__(rng, order, packed, **fixed)
        low, high = self.limits()
        self.maps = []
        for i in range(rng.randint(1, 6)):
            a = rng.choice([rng.randint(low, high), max(low, min(high, rng.randint(-3, 9)))])
            b = min(high, a + rng.choice([0, 0, 0, 1, 5]))
            label = rng.choice([f'L{i}', f'label {i}', 'SAME', 'q\\"q', "tab\\tq?'"])
            self.maps.append((label, a, b))

    def text(self):
        parts = [f'"{n}" = {a}' + (f' ... {b}' if b != a else '') for n, a, b in self.maps]
        return f'enum : {super().text()} {{ {", ".join(parts)} }}'

    def value(self, rng):
        if rng.random() < 0.7:
            _, a, b = rng.choice(self.maps)
            return rng.randint(a, b)
        return super().value(rng)


class Float:
    def __init__(self, rng, order):
        self.double = rng.random() < 0.5
        self.align = rng.choice([8, 64 if self.double else 32])
        self.order = order

    def declare(self, name):
        exp, mant = (11, 53) if self.double else (8, 24)
        return (f'floating_point {{ exp_dig = {exp}; mant_dig = {mant}; align = {self.align};'
                f' byte_order = {self.order}; }} {name};')

    def write(self, bits, rng, context):
        value = rng.choice([0.0, -0.0, 1.0, -1.5, 1e300, 1e-300, float('inf'), float('-inf'), float('nan'),
                            rng.uniform(-1e6, 1e6), rng.gauss(0, 1) * 10 ** rng.randint(-20, 20), 100000.0,
                            1e6, 123456.5, 1234567.0, 0.0001, 0.00001])
        if not self.double and abs(value) > 3e38 and value == value and abs(value) != float('inf'):
            value = 3e38
        raw = struct.pack('<d' if self.double else '<f', value)
        bits.align(self.align)
        bits.put(int.from_bytes(raw, 'little'), 64 if self.double else 32, self.order)


def random_text(rng):
    kinds = ['', 'a', 'hello world', 'quote " and \\ and \' and ?', 'tab\tnewline\nbell\a\b\f\r\v\x1b\x01\x7f',
             'é€😀', 'x' * rng.randint(1, 300), ''.join(chr(rng.randint(1, 126)) for _ in range(rng.randint(0, 40)))]
    raw = rng.choice(kinds).encode()
    if rng.random() < 0.1:
        raw += bytes(rng.randint(1, 255) for _ in range(rng.randint(1, 8)))
    return raw


class String:
    align = 8

    def declare(self, name):
        return f'string {name};'

    def write(self, bits, rng, context):
        bits.align(8)
        for byte in random_text(rng) + b'\0':
            bits.put(byte, 8, 'le')


class TextArray:
    align = 8

    def __init__(self, rng, sequence):
        self.length = rng.choice([0, 1, 7, 16]) if not sequence else None
        self.encoding = rng.choice(['UTF8', 'ASCII'])
        self.signed = rng.choice(['true', 'false'])

    def declare(self, name):
        length = self.length if self.length is not None else f'_{name}_n'
        integer = f'integer {{ size = 8; align = 8; signed = {self.signed}; encoding = {self.encoding}; }}'
        text = f'{integer} {name}[{length}];'
        if self.length is None:
            text = f'integer {{ size = 16; align = 8; signed = false; }} _{name}_n; ' + text
        return text

    def write(self, bits, rng, context):
        raw = random_text(rng)
        if self.length is None:
            bits.align(8)
            bits.put(len(raw), 16, context.order)
        else:
            raw = raw[:self.length].ljust(self.length, b'\0')
        bits.align(8)
        for byte in raw:
            bits.put(byte, 8, 'le')


class Array:
    def __init__(self, element, length):
        self.element, self.length = element, length
        self.align = element.align

    def declare(self, name):
        return self.element.declare(f'{name}[{self.length}]')

    def write(self, bits, rng, context):
        bits.align(self.align)
        for _ in range(self.length):
            self.element.write(bits, rng, context)


class Sequence:
    """A length field and, after it, this number of elements."""

    def __init__(self, rng, element, order):
        self.element = element
        self.length = Integer(rng, order, size=rng.choice([8, 16, 32]), signed=False, align=8)
        self.align = max(8, element.align)

    def declare(self, name):
        return f'{self.length.declare("_" + name + "_length")} {self.element.declare(f"{name}[_{name}_length]")}'

    def write(self, bits, rng, context):
        count = rng.choice([0, 1, 2, 5])
        self.length.put(bits, count)
        bits.align(self.element.align)
        for _ in range(count):
            self.element.write(bits, rng, context)


class Variant:
    """A tag and, after it, the variant itself."""

    def __init__(self, options):
        self.options = options
        self.align = 8

    def declare(self, name):
        labels = ', '.join(f'OPTION_{i} = {i * 3}' for i in range(len(self.options)))
        options = ' '.join(o.declare(f'OPTION_{i}') for i, o in enumerate(self.options))
        tag = f'enum : integer {{ size = 8; align = 8; }} {{ {labels} }} _{name}_tag;'
        return f'{tag} variant <_{name}_tag> {{ {options} }} {name};'

    def write(self, bits, rng, context):
        i = rng.randrange(len(self.options))
        bits.align(8)
        bits.put(i * 3, 8, context.order)
        self.options[i].write(bits, rng, context)


class Struct:
    def __init__(self, members, minimum=1):
        self.members = members
        self.minimum = minimum
        self.align = max([minimum] + [m.align for _, m in members])

    def text(self):
        minimum = f' align({self.minimum})' if self.minimum > 1 else ''
        return 'struct { ' + ' '.join(m.declare(n) for n, m in self.members) + ' }' + minimum

    def declare(self, name):
        return f'{self.text()} {name};'

    def write(self, bits, rng, context):
        bits.align(self.align)
        for _, member in self.members:
            member.write(bits, rng, context)


class Trace:
    """Everything random about one trace: the description first, then bytes that fit it."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.order = self.rng.choice(['le', 'be'])
        rng = self.rng
        self.frequency = rng.choice([1000000000, 1000000000, 2500000000, 1000, 24000000, 3000000001, 1, 2299998026])
        self.offset_s = rng.choice([0, 0, 1, -2, 1700000000, rng.randint(0, 2000000000), -rng.randint(0, 100000)])
        self.offset = rng.choice([0, 0, rng.randrange(self.frequency), 7 * self.frequency + 3])
        self.has_clock = rng.random() < 0.9
        self.context = self.random_struct(1, 3, 'pc') if rng.random() < 0.5 else None
        self.common = self.random_struct(2, 3, 'cc') if rng.random() < 0.5 else None
        self.events = []
        for i in range(rng.randint(1, 4)):
            # babeltrace2 2.0.4 aborts on lengths and tags in the specific context: scalars only
            specific = self.random_struct(0, 3, 'sc', scalars=True) if rng.random() < 0.3 else None
            payload = self.random_struct(3, 6, 'f') if rng.random() < 0.95 else None
            self.events.append((f'{rng.choice(["net", "a b", "x"])}:event{i}', specific, payload))

    def random_type(self, depth):
        rng, order = self.rng, self.order
        kind = rng.randrange(16 if depth > 0 else 10)
        if kind < 4:
            return Integer(rng, order)
        if kind < 6:
            return Enumeration(rng, order)
        if kind == 6:
            return Float(rng, order)
        if kind == 7:
            return String()
        if kind < 10:
            return TextArray(rng, kind == 9)
        if kind < 12:
            return Array(self.random_element(depth - 1), rng.choice([0, 1, 2, 5]))
        if kind == 12:
            return Sequence(rng, self.random_element(depth - 1), order)
        if kind == 13:
            return Variant([self.random_element(depth - 1) for _ in range(rng.randint(1, 4))])
        return self.random_struct(depth - 1, 4, 'm')

    def random_element(self, depth):
        """A type that is declared by one declaration (no length or tag before it)."""
        while True:
            kind = self.random_type(depth)
            if isinstance(kind, TextArray):
                kind = String()
            if not isinstance(kind, (Array, Sequence, Variant)):
                return kind

    def random_struct(self, depth, most, prefix, scalars=False):
        members = []
        for i in range(self.rng.choice([0] + list(range(1, most + 1)) * 3)):
            kind = self.random_element(0) if scalars else self.random_type(depth)
            name = f'{self.rng.choice(["", "", "_"])}{prefix}{i}'
            if isinstance(kind, (TextArray, Sequence, Variant)):
                name = name.lstrip('_')
            members.append((name, kind))
        return Struct(members, self.rng.choice([1, 1, 1, 8, 32]))

    def metadata(self):
        clock = ' map = clock.c.value;' if self.has_clock else ''
        host = self.rng.choice(['', 'env { hostname = "host"; };', 'env { hostname = "h"; procname = "p"; vpid = 7; };',
                                'env { domain = "ust"; vpid = -3; number = 4; };'])
        out = ['/* CTF 1.8 */', f'trace {{ major = 1; minor = 8; byte_order = {self.order};',
               '  packet.header := struct { integer { size = 32; align = 8; } magic; '
               'integer { size = 8; align = 8; } stream_id; }; };', host]
        if self.has_clock:
            out.append(f'clock {{ name = c; freq = {self.frequency}; offset_s = {self.offset_s};'
                       f' offset = {self.offset}; }};')
        context = self.context.text()[9:-1] if self.context and self.context.minimum == 1 else ''
        self.context_written = bool(context)
        times = (f'integer {{ size = 64; align = 8;{clock} }} timestamp_begin; '
                 f'integer {{ size = 64; align = 8;{clock} }} timestamp_end; ') if self.has_clock else ''
        out.append('stream { id = 0; packet.context := struct { '
                   'integer { size = 32; align = 8; } packet_size; integer { size = 32; align = 8; } content_size; '
                   + times + 'integer { size = 32; align = 8; } events_discarded; ' + context + ' };')
        stamp = f'integer {{ size = 27; align = 1;{clock} }} timestamp; ' if self.has_clock else ''
        out.append('event.header := struct { integer { size = 5; align = 8; } id; ' + stamp + '};')
        if self.common:
            out.append(f'event.context := {self.common.text()};')
        out.append('};')
        for i, (name, specific, payload) in enumerate(self.events):
            out.append(f'event {{ name = "{name}"; id = {i}; stream_id = 0;')
            if specific:
                out.append(f'  context := {specific.text()};')
            if payload:
                out.append(f'  fields := {payload.text()};')
            out.append('};')
        return '\n'.join(out) + '\n'

    def event(self, bits, time):
        rng = self.rng
        i = rng.randrange(len(self.events))
        bits.align(8)
        bits.put(i, 5, self.order)
        if self.has_clock:
            bits.put(time, 27, self.order)
        if self.common:
            self.common.write(bits, rng, self)
        for scope in self.events[i][1:]:
            if scope:
                scope.write(bits, rng, self)

    def start(self):
        rng = self.rng
        time = rng.choice([0, 5, rng.randrange(1 << 27), rng.randrange(1 << 45), rng.randrange(1 << 58)])
        return 5 if time // self.frequency > 1 << 30 else time

    def streams(self):
        """Of one, two or three files; their events are a few cycles apart, so that the order of ties shows."""
        time = self.start()
        return [self.stream(time) for _ in range(self.rng.choice([1, 1, 2, 3]))]

    def stream(self, time):
        rng, out = self.rng, bytearray()
        discarded = 0
        for _ in range(rng.randint(1, 3)):
            bits, begin = Bits(), time
            bits.put(0xC1FC1FC1, 32, self.order)
            bits.put(0, 8, self.order)
            bits.align(max(8, self.context.align if self.context_written else 8))
            sizes = bits.at
            bits.put(0, 64, self.order)
            if self.has_clock:
                bits.put(begin, 64, self.order)
                bits.put(0, 64, self.order)
            bits.put(discarded, 32, self.order)
            if self.context_written:
                for _, member in self.context.members:
                    member.write(bits, rng, self)
            for _ in range(rng.randint(1, 12)):
                time += rng.choice([0, 1, 3, 1000, rng.randrange(1 << 20)])
                self.event(bits, time)
            end, content = bits.at, bits.at
            if self.has_clock:
                bits.at = sizes + 128
                bits.put(time, 64, self.order)
            bits.at = end
            bits.align(8)
            bits.data.extend(bytes(rng.choice([0, 0, 8])))
            bits.at = sizes
            bits.put(len(bits.data) * 8, 32, self.order)
            bits.put(content, 32, self.order)
            out += bits.data
            discarded += rng.choice([0, 0, 0, 1, 12])
        return bytes(out)


def write(directory, seed):
    trace = Trace(seed)
    os.makedirs(directory, exist_ok=True)
    metadata = trace.metadata()
    with open(os.path.join(directory, 'metadata'), 'w', encoding='utf-8') as file:
        file.write(metadata)
    for number, data in enumerate(trace.streams()):
        with open(os.path.join(directory, f'stream{number}'), 'wb') as file:
            file.write(data)


def main():
    directory, first = sys.argv[1], int(sys.argv[2])
    if len(sys.argv) == 3:
        write(directory, first)
    else:
        for seed in range(first, int(sys.argv[3]) + 1):
            write(os.path.join(directory, str(seed)), seed)


if __name__ == '__main__':
    main()
