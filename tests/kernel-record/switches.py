# SPDX-License-Identifier: MIT
#
# switches.py EVENTS: `kymo cat` of sched_switch: on each CPU, each switch is away from the thread that the one before went to.
import re
import sys

running, count = {}, 0
for line in open(sys.argv[1]):
    match = re.search(r'@(\d+) sched:sched_switch "?.*prev_pid=(\d+).* next_pid=(\d+)', line) or \
        re.search(r'@(\d+) sched:sched_switch .*prev_pid = (\d+).* next_pid = (\d+)', line)
    if not match:
        if 'sched:sched_switch' in line:
            sys.exit(f'what is this? {line}')
        continue
    cpu, away, to = map(int, match.groups())
    if running.get(cpu, away) != away:
        sys.exit(f'CPU {cpu}: {running[cpu]} ran, but the switch is away from {away}: {line}')
    running[cpu] = to
    count += 1
if count < 20:
    sys.exit(f'only {count} switches')
