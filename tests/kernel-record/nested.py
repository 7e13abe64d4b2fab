# SPDX-License-Identifier: MIT
#
# nested.py EVENTS THREADS ROUNDS: `kymo cat` of writers: in each of THREADS threads, ROUNDS times: begin of the span, the system call's
# entry, its exit, end of the span. Other system calls of the same name are before the first span or after the last one.
import collections
import re
import sys

path, threads, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
LETTERS = {'app:write_begin': 'b', 'syscalls:sys_enter_write': 'i', 'syscalls:sys_exit_write': 'o', 'app:write_end': 'e'}
lines = collections.defaultdict(list)
times = []
for line in open(path):
    match = re.search(r'/(\d+)(?:@\d+)? ([a-z_]+:[a-z_]+)', line)
    if match and match[2] in LETTERS:
        lines[int(match[1])].append(LETTERS[match[2]])
    elif not match and not line.startswith('#'):
        sys.exit(f'what is this? {line}')
whole = 0
for tid, letters in lines.items():
    text = ''.join(letters)
    begin, end = text.find('b'), text.rfind('e')
    if begin < 0 and end < 0:
        continue
    if text[begin:end + 1] != 'bioe' * rounds:
        wrong = re.match('(bioe)*', text[begin:]).end() + begin
        sys.exit(f'thread {tid}: after {wrong} events: {text[wrong:wrong + 12]}')
    whole += 1
if whole != threads:
    sys.exit(f'{whole} threads instead of {threads}')
