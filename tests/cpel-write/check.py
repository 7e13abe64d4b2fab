#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds CPEL files that kymo wrote against the tables of bytes in docs/cpel.md, and against what was read.

    check.py sound FILE...        every byte of the file is what the tables say
    check.py vpp FILE...          … and nothing in it that VPP's cpeldump or g2 takes for something else
    check.py same FILE LINES      the events are those of LINES, as `kymo cat --clock-seconds` prints them
    check.py equal [-r] A B       both files have the same events, tracks, names and data; -r: times since the first event
    check.py traces KYMO NAME=TRACE…   writes each trace in both orders, twice, and for VPP, and does all of that; prints lines
                                       as suites do
"""
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / 'cpel'))
import cpel  # noqa: E402


def hold(what, *words):
    if not what:
        sys.exit(' '.join(str(word) for word in words))


class Checked(cpel.Reader):
    """A file of which nothing is left out and nothing is wrong."""

    def __init__(self, data):
        hold(data[0] in (1, 0x81) and data[1] == 0, 'header', data[:4])
        super().__init__(data)
        end = self.sections[-1][1] + self.sections[-1][2] if self.sections else 8
        hold(end == len(data), 'sections end at', end, 'of', len(data))
        for kind, at, length in self.sections:
            if kind <= 5:
                getattr(self, {1: 'check_strings', 5: 'check_events'}.get(kind, 'check_list'))(kind, at, length)

    def check_strings(self, _, at, length):
        hold(length % 4 == 0 and self.data[at + length - 1] == 0, 'string table at', at)
        names = [self.string(self.data[at:at + length], 0) for kind, at, length in self.sections if kind == 1]
        hold(len(names) == len(set(names)) and max(map(len, names)) < 64, 'names of tables', names)

    def entry(self, at, offset):
        table = self.table(at)
        hold(0 < offset < len(table), 'offset', offset, 'at', at)
        return self.string(table, offset)

    def check_list(self, kind, at, length):
        width = {3: 3, 4: 2, 2: 2}[kind]
        count, = self.words(at + 64, 1)
        hold(length == 68 + 4 * width * count, 'section at', at, 'has', count, 'entries in', length)
        keys = []
        for i in range(count):
            key, *offsets = self.words(at + 68 + 4 * width * i, width)
            keys.append(key)
            for offset in offsets:
                self.entry(at, offset)
        hold(keys == sorted(set(keys)), 'entries are not sorted at', at)

    def check_events(self, _, at, length):
        count, clock = self.words(at + 64, 2)
        hold(length == 72 + 20 * count and clock > 0 and count > 0, 'events at', at)
        for _, _, code, datum in self.records(at):
            hold(code in self.events, 'code', code, 'is not defined')
            if self.refers(code):
                self.entry(at, datum)

    def refers(self, code):
        table, _, form = self.events[code]
        return re.search(rb'%[-+ #0-9.]*s', self.string(table, form).replace(b'%%', b''))

    def records(self, at):
        for high, low, track, code, datum in struct.iter_unpack(f'{self.order}5I', self.data[at + 72:at + 72 + 20 * self.words(at + 64, 1)[0]]):
            yield high << 32 | low, track, code, datum

    def all(self):
        """(ns, track, name, datum) of all events, by section."""
        for kind, at, _ in self.sections:
            if kind != 5:
                continue
            clock, = self.words(at + 68, 1)
            hertz = clock * 1000000 if clock <= 100000 else clock
            strings, late = self.table(at), {}
            for time, track, code, datum in self.records(at):
                key = track, code, datum
                if key not in late:
                    table, name, form = self.events.get(code, (b'', 0, 0))
                    shown = self.render(self.string(table, form), datum, strings) if form else b''
                    title = self.string(table, name) if name else b'E%d'
                    label = self.name(self.string(*self.tracks[track]), track) if track in self.tracks else b'%d' % cpel.signed(track)
                    late[key] = label, self.name(title, code), shown
                yield (time * 10**9 // hertz, *late[key])


def load(path):
    return Checked(Path(path).read_bytes())


def check_vpp(path):
    """What facts of VPP's tools forbid; each line is one that they crash on, refuse, or show wrong."""
    file = load(path)
    kinds = [kind for kind, _, _ in file.sections]
    hold(file.data[0] == 1, 'little-endian')
    hold(kinds == sorted(kinds) and max(kinds) <= 5 and 2 not in kinds, 'sections', kinds)
    hold(kinds.count(3) <= 1 and kinds.count(5) <= 1, 'sections', kinds)
    hold(len(file.events) <= 100000, len(file.events), 'definitions')
    for table, name, form in file.events.values():
        text = file.string(table, form)
        hold(0 not in (name, form), 'an offset of 0')
        hold(text == b'%s' or b's' not in text.partition(b'%')[2], 'cpeldump takes this for a string:', text)
        hold(text.lstrip(b' ')[1:2] != b's' or text == b'%s', 'g2 takes this for a string:', text)
        hold(text.count(b'%') <= 1 and re.fullmatch(rb'[^%]*(%([-+ #0]*[0-9]*(\.[0-9]*)?[diuoxXc]|s)[^%]*)?', text), 'conversions', text)
    for kind, at, _ in file.sections:
        if kind == 5:
            times = [record[0] for record in file.records(at)]
            hold(min(times) == times[0] == 0, 'an event before the first')
            hold(file.words(at + 68, 1) == (10**9,), 'the clock is not of nanoseconds')


