#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""windows.py KYMO TRACE SEED WORK: what kymo and babeltrace2 print between the same times, written as people do.

Prints what differs; WORK is a folder for the outputs. Losses are compared without their times: where one reaches
out of the window, babeltrace2 rounds the boundary to cycles of the clock.
"""
import datetime
import random
import re
import subprocess
import sys
from pathlib import Path


def run(*command):
    done = subprocess.run(command, capture_output=True)
    losses = [re.sub(r'\[[^]]*\]', '[]', line) for line in done.stderr.decode('latin-1').splitlines() if line.startswith('WARNING:')]
    return done.returncode, done.stdout, losses


def times_of(trace):
    """Seconds and nanoseconds of all events."""
    text = run('babeltrace2', '--clock-seconds', trace)[1].decode('latin-1')
    return re.findall(r'^\[(-?\d+)\.(\d{9})\]', text, flags=re.M)


def forms_of(seconds, nanoseconds):
    """Ways to write a time, or one that is near it."""
    forms = [f'{seconds}.{nanoseconds}', seconds, f'{seconds}.{nanoseconds[:3]}']
    if 0 <= int(seconds) < 9 * 10**9:
        date = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
        forms += [f'{date:%Y-%m-%d %H:%M:%S}.{nanoseconds}', f'{date:%Y-%m-%d %H:%M:%S}', f'{date:%Y-%m-%d %H:%M}',
                  f'{date:%Y-%m-%d}', f'{date:%H:%M:%S}.{nanoseconds}', f'{date:%H:%M:%S}', f'{date:%H:%M}']
    return forms


def windows_of(times, choose):
    for _ in range(6):
        begin, end = (choose.choice(forms_of(*choose.choice(times))) for _ in range(2))
        yield choose.choice(([f'--begin={begin}'], [f'--end={end}'], [f'--begin={begin}', f'--end={end}'],
                             [f'--timerange={begin},{end}'], [f'--timerange=[{begin},{end}]']))


def main(kymo, trace, seed, work):
    compare = Path(__file__).with_name('compare.py')
    times = times_of(trace)
    for window in windows_of(times, random.Random(int(seed))) if times else ():
        theirs = run('babeltrace2', *window, trace)
        ours = run(kymo, 'cat', '--format', 'babeltrace2', *window, trace)
        if theirs[0] != 0:
            if ours[0] == 0:
                print(window, 'babeltrace2 alone refuses it')
            continue
        Path(work, 'theirs').write_bytes(theirs[1])
        Path(work, 'ours').write_bytes(ours[1])
        difference = subprocess.run([sys.executable, compare, f'{work}/theirs', f'{work}/ours'], capture_output=True)
        if ours[0] != 0 or difference.returncode != 0 or theirs[2] != ours[2]:
            print(window, ours[0], difference.stdout, *theirs[2], *ours[2], sep='\n  ')


main(*sys.argv[1:])
