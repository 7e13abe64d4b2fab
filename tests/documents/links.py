# SPDX-License-Identifier: MIT
"""Prints the links of pages that lead nowhere: to a file that does not exist, or to a heading that the page does not have.

usage: links.py PAGE.md…
"""
import re
import sys
from pathlib import Path

FENCE = re.compile(r'^```.*?^```$', re.M | re.S)
LINK = re.compile(r'\]\(([^)\s]+)\)')
HEADING = re.compile(r'^#+ (.*)$', re.M)


def text_of(page):
    return FENCE.sub('', page.read_text(encoding='utf-8'))


def anchors(page):
    """What GitHub makes of the headings."""
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in HEADING.findall(text_of(page))}


def fault(page, link):
    path, _, anchor = link.partition('#')
    target = page.parent / path if path else page
    if not target.exists():
        return 'there is no such file'
    if anchor and anchor not in anchors(target):
        return 'there is no such heading'
    return None


def main():
    has_fault = False
    for name in sys.argv[1:]:
        for link in LINK.findall(text_of(Path(name))):
            if '://' not in link and (words := fault(Path(name), link)):
                print(f'{name}: {link}: {words}')
                has_fault = True
    return has_fault


sys.exit(main())
