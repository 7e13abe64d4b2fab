#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPEL files, written and dumped from the tables of bytes in docs/cpel.md alone: the other side of the tests.

    cpel.py random SEED FILE    writes a random file: byte order, sections, formats and events differ by seed
    cpel.py dump FILE           prints what `kymo cat --format cpel` has to print
    cpel.py damage KIND FILE    writes a small file with one thing wrong
"""
import random
import re
import struct
import sys


class Writer:
    def __init__(self, order):
        self.order = order

    def words(self, *values):
        return struct.pack(f'{self.order}{len(values)}I', *(value & 0xffffffff for value in values))

    def section(self, kind, data):
        return self.words(kind, len(data)) + data

    def file(self, sections, version=1, count=None):
        first = (0x80 if self.order == '<' else 0) | version
        head = struct.pack('BB', first, 0) + struct.pack(f'{self.order}H', len(sections) if count is None else count)
        return head + self.words(1234567890) + b''.join(sections)


class Strings:
    """A string table; each string once, now and then with binary bytes between."""

    def __init__(self, name, rng):
        self.name, self.data, self.rng = name, name.encode() + b'\0', rng

    def add(self, text):
        if self.rng.random() < 0.1:
            self.data += bytes(self.rng.choice([1, 2, 0x80, 0xff]) for _ in range(5)) + b'\0'
        at = len(self.data)
        self.data += text.encode() + b'\0'
        return at

    def section(self, writer):
        return writer.section(1, self.data + bytes(-len(self.data) % 4))


def named(table):
    return table.name.encode().ljust(64, b'\0')


def conversions(rng):
    flags = ''.join(flag for flag in '-+ #0' if rng.random() < 0.15)
    width = rng.choice(['', '', '', '5', '12'])
    precision = rng.choice(['', '', '', '.3'])
    return '%' + flags + width + precision + rng.choice(['', '', 'l', 'h']) + rng.choice('diuoxX')


def datum_format(rng):
    kind = rng.random()
    if kind < 0.1:
        return ''
    if kind < 0.3:
        return rng.choice(['%s', 'text %s end', '100%% %s', '%-12s|', '%.3s'])
    if kind < 0.4:
        return rng.choice(['%k', 'at %k', 'from %I', '%-17I.'])
    return ''.join(rng.choice(['', 'n ', '=', '%%']) + conversions(rng) for _ in range(rng.choice([1, 1, 1, 2])))


def random_file(seed):
    rng = random.Random(seed)
    writer = Writer(rng.choice('<>'))
    tables = [Strings(f'table{i}', rng) for i in range(rng.randint(1, 4))]
    events, tracks, symbols = (rng.choice(tables) for _ in range(3))
    sections = []
    codes = [rng.choice([i, rng.randrange(1 << 32)]) for i in range(rng.randint(1, 8))]
    formats = {}
    entries = b''
    for code in sorted(set(codes)):
        formats[code] = datum_format(rng)
        event = rng.choice([f'event{code % 97}', 'E', f'code %d', 'a b', 'at %k', '%16I|'])
        entries += writer.words(code, rng.choice([0, events.add(event)]), rng.choice([0] + 3 * [events.add(formats[code])]))
    sections.append(writer.section(3, named(events) + writer.words(len(entries) // 12) + entries))
    ids = [rng.choice([i, rng.randrange(1 << 32)]) for i in range(rng.randint(1, 6))]
    entries = b''.join(writer.words(i, tracks.add(rng.choice([f'thread {i}', 'cpu %u', 'é', f't%x', '%k', 'on %-9k', '%I']))) for i in sorted(set(ids)))
    sections.append(writer.section(4, named(tracks) + writer.words(len(entries) // 8) + entries))
    values = sorted(rng.sample(range(1 << 20), rng.randint(0, 20)))
    entries = b''.join(writer.words(value, symbols.add(f'function_{value}')) for value in values)
    sections.append(writer.section(2, named(symbols) + writer.words(len(values)) + entries))
    for _ in range(rng.choice([1, 1, 2, 3])):
        table = rng.choice(tables)
        strings = [table.add(rng.choice(['', 'x' * 30, 'idle', f'number {i}', 'tab\tquote"'])) for i in range(9)]
        count, time, records = rng.choice([0, 1, 30, 400, 5000]), rng.randrange(1 << 40), []
        for _ in range(count):
            time += rng.randrange(1 << rng.choice([4, 12, 30]))
            code = rng.choice(codes + [rng.randrange(1 << 32)] * (rng.random() < 0.02))
            is_string = re.search('%[-.0-9]*s', formats.get(code, '').replace('%%', ''))
            datum = rng.choice(strings) if is_string else rng.randrange(1 << rng.choice([8, 20, 32]))
            records.append(writer.words(time >> 32, time, rng.choice(ids + [77]), code, datum))
        clock = rng.choice([1, 25, 2400, 100000, 100001, 10**9, 2400000000])
        sections.append(writer.section(5, named(table) + writer.words(count, clock) + b''.join(records)))
    sections += [table.section(writer) for table in tables]
    if rng.random() < 0.3:
        sections.append(writer.section(rng.choice([6, 255, 0xdeadbeef]), bytes(rng.randrange(9))))
    rng.shuffle(sections)
    return writer.file(sections)


class Reader:
    def __init__(self, data):
        self.data = data
        self.order = '<' if data[0] & 0x80 else '>'
        count, = struct.unpack_from(f'{self.order}H', data, 2)
        self.sections, at = [], 8
        for _ in range(count):
            kind, length = self.words(at, 2)
            self.sections.append((kind, at + 8, length))
            at += 8 + length
        self.tables = {}
        for kind, at, length in self.sections:
            if kind == 1:
                self.tables.setdefault(self.string(data[at:at + length], 0), data[at:at + length])
        self.events = self.entries(3, 3)
        self.tracks = self.entries(4, 2)
        self.symbols = sorted((value, self.string(table, name)) for value, (table, name) in self.entries(2, 2).items())

    def words(self, at, count):
        return struct.unpack_from(f'{self.order}{count}I', self.data, at)

    @staticmethod
    def string(table, at):
        return table[at:table.index(b'\0', at)]

    def table(self, at):
        return self.tables[self.string(self.data, at)]

    def entries(self, wanted, width):
        found = {}
        for kind, at, _ in self.sections:
            if kind == wanted:
                for i in range(self.words(at + 64, 1)[0]):
                    key, *rest = self.words(at + 68 + 4 * width * i, width)
                    found.setdefault(key, (self.table(at), *rest))
        return found

    def symbol(self, value):
        below = [entry for entry in self.symbols if entry[0] <= value]
        return b'%s+0x%x' % (below[-1][1], value - below[-1][0]) if below else b'0x%08x' % value

    def render(self, form, datum, strings):
        def one(match):
            flags, conversion = match.group(1).replace(b'l', b'').replace(b'h', b''), match.group(2)
            if conversion == b'%':
                return b'%'
            if conversion in b'skI':
                text = self.string(strings, datum) if conversion == b's' else self.symbol(datum) if conversion == b'k' else address(datum)
                return (b'%' + flags + b's') % text
            return number(flags.decode(), conversion.decode(), datum).encode()
        return re.sub(rb'%([-+ #0-9.lh]*)([a-zA-Z%])', one, form)

    def name(self, form, key):
        return self.render(form, key, b'')

    def dump(self):
        def width(entries, index, default):
            texts = [default if index == 1 and default and not entry[1] else self.string(entry[0], entry[1]) for entry in entries.values()]
            return max([5] + [len(text) for text in texts])
        track_width, event_width = width(self.tracks, 1, b''), width(self.events, 1, b'E%d')
        out = []
        for kind, at, _ in self.sections:
            if kind != 5:
                continue
            strings = self.table(at)
            count, clock = self.words(at + 64, 2)
            hertz = clock * 1000000 if clock <= 100000 else clock
            first = None
            for i in range(count):
                high, low, track, code, datum = self.words(at + 72 + 20 * i, 5)
                now = (high << 32 | low) * 1000000 // hertz
                first = now if first is None else first
                us = now - first
                defined = self.events.get(code)
                form = self.string(defined[0], defined[1]) if defined and defined[1] else b'E%d'
                shown = self.render(self.string(defined[0], defined[2]), datum, strings) if defined and defined[2] else b''
                label = self.name(self.string(*self.tracks[track]), track) if track in self.tracks else b'%d' % signed(track)
                time = b'%03d:%02d:%02d:%03d:%03d' % (us // 3600000000, us // 60000000 % 60, us // 1000000 % 60,
                                                     us // 1000 % 1000, us % 1000)
                out.append(b' '.join([time, label.ljust(track_width), self.name(form, code).ljust(event_width), shown]) + b'\n')
        return b''.join(out)


def address(value):
    return '.'.join(str(byte) for byte in value.to_bytes(4, 'big')).encode()


def signed(value):
    return value - (1 << 32) if value >> 31 else value


def number(flags, conversion, value):
    """As C prints it; Python differs in %#o, in + and blank for unsigned numbers, and in 0 beside a precision."""
    if conversion in 'di':
        if '.' in flags:
            flags = re.sub(r'^([-+ #]*)0+', r'\1', ''.join(sorted(flags.split('.')[0], key=lambda c: c.isdigit())) + '.' + flags.split('.')[1])
        return ('%' + flags.replace('#', '') + 'd') % signed(value)
    left = '-' in flags
    body, _, precision = flags.partition('.')
    rest = body.lstrip('-+ #0')
    marks = body[:len(body) - len(rest)]
    digits = {'u': '%d', 'o': '%o', 'x': '%x', 'X': '%X'}[conversion] % value
    if '.' in flags:
        digits = '' if value == 0 and int(precision or 0) == 0 else digits.rjust(int(precision or 0), '0')
    if conversion == 'o' and '#' in marks and not digits.startswith('0'):
        digits = '0' + digits
    prefix = '0' + conversion if '#' in marks and conversion in 'xX' and value else ''
    size = int(rest or 0)
    if '0' in marks and not left and '.' not in flags:
        return prefix + digits.rjust(size - len(prefix), '0')
    return (prefix + digits).ljust(size) if left else (prefix + digits).rjust(size)


