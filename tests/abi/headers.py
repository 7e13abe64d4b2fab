#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What versions of the public headers differ in.

    headers.py older FOLDER          the headers lose the last member of each struct that may grow
    headers.py newer FOLDER          … and have 64 bytes more in each
    headers.py view FOLDER HEADER…   a C file that defines all functions that the headers declare, and returns a pointer to each
                                     struct, so that the debug information of its library is what programs see: opaque structs
                                     have no members in it
"""
import re
import subprocess
import sys
from pathlib import Path

# Passed or held by value, or with a last member that client.c needs (kymo_value): these never change.
NEVER_CHANGE = {'kymo_error', 'kymo_hash', 'kymo_hashes', 'kymo_range', 'kymo_reference', 'kymo_c_shape', 'kymo_time',
                'kymo_time_world', 'kymo_time_mistake'}
NEEDED_WHOLE = {'kymo_value', 'kymo_environment', 'kymo_machine', 'kymo_table_key', 'kymo_table_value', 'kymo_sink', 'kymo_sink_options',
                'kymo_records'}
GROWING_HEADERS = ('schema.h', 'event.h', 'info.h', 'move.h', 'get.h', 'filter.h', 'read.h', 'live.h', 'stat.h')
GROWING_STRUCTS = {'kymo_log_counts', 'kymo_log_options', 'kymo_definition_options'}
STRUCT = re.compile(r'^struct (kymo_\w+) \{\n(.*?)^\};', re.M | re.S)


def without_comments(text):
    return re.sub(r'/\*.*?\*/', lambda found: re.sub(r'[^\n]', '', found[0]), text, flags=re.S)


def change(folder, newer):
    changed = 0
    for path in sorted(Path(folder).rglob('*.h')):
        def one(found):
            nonlocal changed
            name, body = found[1], found[2]
            may_grow = name in GROWING_STRUCTS or path.name in GROWING_HEADERS and name not in NEVER_CHANGE
            if not may_grow or not newer and name in NEEDED_WHOLE:
                return found[0]
            changed += 1
            if newer:
                return f'struct {name} {{\n{body}  unsigned long long kymo_added[8];\n}};'
            # declarations end with a semicolon outside of braces
            depth, ends = 0, []
            for at, letter in enumerate(body):
                depth += (letter == '{') - (letter == '}')
                if letter == ';' and depth == 0:
                    ends.append(at + 1)
            return f'struct {name} {{\n{body[:ends[-2]]}\n}};' if len(ends) > 1 else found[0]
        path.write_text(STRUCT.sub(one, without_comments(path.read_text())))
    print(f'{changed} structs')
    return 0 if changed > 30 else 1


def view(folder, headers):
    lines = [f'#include <{header}>' for header in headers]
    Path('all.c').write_text('\n'.join(lines) + '\n')
    subprocess.run(['gcc', '-std=gnu11', f'-I{folder}', '-aux-info', 'seen', '-fsyntax-only', 'all.c'], check=True)
    text = subprocess.run(['gcc', '-std=gnu11', '-E', '-P', f'-I{folder}', 'all.c'], check=True, capture_output=True, text=True).stdout
    inline = set()
    functions = {}
    for line in Path('seen').read_text().splitlines():
        found = re.match(r'/\* (\S+):\d+:N([CF]) \*/ (extern|static) (.*?); ?(/\*.*)?$', line)
        if not found or not found[1].startswith(folder):
            continue
        name = re.search(r'\b(kymo_\w+) \(', found[4])
        if name and found[2] == 'F':
            inline.add(name[1])
        elif name:
            functions[name[1]] = found[4]
    for name, declaration in sorted(functions.items()):
        if name not in inline:
            lines.append(f'{declaration} {{ __builtin_trap(); }}')
    for name in sorted(set(re.findall(r'\bstruct (kymo_\w+) \{', text))):
        lines.append(f'struct {name} *kymo_see_{name}(void); struct {name} *kymo_see_{name}(void) {{ return 0; }}')
    for name in sorted(set(re.findall(r'\benum (kymo_\w+) \{', text))):
        lines.append(f'enum {name} *kymo_see_{name}(void); enum {name} *kymo_see_{name}(void) {{ return 0; }}')
    for found in re.finditer(r'^extern (__thread )?([^;()]*?\bkymo_\w+(\[[^\]]*\])?) *(?=__attribute__|;)', text, re.M):
        lines.append(f'{found[1] or ""}{found[2].replace("const ", "")};' if 'plugin' not in found[2] else '')
    print('\n'.join(lines))
    return 0


if sys.argv[1] == 'view':
    sys.exit(view(sys.argv[2], sys.argv[3:]))
sys.exit(change(sys.argv[2], sys.argv[1] == 'newer'))
