#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_many.py FIRST LAST [whole|switched] <TEXT: compares events of the program "many", as kymo cat -f babeltrace2 prints
them, with what each must be: of tracepoints FIRST to LAST alone, the check sum right, each thread's events in their order.
"whole": none is missing between a thread's first and last one, except in the first and the last round, in which they are
switched on and off one by one. "switched": others were switched off just before, so the first event of a thread may be of one of
those: it had begun. Prints how many there are of each thread."""
import re
import sys
from collections import Counter

first, last, whole, switched = int(sys.argv[1]), int(sys.argv[2]), 'whole' in sys.argv, 'switched' in sys.argv
event = re.compile(r'many:p(\d+):.*\{ thread = (\d+), round = (\d+), sum = (\d+) \}$')
before, counts, gaps, others, began = {}, Counter(), {}, set(), {}
for line in sys.stdin:
    match = event.search(line)
    if not match:
        sys.exit(f'no event: {line}')
    point, thread, turn, total = map(int, match.groups())
    if total != turn * 31 + thread + 1000 + point:
        sys.exit(f'the sum is wrong: {line}')
    if not first <= point <= last:
        if not switched or thread in others or thread in before:
            sys.exit(f'many:p{point} was not switched on: {line}')
        others.add(thread)
        continue
    at = turn * (last - first + 1) + point - first
    if thread in before and at <= before[thread]:
        sys.exit(f'thread {thread}: {at} comes after {before[thread]}: {line}')
    began.setdefault(thread, turn)
    is_next = at == before.get(thread, at - 1) + 1
    is_switched_on = turn == began[thread] or turn == began[thread] + 1 and point == first
    if not is_next and not is_switched_on:
        gaps.setdefault(thread, (turn, line))
    if whole and thread in gaps and gaps[thread][0] != turn:
        sys.exit(f'thread {thread}: events are missing before {gaps[thread][1]}')
    before[thread] = at
    counts[thread] += 1
print(*(counts[thread] for thread in sorted(counts)))