def damaged(kind):
    writer, strings = Writer('>'), Strings('T', random.Random(7))
    strings.rng.random = lambda: 1
    start, at_string, track, text = strings.add('start'), strings.add('%s'), strings.add('main'), strings.add('hello')
    form = strings.add({'conversion': 'a %n', 'width': '%1000000000d', 'star': '%*d'}.get(kind, '%d'))
    events = [(5, 0, 1, 0, 7), (5, 9, 1, 1, text)]
    clock = 0 if kind == 'clock' else 10**9
    if kind == 'string':
        events.insert(1, (5, 8, 1, 1, 100000))
    definitions = writer.words(2, 0, start, form, 1, 99999 if kind == 'format' else start, at_string)
    table = b'None' if kind == 'table' else b'T'
    body = table.ljust(64, b'\0') + writer.words(1000 if kind == 'count' else len(events), clock)
    sections = [strings.section(writer), writer.section(3, b'T'.ljust(64, b'\0') + definitions),
                writer.section(4, b'T'.ljust(64, b'\0') + writer.words(1, 1, track)),
                writer.section(5, body + b''.join(writer.words(*event) for event in events))]
    if kind in ('names', 'nameless'):
        code = text if kind == 'names' else 99999
        definitions, bracket = writer.words(1, code, at_string, form), strings.add('<%s>')
        body = table.ljust(64, b'\0') + writer.words(1, clock) + writer.words(5, 0, text, code, 7)
        sections = [strings.section(writer), writer.section(3, b'T'.ljust(64, b'\0') + definitions),
                    writer.section(4, b'T'.ljust(64, b'\0') + writer.words(1, text, bracket)), writer.section(5, body)]
    if kind == 'symbols':
        function = strings.add('main')
        definitions = writer.words(2, 0, start, strings.add('%k'), 1, start, at_string)
        symbols = writer.section(2, b'T'.ljust(64, b'\0') + writer.words(2, 100, function, 0, function))
        sections[:2] = [strings.section(writer), writer.section(3, b'T'.ljust(64, b'\0') + definitions)]
        sections.append(symbols)
    if kind == 'more':
        sections[3] = writer.section(5, body + b''.join(writer.words(*event) for event in events) + bytes(23))
    if kind == 'eventless':
        del sections[3]
    if kind == 'tables':
        sections.append(writer.section(1, b'T\0oth\0'))
    if kind == 'definitions':
        sections.append(writer.section(3, b'T'.ljust(64, b'\0') + writer.words(1, 1, at_string, form)))
        sections.append(writer.section(4, b'T'.ljust(64, b'\0') + writer.words(1, 1, start)))
    data = writer.file(sections, version=2 if kind == 'version' else 1, count={'sections': 9, 'uncounted': 3}.get(kind))
    return {'head': data[:5], 'events': data[:-30], 'behind': data + b'more'}.get(kind, data)


def main():
    command, *rest = sys.argv[1:]
    if command == 'random':
        with open(rest[1], 'wb') as file:
            file.write(random_file(int(rest[0])))
    elif command == 'damage':
        with open(rest[1], 'wb') as file:
            file.write(damaged(rest[0]))
    else:
        with open(rest[0], 'rb') as file:
            sys.stdout.buffer.write(Reader(file.read()).dump())


if __name__ == '__main__':
    main()
