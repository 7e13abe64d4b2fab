# SPDX-License-Identifier: MIT
#
# flip.py KYMO FILE PLACES PARTS: changes a byte at PARTS places of each section, and at its first two. kymo must end by itself,
# with 0 or 1, or refuse the file; with a line about each damage; and must not take long. Changes in the first half of each record's
# header must not go unnoticed.
import subprocess
import sys

kymo, path, places, parts = sys.argv[1:]
data = open(path, 'rb').read()
sections = sorted((int(place), name) for place, name in (line.split() for line in open(places)))
lines = subprocess.run([kymo, 'cat', path], capture_output=True).stdout.count(b'\n')
reported = {}
for (begin, name), end in zip(sections, [place for place, _ in sections[1:]] + [len(data)]):
    step = max((end - begin) // int(parts), 1)
    for at in sorted({begin, begin + 1, *range(begin, end, step)}):
        if at < 8:
            continue
        change = 0x01 if at % 4 == 0 else 0xff
        changed = bytearray(data)
        changed[at] ^= change
        with open('flipped', 'wb') as out:
            out.write(changed)
        run = subprocess.run([kymo, 'cat', 'flipped'], capture_output=True, timeout=60)
        errors = run.stderr.decode(errors='replace')
        if run.returncode not in (0, 1, 3) or 'anitizer' in errors:
            sys.exit(f'{name}: byte {at} ^ {change:#x}: status {run.returncode}\n{errors}')
        if run.returncode and 'flipped' not in errors and 'events are lost' not in errors:
            sys.exit(f'{name}: byte {at} ^ {change:#x}: no place in\n{errors}')
        reported[name] = reported.get(name, 0) + (run.returncode != 0)
        shown = run.stdout.count(b'\n')
        if run.returncode == 0 and shown < lines:
            sys.exit(f'{name}: byte {at} ^ {change:#x}: only {shown} of {lines} events, and no error')
for name in ('header', 'records'):
    if not reported.get(name):
        sys.exit(f'no change in {name} was reported')
