#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes style and script of the workbench as C, with their hashes for its policy:  embed.py OUT.c page.css page.js"""
import base64
import hashlib
import sys
from pathlib import Path


def main():
    out, style, script = map(Path, sys.argv[1:])
    lines = ['/* Made by src/tool/workbench/embed.py. */', '#include "tool/workbench.h"']
    for name, file, end in (('style', style, '</style'), ('script', script, '</script')):
        text = '\n' + file.read_text()
        if end in text.lower() or '<!--' in text:
            sys.exit(f'{file}: "{end}" or "<!--" would end the element that has this file')
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        lines.append(f'const char workbench_{name}[] = {{')
        lines += [''.join(f'{byte},' for byte in text.encode()[at:at + 24]) for at in range(0, len(text.encode()), 24)]
        lines.append('0};')
        lines.append(f'const char workbench_{name}_hash[] = "sha256-{digest}";')
    out.write_text('\n'.join(lines) + '\n')


main()
