#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what probe says of a trace with what the commands print:  check.py KYMO PROBE WHAT TRACE [WORDS] [-- OPTIONS]

OPTIONS are how the commands read the trace (--description FILE).
"""
import json
import re
import subprocess
import sys
from collections import Counter


def call(argv):
    finished = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if finished.returncode not in (0, 1) or finished.stdout == b'' and finished.returncode:
        sys.exit(f'{argv}: exit code {finished.returncode}\n{finished.stderr.decode()}')
    return finished.stdout.decode(errors='surrogateescape')


def main():
    arguments = sys.argv[1:]
    options = arguments[arguments.index('--') + 1:] if '--' in arguments else []
    kymo, probe, what, trace, *words = arguments[:arguments.index('--')] if '--' in arguments else arguments
    key = ['-k', options[options.index('--description') + 1]] if '--description' in options else []
    said = call([probe, *key, what, trace, *words])

    def stat_of(path, *more):
        return [json.loads(line) for line in call([kymo, 'stat', *more, '--json', *options, path]).splitlines()]

    def stat(*more):
        return stat_of(trace, *more)

    def expect(ours, theirs):
        if ours != theirs or not ours:
            sys.exit(f'{what} of {trace}:\n  the index: {ours!r:.2000}\n  the command: {theirs!r:.2000}')

    def counts(by):
        rows = {row[by]: row['count'] for row in stat('counts', '--by', by) if row.get(by) is not None}
        ours = Counter()
        for line in said.splitlines():
            name, count = line.rsplit('\t', 1)
            ours[name] += int(count)
        ours.pop('(none)', None)
        expect(dict(ours), rows)

    if what == 'tracks':
        counts('track')
    elif what == 'kinds':
        counts('event')
    elif what == 'filter':
        lines = call([kymo, 'cat', *options, '--format', 'json', '--filter', words[0], trace]).count('"event":')
        expect(said.split(), [str(lines)] * 2)
    elif what == 'latency':
        by_key = ['--key', words[2]] if len(words) > 2 else []
        rows = stat('latency', '--from', words[0], '--to', words[1], *by_key, '--worst', '1')
        total = [row for row in rows if 'track' in row and row['track'] is None][0]
        rest = [row for row in rows if 'without_begin' in row]
        expect(said.splitlines(), [
            f"{total['count']} {total['min']} {total['mean']:.1f} {total['p50']} {total['p90']} {total['p99']} {total['p999']} "
            f"{total['max']}",
            ' '.join(str(rest[0][name]) for name in ('without_begin', 'without_end', 'without_key', 'over_lost_events'))
            if rest else '0 0 0 0'])
    elif what == 'spans':
        rows = [row for row in stat('latency') if row.get('span') and 'count' in row]
        expect(sorted(said.splitlines()), sorted(
            ' '.join(str(row[name]) for name in ('span', 'count', 'total', 'self', 'min', 'p50', 'p99', 'max')) for row in rows))
    elif what == 'drawn':
        rows = [row for row in stat('latency') if row.get('span') and 'count' in row]
        expect(sum(int(line.rsplit(' ', 1)[1]) for line in said.splitlines()), sum(row['count'] for row in rows))
    elif what == 'selection':
        first, events, *rows = said.splitlines()
        begin, end = first.split()
        window = ['--begin', begin, '--end', end, *(['--filter', words[2]] if len(words) > 2 else [])]
        tracks, kinds, spans = Counter(), Counter(), Counter()
        for sort, name, rest in (row.split('\t') for row in rows):
            if sort == 'span':
                spans[name] = rest
            else:
                (tracks if sort == 'track' else kinds)[name] += int(rest)
        tracks.pop('(none)', None)
        expect(dict(kinds), {row['event']: row['count'] for row in stat('counts', *window) if row.get('event') is not None})
        expect(dict(tracks), {row['track']: row['count'] for row in stat('counts', '--by', 'track', *window)
                              if row.get('track') is not None})
        expect(int(events), call([kymo, 'cat', *options, '--format', 'json', *window, trace]).count('"event":'))
        theirs = call([kymo, 'stat', 'latency', *window, '--json', *options, trace]) if spans else ''
        rows = [row for row in map(json.loads, theirs.splitlines()) if row.get('span') and row.get('count')]
        if spans or '--spans' in words:
            expect(dict(spans), {row['span']: ' '.join(str(row[name]) for name in ('count', 'total', 'min', 'max')) for row in rows})
    elif what == 'open':
        text = call([kymo, 'stat', 'latency', *options, trace])
        some = re.search(r'the latest \d+ of (\d+) that are open', text)
        expect(int(said), int(some[1]) if some else len([row for row in stat('latency') if 'open' in row]))
    elif what == 'texts':
        rows = [row for row in stat('counts', '--by', words[0], '--top', '1000') if row.get(words[0]) is not None]
        expect([line.split('\t') for line in said.splitlines()], [[row[words[0]], str(row['count'])] for row in rows])
    elif what == 'compare':
        kinds = [Counter({row['event']: row['count'] for row in stat_of(path, 'counts') if row.get('event') is not None})
                 for path in (trace, words[0])]
        spans = [{row['span']: row for row in stat_of(path, 'latency') if row.get('span') and row.get('count')}
                 for path in (trace, words[0])]
        theirs = [f'kind\t{name}\t{kinds[0][name]} {kinds[1][name]}' for name in kinds[0] | kinds[1]]
        for name in spans[0] | spans[1]:
            sides = [side.get(name, {'count': 0, 'p50': 0, 'p99': 0}) for side in spans]
            theirs.append(f'span\t{name}\t{sides[0]["count"]} {sides[1]["count"]} '
                          + ' '.join(f'{side["p50"]} {side["p99"]}' for side in sides))
        expect(sorted(line for line in said.splitlines() if not line.endswith('\t0 0 0 0 0 0')), sorted(theirs))
    elif what == 'rows':
        first, count = map(int, words[:2])
        lines = call([kymo, 'cat', *options, '--format', 'json', *(['--filter', words[2]] if len(words) > 2 else []), trace])
        events = [event for event in map(json.loads, lines.splitlines()) if 'event' in event][first:first + count]
        expect([line.split('\t')[:2] for line in said.splitlines()],
               [[str(event['ts']), event['event']] for event in events])
    elif what == 'values':
        rows = [row for row in stat('histogram', words[0]) if 'from' in row]
        count, least, most = map(int, said.split())
        expect(count, sum(row['count'] for row in rows))
        expect(rows[0]['from'] <= least <= most, True)
    elif what == 'histogram':
        rows = [json.loads(line) for line in call([kymo, 'stat', 'histogram', '--json', *options, words[0], trace]).splitlines()]
        # the command joins the smallest ones, and has a row for what is empty in between
        theirs = {row['from']: row['count'] for row in rows if row.get('from', -1) >= 0}
        ours = Counter()
        for line in said.splitlines()[1:]:
            begin, count = map(int, line.split())
            ours[max(key for key in theirs if key <= begin)] += count
        expect(dict(ours), {key: count for key, count in theirs.items() if count})
    else:
        sys.exit(f'what is {what}?')


main()
