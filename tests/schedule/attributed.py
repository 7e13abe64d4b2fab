# SPDX-License-Identifier: MIT
#
# attributed.py TRUTH SPANS: what kymo stat spans --why says of each span of work.c is, within 5 % of the span, what the
# kernel's accounts said. These are of a little more than the span, which is much if the thread had to wait just there. The
# kernel counts time from another point of a switch than that of the event, and without that of interrupts, which end most
# waits. What the host takes from a virtual machine is no thread's time in these accounts, but is so by the events.
import json
import sys

SWITCH_NS = 20000  # at most, of one wait
TICK_NS = 10000000  # in which stolen time is counted
CAUSES = {'sleeping': 'sleep', 'locking': 'futex', 'syncing': 'disk'}
spans = {}
for line in open(sys.argv[2]):
    row = json.loads(line)
    if 'span' in row:
        spans[row['span'].rpartition(':')[2]] = row
for line in open(sys.argv[1]):
    name, *numbers = line.split()
    wall, cpu, delay, stolen = map(int, numbers)
    span = spans.pop(name)
    why = span['why']
    cause = sum(part['total'] for part in why['blocked_in'] if part['cause'] == CAUSES.get(name))
    outside = wall - span['duration']
    assert outside >= 0, (name, wall, span)
    waits = sum(part['count'] for part in why['blocked_in'])
    limit = .05 * span['duration'] + outside + SWITCH_NS * waits + (stolen + TICK_NS if stolen else 0)
    assert abs(why['running'] - cpu) < limit, (name, cpu, span)
    assert abs(why['runnable'] - delay) < limit, (name, delay, span)
    assert abs(cause - (wall - cpu - delay)) < limit, (name, wall, cpu, delay, span)
    assert why['running'] + why['runnable'] + why['blocked'] + why['not_seen'] == span['duration'], span
assert not spans, spans
