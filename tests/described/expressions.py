# SPDX-License-Identifier: MIT
"""One table of expressions, each as a constant, in a LET (by the machine and by the fast path) and in a filter: one meaning."""
import json
import pathlib
import re
import struct
import subprocess

from described import IS_SANITIZED, KYMO, compiled, events, not_ok, ok

LOWEST, HIGHEST = -2**63, 2**64 - 1


class NoValue(Exception):
    """There is no such number: E41 of a constant, R10 of what is read, nothing in a filter."""


def value(number):
    if not -2**127 <= number < 2**127:
        raise NoValue
    return number


def quotient(x, y):
    if y == 0:
        raise NoValue
    return value(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1))


def shift(x, n, left):
    if not 0 <= n <= 63:
        raise NoValue
    return value(x << n) if left else x >> n


def bits(x, low, n):
    if not 0 <= low <= 127 or not 0 <= n <= 64:
        raise NoValue
    return x >> low & (1 << n) - 1


def signed(x, n):
    if not 1 <= n <= 64:
        raise NoValue
    rest = x & (1 << n) - 1
    return rest - (1 << n) if rest >> (n - 1) else rest


def power(a, n):
    if n < 0 or (abs(a) > 1 and n > 127):
        raise NoValue
    return value((a if n % 2 else a * a) if abs(a) <= 1 and n > 0 else a**n)


