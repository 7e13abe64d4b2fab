#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names the slowest syncs in a trace of sqlite-io, and the statements that waited for them.

usage: kymo cat --format json TRACE | examples/slowest-syncs.py [COUNT]

An event is a line of JSON. Each vfs:sync carries the number of the statement that its thread ran, sql:begin the
text of each statement, sql:end its duration: so one pass over the lines tells everything.
"""
import heapq
import json
import sys


def read_trace(lines, count):
    """The slowest `count` syncs, slowest first; what their statements said and how long those took."""
    slowest, texts, durations_ns = [], {}, {}
    for number, line in enumerate(lines):
        event = json.loads(line)
        name, fields = event.get('event'), event.get('fields', {})
        if name == 'sql:begin':
            texts[fields['statement']] = fields['text']
        elif name == 'sql:end':
            durations_ns[fields['statement']] = fields['duration_ns']
        elif name == 'vfs:sync':
            heapq.heappush(slowest, (fields['duration_ns'], -number, event))
            if len(slowest) > count:
                heapq.heappop(slowest)
    return [event for _, _, event in sorted(slowest, reverse=True)], texts, durations_ns


def describe(event, texts, durations_ns):
    fields = event['fields']
    statement = fields['statement']
    if statement == 0:
        said = '(outside of statements)'
    else:
        said = texts.get(statement, '(its beginning is not in the trace)')
    took_ns = durations_ns.get(statement)
    took = f'{took_ns / 1e6:9.3f} ms' if took_ns is not None else ' ' * 12
    return (f'{fields["duration_ns"] / 1e6:9.3f} ms  {fields["file"]:<15} {event.get("thread", "?"):<15} '
            f'{statement:>9} {took}  {" ".join(said.split())}')


def main():
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and not sys.argv[1].isdecimal()):
        sys.exit(__doc__)
    count = int(sys.argv[1]) if len(sys.argv) == 2 else 5
    slowest, texts, durations_ns = read_trace(sys.stdin, count)
    if not slowest:
        sys.exit('slowest-syncs: there is no vfs:sync in this trace')
    print(f'{"sync":>12}  {"file":<15} {"thread":<15} {"statement":>9} {"took":>12}  text')
    for event in slowest:
        print(describe(event, texts, durations_ns))


main()
