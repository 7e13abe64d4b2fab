#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds what kymo convert and merge write against what was read.

    check.py KYMO WORK traces NAME=TRACE…    whole traces, as ctf1 and ctf2
    check.py KYMO WORK parts NAME=TRACE…     selections of events and times
    check.py KYMO WORK merge NAME=TRACE…     all streams as one trace
    check.py KYMO WORK traces,merge …         several of them, trace by trace

Prints lines as suites do. What is read is what `kymo cat --format json` prints: names, values and times of all
events, and losses, which name files and are told by their counts.
"""
import functools
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

ENVIRONMENT = dict(os.environ, TZ='UTC', LC_ALL='C.UTF-8')
KYMO, WORK = sys.argv[1], Path(sys.argv[2])


class Differs(Exception):
    pass


class Refused(Exception):
    pass


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, env=ENVIRONMENT)
    return done.returncode, done.stdout, done.stderr.decode('utf-8', 'replace')


def read(trace, *options):
    """Lines about events, and the losses without the file that each was in."""
    status, out, words = run(KYMO, 'cat', '-q', '--format', 'json', *options, trace)
    if status > 1:
        raise Differs(f'cat ended with {status}: {words.strip()}')
    lines, losses = [], []
    for line in out.split(b'\n'):
        if line.startswith(b'{"lost"'):
            loss = json.loads(line)['lost']
            loss.pop('stream')
            losses.append(loss)
        else:
            lines.append(line)
    return lines, losses


@functools.lru_cache(maxsize=16)
def original(trace, *options):
    """The same of a trace that does not change meanwhile: once for all that is written of it."""
    return read(trace, *options)


def write(command, form, trace, out, *options):
    shutil.rmtree(out, ignore_errors=True)
    traces = trace if isinstance(trace, list) else [trace]
    status, _, words = run(KYMO, command, '-q', '--to', form, '-o', out, *options, *traces)
    if status > 1 and 'has no words for this' in words or 'cannot be merged' in words:
        raise Refused(words.strip())
    if status > 1:
        raise Differs(f'{command} ended with {status}: {words.strip()}')


def hold(what, wanted, found):
    if wanted == found:
        return
    if isinstance(wanted, int):
        raise Differs(f'{what}: {found} instead of {wanted}')
    if len(wanted) != len(found):
        raise Differs(f'{what}: {len(found)} instead of {len(wanted)}')
    for one, other in zip(wanted, found):
        if one != other:
            raise Differs(f'{what}: {other} instead of {one}')


def files_of(trace):
    return {path.relative_to(trace): path.read_bytes() for path in sorted(trace.rglob('*')) if path.is_file()}


def theirs(trace):
    """What babeltrace2 prints, and its words about losses without the paths; None if it does not read the trace,
    is not there, or is not asked (CONVERT_ALONE is set)."""
    if 'CONVERT_ALONE' in os.environ or not shutil.which('babeltrace2'):
        return None
    status, out, words = run('babeltrace2', trace)
    losses = [line.split(' in trace ')[0] for line in words.splitlines() if line.startswith('WARNING: Tracer')]
    return (out.split(b'\n'), losses) if status == 0 else None


@functools.lru_cache(maxsize=1)
def theirs_of_original(trace):
    return theirs(trace)


def is_ctf2(trace):
    files = sorted(Path(trace).rglob('metadata'))
    return bool(files) and files[0].read_bytes()[:1] == b'\x1e'


def without_registry(trace):
    for path in list(trace.rglob('.kymo')):
        shutil.rmtree(path)


def check_trace(trace, form):
    out, again = WORK / 'out', WORK / 'again'
    wanted = original(trace)
    write('convert', form, trace, out)
    for what, one, other in zip(('event', 'loss'), wanted, read(out)):
        hold(what, one, other)
    write('convert', form, out, again)
    hold('bytes when converted again', files_of(out), files_of(again))
    if form == 'ctf2':
        without_registry(out)
        hold('event by the metadata alone', wanted[0], read(out)[0])
        return
    printed = None if is_ctf2(trace) else theirs_of_original(trace)
    if printed:
        found = theirs(out)
        if not found:
            raise Differs('babeltrace2 does not read it')
        for what, one, other in zip(('event of babeltrace2', 'loss of babeltrace2'), printed, found):
            hold(what, one, other)


def events_of(trace):
    return [json.loads(line) for line in original(trace)[0] if line]


def selections_of(trace, choose):
    events = events_of(trace)
    names = sorted({event['event'] for event in events})
    names = [name for name in names if name and not set(name) & set(',!*?[\\') and not name.startswith('re:')]
    if names:
        yield ['--event', choose.choice(names)]
        yield ['--event', '!' + choose.choice(names)]
    times = [event['ts'] for event in events if event.get('ts', -1) >= 0]
    for _ in range(4 if times else 0):
        first, last = sorted(choose.choice(times) for _ in range(2))
        yield ['--begin', f'{first}ns', '--end', f'{last}ns']
    if times and names:
        yield ['--begin', f'{choose.choice(times)}ns', '--event', choose.choice(names)]


def check_parts(trace, form):
    out, again = WORK / 'out', WORK / 'again'
    for options in selections_of(trace, random.Random(trace)):
        wanted, losses = original(trace, *options)
        write('convert', form, trace, out, *options)
        found, kept = read(out)
        hold(f'event of {" ".join(options)}', wanted, found)
        hold(f'loss of {" ".join(options)}', counts(losses), counts(kept))
        write('convert', form, out, again)
        hold(f'bytes when converted again, {" ".join(options)}', files_of(out), files_of(again))
        if form == 'ctf1' and not is_ctf2(trace) and theirs_of_original(trace):
            printed = theirs(out)
            if not printed or len(printed[0]) - 1 != len([line for line in wanted if line]):
                raise Differs(f'babeltrace2 does not read all of {" ".join(options)}')


def counts(losses):
    return sorted((loss['what'], loss['count'] or 0) for loss in losses)


def merged(line, like=None):
    """An event without the fields that say where it is from. The properties of its packet are in its context now: beside those
    in that of `like`."""
    event = json.loads(line)
    event.pop('trace', None)
    context = event.pop('context', {})
    known = like['context'] if like else context
    event['context'] = {name: value for name, value in context.items() if name in known}
    return event


def by_time(events):
    return sorted(events, key=lambda event: (event['ts'] or 0, json.dumps(event)))


def total(losses):
    return {what: sum(loss['count'] or 0 for loss in losses if loss['what'] == what) for what in ('events', 'packets')}


def check_merge(trace, form):
    out = WORK / 'out'
    wanted, losses = original(trace)
    write('merge', form, trace, out)
    found, kept = read(out)
    hold('events', len(wanted), len(found))
    originals = [merged(line) for line in wanted if line]
    events = [merged(line, like) for line, like in zip(found, originals)]
    if len(list(Path(trace).rglob('metadata'))) > 1: # events of one time may change places, where streams of several traces become one
        originals, events = by_time(originals), by_time(events)
    hold('event', originals, events)
    hold('lost', list(total(losses).items()), list(total(kept).items()))
    if form == 'ctf1' and not is_ctf2(trace) and theirs_of_original(trace):
        printed = theirs(out)
        if not printed or len(printed[0]) != len(wanted):
            raise Differs('babeltrace2 does not read all of it')


def can_be_read(trace):
    try:
        original(trace)
    except Differs:
        return False
    return True


def main():
    checks = {'traces': check_trace, 'parts': check_parts, 'merge': check_merge}
    modes, refused = sys.argv[3].split(','), dict.fromkeys(sys.argv[3].split(','), 0)
    for argument in sys.argv[4:]:
        name, trace = argument.split('=', 1)
        if not can_be_read(trace):
            continue
        for mode in modes:
            for form in ('ctf1', 'ctf2'):
                try:
                    checks[mode](trace, form)
                    print(f'ok {mode} {form} {name}')
                except Refused:
                    refused[mode] += 1
                except Differs as why:
                    print(f'not ok {mode} {form} {name}: {str(why)[:600]}')
    for mode, count in refused.items():
        if count:
            print(f'skip {mode}: {count} traces are refused with words of why')


main()
