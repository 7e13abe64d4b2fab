#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random filters over a random trace, held against an evaluator that knows nothing of how kymo does it: it reads what
`kymo cat --format json` prints of all events, and works each filter out by its definition.

    random_filters.py KYMO TRACE SEED COUNT
"""
import json
import math
import random
import re
import subprocess
import sys

LABELS = {'OPEN': (1, 1), 'HALF': (2, 3), 'SHUT': (4, 4)}
FLAGS = {'syn': 1, 'ack': 2, 'both': 3, 'fin': 16}
LOW, HIGH = -2**127, 2**127 - 1


class Events:
    def __init__(self, lines):
        self.lines = lines
        self.list = [json.loads(line) for line in lines]

    def __len__(self):
        return len(self.list)

    def field(self, at, path):
        """The value of a field; None: absent; a list: a sequence."""
        event = self.list[at]
        if path == 'EVENT':
            return event['event']
        if path in ('tid', 'cpu'):
            return event[path]
        if path == 'vpid':
            return event['context'][path]
        steps = path.split('.')
        value = event['fields'].get(steps[0])
        for step in steps[1:]:
            value = [one[step] for one in value] if isinstance(value, list) else None if value is None else value.get(step)
        if isinstance(value, dict) and 'value' in value:
            return value['value']
        if path == 'ratio' and isinstance(value, str):
            return float(value.lower())
        if path == 'ratio' and value is None and event['event'] == 'net:rx':
            return math.nan
        if path in ('address', 'id') and isinstance(value, str):
            return bytes.fromhex(value)
        return value


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def number(value):
    return whole(value) or isinstance(value, float)


def relate(a, op, b):
    if a is None or b is None:
        return False
    if number(a) and number(b):
        if isinstance(a, float) or isinstance(b, float):
            a, b = float(a), float(b)
            if math.isnan(a) or math.isnan(b):
                return False
        return {'=': a == b, '<>': a != b, '<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b}[op]
    if type(a) is not type(b) or op not in ('=', '<>'):
        return False
    return (a == b) == (op == '=')


def some(value, holds):
    """A sequence passes if some element does."""
    if isinstance(value, list):
        return any(holds(one) for one in value)
    return value is not None and holds(value)


def truth(value):
    return value is not None and not isinstance(value, (str, bytes)) and value != 0 and value == value


def calculate(op, a, b):
    if not number(a) or not number(b):
        return None
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
        try:
            return {'+': lambda: a + b, '-': lambda: a - b, '*': lambda: a * b, '/': lambda: a / b}[op]()
        except ZeroDivisionError:
            return None
        except OverflowError:
            return math.inf
        except KeyError:
            return None
    if op in ('/', '%'):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        result = quotient if op == '/' else a - quotient * b
    elif op in ('<<', '>>'):
        if not 0 <= b <= 63:
            return None
        result = a << b if op == '<<' else a >> b
    else:
        result = {'+': a + b, '-': a - b, '*': a * b, '&': a & b, '|': a | b, '^': a ^ b}[op]
    return result if LOW <= result <= HIGH else None


class Maker:
    """Makes pairs of a text and a function that gives its value for the event at an index."""

    def __init__(self, rng, events):
        self.rng, self.events = rng, events
        self.uses_memory = False

    def constant(self):
        value = self.rng.choice([0, 1, 2, 3, 5, 7, 53, 80, 443, -1, -7, 2**32, 2**63, 2**64 - 1])
        return (str(value) if value >= 0 else f'(-{-value})'), lambda at: value

    def field(self, names):
        name = self.rng.choice(names)
        return name, lambda at: self.events.field(at, name)

    def value(self, depth=2):
        """A whole number."""
        kind = self.rng.randrange(8 if depth > 0 else 4)
        if kind == 0:
            return self.constant()
        if kind < 4:
            return self.field(['port', 'big', 'small', 'where.x', 'where.y', 'more', 'tid', 'vpid', 'n', 'code'])
        if kind == 4:
            name = self.rng.choice(['min', 'max', 'default', 'bits', 'signed'])
            (a, fa), (b, fb) = self.value(depth - 1), self.value(depth - 1)
            if name == 'bits':
                return f'bits({a},1,5)', lambda at: None if fa(at) is None else fa(at) >> 1 & 31
            if name == 'signed':
                return f'signed({a},8)', lambda at: None if fa(at) is None else (fa(at) & 255) - (fa(at) & 128) * 2
            if name == 'default':
                return f'default({a},{b})', lambda at: fa(at) if fa(at) is not None else fb(at)
            pick = min if name == 'min' else max
            return f'{name}({a},{b})', lambda at: None if fa(at) is None or fb(at) is None else pick(fa(at), fb(at))
        if kind == 5:
            (c, fc), (a, fa), (b, fb) = self.test(1), self.value(depth - 1), self.value(depth - 1)
            return f'(IF {c} THEN {a} ELSE {b})', lambda at: fa(at) if fc(at) else fb(at)
        op = self.rng.choice(['+', '-', '*', '/', '%', '<<', '>>', '&', '|', '^'])
        (a, fa), (b, fb) = self.value(depth - 1), self.value(depth - 1)
        return f'({a} {op} {b})', lambda at: calculate(op, fa(at), fb(at))

    def part(self):
        """One value of a sequence, or how many there are."""
        if self.rng.random() < 0.5:
            a, fa = self.field(['sizes', 'pairs.a'])
            return f'COUNT OF {a}', lambda at: None if fa(at) is None else len(fa(at))
        index = self.rng.randrange(3)
        fa = self.field(['sizes'])[1]
        return f'sizes[{index}]', lambda at: None if fa(at) is None or index >= len(fa(at)) else fa(at)[index]

    def compare(self):
        op = self.rng.choice(['=', '<>', '<', '<=', '>', '>='])
        kind = self.rng.randrange(9)
        if kind == 8:
            a, fa = self.part()
            b, fb = self.value(0)
            return f'{a} {op} {b}', lambda at: relate(fa(at), op, fb(at))
        if kind == 0:
            a, fa = self.field(['sizes', 'pairs.a'])
            b, fb = self.value(0)
            return f'{a} {op} {b}', lambda at: some(fa(at), lambda one: relate(one, op, fb(at)))
        if kind == 1:
            value = self.rng.choice([0.1, -1.5, 2.5, 0.0])
            a, fa = self.rng.choice([self.field(['ratio']), self.value(0)])
            text = f'{value}' if value >= 0 else f'-{-value}'
            return f'{a} {op} {text}', lambda at: relate(fa(at), op, value)
        if kind == 2:
            label = self.rng.choice(list(LABELS))
            low, high = LABELS[label]
            rules = {'=': lambda v: low <= v <= high, '<>': lambda v: not low <= v <= high, '<': lambda v: v < low,
                     '<=': lambda v: v <= high, '>': lambda v: v > high, '>=': lambda v: v >= low}
            return f'state {op} "{label}"', lambda at: some(self.events.field(at, 'state'), rules[op])
        if kind == 3:
            op = self.rng.choice(['=', '<>'])
            name, choices = self.rng.choice([('iface', ['eth0', 'lo', '', 'é.example']), ('text', ['hello', 'HELLO']), ('value', ['abc']),
                                             ('EVENT', ['net:rx', 'mark']), ('pairs.b', ['p', 'q'])])
            text = self.rng.choice(choices)
            return f'{name} {op} "{text}"', lambda at: some(self.events.field(at, name), lambda one: relate(one, op, text))
        if kind == 4:
            op = self.rng.choice(['=', '<>'])
            text, wanted = self.rng.choice([('192.0.2.17', bytes([192, 0, 2, 17])), ('10.0.0.1', bytes([10, 0, 0, 1]))])
            return f'address {op} "{text}"', lambda at: relate(self.events.field(at, 'address'), op, wanted)
        (a, fa), (b, fb) = self.value(), self.value()
        return f'{a} {op} {b}', lambda at: relate(fa(at), op, fb(at))

    def member(self):
        negated = self.rng.random() < 0.3
        word = 'NOT IN' if negated else 'IN'
        members = []
        for _ in range(self.rng.randrange(1, 4)):
            low = self.rng.choice([-7, 0, 2, 53, 80, 400])
            members.append((low, low + self.rng.choice([0, 0, 5, 100])))
        text = ', '.join(f'{low}..{high}' if low != high else f'{low}' for low, high in members)
        a, fa = self.rng.choice([self.value(1), self.field(['sizes']), self.field(['port'])])
        return f'{a} {word} ({text})', lambda at: some(
            fa(at), lambda one: any(relate(one, '>=', low) and relate(one, '<=', high) for low, high in members) != negated)

    def pattern(self):
        negated = self.rng.random() < 0.3
        name = self.rng.choice(['iface', 'text', 'pairs.b', 'EVENT'])
        if self.rng.random() < 0.5:
            regex = self.rng.choice(['^eth', '[0-9]$', 'l+o', '^$', 'h.*w', '(o|e).', '^net:[rt]x$', '^.\\.', 'a?b{0,2}'])
            test, text = (lambda one: bool(re.search(regex.replace('$', '\\Z'), one))), f'MATCHES /{regex}/'
        else:
            glob = self.rng.choice(['eth?', '*o*', 'h*', '[el]*', '?.*', '', 'net:*'])
            regex = ''.join({'*': '.*', '?': '.'}.get(c, c if c in '[]' else re.escape(c)) for c in glob)
            test, text = (lambda one: bool(re.fullmatch(regex, one, re.S))), f'LIKE "{glob}"'
        return f'{name} {"NOT " if negated else ""}{text}', lambda at: some(
            self.events.field(at, name), lambda one: test(one) != negated)

    def has(self):
        word = self.rng.choice(['ALL', 'ANY', 'NONE'])
        names = self.rng.sample(list(FLAGS), self.rng.randrange(1, 3))
        pick = {'ALL': all, 'ANY': any, 'NONE': lambda found: not any(found)}[word]
        text = ', '.join(f'"{name}"' for name in names)
        return f'flags HAS {word} OF ({text})', lambda at: some(
            self.events.field(at, 'flags'), lambda one: pick([one & FLAGS[name] == FLAGS[name] if word == 'ALL' else bool(one & FLAGS[name]) for name in names]))

    def elements(self):
        """ANY, ALL and COUNT OF list WITH: two conditions of one element."""
        name = self.rng.choice(['sizes', 'pairs'])
        (a, fa), op, link = self.value(0), self.rng.choice(['=', '<>', '<', '>=']), self.rng.choice(['AND', 'OR'])
        low = self.rng.randrange(5)
        other, holds = ('sizes <> %d' % low, lambda one: one != low) if name == 'sizes' else ('pairs.b = "p"', lambda one: one['b'] == 'p')
        first = 'sizes' if name == 'sizes' else 'pairs.a'

        def verdicts(at):
            value = self.events.field(at, name)
            if value is None:
                return None
            pairs = [(relate(one if name == 'sizes' else one['a'], op, fa(at)), holds(one)) for one in value]
            return [all(pair) if link == 'AND' else any(pair) for pair in pairs]
        condition = f'{name} WITH ({first} {op} {a} {link} {other})'
        word = self.rng.choice(['ANY', 'ALL', 'COUNT OF'])
        if word == 'COUNT OF':
            return f'COUNT OF {condition} >= {low % 3}', lambda at: verdicts(at) is not None and sum(verdicts(at)) >= low % 3
        pick = any if word == 'ANY' else all
        return f'{word} {condition}', lambda at: verdicts(at) is not None and pick(verdicts(at))

    def simple(self):
        kind = self.rng.randrange(11)
        if kind == 10:
            return self.elements()
        if kind < 4:
            return self.compare()
        if kind < 6:
            return self.member()
        if kind == 6:
            return self.pattern()
        if kind == 7:
            return self.has()
        if kind == 8:
            name = self.rng.choice(['more', 'port', 'iface', 'where.x', 'sizes', 'code'])
            negated = self.rng.random() < 0.3
            return (f'{name} IS {"NOT " if negated else ""}PRESENT',
                    lambda at: (self.events.field(at, name) not in (None, [])) != negated)
        if self.rng.random() < 0.5:
            return 'state IS VALID', lambda at: some(self.events.field(at, 'state'), lambda one: 1 <= one <= 4)
        low = self.rng.randrange(len(self.events))
        high = low + self.rng.randrange(40)
        return f'RECORD IN ({low}..{high})', lambda at: low <= at + 1 <= high

    def test(self, depth=2):
        kind = self.rng.randrange(6) if depth > 0 else 0
        if kind < 3:
            return self.simple()
        if kind == 3:
            a, fa = self.test(depth - 1)
            return f'NOT ({a})', lambda at: not fa(at)
        (a, fa), (b, fb) = self.test(depth - 1), self.test(depth - 1)
        if kind == 4:
            return f'({a} AND {b})', lambda at: fa(at) and fb(at)
        return f'({a} OR {b})', lambda at: fa(at) or fb(at)

    # ---- with a memory: all verdicts are worked out at once ----

    def verdicts(self, work):
        known = []

        def at_index(at):
            if not known:
                known.extend(work())
            return known[at]
        return at_index

    def key(self):
        if self.rng.random() < 0.5:
            return '', lambda at: 0
        name = self.rng.choice(['tid', 'port', 'iface', 'vpid'])
        return f' PER {name}', lambda at: self.events.field(at, name)

    def between(self):
        (a, fa), (b, fb), (per, key) = self.test(1), self.test(1), self.key()
        inclusive = self.rng.random() < 0.5

        def work():
            is_open = {}
            for at in range(len(self.events)):
                one = key(at)
                if one is None:
                    yield False
                    continue
                was = is_open.get(one, False)
                now = (not fb(at)) if was else bool(fa(at))
                is_open[one] = now
                yield inclusive if was != now else was
        return f'BETWEEN ({a}) AND ({b}){" INCLUSIVE" if inclusive else ""}{per}', self.verdicts(work)

    def beside(self):
        a, fa = self.test(1)
        word = self.rng.choice(['AFTER', 'AFTER FIRST', 'AFTER LAST', 'BEFORE', 'BEFORE FIRST', 'BEFORE LAST'])

        def work():
            matches = [at for at in range(len(self.events)) if fa(at)]
            for at in range(len(self.events)):
                if word == 'BEFORE FIRST':
                    yield not matches or at < matches[0]
                elif not matches:
                    yield False
                elif word in ('AFTER', 'AFTER FIRST'):
                    yield at > matches[0]
                elif word == 'AFTER LAST':
                    yield at > matches[-1]
                else:
                    yield at < matches[-1]
        return f'{word} ({a})', self.verdicts(work)

    def within(self):
        (a, fa), (per, key) = self.test(1), self.key()
        side = self.rng.choice(['AFTER', 'BEFORE', 'AROUND'])
        span = self.rng.choice([0, 1, 100, 2000, 1000000])

        def work():
            times = [event['ts'] for event in self.events.list]
            matches = [at for at in range(len(self.events)) if fa(at) and key(at) is not None]
            for at in range(len(self.events)):
                behind = [m for m in matches if m <= at and key(m) == key(at) and times[at] - times[m] <= span]
                ahead = [m for m in matches if m >= at and key(m) == key(at) and times[m] - times[at] <= span]
                yield key(at) is not None and bool(side != 'BEFORE' and behind or side != 'AFTER' and ahead)
        return f'WITHIN {span} ns {side} ({a}){per}', self.verdicts(work)

    def every(self):
        count = self.rng.randrange(1, 5)
        a, fa = self.test(1)
        if self.rng.random() < 0.3:
            return f'EVERY {count}', lambda at: at % count == 0

        def work():
            met = 0
            for at in range(len(self.events)):
                is_match = bool(fa(at))
                yield is_match and met % count == 0
                met += is_match
        return f'EVERY {count} OF ({a})', self.verdicts(work)

    def changed(self):
        name = self.rng.choice(['port', 'tid', 'state', 'iface', 'more', 'EVENT'])
        per, key = self.key()

        def work():
            last = {}
            for at in range(len(self.events)):
                value, one = self.events.field(at, name), key(at)
                if value is None or one is None:
                    yield False
                    continue
                yield one not in last or last[one] != value
                last[one] = value
        return f'{name} IS CHANGED{per}', self.verdicts(work)

    def whole_filter(self):
        a, fa = self.test()
        if self.rng.random() < 0.5:
            return a, fa
        self.uses_memory = True
        b, fb = self.rng.choice([self.between, self.beside, self.within, self.every, self.changed])()
        word = self.rng.choice(['AND', 'OR'])
        if self.rng.random() < 0.3:
            return b, fb
        return f'({a}) {word} {b}', (lambda at: fa(at) and fb(at)) if word == 'AND' else (lambda at: fa(at) or fb(at))


def lines_of(kymo, trace, *options):
    done = subprocess.run([kymo, 'cat', '-q', '--format', 'json', *options, trace], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f'not ok {options}: {done.stderr}')
    return [line for line in done.stdout.splitlines() if '"lost"' not in line]


def main():
    kymo, trace, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    events = Events(lines_of(kymo, trace))
    failed = 0
    for one in range(count):
        rng = random.Random(seed * 1000 + one)
        text, function = Maker(rng, events).whole_filter()
        wanted = [at for at in range(len(events)) if function(at)]
        options = ['--filter', text]
        if rng.random() < 0.5:  # what is selected does not depend on the way
            begin = events.list[rng.randrange(len(events))]['ts']
            options += ['--begin', f'{begin // 10**9}.{begin % 10**9:09d}']
            wanted = [at for at in wanted if events.list[at]['ts'] >= begin]
        found = lines_of(kymo, trace, *options)
        if found != [events.lines[at] for at in wanted]:
            failed += 1
            first = next((n for n, (a, b) in enumerate(zip(found, [events.lines[at] for at in wanted])) if a != b), min(len(found), len(wanted)))
            print(f'    {options}: {len(found)} events, not {len(wanted)}; they differ at the {first + 1}th, event '
                  f'{wanted[first] + 1 if first < len(wanted) else "none"}')
    print(f'{count - failed} of {count} filters select what they say')
    sys.exit(failed > 0)


main()
