# SPDX-License-Identifier: MIT
"""The examples of the specification on real files of other people's tools: all values as those tools give them."""
import csv
import datetime
import os
import pathlib
import re

from described import compiled, fields, not_ok, ok, read

SHARED = pathlib.Path(os.environ.get('KYMO_SHARED', '/nonexistent'))
DATA = SHARED / 'data/foreign'


def same(name, got, wanted):
    if got == wanted:
        ok(name)
        return
    if isinstance(got, tuple) and got[1:] == wanted[1:]:
        got, wanted = got[0], wanted[0]
    for number, (have, want) in enumerate(zip(got, wanted)):
        if have != want:
            not_ok(name, f'{number}: {have}, not {want}')
            return
    not_ok(name, f'{len(got)} of {len(wanted)}')


def examples():
    text = (SHARED / 'tdl.md').read_text()
    block = re.search(r'```tdl\n(.*?)```', text, re.S).group(1)
    return {re.match(r'TRACE (\w+)', part).group(1): part + 'END TRACE.\n' for part in
            (each.strip() + '\n' for each in block.split('END TRACE.')) if part.strip()}


def rows(path):
    with open(path, newline='') as file:
        return list(csv.DictReader(file))


def pcap(key):
    wanted = [line.split(',') for line in (DATA / 'pcap/expected.csv').read_text().split()]
    wanted = [(int(round(float(stamp.split('.')[0]))) * 10**9 + int(stamp.split('.')[1]), int(caplen), int(wire)) for _, stamp, caplen, wire in wanted]
    for file in ('lo.pcap', 'lo-nsec.pcap'):
        out, said, status = read(key, str(DATA / 'pcap' / file))
        got = [(event['ts'], fields(event)['caplen'], fields(event)['wire']) for event in out if event['event'] == 'pcap:packet']
        same(f'pcap {file}', (got, status, said), (wanted, 0, ''))


def wtmp(key):
    out, said, status = read(key, str(DATA / 'wtmp/wtmp'))
    got, wanted = [], []
    for event in out:
        each = fields(event)
        got.append((each['EVENT'][0], each['pid'], each['id'].rstrip(), each['user'], each['line'], each['host'], event['ts']))
    for line in (DATA / 'wtmp/expected.txt').read_text().splitlines():
        kind, pid, id_, user, where, host, _, stamp = [part.strip() for part in re.findall(r'\[(.*?)\]', line)]
        when = datetime.datetime.fromisoformat(stamp.replace(',', '.'))
        since = when - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        wanted.append((int(kind), int(pid), id_, user, where, host, (since // datetime.timedelta(microseconds=1)) * 1000))
    same('wtmp', (got, status, said), (wanted, 0, ''))


def pacct(key):
    out, said, status = read(key, str(DATA / 'pacct/pacct'))
    names = ['tty', 'exitcode', 'uid', 'gid', 'pid', 'ppid', 'mem', 'io', 'rw', 'minflt', 'majflt', 'swaps']
    got, wanted = [], []
    for event in out:
        each = fields(event)
        got.append([each['flag'][0], each['EVENT'], event['ts'], each['DURATION'], round(each['utime'] * 100), round(each['stime'] * 100)] + [each[name] for name in names])
    for row in rows(DATA / 'pacct/expected.csv'):
        wanted.append([int(row['flag']), row['comm'], int(row['btime']) * 10**9, int(float(row['etime_ahz']) * 10**7), int(row['utime']), int(row['stime'])]
                      + [int(row[name]) for name in names])
    same('pacct', (got, status, said), (wanted, 0, ''))


def simpletrace(key):
    out, said, status = read(key, str(DATA / 'qemu-simpletrace/trace.bin'))
    got = [(event['event'], event['ts'], fields(event)['pid'], fields(event)['size']) for event in out]
    wanted = [('simpletrace:' + row['event'], int(row['timestamp_ns']), int(row['pid']), int(row['length']))
              for row in rows(DATA / 'qemu-simpletrace/expected.csv')]
    same('simpletrace', (got, status, said), (wanted, 0, ''))


def dataflash(key):
    out, said, status = read(key, str(DATA / 'ardupilot-dataflash/test.bin'))
    counts, first = {}, {}
    wanted = {}
    for event in out:
        name = event['event'].split(':')[1]
        counts[name] = counts.get(name, 0) + 1
        first.setdefault(name, []).append((event.get('ts'), fields(event)))
    for line in (DATA / 'ardupilot-dataflash/expected.txt').read_text().splitlines():
        word = line.split()
        if word[0] == 'count' and word[1] != 'FMT':
            wanted[word[1]] = int(word[2])
    same('dataflash counts', counts, wanted)
    same('dataflash tail', (status, '24' in said), (1, True))


def dlt(key):
    for file in ('testfile', 'testfile_extended'):
        out, said, status = read(key, str(DATA / f'dlt/{file}.dlt'))
        got, wanted = [], []
        for event in out:
            each = fields(event)
            got.append((event['ts'], each['counter'], each['ecu'] or each['logger'], each['application'], each['context']))
        for line in (DATA / f'dlt/{file}.expected.txt').read_text().splitlines():
            word = line.split()
            when = datetime.datetime.strptime(word[1] + ' ' + word[2], '%Y/%m/%d %H:%M:%S.%f')
            since = when - datetime.datetime(1970, 1, 1)
            ids = [each.rstrip('-') for each in word[5:8]]
            wanted.append((since // datetime.timedelta(microseconds=1) * 1000, int(word[4]), *ids))
        got = [(*each[:2], *[name.rstrip('-') if name else '' for name in each[2:]]) for each in got]
        same(f'dlt {file}', (got, status), (wanted, 0))


def ghc(key):
    for file in ('hello-ghc-8.6.5', 'parallelTest'):
        out, said, status = read(key, str(DATA / f'ghc-eventlog/{file}.eventlog'))
        text = (DATA / f'ghc-eventlog/{file}.expected.txt').read_text().split('Events:\n')[1]
        wanted = sorted(int(line.split(':')[0]) for line in text.splitlines() if re.match(r'\s*\d+:', line))
        got = sorted(event['ts'] for event in out)
        same(f'ghc {file}', (got, status, said), (wanted, 0, ''))


def perf(key):
    out, said, status = read(key, str(DATA / 'perf-data/perf.data'))
    got, wanted = [], []
    for event in out:
        each = fields(event)
        if event['event'] == 'perf:SAMPLE':
            got.append((each['comm'], each['pid'], each['tid'], event['ts'] // 1000, each['ip']))
    for line in (DATA / 'perf-data/expected-samples.txt').read_text().splitlines():
        match = re.match(r'\s*(.*?)\s+(\d+)/(\d+)\s+(\d+)\.(\d+):\s+\d+\s+([0-9a-f]+)', line)
        comm, pid, tid, seconds, micro, ip = match.groups()
        wanted.append((comm, int(pid), int(tid), int(seconds) * 10**6 + int(micro), int(ip, 16)))
    same('perf', (sorted(got, key=lambda each: each[3]), status, said), (wanted, 0, ''))


if not (SHARED / 'tdl.md').exists():
    print('skip examples of the specification: no shared data')
else:
    for name, tdl in examples().items():
        key, said = compiled(name, tdl)
        if key:
            ok(f'{name} compiles')
            if name in globals() and DATA.exists():
                try:
                    globals()[name](key)
                except Exception as problem:
                    not_ok(name, repr(problem))
        else:
            not_ok(f'{name} compiles', said)
