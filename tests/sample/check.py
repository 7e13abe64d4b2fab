# SPDX-License-Identifier: MIT
#
# check.py EVENTS SECONDS HZ [THREADS]: `kymo cat --format json` of shares.c that ran SECONDS in each of three threads, sampled HZ times a second:
# samples by function are 3 : 1, all of them within the spans of their
# function, of all threads that have spans, and as many as CPU time was used.
import collections
import json
import sys

path, seconds, hz = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
wanted = int(sys.argv[4]) if len(sys.argv) > 4 else 3
traced = {json.loads(line)['tid'] for line in open(path) if '"event":"app:' in line}
inner = {}
count = collections.Counter()
threads = collections.Counter()
processes = set()
for line in open(path):
    event = json.loads(line)
    name, tid = event['event'], event['tid']
    if name.startswith('app:'):
        span, edge = name[4:].split('_')
        inner[tid] = span if edge == 'begin' else None
    elif name in ('cpu-clock', 'cycles'):
        chain = [frame.get('symbol', '').split('+')[0] if isinstance(frame, dict) else '' for frame in event['fields']['callchain']]
        for function in ('heavy', 'light'):
            if function not in chain or tid not in traced or tid not in inner: # its first span is before the recording
                continue
            # the threads' stacks begin in libc, which may be built without frame pointers; a function that has just been
            # entered has no frame yet, so its caller is missing
            at = chain.index(function)
            if at and (chain[at - 1] not in ('spin', 'used') or chain[at + 1] != 'work' or chain[at + 2] not in ('main', 'thread')):
                sys.exit(f'a chain of {function}: {chain}')
            if inner.get(tid) != function:
                sys.exit(f'at {event["ts"]} a sample of thread {tid} in {function}, which is in a span of {inner.get(tid)}')
            count[function] += 1
            threads[tid] += 1
            processes.add(event['context']['pid'])
whole = sum(count.values())
share = count['heavy'] / max(whole, 1)
if not 0.67 < share < 0.83:
    sys.exit(f'a share of {share} in heavy: {count}')
if len(threads) != wanted or len(processes) != wanted - 1 or min(threads.values()) * 6 < whole:
    sys.exit(f'samples by thread {threads}, of processes {processes}')
if not 0.6 < whole / (wanted * seconds * hz) < 1.2:
    sys.exit(f'{whole} samples, not about {wanted * seconds * hz}')
