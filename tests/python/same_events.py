#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the events of the package kymo with `kymo cat --format json`: events, values, losses, and what cannot be read.

    same_events.py KYMO [--filter FILTER] [--together] [--may-be-empty] TRACE…     TRACE -: paths from the standard input

Each trace is compared alone, or all together. Prints what differs, and how much was compared; without --may-be-empty there must be events.
"""
import argparse
import json
import math
import struct
import subprocess
import sys
import warnings

import kymo

WHO = {'tid', 'vtid', 'thread_name', 'procname', 'comm', 'cpu_id', 'cpu'}  # elsewhere in the lines


def same_float(ours, theirs):
    if isinstance(theirs, str):
        return {'NaN': math.isnan(ours), 'Infinity': ours == math.inf, '-Infinity': ours == -math.inf}[theirs]
    if ours == theirs:
        return True
    try:  # the shortest text of 32 bits
        return struct.unpack('f', struct.pack('f', theirs))[0] == ours
    except OverflowError:
        return False


def labels_of(ours):
    if isinstance(ours, kymo.Flags):
        return {'value': int(ours), 'labels': list(ours.names), **({'rest': ours.rest} if ours.rest else {})}
    names = list(ours.names)
    return {'value': int(ours), 'label': ours.name, **({'labels': names} if len(names) > 1 else {})}


def same(ours, theirs):
    if isinstance(ours, (kymo.Enum, kymo.Flags)):
        return labels_of(ours) == theirs
    if isinstance(ours, bool) or ours is None:
        return ours is theirs
    if isinstance(ours, int):  # an address may have a symbol
        number = theirs['value'] if isinstance(theirs, dict) and 'symbol' in theirs else theirs
        return type(number) is int and ours == number
    if isinstance(ours, float):
        return same_float(ours, theirs)
    if isinstance(ours, bytes):
        return ours.hex() == theirs
    if isinstance(ours, dict):
        return isinstance(theirs, dict) and list(ours) == list(theirs) and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list):
        return isinstance(theirs, list) and len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and ours == theirs


def same_thread(ours, theirs):
    """The command cuts names to 32 bytes."""
    return ours == theirs or (ours is not None and theirs is not None and len(ours.encode()) > 32 and
                              ours.startswith(theirs.rstrip('\ufffd')))


def differences(event, line):
    for name, ours, theirs in (('time', event.time, line.get('ts')), ('name', event.name, line['event']), ('tid', event.tid, line.get('tid')),
                               ('cpu', event.cpu, line.get('cpu')), ('message', event.message, line.get('message'))):
        if ours != theirs or type(ours) is not type(theirs):
            yield f'{name}: {ours!r}, not {theirs!r}'
    if 'trace' in line and event.trace != line['trace']:
        yield f'trace: {event.trace}, not {line["trace"]}'
    if not same_thread(event.thread, line.get('thread')):
        yield f'thread: {event.thread!r}, not {line.get("thread")!r}'
    if event.time is not None and (event.datetime is not None) != (line.get('epoch') is not False):
        yield 'epoch'
    if not same(event.fields, line['fields']):
        yield f'fields: {event.fields!r}, not {line["fields"]!r}'
    if not same(event.event_context, line.get('event_context', {})):
        yield f'event_context: {event.event_context!r}, not {line.get("event_context")!r}'
    wanted = line.get('context', {})
    if not all(key in event.context and same(event.context[key], value) for key, value in wanted.items()) or set(event.context) - set(wanted) - WHO:
        yield f'context: {event.context!r}, not {wanted!r}'


def loss_of(line):
    lost = line['lost']
    return kymo.Loss(lost['what'], lost['count'], lost.get('begin'), lost.get('end'), lost['stream'])


def compare(command, paths, words):
    """Yields differences, and returns how many events and losses there are."""
    done = subprocess.run([command, 'cat', '-q', '--format', 'json', *(['--filter', words['filter']] if 'filter' in words else []), *paths],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    lines = [json.loads(line) for line in done.stdout.decode('utf-8', 'surrogateescape').splitlines()]
    losses, damage = [], None
    try:
        trace = kymo.open(*paths, **words)
    except kymo.Error as error:
        if done.returncode in (0, 1):
            yield f'cannot be opened: {error}'
        return 0, 0
    if done.returncode not in (0, 1):
        yield f'is opened, but the command ends with {done.returncode}: {done.stderr.decode()}'
        return 0, 0
    events, kept = iter(trace), []
    index = 0
    for line in lines:
        if 'lost' in line:
            losses.append(loss_of(line))
            continue
        try:
            event = next(events)
        except StopIteration:
            yield f'event {index + 1}: there is none'
            return index, len(losses)
        except kymo.Error as error:
            yield f'event {index + 1}: {error}'
            return index, len(losses)
        index += 1
        kept.append((event, line))  # looked at later: half of them when they are decoded already
        if index % 2:
            yield from (f'event {index}: {what}' for what in differences(event, line))
    try:
        for event in events:
            yield f'event {index + 1}: one too many: {event!r}'
            break
    except kymo.Error as error:
        damage = error
    for number, (event, line) in enumerate(kept, 1):
        yield from (f'event {number}, later: {what}' for what in differences(event, line))
    if [loss._replace(path='') for loss in trace.losses] != [loss._replace(path='') for loss in losses]:
        yield f'losses: {trace.losses}, not {losses}'
    if (damage is not None or bool(losses)) != (done.returncode == 1):
        yield f'ends with {damage!r} and {len(losses)} losses, the command with {done.returncode}'
    if damage is not None and isinstance(damage, kymo.Damage) and not (damage.places and damage.message):
        yield f'damage without a place: {damage!r}'
    return index, len(losses)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('kymo')
    parser.add_argument('--filter')
    parser.add_argument('--together', action='store_true')
    parser.add_argument('--may-be-empty', action='store_true')
    parser.add_argument('traces', nargs='+')
    arguments = parser.parse_args()
    warnings.simplefilter('ignore')
    traces = [line.rstrip('\n') for line in sys.stdin] if arguments.traces == ['-'] else arguments.traces
    words = {'filter': arguments.filter} if arguments.filter else {}
    total_events = total_losses = failed = 0
    for paths in [traces] if arguments.together else [[trace] for trace in traces]:
        walk = compare(arguments.kymo, paths, words)
        while True:
            try:
                difference = next(walk)
            except StopIteration as end:
                total_events, total_losses = total_events + end.value[0], total_losses + end.value[1]
                break
            failed += 1
            if failed < 20:
                print(f'{" ".join(paths)}: {difference}'[:600])
    print(f'{len(traces)} traces, {total_events} events, {total_losses} losses, {failed} differences')
    return bool(failed or not traces or not (total_events or arguments.may_be_empty))


if __name__ == '__main__':
    sys.exit(main())