def align(x, n):
    if n <= 0:
        raise NoValue
    return value(-(-x // n) * n)


def rest(x, y):
    return x - quotient(x, y) * y


TABLE = [ # the expression, what it is
    ('align(x-300,8)', lambda x: align(x - 300, 8)), ('align(x,1)', lambda x: x), ('align(x,0)', lambda x: align(x, 0)),
    ('align(x,0-8)', lambda x: align(x, -8)), ('align(x,3)', lambda x: align(x, 3)), ('align(x,4096)', lambda x: align(x, 4096)),
    ('bits(x,64,8)', lambda x: bits(x, 64, 8)), ('bits(x,0,0)', lambda x: 0), ('bits(x,63,1)', lambda x: bits(x, 63, 1)),
    ('bits(x,0,64)', lambda x: bits(x, 0, 64)), ('bits(x,0,65)', lambda x: bits(x, 0, 65)), ('bits(x,127,1)', lambda x: bits(x, 127, 1)),
    ('bits(x,128,1)', lambda x: bits(x, 128, 1)), ('bits(x,0-1,1)', lambda x: bits(x, -1, 1)), ('bits(x,60,16)', lambda x: bits(x, 60, 16)),
    ('bits(x*4096,64,20)', lambda x: bits(x * 4096, 64, 20)),
    ('signed(x,8)', lambda x: signed(x, 8)), ('signed(x,0)', lambda x: signed(x, 0)), ('signed(x,64)', lambda x: signed(x, 64)),
    ('signed(x,65)', lambda x: signed(x, 65)), ('signed(x,1)', lambda x: signed(x, 1)),
    ('power(x,2)/(x+1)', lambda x: quotient(power(x, 2), x + 1)), ('power(2,x)', lambda x: power(2, x)), ('power(x,0)', lambda x: 1),
    ('power(0-1,x)', lambda x: power(-1, x)), ('power(x,0-1)', lambda x: power(x, -1)),
    ('x/7', lambda x: quotient(x, 7)), ('x/(0-7)', lambda x: quotient(x, -7)), ('x%7', lambda x: rest(x, 7)), ('x%(0-7)', lambda x: rest(x, -7)),
    ('x/0', lambda x: quotient(x, 0)), ('x%0', lambda x: rest(x, 0)), ('100/x', lambda x: quotient(100, x)), ('x/(0-1)', lambda x: -x),
    ('x<<1>>1', lambda x: x), ('1<<x', lambda x: shift(1, x, True)), ('x>>63', lambda x: x >> 63), ('x>>64', lambda x: shift(x, 64, False)),
    ('x>>(0-1)', lambda x: shift(x, -1, False)), ('x<<64', lambda x: shift(x, 64, True)), ('x<<63>>63', lambda x: x),
    ('x<<63<<1>>63', lambda x: shift(value(x << 63 << 1), 63, False)),
    ('x*x/(x-1)', lambda x: quotient(value(x * x), x - 1)), ('x*x*x/(x*x)', lambda x: quotient(value(value(x * x) * x), x * x)),
    ('x&255', lambda x: x & 255), ('x|1', lambda x: x | 1), ('x^5', lambda x: x ^ 5), ('~x', lambda x: ~x), ('-x', lambda x: -x),
    ('-x+1', lambda x: 1 - x), ('x&(0-2)', lambda x: x & -2), ('x-1', lambda x: x - 1), ('x+1', lambda x: x + 1), ('x*3', lambda x: x * 3),
    ('min(x,5,0-5)', lambda x: min(x, 5, -5)), ('max(x,5,0-5)', lambda x: max(x, 5, -5)), ('(IF x>4 THEN x/2 ELSE 1/x)',
     lambda x: quotient(x, 2) if x > 4 else quotient(1, x)), ('(IF x=0 THEN 7 ELSE 7/x)', lambda x: 7 if x == 0 else quotient(7, x)),
    ('default(x,1)', lambda x: x), ('present(x)', lambda x: 1),
    ('x<0', lambda x: int(x < 0)), ('x>=9223372036854775807', lambda x: int(x >= 2**63 - 1)), ('x=18446744073709551615', lambda x: int(x == HIGHEST)),
    ('x<>0 AND 10/x>1', lambda x: int(x != 0 and quotient(10, x) > 1)),
]
SIGNED = [0, 1, -1, 2, 5, -5, 7, -8, 63, 64, 127, 300, -300, 2**31, 2**63 - 1, -2**63]
UNSIGNED = [0, 1, 6, 255, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1]


def wanted(what, x, is_end=True):
    """The value, or None: there is none. At the end of an expression it is one of the language."""
    try:
        number = what(x)
    except NoValue:
        return None
    return number if not is_end or LOWEST <= number <= HIGHEST else None


def literal(x):
    return str(x) if x >= 0 else f'(0-{-x - 1}-1)'


def hold(name, got, expected):
    if got == expected:
        ok(name)
    else:
        not_ok(name, f'{got!r} is not {expected!r}')


def constant(text, x):
    return re.sub(r'\bx\b', literal(x), text)


def hold_constants(values):
    """Those with a value are one description, of those without each is one."""
    good, bad = [], []
    for text, what in TABLE:
        for x in values:
            (good if wanted(what, x) is not None else bad).append((constant(text, x), wanted(what, x)))
    consts = ''.join(f'  CONST c{i} = {text};\n' for i, (text, _) in enumerate(good))
    checks = ''.join(f'    CHECK c{i} = {literal(number)} "c{i}";\n' for i, (_, number) in enumerate(good))
    for i in range(0, len(good), 100):
        part = f'TRACE t;\n{"".join(consts.splitlines(True)[i:i + 100])}  RECORD r EVENT IS a: UNSIGNED 8;\n' \
               f'{"".join(checks.splitlines(True)[i:i + 100])}  END;\n  LAYOUT REPEAT r;\nEND TRACE.\n'
        key, said = compiled(f'constants{i}', part)
        pathlib.Path('one.bin').write_bytes(b'a')
        done = subprocess.run([KYMO, 'cat', '--key', str(key), 'one.bin'], capture_output=True, text=True)
        wrong = [good[int(line.split('c')[-1].split()[0])] for line in done.stderr.splitlines() if '"c' in line] if key else said
        hold(f'constants from {i} on', (done.returncode, wrong, done.stderr), (0, [], ''))
    return bad


def hold_no_constants(bad):
    wrong = []
    for text, _ in bad[::4 if IS_SANITIZED else 1]:  # each is a process, and sanitizers are slow
        _, said = compiled('bad', f'TRACE t;\n  CONST c = {text};\n  RECORD r EVENT IS a: UNSIGNED 8; LET b = c; END;\n  LAYOUT REPEAT r;\nEND TRACE.\n')
        if ' E41 ' not in said:
            wrong.append((text, said))
    hold('constants without a value', wrong, [])


def records(values, form):
    return b''.join(struct.pack('<H' + form, i, x) for i, x in enumerate(values))


def some_of(table, is_second):
    """All, or with sanitizers every other one: each text meets signed numbers or unsigned ones, and the fast path or the slow one."""
    return table[is_second::2] if IS_SANITIZED else table


def may_be_negative(text, kind):
    return kind == 'INTEGER' or re.search(r'-|~|\bmin|\bmax', text)


def hold_lets(name, kind, form, values, is_slow):
    """A description for each: a LET is decoded by the fast path where nothing else keeps it from there."""
    extra = ' REPEAT TIMES 0 IS y: UNSIGNED 8; END;' if is_slow else ''
    wrong = []
    for text, what in some_of(TABLE, (kind == 'INTEGER') == is_slow):
        out, said, status = events('let', f'TRACE t;\n  BYTES LITTLE;\n  RECORD r EVENT IS n: UNSIGNED 16; x: {kind} 64;{extra} LET v = {text}; LET has = present(v);'
                                    f' END;\n  LAYOUT REPEAT r;\nEND TRACE.\n', records(values, form))
        if status == -1:
            if any(wanted(what, x) is not None for x in values) or ' E41 ' not in said:
                wrong.append((text, said))
            continue
        decoded = [event['fields'] for event in out if 'event' in event]
        got = [event.get('v') if event['has'] else None for event in decoded]
        expected = [wanted(what, x) for x in values]
        # a LET that may be negative is delivered with 64 bits and a sign, and is absent if it is larger; what is made of it is exact
        if 'does not fit' in said and may_be_negative(text, kind):
            got = [b if a is None and (b or 0) > 2**63 - 1 else a for a, b in zip(got, expected)]
        failed = [line for line in said.splitlines() if 'R10' in line and 'does not fit' not in line]
        if got != expected or (None in expected) != bool(failed):
            wrong.append((text, [(x, a, b) for x, a, b in zip(values, got, expected) if a != b], said[-300:]))
    hold(f'LET of {name}', wrong, [])


def hold_filters(name, kind, form, values):
    key, _ = compiled(name, f'TRACE t;\n  BYTES LITTLE;\n  RECORD r EVENT IS n: UNSIGNED 16; x: {kind} 64; END;\n  LAYOUT REPEAT r;\nEND TRACE.\n')
    pathlib.Path(f'{name}.bin').write_bytes(records(values, form))
    wrong = []

    def select(expression):
        done = subprocess.run([KYMO, 'cat', '--key', key, '--format', 'json', '--filter', expression, f'{name}.bin'], capture_output=True, text=True)
        return [json.loads(line)['fields']['n'] for line in done.stdout.splitlines() if '"event"' in line], done.stderr

    for text, what in some_of(TABLE, kind == 'INTEGER'):
        is_test = any(word in text for word in ('AND', 'x<0', '>=', 'x=1'))
        numbers = [wanted(what, x) for x in values]
        if is_test:
            expected, (got, said) = [i for i, number in enumerate(numbers) if number], select(text)
            if got != expected:
                wrong.append((text, got, expected, said))
            continue
        choice = '7777'
        for i, number in enumerate(numbers):
            if number is not None:
                choice = f'(IF n={i} THEN {literal(number)} ELSE {choice})'
        expected = [i for i, number in enumerate(numbers) if number is not None]
        got, said = select(f'({text}) = {choice}')
        absent = [i for i, x in enumerate(values) if wanted(what, x, False) is None]
        lacking, _ = select(f'NOT present({text})')
        if got != expected or lacking != absent:
            wrong.append((text, got, expected, lacking, absent, said[-300:]))
    hold(f'filters over {name}', wrong, [])


bad = hold_constants(SIGNED) + hold_constants(UNSIGNED)
hold_no_constants(sorted(set(bad)))
for name, kind, form, values in (('signed numbers', 'INTEGER', 'q', SIGNED), ('unsigned numbers', 'UNSIGNED', 'Q', UNSIGNED)):
    hold_lets(name, kind, form, values, False)
    hold_lets(f'{name} (slow)', kind, form, values, True)
    hold_filters(f'{name} (filtered)', kind, form, values)
