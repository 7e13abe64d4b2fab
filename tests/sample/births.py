# SPDX-License-Identifier: MIT
#
# births.py EVENTS TIDS EXPECTED: each thread of TIDS has about EXPECTED samples in EVENTS (`kymo cat --format json`): none has none, as if it
# was not sampled, or twice as many, as if it was sampled by two events (a busy machine takes samples away); and no record of the kernel's is there twice.
import collections
import json
import sys

expected = float(sys.argv[3])
samples, births = collections.Counter(), collections.Counter()
for line in open(sys.argv[1]):
    event = json.loads(line)
    if event.get('event') in ('cpu-clock', 'cycles'):
        samples[event['tid']] += 1
    elif event.get('event') == 'PERF_RECORD_FORK':
        births[event['fields']['tid']] += 1
tids = [int(line) for line in open(sys.argv[2])]
if len(tids) < 100:
    sys.exit(f'only {len(tids)} threads')
few = {tid: samples[tid] for tid in tids if not samples[tid]}
many = {tid: samples[tid] for tid in tids if samples[tid] > 1.6 * expected}
if few or many:
    sys.exit(f'of {len(tids)} threads {len(few)} have no samples, {len(many)} have more than about {expected}: {few} {many}')
if any(number > 1 for number in births.values()):
    sys.exit(f'births that are recorded twice: {[tid for tid, number in births.items() if number > 1]}')
