#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the files of the page as C:  embed.py OUT.c FILE…

Each file is an array and a row of the table serve_assets (serve/serve.h); index.html is the path "/".
"""
import sys
from pathlib import Path

TYPES = {'.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8',
         '.svg': 'image/svg+xml'}

ENDS = {'.js': (b'</script', b'<!--'), '.css': (b'</style',)}


def main():
    out, *files = map(Path, sys.argv[1:])
    lines, rows = ['/* Made by src/serve/embed.py. */', '#include "serve/serve.h"'], []
    for number, file in enumerate(files):
        content = file.read_bytes()
        for end in ENDS.get(file.suffix, ()):
            if end in content.lower():
                sys.exit(f'{file}: {end.decode()} would end the element that has this file in a page without a server (kymo view --html)')
        lines.append(f'static const unsigned char asset_{number}[] = {{')
        for at in range(0, len(content), 24):
            lines.append(''.join(f'{byte},' for byte in content[at:at + 24]))
        lines.append('0};')  # a text for C, too
        path = '/' if file.name == 'index.html' else f'/{file.name}'
        rows.append(f'  {{"{path}", "{TYPES[file.suffix]}", asset_{number}, {len(content)}}},')
    lines += ['const struct serve_asset serve_assets[] = {', *rows, '  {0, 0, 0, 0}};']
    out.write_text('\n'.join(lines) + '\n')


main()
