# SPDX-License-Identifier: MIT
#
# compare.py KYMO FILE [LEAST [--no-cpu] [--no-chains]]: kymo reads of a file what perf script prints of it: threads, CPUs, times, events, periods, texts of
# tracepoints, callchains, and names of functions that both know. There must be LEAST samples; --no-cpu: perf cannot print CPUs. Prints how many addresses have names.
import json
import re
import subprocess
import sys

kymo, path, *rest = sys.argv[1:]
least = int(rest[0]) if rest else 1


def script(fields):
    done = subprocess.run(['perf', 'script', '-f', '-i', path, '--ns', '-F', fields], capture_output=True)
    if done.returncode:
        sys.exit(done.stderr.decode(errors='replace'))
    return done.stdout.decode(errors='replace').splitlines()


def same(what, theirs, ours):
    for number, (one, other) in enumerate(zip(theirs, ours)):
        if one != other:
            sys.exit(f'{what} {number}:\n  perf {one}\n  kymo {other}')
    if len(theirs) != len(ours):
        sys.exit(f'{what}: perf {len(theirs)}, kymo {len(ours)}')


done = subprocess.run([kymo, 'cat', '--format', 'json', path], capture_output=True)
if done.returncode or done.stderr:
    sys.exit(f'kymo cat ends with {done.returncode}: {done.stderr.decode()}')
events = [json.loads(line) for line in done.stdout.splitlines()]
events = [event for event in events if 'event' in event and not event['event'].startswith('PERF_RECORD_')]
if len(events) < least:
    sys.exit(f'only {len(events)} samples')
has_cpu = 'cpu' in events[0] and '--no-cpu' not in rest


def fields_of(event):
    return {**event.get('event_context', {}), **event.get('fields', {})}


# ---- who and when ----

theirs = []
for line in script('pid,tid,' + ('cpu,' if has_cpu else '') + 'time,event'):
    found = re.match(r'\s*(-?\d+)/(-?\d+)\s+(?:\[(\d+)\]\s+)?(\d+)\.(\d{9}):\s+(\S+):', line)
    if found:
        pid, tid, cpu, seconds, ns, name = found.groups()
        theirs.append((int(pid), int(tid), cpu and int(cpu), int(seconds) * 10 ** 9 + int(ns), name))
shift = events[0]['ts'] - theirs[0][3]
if shift > 10 ** 17:  # the file has the time of day, which perf does not show
    theirs = [(*one[:3], one[3] + shift, one[4]) for one in theirs]
same('sample', theirs, [(event['context']['pid'], event['tid'], event['cpu'] if has_cpu else None, event['ts'], event['event']) for event in events])
names = [line.rstrip() for line in script('comm,time') if re.match(r'.*\s\d+\.\d{9}:', line)]
same('thread', [re.match(r'\s*(.*?)\s+\d+\.\d{9}:', line).group(1) for line in names if line.strip()], [event['thread'] for event in events])
if all('period' in fields_of(event) for event in events):
    same('period', [int(line) for line in script('period') if line.strip().isdigit()], [fields_of(event)['period'] for event in events])

# ---- texts of tracepoints ----

texts = [event['message'] for event in events if 'message' in event]
if texts:
    same('text', [line.strip() for line in script('event,trace') if re.match(r'\S+:\S+: ', line.strip())],
         [f"{event['event']}: {event['message']}".strip() for event in events if 'message' in event])

# ---- callchains ----

number = lambda address: address['value'] if isinstance(address, dict) else address
known, both, different = 0, 0, 0
if '--no-chains' not in rest and any('callchain' in fields_of(event) for event in events):
    chains, chain = [], []
    for line in script('ip,sym,symoff,time') + ['']:
        if re.match(r'\s*\d+\.\d{9}:', line):
            chains.append([])
        elif line.strip():
            address, _, name = line.strip().partition(' ')
            chains[-1].append((int(address, 16), name.strip()))
    ours = [fields_of(event)['callchain'] for event in events]
    # perf shows nothing of a chain with an address that could be a mark
    kept = [(one, other) for one, other in zip(chains, ours) if not (one == [] and any(int(number(each)) >= 2 ** 64 - 4095 for each in other))]
    chains, ours = [one for one, _ in kept], [other for _, other in kept]
    # of files in user space perf prints the offset, whose last 12 bits are those of the address
    short = lambda address: address if address >> 63 else address & 0xfff
    same('callchain', [[short(address) for address, _ in chain] for chain in chains],
         [[short(int(number(each))) for each in chain] for chain in ours])
    for one, other in zip(chains, ours):
        for (address, theirs), mine in zip(one, other):
            theirs = re.fullmatch(r'(.+)\+0x([0-9a-f]+)', theirs)
            mine = re.fullmatch(r'(.+)\+0x([0-9a-f]+)', mine['symbol']) if isinstance(mine, dict) else None
            known += theirs is not None
            if theirs and mine:
                both += 1
                # several names of one address are equally good
                if theirs.group(1) != mine.group(1) and theirs.group(2) != mine.group(2):
                    different += 1
                    if different < 5:
                        print('perf', theirs.group(0), 'kymo', mine.group(0))
print(f'{len(events)} samples, {len(texts)} texts, {known} addresses with names, {both} of them here, {different} others')
sys.exit(different > known // 100 or both < known * 8 // 10)
