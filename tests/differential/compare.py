#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares two texts in babeltrace2's format: compare.py THEIRS OURS [details]

One error of babeltrace2 2.0.4 is forgiven: where a text is empty, it prints the text that the
same field had in an earlier event. So a "" of ours matches any text of theirs.

With `details`, they are those of sink.text.details, where texts stand without quotes and may have
several lines.
"""
import re
import sys

ANY_TEXT = r'"(?:[^"\\]|\\.)*"'


def same(theirs, ours):
    if theirs == ours:
        return True
    if '""' not in ours:
        return False
    # "" at the start of a text token only: a text never holds an unescaped quote
    pattern = ''.join(ANY_TEXT if token == '""' else re.escape(token)
                      for token in re.findall(rf'{ANY_TEXT}|[^"]+|"', ours))
    return re.fullmatch(pattern, theirs) is not None


def begins(their, our):
    return their == our or (our.endswith(': ') and their.startswith(our))


def compare_details(theirs, ours):
    """An empty text of ours may be any number of lines of theirs."""
    at = 0
    for number, our in enumerate(ours):
        if at == len(theirs) or not begins(theirs[at], our):
            print(f'line {at + 1}: theirs {theirs[at:at + 1]!r}, ours {our!r}')
            return 1
        is_empty = theirs[at] != our
        at += 1
        while is_empty and at < len(theirs) and not begins(theirs[at], ours[number + 1]):
            at += 1
    return 0 if at == len(theirs) else 1


def main():
    mode = sys.argv[3] if len(sys.argv) > 3 else ''
    texts = []
    for path in sys.argv[1:3]:
        with open(path, 'rb') as file:
            lines = file.read().decode('latin-1').split('\n')
        texts.append(lines)
    theirs, ours = texts
    if mode == 'details':
        return compare_details(theirs, ours)
    for number, (their, our) in enumerate(zip(theirs, ours), 1):
        if not same(their, our):
            at = next((i for i, (a, b) in enumerate(zip(their, our)) if a != b), min(len(their), len(our)))
            begin = max(0, at - 60)
            print(f'line {number}: theirs …{their[begin:at + 80]!r}, ours …{our[begin:at + 80]!r}')
            return 1
    if len(theirs) != len(ours):
        print(f'theirs has {len(theirs) - 1} lines, ours {len(ours) - 1}')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
