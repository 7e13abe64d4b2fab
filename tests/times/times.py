#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the times of a trace's events in everything that shows or takes them: times.py TRACE WORK-DIRECTORY"""
import csv
import datetime
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

KYMO = os.environ['KYMO']


def run(*command):
    return subprocess.run(command, capture_output=True, check=False).stdout.decode('latin-1')


def cat(trace, *options):
    return run(KYMO, 'cat', '-q', *options, trace)


def nanoseconds(seconds):
    """Of "[-]SECONDS.NNNNNNNNN"."""
    return int(seconds.replace('.', ''))


def stamps(text):
    return [nanoseconds(stamp) for stamp in re.findall(r'^\[(-?\d+\.\d{9})\]', text, re.MULTILINE)]


def json_times(trace, *options):
    lines = [json.loads(line) for line in cat(trace, '-f', 'json', *options).splitlines()]
    return [line['ts'] for line in lines if 'ts' in line]


def details_times(trace):
    blocks = cat(trace, '-f', 'details').split('\n\n')
    return [int(match[1].replace(',', '')) for block in blocks if '\nEvent ' in block
            for match in [re.match(r'\[.* cycles, (-?[\d,]+) ns from origin\]', block)] if match]


def converted(trace, kind, work):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    run(KYMO, 'convert', '-q', '--to', kind, '-o', str(work / 'out'), trace)
    return json_times(str(work / 'out'))


def outputs(trace, work):
    """Name and times of each."""
    yield 'text', stamps(cat(trace, '--clock-seconds'))
    yield 'babeltrace2 format', stamps(cat(trace, '-f', 'babeltrace2', '--clock-seconds'))
    yield 'generic', [nanoseconds(time) for time in re.findall(r' time: (-?\d+\.\d{9}), ', cat(trace, '-f', 'generic'))]
    yield 'csv', [int(row['ts']) for row in csv.DictReader(io.StringIO(cat(trace, '-f', 'csv'), newline='')) if row['ts']]
    yield 'details', details_times(trace)
    yield 'ctf1', converted(trace, 'ctf1', work)
    yield 'ctf2', converted(trace, 'ctf2', work)
    if shutil.which('babeltrace2'):
        yield 'babeltrace2', stamps(run('babeltrace2', '--clock-seconds', trace))


def seconds(time):
    return f'{"-" if time < 0 else ""}{abs(time) // 10**9}.{abs(time) % 10**9:09}'


def moment(time):
    day = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=time // 10**9)
    return f'{day.isoformat()}.{time % 10**9:09}Z'


def queries(trace, times):
    """What asks for one time finds the events of this time."""
    for time in times[:1] + times[len(times) // 2:len(times) // 2 + 2] + times[-1:]:
        at = seconds(time)
        text = moment(time)
        yield f'--filter at {text}', json_times(trace, '--filter', f'TIME IN ("{text}".."{text}")'), [time] * times.count(time)
        yield f'--timerange at {at}', json_times(trace, f'--timerange={at},{at}'), [time] * times.count(time)
    info = json.loads(run(KYMO, 'info', '--json', trace))
    yield 'info', [info['begin'], info['end']], [min(times), max(times)]


def main():
    trace, work = sys.argv[1], Path(sys.argv[2])
    times = json_times(trace)
    different = []
    for name, found in outputs(trace, work):
        if found and found != times or not found and times and name not in ('ctf1', 'ctf2', 'babeltrace2'):
            at = next((i for i, (a, b) in enumerate(zip(found, times)) if a != b), min(len(found), len(times)))
            different.append(f'{name}: {len(found)} times, not {len(times)}; number {at}: {found[at:at + 1]}, not {times[at:at + 1]}')
    if times == sorted(times) and times:
        different += [f'{name}: {found[:3]}, not {wanted[:3]}' for name, found, wanted in queries(trace, times) if found != wanted]
    print('\n'.join(different))
    return 1 if different else 0


if __name__ == '__main__':
    sys.exit(main())