def word(label):
    """A name as a line of text has it."""
    return ''.join(chr(c) if 32 < c < 127 else '_' for c in label)


def track_of(who):
    thread, _, cpu = who.partition('@')
    if thread.startswith('#'):
        return 'stream ' + thread[1:]
    host, colon, thread = thread.rpartition(':') if cpu and not thread.rpartition(':')[2] else ('', '', thread)
    if not thread:
        return f'{host}{colon}cpu {cpu}'
    return f'thread {thread}' if thread.isdigit() else thread


def compare(mine, theirs):
    hold(len(mine) == len(theirs), len(mine), 'events are', len(theirs))
    for number, (one, other) in enumerate(zip(mine, theirs)):
        hold(one == other, f'event {number}:\n  {one}\n  {other}')


def check_same(path, lines):
    file = load(path)
    mine = [(ns, word(track), f'{name.decode()} {datum.decode()}'.rstrip(' ')) for ns, track, name, datum in file.all()]
    theirs = []
    for line in Path(lines).read_bytes().decode().splitlines():
        if not line.startswith('#'):
            time, who, what = re.fullmatch(r'\[(-|-?[0-9.]+)\] (?:\+-?[0-9.]+|\+-) (\S+) (.*)', line).groups()
            ns = 0 if time == '-' else int(time.replace('.', '')) # there are nine digits after the point
            theirs.append((ns, word(track_of(who).encode()), what.rstrip(' ')))
    least = min((event[0] for event in theirs), default=0)
    if least < 0: # then it is since the earliest
        theirs = [(ns - least, *rest) for ns, *rest in theirs]
    if sum(kind == 5 for kind, _, _ in file.sections) > 1:
        mine, theirs = sorted(mine), sorted(theirs)
    compare([(near(ns, other[0]), *rest) for (ns, *rest), other in zip(mine, theirs)] + mine[len(theirs):], theirs)


def near(exact, shown):
    """The time that is shown, if it is as near as docs/viewing.md (Times) promises. CPEL holds cycles, and its times are exact."""
    return shown if abs(exact - shown) <= 2 + (abs(exact) >> 52) else exact


def check_equal(options, one, other):
    events = []
    for path in (one, other):
        listed = list(load_any(path).all())
        first = min((event[0] for event in listed), default=0) if options else 0
        events.append(sorted((ns - first, track, name, datum) for ns, track, name, datum in listed))
    compare(*events)


def load_any(path):
    """Also files of others, which need not be as ours."""
    file = Checked.__new__(Checked)
    cpel.Reader.__init__(file, Path(path).read_bytes())
    return file


# ---- traces ----

def run(*command, output=None):
    done = subprocess.run(command, stdout=output or subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ, TZ='UTC'))
    return done.returncode, done.stderr.decode('utf-8', 'replace')


def write(kymo, trace, name, *options):
    Path(name).unlink(missing_ok=True)
    status, words = run(kymo, 'convert', '-q', '-o', name, *options, trace)
    hold(status in (0, 1), status, words)


def check_trace(kymo, trace):
    write(kymo, trace, 'one.cpel')
    write(kymo, trace, 'again.cpel')
    hold(Path('one.cpel').read_bytes() == Path('again.cpel').read_bytes(), 'the second time it is another file')
    with open('lines', 'wb') as lines:
        run(kymo, 'cat', '-q', '--clock-seconds', trace, output=lines)
    check_same('one.cpel', 'lines')
    for order in 'big', 'little':
        write(kymo, trace, f'{order}.cpel', '--endian', order)
        check_equal([], f'{order}.cpel', 'one.cpel')
    write(kymo, trace, 'vpp.cpel', '--for-vpp')
    check_vpp('vpp.cpel')


def check_traces(kymo, traces):
    for name, _, trace in (trace.partition('=') for trace in traces):
        status, words = run(kymo, 'cat', '-q', trace)
        if status > 1:
            continue # it cannot be read at all, which other suites look at
        try:
            check_trace(kymo, trace)
            print(f'ok {name}')
        except SystemExit as failure:
            print(f'    {str(failure)[:2000]}\nnot ok {name}: it is another trace')


def main():
    command, *rest = sys.argv[1:]
    if command == 'equal':
        check_equal(rest[:-2], *rest[-2:])
    elif command == 'traces':
        check_traces(rest[0], rest[1:])
    elif command == 'same':
        check_same(*rest)
    else:
        for path in rest:
            (check_vpp if command == 'vpp' else load)(path)


if __name__ == '__main__':
    main()
