# SPDX-License-Identifier: MIT
#
# flip.py KYMO FILE TEXT PLACES PARTS: changes a byte at PARTS places of pages, at a third of that number of each other
# section, and at the first two of each. kymo must end by itself, with 0 or 1; with a line about each damage that it
# reports; and must not take long. A changed byte of a text or a number can be any other; all else is shown.
import subprocess
import sys

kymo, path, text, places, parts = sys.argv[1:]
data = open(path, 'rb').read()
lines = set(open(text).read().splitlines())
sections = [(int(place), name) for place, name in (line.strip().split(' ', 1) for line in open(places))]
sections.sort()
reported = {}
for (begin, name), end in zip(sections, [place for place, _ in sections[1:]] + [len(data)]):
    step = max((end - begin) // (int(parts) if name.startswith('pages') else int(parts) * 3 // 10), 1)
    for at in sorted({begin, begin + 1, *range(begin, end, step)}):
        change = 0x01 if at % 4 == 0 and at != begin else 0xff
        changed = bytearray(data)
        changed[at] ^= change
        with open('flipped', 'wb') as out:
            out.write(changed)
        run = subprocess.run([kymo, 'cat', '--format', 'trace-cmd', 'flipped'], capture_output=True, timeout=60)
        errors = run.stderr.decode(errors='replace')
        if run.returncode == 3 and 'no common origin' in errors:
            continue  # the name of one buffer's clock has changed
        if run.returncode not in (0, 1) or 'anitizer' in errors:
            sys.exit(f'{name}: byte {at} ^ {change:#x}: status {run.returncode}\n{errors}')
        if run.returncode == 1 and 'flipped' not in errors:
            sys.exit(f'{name}: byte {at} ^ {change:#x}: no place in\n{errors}')
        shown = run.stdout.decode(errors='replace').splitlines()
        reported[name] = reported.get(name, 0) + run.returncode
        if name.startswith('pages') and run.returncode == 0 and len(shown) < len(lines) * 9 // 10:
            sys.exit(f'{name}: byte {at} ^ {change:#x}: only {len(shown)} of {len(lines)} lines, and no error')
for name in ('header', 'events'):
    if not reported.get(name):
        sys.exit(f'no change in {name} was reported')
