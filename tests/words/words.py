#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints ok or not ok for each document, and a line for each word in documents that we avoid, for each path in them that
leads nowhere, and for each name of ours that the sources do not have. The words are looked for outside of code. A folder
of sources is one document: the words are looked for in its string literals, which are the messages and help texts."""
import re
import sys
from pathlib import Path

AVOIDED = [ # what is avoided, and what is written instead
    (r'behind', 'after'), (r'in front of', 'before'), (r'tells?|told|telling', 'reports, returns, prints, says'),
    (r'lies|laid|lays?(?: \w+)? down', 'is, encodes'), (r'stands?(?![ -](?:for|beside|among|anywhere)\b)|stood', 'is'),
    (r'whoever|whatever way', 'the caller'), (r'borders?', 'boundary'), (r'mend(?:s|ed|ing)?', 'repair'), (r'hostile', 'untrusted'),
    (r'hung up(?: on)?|hangs up', 'disconnected'), (r'purse', 'budget'), (r'scouts?', 'lookahead reader'), (r'trouble', 'decode error'),
    (r'at hand', 'current, buffered'), (r'nobody knows the', 'is unknown'), (r'no good', 'not initialised'), (r'comes? along', 'is installed'),
    (r"one's own|(?:of|by) (?:your|the user's|a program's) own|of users", 'custom'), (r'so many', 'this number of'),
    (r'passed by|goes by|go by', 'skipped, passes'), (r'(?:has|have|no) room|room for', 'space'), (r'(?<!--)key files?', 'compiled description'),
    (r'handed on', 'passed on'),
]
ANY = re.compile(rf'\b(?:{"|".join(avoided for avoided, _ in AVOIDED)})\b')
LITERAL = re.compile(r'/\*.*?\*/|//[^\n]*|^#include[^\n]*|\'(?:\\.|[^\'\\\n])*\'|"(?:\\.|[^"\\\n])*"', flags=re.S | re.M)
NAME = re.compile(r'\b(?:kymo|KYMO)_\w*[A-Za-z0-9]\b')
FOLDERS = 'bench|cmake|descriptions|docs|examples|fuzz|include|scripts|src|tests'


def prose_of(text):
    """The same lines, with code blanked: fences, indented blocks, inline code."""
    def blank(match):
        return re.sub(r'[^\n]', ' ', match[0])
    text = re.sub(r'^```.*?^```', blank, text, flags=re.S | re.M)
    text = re.sub(r'\]\([^)]*\)', blank, text)
    text = re.sub(r'(?<=\n\n)(?: {4}[^\n]*\n|\n)+', blank, text)
    return re.sub(r'`+[^`]*`+', blank, text)


def prose_of_page(text):
    def blank(match):
        return re.sub(r'[^\n]', ' ', match[0])
    text = re.sub(r'^\.Bd -literal.*?^\.Ed', blank, text, flags=re.S | re.M)
    text = re.sub(r'^\.\\".*', blank, text, flags=re.M)
    return re.sub(r'^\.(?:Ql|Fn|Ft|In|Pa|Dl|Li|Cm|Fl|Dv|Va|Fa) .*', blank, text, flags=re.M)


def literals_of(text):
    """The string literals, each in its line."""
    kept, end = [], 0
    for match in LITERAL.finditer(text):
        kept += ['\n' * text.count('\n', end, match.start()), match[0] + ' ' if match[0][0] == '"' else '\n' * match[0].count('\n')]
        end = match.end()
    return ''.join(kept)


def line_of(text, at):
    return text.count('\n', 0, at) + 1


def names_of(top):
    """What the sources and the pages call things."""
    names = {name for page in top.glob('docs/man/*') for name in (page.stem, page.stem.upper())}
    sources = [path for folder in ('include', 'src', 'cmake', 'examples') for path in top.glob(f'{folder}/**/*')]
    for path in [*sources, top / 'tests/run']:
        if path.is_file() and path.suffix in ('', '.c', '.h', '.map', '.in', '.build'):
            names.update(NAME.findall(path.read_text(errors='replace')))
    return names


def avoided_in(prose):
    if not ANY.search(re.sub('   +', '  ', prose).lower()): # most texts: what was blanked is long
        return
    for avoided, instead in AVOIDED:
        for match in re.finditer(rf'\b(?:{avoided})\b', prose, flags=re.I):
            yield line_of(prose, match.start()), match.start(), f'"{re.sub(chr(10), " ", match[0])}": {instead}'


def faults(top, name, names):
    text = (top / name).read_text()
    is_page = not name.endswith('.md')
    yield from avoided_in(prose_of_page(text) if is_page else prose_of(text))
    for match in NAME.finditer(text):
        if match[0] not in names:
            yield line_of(text, match.start()), match.start(), f'nothing is called {match[0]}'
    if is_page:
        return
    for match in re.finditer(rf'`<?((?:{FOLDERS})/[\w./+-]*\w/?|[a-z_]+/[\w/.]+\.[ch])(?=[`>*])', text):
        places = (top / folder / match[1] for folder in ('', 'src', 'include'))
        if not re.search(r'NAME|^sys/|/X\b|_X\b', match[1]) and text[match.end()] != '*' and not any(place.exists() for place in places):
            yield line_of(text, match.start()), match.start(), f'there is no {match[1]}'


def main(top, documents):
    names = names_of(Path(top))
    for name in documents:
        found = []
        sources = sorted(path for path in (Path(top) / name).rglob('*.[ch]')) if (Path(top) / name).is_dir() else []
        for path in sources:
            found += [(str(path.relative_to(top)), *one) for one in avoided_in(literals_of(path.read_text()))]
        if not sources:
            found = sorted(((name, *one) for one in faults(Path(top), name, names)), key=lambda one: one[2])
        for place, line, _, fault in found:
            print(f'    {place}:{line}: {fault}')
        print(f'not ok {name}: {len(found)} words, paths or names' if found else f'ok {name}')


main(sys.argv[1], sys.argv[2:])
