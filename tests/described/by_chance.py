# SPDX-License-Identifier: MIT
"""Random descriptions and values. The packer below writes bits by the text of docs/tdl.md and shares nothing with
kymo; what kymo cat prints must be what was packed. KYMO_SEED takes other chances, KYMO_ROUNDS more of them."""
import json
import os
import pathlib
import random as chance
import shutil
import struct
import subprocess

from described import KYMO, compiled, events, fields, not_ok, ok

SEED = int(os.environ.get('KYMO_SEED', '7'))
ROUNDS = int(os.environ.get('KYMO_ROUNDS', '40'))


class Packer:
    """A row of bits. With LSB order the lowest bit of a number comes first, and first in a byte is its lowest bit."""

    def __init__(self, lsb):
        self.lsb, self.bits = lsb, []

    def number(self, value, width):
        order = range(width) if self.lsb else range(width - 1, -1, -1)
        self.bits += [value >> bit & 1 for bit in order]

    def octets(self, data):
        for byte in data:
            self.number(byte, 8)

    def is_on_boundary(self):
        return len(self.bits) % 8 == 0

    def bytes(self):
        out = bytearray()
        for at in range(0, len(self.bits), 8):
            weights = range(8) if self.lsb else range(7, -1, -1)
            out.append(sum(bit << weight for bit, weight in zip(self.bits[at:at + 8], weights)))
        return bytes(out)


