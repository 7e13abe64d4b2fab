# SPDX-License-Identifier: MIT
#
# switches.py EVENTS: `kymo cat` of sched_switch: on each CPU, each switch is away from the thread that the one before went to. Some kernels
# hide threads: no switch away from those is reported at all. The idle thread, number 0, is another one on each CPU, so it may be hidden on
# one of them only.
import re
import sys

switches = []
for line in open(sys.argv[1]):
    match = re.search(r'@(\d+) sched:sched_switch "?.*prev_pid=(\d+).* next_pid=(\d+)', line) or \
        re.search(r'@(\d+) sched:sched_switch .*prev_pid = (\d+).* next_pid = (\d+)', line)
    if match:
        switches.append((*map(int, match.groups()), line))
    elif 'sched:sched_switch' in line:
        sys.exit(f'what is this? {line}')
seen = {(cpu, away) if away == 0 else away for cpu, away, _, _ in switches}
running = {}
for cpu, away, to, line in switches:
    before = running.get(cpu, away)
    if before != away and ((cpu, before) if before == 0 else before) in seen:
        sys.exit(f'CPU {cpu}: {before} ran, but the switch is away from {away}: {line}')
    running[cpu] = to
if len(switches) < 20:
    sys.exit(f'only {len(switches)} switches')
