# SPDX-License-Identifier: MIT
"""Writes a C program of random formats: each is given to KYMO_PRINTF and to printf, with the same random values.

generate.py FORMATS ROUNDS [foreign]: without what machines print differently, %La, and what takes a locale of theirs, %ls that is not ASCII."""
import random
import re
import sys

HEAD = r'''
#include <errno.h>
#include <inttypes.h>
#include <kymo/trace.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <wchar.h>

static uint64_t seed = 1;
static uint64_t next(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return seed;
}
/* Numbers of any length, often at a boundary. */
static uint64_t number(void) {
  uint64_t value = next(), boundaries[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, 0x80, 0x8000, 0x80000000, 0xffffffff};
  return value % 3 ? value >> next() % 64 : boundaries[value / 3 % 9];
}
static double real(void) {
  uint64_t bits = next();
  volatile double value; /* holds no more than a double does, on every machine */
  switch (bits % 4) {
  case 0: memcpy((double *)&value, &bits, sizeof value); return value;
  case 1: value = (double)(int64_t)number(); return value;
  case 2: value = (double)(int64_t)(next() % 2000000) / 1000 - 1000; return value;
  default: return (double[]){0, -0.0, 1, -1, 0.5, 1e100, 1.0 / 3, __builtin_inf(), -__builtin_inf()}[next() % 9];
  }
}
/* Sometimes there is no zero behind what the precision lets through. */
static const char *text(void) {
  static const char all[] = "The quick (brown) fox; jumps over %s & the lazy dog. 0123456789 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  return next() % 12 ? all + next() % sizeof all : NULL;
}
static const wchar_t *wide_text(void) {
  static const wchar_t all[] = L"Zwölf \u20ac \u0416\u0416\u0416 \U0001f600\U0001f600 & 12 \u65e5\u672c\u8a9e, aaaaaaaaaaaaaaa \u00e9\u00e9\u00e9";
  return next() % 12 ? all + next() % (sizeof all / sizeof all[0]) : NULL;
}
static int extent(int most) { return (int)(next() % (unsigned)most) - most / 3; }
'''

FOREIGN = 'foreign' in sys.argv
if FOREIGN:
    HEAD = re.sub(r'\\[uU][0-9a-f]+|ö', 'o', HEAD)
INTEGERS = {'': ('int', 'unsigned'), 'hh': ('signed char', 'unsigned char'), 'h': ('short', 'unsigned short'), 'l': ('long', 'unsigned long'),
            'll': ('long long', 'unsigned long long'), 'j': ('intmax_t', 'uintmax_t'), 'z': ('ssize_t', 'size_t'),
            't': ('ptrdiff_t', 'size_t')}


def extent(arguments, most):
    """A width or precision, or nothing."""
    kind = random.random()
    if kind < 0.5:
        return ''
    if kind < 0.8:
        return str(random.randrange(most))
    arguments.append(('int', f'extent({most})'))
    return '*'


def conversion(arguments):
    letter = random.choice('ddiouxXxcspaAeEfFgGm%')
    if letter == '%':
        return '%%'
    allowed = {'d': "-+ 0'", 'i': '-+ 0', 'u': "-0", 'c': '-', 's': '-', 'p': '-', 'm': '-'}.get(letter, '-#0' if letter in 'oxX' else '-+ #0')
    flags = ''.join(flag for flag in allowed if random.random() < 0.25)
    flags = flags.replace(' ', '') if '+' in flags else flags
    flags = flags.replace('0', '') if '-' in flags else flags
    width = extent(arguments, 40)
    if width[:1] == '0':
        width = ''
    precision = '' if letter in 'cp' or '0' in flags and letter in 'diouxX' else extent(arguments, 30)
    modifier = ''
    if letter in 'diouxX':
        modifier = random.choice(list(INTEGERS))
        kind = INTEGERS[modifier][letter not in 'di']
        if not modifier and random.random() < 0.3:
            kind = random.choice(['short', 'char', 'bool', 'signed char'])
        arguments.append((kind, f'({kind})number()'))
    elif letter == 'c':
        arguments.append(('char', "(char)(' ' + 3 + next() % 50)"))
    elif letter == 's' and random.random() < 0.4:
        modifier = 'l'
        arguments.append(('const wchar_t *', 'wide_text()'))
    elif letter == 's':
        arguments.append(('const char *', 'text()'))
    elif letter == 'p':
        arguments.append(('const void *', '(const void *)(uintptr_t)(next() % 5 ? number() : 0)'))
    elif letter != 'm':
        modifier = random.choice(['', '', 'l', 'l' if FOREIGN and letter in 'aA' else 'L'])
        kind = 'long double' if modifier == 'L' else random.choice(['double', 'float'])
        arguments.append((kind, f'({kind})real()'))
    return '%' + flags + width + ('.' + precision if precision else '') + modifier + letter


def main(formats, rounds):
    random.seed(1)
    sys.stdout.write(HEAD)
    for index in range(formats):
        pieces, arguments = [], []
        while len(pieces) < random.randrange(1, 6):
            pieces.append(random.choice(['', ' ', 'x=', ', ', '[', 'per cent %% ', '7']) + conversion(arguments))
        names = ''.join(f', v{i}' for i in range(len(arguments)))
        sys.stdout.write(f'static void f{index}(void) {{\n  for (int round = 0; round < {rounds}; round++) {{\n')
        for i, (kind, value) in enumerate(arguments):
            sys.stdout.write(f'    {kind} v{i} = {value};\n')
        text = ''.join(pieces)
        error = '    errno = round;\n'
        sys.stdout.write(f'{error}    KYMO_PRINTF(random, f{index}, "{text}"{names});\n')
        sys.stdout.write(f'{error}    printf("random:f{index} " "{text}" "\\n"{names});\n  }}\n}}\n')
    sys.stdout.write('int main(void) {\n' + ('' if FOREIGN else '  if (!setlocale(LC_ALL, "C.UTF-8")) return 1;\n') + ''.join(f'  f{index}();\n' for index in range(formats)) + '  return 0;\n}\n')


main(int(sys.argv[1]), int(sys.argv[2]))