class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.big, self.count = rng.random() < 0.5, 0
        self.groups = []

    def name(self):
        self.count += 1
        return f'f{self.count}'

    # Each maker adds text to self.items and returns a function (packer, values) -> None that packs one record's value.

    def whole(self):
        name, width, signed = self.name(), self.rng.randint(1, 8) * 8, self.rng.random() < 0.5
        big = self.big if self.rng.random() < 0.5 else self.rng.random() < 0.5
        order = '' if big == self.big else ' BIG' if big else ' LITTLE'
        text = f'{name}: {"INTEGER" if signed else "UNSIGNED"} {width}{order};'

        def pack(packer, values):
            low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
            value = self.rng.choice([low, high, self.rng.randint(low, high)])
            packer.octets(value.to_bytes(width // 8, 'big' if big else 'little', signed=signed))
            values[name] = value
        return text, pack

    def bits(self):
        """Bit fields that together reach a boundary again."""
        names, widths, left = [], [], self.rng.choice([8, 16, 24, 40, 64])
        while left:
            width = min(left, self.rng.randint(1, 20))
            names.append((self.name(), self.rng.random() < 0.4))
            widths.append(width)
            left -= width
        text = ' '.join(f'{name}: {"INTEGER" if signed else "UNSIGNED"} {width};' for (name, signed), width in zip(names, widths))

        def pack(packer, values):
            for (name, signed), width in zip(names, widths):
                raw = self.rng.getrandbits(width)
                if packer.is_on_boundary() and width % 8 == 0:
                    packer.octets(raw.to_bytes(width // 8, 'big' if self.big else 'little'))
                else:
                    packer.number(raw, width)
                values[name] = raw - (1 << width) if signed and raw >> width - 1 else raw
        return text, pack

    def floating(self):
        name, width = self.name(), self.rng.choice([16, 32, 64])

        def pack(packer, values):
            code = ('>' if self.big else '<') + {16: 'e', 32: 'f', 64: 'd'}[width]
            value = self.rng.randint(-1000, 1000) / 8
            packer.octets(struct.pack(code, value))
            values[name] = value
        return f'{name}: FLOAT {width};', pack

    def decimal(self):
        name, width = self.name(), self.rng.choice([8, 16, 24, 32])

        def pack(packer, values):
            digits = ''.join(self.rng.choice('0123456789') for _ in range(width // 4))
            packer.octets(bytes.fromhex(digits))
            values[name] = int(digits)
        return f'{name}: BCD {width} BIG;', pack

    def variable(self):
        name, form = self.name(), self.rng.choice(['LEB', 'SLEB', 'ZIGZAG', 'MSB'])

        def pack(packer, values):
            value = self.rng.getrandbits(self.rng.choice([6, 7, 14, 32, 62]))
            if form in ('SLEB', 'ZIGZAG') and self.rng.random() < 0.5:
                value = -value
            values[name] = value
            if form == 'ZIGZAG':
                value = value << 1 if value >= 0 else -value * 2 - 1
            if form == 'MSB':
                groups = [value & 0x7f]
                while value >> 7:
                    value >>= 7
                    groups.insert(0, value & 0x7f | 0x80)
                packer.octets(groups)
                return
            while True:
                group, value = value & 0x7f, value >> 7
                is_last = value == 0 if form != 'SLEB' else (value == 0 and not group & 0x40) or (value == -1 and group & 0x40)
                packer.octets([group | (0 if is_last else 0x80)])
                if is_last:
                    return
        return f'{name}: VARINT {form};', pack

    def word(self, most):
        return ''.join(self.rng.choice('abcdefgh xyz') for _ in range(self.rng.randint(0, most))).strip()

    def text(self):
        name, form = self.name(), self.rng.choice(['plain', 'padded', 'ended', 'counted'])
        size = self.rng.randint(1, 12)
        text = {'plain': f'STRING {size}', 'padded': f'STRING {size} PADDED 0x2a', 'ended': 'STRING ENDED 0x0a',
                'counted': 'STRING COUNTED UNSIGNED 16'}[form]

        def pack(packer, values):
            word = values[name] = self.word(size)
            data = word.encode()
            count = struct.pack('>H' if self.big else '<H', len(data))
            packer.octets({'plain': data.ljust(size, b'\0'), 'padded': data.ljust(size, b'*'), 'ended': data + b'\n',
                           'counted': count + data}[form])
        return f'{name}: {text};', pack

    def octets(self):
        count, name, size = self.name(), self.name(), self.rng.randint(0, 9)

        def pack(packer, values):
            data = self.rng.randbytes(self.rng.randint(0, size))
            packer.octets([len(data)])
            packer.octets(data)
            values[count], values[name] = len(data), data.hex()
        return f'{count}: UNSIGNED 8 LENGTH OF {name}; {name}: BYTES;', pack

    def digits(self):
        name, base = self.name(), self.rng.choice([2, 8, 10, 16, 36])

        def pack(packer, values):
            value = self.rng.randint(-(1 << 40), 1 << 40)
            values[name] = value
            left, out = abs(value), ''
            while left or not out:
                left, digit = divmod(left, base)
                out = '0123456789abcdefghijklmnopqrstuvwxyz'[digit] + out
            packer.octets((('-' if value < 0 else '') + out + ';').encode())
        return f'{name}: TEXT NUMBER ENDED 0x3b BASE {base};', pack

    def array(self):
        name, count = self.name(), self.rng.randint(1, 5)

        def pack(packer, values):
            values[name] = [self.rng.getrandbits(16) for _ in range(count)]
            for value in values[name]:
                packer.octets(struct.pack('>H' if self.big else '<H', value))
        return f'{name}: ARRAY {count} OF UNSIGNED 16;', pack

    def filler(self):
        count = self.rng.randint(1, 9)
        return f'FILLER {count} BYTES;', lambda packer, values: packer.octets(self.rng.randbytes(count))

    def computed(self):
        name, other, factor = self.name(), self.name(), self.rng.randint(1, 99)

        def pack(packer, values):
            value = self.rng.getrandbits(8)
            packer.octets([value])
            values[other], values[name] = value, (value * factor + 3) % 17 - 5
        return f'{other}: UNSIGNED 8; LET {name}=({other}*{factor}+3)%17-5;', pack

    def branch(self, depth, level):
        selector = self.name()
        branches = [self.body(depth + 1, 2, level) for _ in range(self.rng.randint(1, 3))]
        text = [f'{selector}: UNSIGNED 8;']
        if self.rng.random() < 0.5:
            for number, (inner, _) in enumerate(branches):
                text.append(f'{"IF" if number == 0 else "ELSIF"} {selector}={number} THEN {inner}')
        else:
            text.append(f'CASE {selector}')
            text += [f'WHEN {number},{number + 100} THEN {inner}' for number, (inner, _) in enumerate(branches)]
        text.append('END;')

        def pack(packer, values):
            taken = self.rng.randint(0, len(branches))
            packer.octets([taken])
            values[selector] = taken
            for number, (_, packs) in enumerate(branches):
                scratch = {}
                for each in packs:
                    each(packer if number == taken else Packer(packer.lsb), scratch)
                for name, value in scratch.items():
                    values[name] = value if number == taken else [] if isinstance(value, list) else None
        return ' '.join(text), pack

    def repeat(self, depth, level):
        """A list of structs has the name of its REPEAT, of the only USE in it, or a derived one; of one field it is a list of values."""
        count, form = self.name(), self.rng.choice(['named', 'used', 'plain', 'plain'])
        inner_level = {'lists': 0, 'fields': 0}
        inner, packs = self.body(depth + 1, 3, inner_level)
        is_structs = inner_level['fields'] > (0 if form == 'named' or inner_level.get('has_structs') else 1)
        if form == 'used' and not is_structs: # a list "use.field"
            form = 'plain'
        name = self.name() if form != 'plain' else None
        if is_structs and not name:
            level['lists'] += 1
            name = 'repeat' if level['lists'] == 1 else f'repeat{level["lists"]}'
        level['fields'] += 1 if is_structs else inner_level['fields']
        level['has_structs'] = level.get('has_structs') or is_structs
        if form == 'used':
            group = f'g{len(self.groups)}'
            self.groups.append(f'GROUP {group} IS {inner} END;')
            inner = f'{name}: USE {group};'

        def pack(packer, values):
            turns = self.rng.randint(0, 4)
            packer.octets([turns])
            values[count] = turns
            sample, elements = {}, []
            for each in packs:
                each(Packer(packer.lsb), sample)
            for _ in range(turns):
                elements.append({})
                for each in packs:
                    each(packer, elements[-1])
            if is_structs:
                values[name] = elements
                return
            for field in sample:
                found = [element[field] for element in elements]
                flat = [one for value in found for one in (value if isinstance(value, list) else [value])]
                values[field] = [one for one in flat if one is not None]
        return f'{count}: UNSIGNED 8; {name + ": " if form == "named" else ""}REPEAT TIMES {count} IS {inner} END;', pack

    def body(self, depth, most, level):
        """Items of one struct; `level` counts its fields, and the lists in it that have no name."""
        kinds = [self.whole, self.whole, self.bits, self.floating, self.decimal, self.variable, self.text, self.octets, self.digits,
                 self.array, self.filler, self.computed]
        if depth < 4:
            kinds += [lambda: self.branch(depth, level), lambda: self.branch(depth, level)] + 3 * [lambda: self.repeat(depth, level)]
        made = []
        for _ in range(self.rng.randint(1, most)):
            before, own = self.count, level['fields']
            kind = self.rng.choice(kinds)
            made.append(kind())
            if kind in kinds[:12]:
                level['fields'] += self.count - before
            else:
                level['fields'] += 1 # the selector or the count
                assert level['fields'] > own
        return ' '.join(text for text, _ in made), [pack for _, pack in made]


def elsewhere(name, tdl, wanted):
    """The same events out of CTF that was written from them, and out of what describes the description; what differs, or None."""
    compiled(name, tdl)
    for form in ('ctf1', 'ctf2'):
        out = f'{name}.{form}'
        done = subprocess.run([KYMO, 'convert', '--key', f'{name}.key', f'{name}.bin', '--to', form, '--output', out], capture_output=True, text=True)
        cat = subprocess.run([KYMO, 'cat', '--format', 'json', out], capture_output=True, text=True)
        got = [fields(json.loads(line)) for line in cat.stdout.splitlines()]
        if done.returncode or done.stderr or cat.returncode or got != wanted:
            return f'{form}: {done.stderr} {cat.stderr} {len(got)} events'
        shutil.rmtree(out)
    texts = []
    for source in (f'{name}.key', f'{name}.registry'):
        done = subprocess.run([KYMO, 'describe', source, '--as', 'registry'], capture_output=True, text=True)
        texts.append('\n'.join(line for line in done.stdout.splitlines() if line and not line.startswith('//')))
        if source.endswith('.key'):
            pathlib.Path(f'{name}.text').write_text(done.stdout)
            subprocess.run([KYMO, 'compile', f'{name}.text', '-o', f'{name}.registry'], capture_output=True, check=False)
    return None if texts[0] and texts[0] == texts[1] else f'registry: {len(texts[0])} and {len(texts[1])} characters'


def one(number):
    rng = chance.Random(SEED * 1000 + number)
    maker = Maker(rng)
    text, packs = maker.body(0, 9, {'lists': 0, 'fields': 0})
    text = f'first: UNSIGNED 8; {text}'
    groups = '\n'.join(maker.groups)
    tdl = f'TRACE t; BYTES {"BIG" if maker.big else "LITTLE"};\n{groups}\nRECORD r EVENT IS {text} END;\nLAYOUT REPEAT r;\nEND TRACE.\n'
    packer, wanted = Packer(not maker.big), []
    for row in range(20):
        values = {'first': row}
        packer.octets([row])
        for pack in packs:
            pack(packer, values)
        wanted.append(values)
    out, said, status = events(f'random{number}', tdl, packer.bytes())
    got = [fields(event) for event in out]
    if got == wanted and status == 0 and not said:
        differs = elsewhere(f'random{number}', tdl, wanted) if number % 4 == 0 else None
        return differs and f'seed {SEED}, round {number}: {differs}; {groups} {text}'
    for have, want in zip(got, wanted):
        differs = {name: (have.get(name), want.get(name)) for name in {*have, *want} if have.get(name) != want.get(name)}
        if differs:
            return f'seed {SEED}, round {number}: (found, packed) {differs}; {groups} {text}'
    return f'seed {SEED}, round {number}: {len(got)} records of {len(wanted)}, exit status {status}, says {said!r}; {groups} {text}'


problems = [problem for problem in map(one, range(ROUNDS)) if problem]
if problems:
    not_ok('values_by_chance_come_out_as_packed', problems[0])
else:
    ok('values_by_chance_come_out_as_packed')
