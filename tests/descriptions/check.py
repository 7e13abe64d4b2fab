# SPDX-License-Identifier: MIT
"""Each description is compared with the output of the tool whose files it describes: on files of shared/ where they are, and on files that are
made here, by the tool where there is one."""
import csv
import datetime
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import zlib

SOURCE = pathlib.Path(os.environ['KYMO_SOURCE'])
sys.path.insert(0, str(SOURCE / 'tests/described'))
from described import KYMO, fields, not_ok, ok  # noqa: E402
import json  # noqa: E402

DATA = pathlib.Path(os.environ.get('KYMO_SHARED', '/nonexistent')) / 'data'
FOREIGN = DATA / 'foreign'
SECOND = 10**9


def read(path, *options):
    """(name, time, fields) of each event, the messages, exit status; kymo finds out itself what the file is."""
    done = subprocess.run([KYMO, 'cat', '--format', 'json', *options, str(path)], capture_output=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    events = [(event['event'].split(':', 1)[1], event.get('ts'), fields(event)) for event in events if 'event' in event]
    return events, done.stderr.decode(errors='replace'), done.returncode


def same(name, got, wanted):
    if got == wanted:
        ok(name)
        return
    pairs = list(zip(got, wanted)) if isinstance(got, list) and isinstance(wanted, list) else [(got, wanted)]
    for number, (have, want) in enumerate(pairs):
        if have != want:
            not_ok(name, f'{number}: {have}, not {want}')
            return
    not_ok(name, f'{len(got)} instead of {len(wanted)}')


def sound(name, said, status):
    same(f'{name}: nothing is damaged', (said, status), ('', 0))


def ns(text):
    """Nanoseconds of seconds with a fraction."""
    whole, fraction = (text + '.').split('.')[:2]
    return int(whole) * SECOND + int(fraction.ljust(9, '0')[:9])


def rows(path):
    with open(path, newline='') as file:
        return list(csv.DictReader(file))


def since_epoch(when):
    return (when - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1) * 1000


# ---- captures ----

PACKETS = [(1700000000 + i, 123456789 + i, bytes(range(i * 7 % 250)), 60 + i) for i in range(40)]


def pcap_bytes(order, nano):
    head = struct.pack(order + 'IHHiIII', 0xa1b23c4d if nano else 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    return head + b''.join(struct.pack(order + 'IIII', s, ns if nano else ns // 1000, len(data), wire) + data
                           for s, ns, data, wire in PACKETS)


def packets(events):
    return [(when, each['caplen'], each['wire'], bytes.fromhex(each['data'])) for _, when, each in events]


def pcap():
    for order in '<>':
        for nano in (False, True):
            data = pcap_bytes(order, nano)
            pathlib.Path('made.pcap').write_bytes(data)
            events, said, status = read('made.pcap')
            name = f'pcap, {"little" if order == "<" else "big"} endian, {"ns" if nano else "us"}'
            step = 1 if nano else 1000
            same(name, packets(events), [(s * SECOND + part // step * step, len(bytes_), wire, bytes_) for s, part, bytes_, wire in PACKETS])
            sound(name, said, status)
            pathlib.Path('cut.pcap').write_bytes(data[:-5])
            events, said, status = read('cut.pcap')
            same(f'{name}, cut off', (len(events), status, 'cut.pcap: byte ' in said), (len(PACKETS) - 1, 1, True))
    for path in (FOREIGN / 'pcap').glob('*.pcap'):
        wanted = [line.split(',') for line in (FOREIGN / 'pcap/expected.csv').read_text().split()]
        events, said, status = read(path)
        same(path.name, [packet[:3] for packet in packets(events)], [(ns(when), int(caplen), int(wire)) for _, when, caplen, wire in wanted])
        sound(path.name, said, status)


def pcapng():
    if not shutil.which('editcap'):
        print('skip pcapng: editcap is not installed')
        return
    pathlib.Path('made.pcap').write_bytes(pcap_bytes('<', True))
    subprocess.run(['editcap', '-F', 'pcapng', 'made.pcap', 'made.pcapng'], check=True, capture_output=True)
    events, said, status = read('made.pcapng')
    same('pcapng by editcap', packets(events), [(s * SECOND + part, len(data), wire, data) for s, part, data, wire in PACKETS])
    sound('pcapng by editcap', said, status)
    subprocess.run(['mergecap', '-F', 'pcapng', '-I', 'none', '-w', 'two.pcapng', 'made.pcap', 'made.pcap'], check=True, capture_output=True)
    events, said, status = read('two.pcapng')
    same('pcapng of two interfaces', sorted(each['STREAM'] for _, _, each in events), [0] * len(PACKETS) + [1] * len(PACKETS))
    sound('pcapng of two interfaces', said, status)


# ---- accounts ----

def logins(path, text):
    wanted = []
    for line in text.splitlines():
        kind, pid, id_, user, where, host, address, when = [part.strip() for part in re.findall(r'\[(.*?)\]', line)]
        wanted.append((int(kind), int(pid), id_, user, where, host, address, since_epoch(datetime.datetime.fromisoformat(when.replace(',', '.')))))
    events, said, status = read(path)
    got = [(each['EVENT'][0], each['pid'], each['id'].rstrip(), each['user'], each['line'], each['host'], each['address'], when) for _, when, each in events]
    same(f'wtmp {path.name}', got, wanted)
    sound(f'wtmp {path.name}', said, status)


def wtmp():
    if shutil.which('utmpdump'):
        lines = [f'[7] [{100 + i:05}] [ts/{i}] [user{i}   ] [pts/{i}       ] [host{i}.example      ] [192.0.2.{i}      ] '
                 f'[2025-06-0{i}T10:11:1{i},00010{i}+00:00]\n' for i in range(1, 9)]
        made = subprocess.run(['utmpdump', '-r'], input=''.join(lines).encode(), capture_output=True, env=dict(os.environ, TZ='UTC'))
        path = pathlib.Path('made.wtmp')
        path.write_bytes(made.stdout)
        told = subprocess.run(['utmpdump', str(path)], capture_output=True, text=True, env=dict(os.environ, TZ='UTC')).stdout
        logins(path, told)
    else:
        print('skip wtmp by utmpdump: it is not installed')
    if FOREIGN.exists():
        logins(FOREIGN / 'wtmp/wtmp', (FOREIGN / 'wtmp/expected.txt').read_text())


def pacct():
    if not FOREIGN.exists():
        return
    events, said, status = read(FOREIGN / 'pacct/pacct')
    names = ['version', 'tty', 'exitcode', 'uid', 'gid', 'pid', 'ppid', 'mem', 'io', 'rw', 'minflt', 'majflt', 'swaps']
    got = [(each['flag'][0], each['EVENT'], when, each['DURATION'], round(each['utime'] * 100), round(each['stime'] * 100), *[each[name] for name in names])
           for _, when, each in events]
    wanted = [(int(row['flag']), row['comm'], int(row['btime']) * SECOND, int(float(row['etime_ahz']) * 10**7), int(row['utime']), int(row['stime']),
               *[int(row[name]) for name in names]) for row in rows(FOREIGN / 'pacct/expected.csv')]
    same('pacct', got, wanted)
    sound('pacct', said, status)


# ---- logs ----

def simpletrace():
    if not FOREIGN.exists():
        return
    kinds = {}
    for row in rows(FOREIGN / 'qemu-simpletrace/arguments.csv'):
        kinds.setdefault(row['event'], []).append((row['argument'], row['kind']))
    events, said, status = read(FOREIGN / 'qemu-simpletrace/trace.bin')
    wanted = [(row['event'], int(row['timestamp_ns']), int(row['pid']), int(row['length'])) for row in rows(FOREIGN / 'qemu-simpletrace/expected.csv')]
    same('simpletrace', [(name, when, each['pid'], each['size']) for name, when, each in events], wanted)
    lines = []
    before = None
    for name, when, each in events:
        data, words = bytes.fromhex(each['args']), []
        for argument, kind in kinds.get(name, []):
            if kind == 'string':
                length = int.from_bytes(data[:4], 'little')
                words.append(f"{argument}={data[4:4 + length]!r}")
                data = data[4 + length:]
            else:
                words.append(f'{argument}=0x{int.from_bytes(data[:8], "little"):x}')
                data = data[8:]
        lines.append(' '.join([name, f'{(when - (before or when)) / 1000:.3f}', f'pid={each["pid"]}', *words]))
        before = when
    same('simpletrace, arguments', lines, (FOREIGN / 'qemu-simpletrace/expected.txt').read_text().splitlines())
    sound('simpletrace', said, status)


def dataflash():
    if not FOREIGN.exists():
        return
    wanted, counts = {}, {}
    for line in (FOREIGN / 'ardupilot-dataflash/expected.txt').read_text().splitlines():
        word = line.split()
        if word[0] == 'count' and word[1] != 'FMT': # definitions are no events
            wanted[word[1]] = int(word[2])
    events, said, status = read(FOREIGN / 'ardupilot-dataflash/test.bin')
    for name, _, _ in events:
        counts[name] = counts.get(name, 0) + 1
    same('dataflash, records of each kind', counts, wanted)
    same('dataflash, the tail', (status, 'byte 65512' in said, '(24 bytes skipped)' in said), (1, True, True))


def dlt():
    for file in ('testfile', 'testfile_extended') if FOREIGN.exists() else ():
        events, said, status = read(FOREIGN / f'dlt/{file}.dlt')
        got, wanted = [], []
        for _, when, each in events:
            kind = each['EVENT'] if each['EVENT'] else (None, ['--'])
            level = next((each[name] for name in ('level', 'trace', 'network', 'control') if each[name]), None)
            ids = tuple((each[name] or '').rstrip('-') for name in ('ecu', 'application', 'context'))
            got.append((when, each['device'] // 100000 if each['device'] is not None else None, each['counter'],
                        ids[0] or each['logger'], ids[1], ids[2], (kind[1], level[1] if level else None), each['verbose'], each['arguments'],
                        [f'{value:g}' if isinstance(value, float) else str(value) for value in (one['value'] for one in each['argument'])] if each['verbose'] else None))
        for line in (FOREIGN / f'dlt/{file}.expected.txt').read_text().splitlines():
            head, _, tail = line.partition('[')
            word = head.split()
            when = datetime.datetime.strptime(word[1] + ' ' + word[2] + '+0000', '%Y/%m/%d %H:%M:%S.%f%z')
            wanted.append((since_epoch(when), None if word[3][0] == '-' else int(word[3]), int(word[4]), *[id_.rstrip('-') for id_ in word[5:8]],
                           word[8:], tail[:-1]))
        same(f'dlt {file}: times, counters, ids', [each[:6] for each in got], [each[:6] for each in wanted])
        verbose = [(have, want) for have, want in zip(got, wanted) if have[7]]
        same(f'dlt {file}: arguments', [' '.join(have[9]) for have, _ in verbose], [want[7].replace("'", '') for _, want in verbose])
        sound(f'dlt {file}', said, status)


def ghc():
    for file in ('hello-ghc-8.6.5', 'parallelTest') if FOREIGN.exists() else ():
        events, said, status = read(FOREIGN / f'ghc-eventlog/{file}.eventlog')
        text = (FOREIGN / f'ghc-eventlog/{file}.expected.txt').read_text().split('Events:\n')[1]
        wanted = [re.match(r'\s*(\d+): (.*)', line).groups() for line in text.splitlines() if re.match(r'\s*\d+:', line)]
        same(f'ghc {file}: times', sorted(when for _, when, _ in events), sorted(int(when) for when, _ in wanted))
        made = sorted((int(when), int(re.search(r'creating thread (\d+)', what).group(1))) for when, what in wanted if 'creating thread' in what)
        same(f'ghc {file}: threads', sorted((when, each['thread']) for name, when, each in events if name == 'Create thread'), made)
        sound(f'ghc {file}', said, status)


def cpel():
    """kymo reads these files without a description too."""
    for path in sorted((DATA / 'cpel').glob('*.cpel')):
        mine, _, _ = read(path, '--as', 'cpel')
        done = subprocess.run([KYMO, 'cat', '-q', '--format', 'json', str(path)], capture_output=True)
        wanted = [json.loads(line) for line in done.stdout.splitlines()]
        # a description gives no name to codes that have none in the file, and delivers events in the order of the file
        names = {event['event'] for event in wanted if not re.fullmatch(r'E\d+', event['event'])} | {None}
        same(f'cpel {path.name}', sorted((when, name if name in names else '') for name, when, _ in mine),
             sorted((event['ts'], event['event'] if event['event'] in names else '') for event in wanted))


BLOCK_ACTIONS = {'Q': (1, 4), 'G': (4, None), 'I': (12, None), 'D': (7, 6), 'C': (8, 7)}  # as in linux/blktrace_api.h: action, and its category


def blktrace_files():
    """Two CPUs of a device as the kernel leaves them: struct blk_io_trace, those of one CPU not always in the order of time."""
    chance = random.Random(5)
    files = {0: b'', 1: b''}
    for at in range(400):
        cpu, letter, is_write = chance.randrange(2), chance.choice(list(BLOCK_ACTIONS)), chance.randrange(2)
        action, category = BLOCK_ACTIONS[letter]
        when = 1000 * (at // 2 * 2 + (at % 2 if at % 20 else 1)) + at  # now and then one comes late
        bits = 1 << 16 + is_write | (1 << 16 + category if category else 0)
        number = files[cpu].count(b'\x07\x74\x61\x65') + 1
        files[cpu] += struct.pack('<IIQQIIIIIHH', 0x65617407, number, when, 8 * at, 512 * chance.randrange(1, 9), bits | action, 100 + at % 7, 8 << 20, cpu, 0, 0)
    for cpu, data in files.items():
        pathlib.Path(f'sdx.blktrace.{cpu}').write_bytes(data)


def blktrace():
    blktrace_files()
    paths = ['sdx.blktrace.0', 'sdx.blktrace.1']
    done = subprocess.run([KYMO, 'cat', '--format', 'json', '--as', 'blktrace', *paths], capture_output=True, text=True)
    mine = [json.loads(line) for line in done.stdout.splitlines()]
    times = [event['ts'] for event in mine]
    same('blktrace: two CPUs in the order of time', (times, done.stderr, done.returncode), (sorted(times), '', 0))
    if not shutil.which('blkparse'):
        print('skip blktrace by blkparse: it is not installed')
        return
    done = subprocess.run(['blkparse', '-q', '-i', 'sdx', '-f', '%a %d %S %N %p %T %t %c %s %M %e\n'], capture_output=True, text=True)
    wanted = [line.split() for line in done.stdout.splitlines() if re.match(r'[A-Z]+ [RWN]', line)]
    names = {'queue': 'Q', 'get request': 'G', 'insert': 'I', 'issue': 'D', 'complete': 'C'}
    rows = []
    for event in mine:
        fields = event['fields']
        when = event['ts'] - times[0]  # blkparse counts from the first event
        rows.append([names[fields['EVENT']['label']], 'W' if 'write' in fields['what']['labels'] else 'R', str(fields['sector']), str(fields['bytes']),
                     str(fields['pid']), str(when // 10**9), f'{when % 10**9:09}', str(fields['STREAM']), str(fields['SEQUENCE']),
                     str(fields['device'] >> 20), str(fields['error'])])
    same('blktrace, and blkparse', (len(rows), sorted(rows)), (400, sorted(wanted)))


def stapbulk():
    """No stap runs in a test: the bytes are made as the source of its runtime specifies."""
    for cpu in range(2):
        pathlib.Path(f'bulk_{cpu}').write_bytes(b''.join(b'\xf0\x9f\xa9\xba' + struct.pack('<II', number, len(text)) + text
                                                         for number in range(cpu, 20, 2) for text in [b'piece %d\n' % number]))
    sizes = [os.path.getsize(f'bulk_{cpu}') for cpu in range(2)]
    done = subprocess.run([KYMO, 'cat', '--format', 'json', '--as', 'stapbulk', 'bulk_0', 'bulk_1'], capture_output=True, text=True)
    texts = [json.loads(line)['fields']['TEXT'] for line in done.stdout.splitlines()]
    same('stapbulk, merged by number', (texts, done.stderr, done.returncode), ([f'piece {number}\n' for number in range(20)], '', 0))
    own = subprocess.run([KYMO, 'cat', '--format', 'json', 'bulk_0', 'bulk_1'], capture_output=True, text=True)
    same('stapbulk, and the reader of such files', [json.loads(line)['fields']['text'] for line in own.stdout.splitlines()], texts)
    done = subprocess.run([KYMO, 'check', '--as', 'stapbulk', 'bulk_0', 'bulk_1'], capture_output=True, text=True)
    same('kymo check of files that are merged', (done.stdout.splitlines(), done.stderr, done.returncode),
         ([f'bulk_{cpu}: 10 records "piece" of {size} bytes; 0 of them without a field' for cpu, size in enumerate(sizes)]
          + ['20 events, 0 damaged places'], '', 0))
    pathlib.Path('bulk').mkdir()
    for cpu in range(2):
        shutil.copy(f'bulk_{cpu}', 'bulk')
    done = subprocess.run([KYMO, 'explain', '--as', 'stapbulk', 'bulk'], capture_output=True, text=True)
    same('kymo explain of files that are merged', (done.stdout, done.stderr, done.returncode),
         ('', 'kymo explain: bulk/bulk_0: expected one of the files that are merged by sequence, found all of them\n', 2))


def ring():
    """The rings that a killed process left: event i is the i-th, so packets have the values that kymo, which reads such files by itself, shows."""
    pathlib.Path('killed.c').write_text('#include <kymo/trace.h>\n#include <signal.h>\n'
                                        'int main(void) { for (int i = 0; i < 20000; i++) KYMO(ring, count, i); raise(SIGKILL); }\n')
    build = pathlib.Path(os.environ['KYMO_BUILD'])
    flags = os.environ['KYMO_SANITIZE'].split()
    made = subprocess.run([*os.environ.get('KYMO_CC', 'cc').split(), *flags, '-O2', f'-I{SOURCE}/include', 'killed.c', f'{build}/libkymo-trace.a',
                           '-pthread', '-o', 'killed'], capture_output=True, text=True)
    if made.returncode != 0:
        print('skip rings of kymo: ' + made.stderr.strip().splitlines()[-1])
        return
    shutil.rmtree('rings', ignore_errors=True)
    subprocess.run(['./killed'], env=dict(os.environ, KYMO_ENABLE='*', KYMO_SAVE='never', KYMO_RINGS='rings', KYMO_OUT='never'), capture_output=True)
    path = next(pathlib.Path('rings').glob('*/rings'))
    packets_, said, status = read(path, '--as', 'ring')
    done = subprocess.run([KYMO, 'cat', '-q', '--format', 'json', str(path.parent)], capture_output=True)
    shown = [json.loads(line)['fields']['i'] for line in done.stdout.splitlines() if b'"fields"' in line]
    firsts = sorted(each['first_event'] for _, _, each in packets_)
    same('ring: packets tell which events are left', (len(firsts) > 4, firsts[0], shown), (True, shown[0], list(range(shown[0], 20000))))
    sound('ring', said, status)


def snoop():
    if not shutil.which('editcap'):
        print('skip snoop: editcap is not installed')
        return
    pathlib.Path('made.pcap').write_bytes(pcap_bytes('<', False))
    subprocess.run(['editcap', '-F', 'snoop', 'made.pcap', 'made.snoop'], check=True, capture_output=True)
    events, said, status = read('made.snoop')
    same('snoop by editcap', packets(events), [(s * SECOND + part // 1000 * 1000, len(data), wire, data) for s, part, data, wire in PACKETS])
    sound('snoop by editcap', said, status)
    data = bytearray(pathlib.Path('made.snoop').read_bytes())
    data[16 + 12:16 + 16] = struct.pack('>I', 5) # 5 were dropped before the first packet, and none before the second
    pathlib.Path('drops.snoop').write_bytes(data)
    events, said, _ = read('drops.snoop')
    same('snoop: packets that were dropped', ([each['LOST'] for _, _, each in events][:3], 'the trace is incomplete' in said), ([5, 0, 0], True))
    pathlib.Path('cut.snoop').write_bytes(data[:-3])
    events, said, status = read('cut.snoop')
    same('snoop, cut off', (len(events), status, 'cut.snoop: byte ' in said), (len(PACKETS) - 1, 1, True))
    data[16 + 20 + 1] ^= 0xff # microseconds of the first packet
    pathlib.Path('time.snoop').write_bytes(data)
    same('snoop: microseconds that are none', 'R4' in read('time.snoop', '--as', 'snoop')[1], True)


# ---- buses ----

def blf_container(data, method):
    packed = zlib.compress(data) if method == 2 else data
    return struct.pack('<4sHHIIH6xI4x', b'LOBJ', 16, 1, 32 + len(packed), 10, method, len(data)) + packed + bytes(len(packed) % 4)


def blf_object(kind, data, when=0, flags=2):
    """Each is filled up by as many bytes as its size is after a multiple of four."""
    size = 32 + len(data)
    return struct.pack('<4sHHIIIHHQ', b'LOBJ', 32, 1, size, kind, flags, 0, 0, when) + data + bytes(size % 4)


def blf_head(size, start=(0,) * 8):
    return struct.pack('<4sI4B4BQQII8H8H', b'LOGG', 144, 5, 0, 0, 0, 2, 6, 8, 1, size, size, 0, 0, *start, *start) + bytes(72)


def frames(events):
    """What python-can calls them."""
    return [(when, each['STREAM'], each['id'], each['is_extended'], each['data']) for name, when, each in events if name.startswith('CAN ') and each.get('id') is not None]


def blf():
    if FOREIGN.exists():
        events, said, status = read(FOREIGN / 'blf/can.blf')
        same('blf: the messages of python-can', [(when // 1000, channel - 1, id_, data) for when, channel, id_, _, data in frames(events)],
             [(2459565876494606, 4368, 0x4444444, '5566778899aabbcc')] * 2)
        same('blf: other objects', [(name, each['EVENT'], len(each['data']) // 2) for name, _, each in events[2:]],
             [('restore point', (115, 'restore point'), 24), ('restore point', (115, 'restore point'), 28)])
        sound('blf', said, status)
    # 2023-11-14 22:13:20.250 is 1700000000.250
    start, objects, wanted = (2023, 11, 2, 14, 22, 13, 20, 250), [], []
    rng = random.Random(4)
    for i in range(2000):
        data = bytes(rng.randrange(256) for _ in range(rng.choice([0, 1, 3, 8])))
        kind = rng.choice([1, 86, 100, 101, 73, 200])
        id_ = rng.randrange(1 << 29)
        raw = id_ | 1 << 31
        body = {1: struct.pack('<HBBI8s', 3, 0, len(data), raw, data), 86: struct.pack('<HBBI8sIBBH', 3, 0, len(data), raw, data, 1, 2, 0, 0),
                100: struct.pack('<HBBIIBBB5x64s', 3, 0, len(data), raw, 7, 8, 1, len(data), data),
                101: struct.pack('<BBBBIII16xHBBI', 3, len(data), len(data), 1, raw, 9, 0x1000, 5, 0, 0, 6) + data,
                73: struct.pack('<HHIBBBxIIHH8s', 3, 1, 2, 3, 4, len(data), 5, raw, 0, 0, data), 200: data}[kind]
        units = i % 3 != 0 # nanoseconds, or 10 microseconds
        objects.append(blf_object(kind, body, i * 1000 if units else i, 2 if units else 1))
        when = 1700000000250000000 + (i * 1000 if units else i * 10000)
        wanted.append((when, kind, None if kind == 200 else (3, id_, 1), data.hex()))
    stream, boxes, at = b''.join(objects), [], 0
    while at < len(stream):
        size = rng.choice([1, 2, 30, 700, 9000])
        boxes.append(blf_container(stream[at:at + size], rng.choice([0, 2])))
        at += size
    data = blf_head(0, start) + b''.join(boxes)
    pathlib.Path('made.blf').write_bytes(data)
    events, said, status = read('made.blf')
    same('blf: objects that continue in the next container', [(when, each['EVENT'][0] if isinstance(each['EVENT'], tuple) else each['EVENT'],
         (each['STREAM'], each['id'], each['is_extended']) if 'id' in each else None, each['data']) for _, when, each in events], wanted)
    sound('blf: objects that continue in the next container', said, status)
    first = blf_container(stream[:5000], 2)
    broken = bytearray(blf_container(stream[5000:9000], 2))
    broken[200] ^= 0x10
    pathlib.Path('broken.blf').write_bytes(blf_head(0, start) + first + bytes(broken) + blf_container(stream[9000:], 2))
    events, said, status = read('broken.blf', '--as', 'blf')
    same('blf: a corrupt container', (said.splitlines(), status, 1800 < len(events) < 1990, events[-1][1]),
         ([f'kymo cat: broken.blf: byte {144 + len(first)}: R2: the bytes are not valid zlib data; a record that begins in the container before it is lost, too '
           f'({len(broken)} bytes skipped)'], 1, True, wanted[-1][0]))
    pathlib.Path('sealed.blf').write_bytes(blf_head(0) + blf_container(stream[:500], 7) + blf_container(blf_object(200, b'x'), 0))
    events, said, status = read('sealed.blf', '--as', 'blf')
    same('blf: a method of packing that is not known', (len(events), 'R4: a method of packing that is not known' in said, status), (1, True, 1))


def blf_by_python_can():
    """Files that Debian's python3-can writes, as it reads them itself."""
    count = 4000 if os.environ['KYMO_SANITIZE'] else 20000
    program = (f'count = {count}' + '''
import can, json, random
rng = random.Random(3)
out = can.BLFWriter('can.blf')
for i in range(count):
    fd = i % 3 == 0
    data = bytes(rng.randrange(256) for _ in range(rng.choice([0, 8, 12, 64] if fd else [0, 1, 2, 3, 5, 7, 8])))
    out.on_message_received(can.Message(timestamp=1700000000 + i / 1024, arbitration_id=rng.randrange(1 << (29 if i % 2 else 11)), is_extended_id=i % 2 == 1,
                                        is_fd=fd, data=data, channel=i % 4))
    if i % 100 == 0:
        out.log_event('mark' * (i % 7), 1700000000 + i / 1024)
out.stop()
print(json.dumps([(m.timestamp, m.channel + 1, m.arbitration_id, int(m.is_extended_id), bytes(m.data).hex()) for m in can.BLFReader('can.blf')]))
''')
    done = subprocess.run(['/usr/bin/python3', '-c', program], capture_output=True, text=True, env=dict(os.environ, TZ='UTC'))
    if 'ModuleNotFoundError' in done.stderr:
        print('skip blf by python3-can: it is not installed')
        return
    events, said, status = read('can.blf')
    wanted = [tuple(each) for each in json.loads(done.stdout)]
    got = frames(events)
    same('blf by python3-can', [each[1:] for each in got], [each[1:] for each in wanted])
    same('blf by python3-can: times', max(abs(have[0] / 1e9 - want[0]) for have, want in zip(got, wanted)) < 2e-6, True)
    same('blf by python3-can: marks', sum(name == 'global marker' for name, _, _ in events), count // 100)
    sound('blf by python3-can', said, status)


# ---- Windows ----

def filetime(seconds):
    return (seconds + 11644473600) * 10**7


def evtx_record(number, xml):
    return struct.pack('<IIQQ', 0x2a2a, 28 + len(xml), number, filetime(1700000000 + number)) + xml + struct.pack('<I', 28 + len(xml))


def evtx_chunk(numbers, rng):
    records = [evtx_record(number, bytes(rng.randrange(256) for _ in range(rng.randrange(8, 3000)))) for number in numbers]
    events = b''.join(records)
    head = struct.pack('<8sQQQQIIII', b'ElfChnk\0', numbers[0], numbers[-1], numbers[0], numbers[-1], 128, 512 + len(events) - len(records[-1]),
                       512 + len(events), zlib.crc32(events)) + bytes(64)
    tables = bytes(384)
    return head + struct.pack('<II', 1, zlib.crc32(head + tables)) + tables + events + bytes(65536 - 512 - len(events)), records


def evtx_head(chunks, following):
    head = struct.pack('<8sQQQIHHHH', b'ElfFile\0', 0, chunks - 1, following, 128, 1, 3, 4096, chunks) + bytes(76)
    return head + struct.pack('<II', 0, zlib.crc32(head)) + bytes(4096 - 128)


def evtx():
    """By the published description of the format: there is no program of Debian that writes such files."""
    rng = random.Random(6)
    chunks = [evtx_chunk(range(first, first + 20), rng) for first in (1, 21, 41)]
    records = [each for _, all_ in chunks for each in all_]
    data = evtx_head(3, 61) + b''.join(chunk for chunk, _ in chunks) + bytes(65536)
    pathlib.Path('made.evtx').write_bytes(data)
    events, said, status = read('made.evtx')
    same('evtx', [(when, each['number'], each['size'], each['xml']) for _, when, each in events],
         [((1700000000 + i + 1) * SECOND, i + 1, len(record), record[24:-4].hex()) for i, record in enumerate(records)])
    sound('evtx', said, status)
    faults = {'head': (24, 'byte 124: R4: sum is not the crc32'), 'event': (4096 + 512 + 40, 'byte 4148: R4: sum is not the crc32'),
              'copy': (4096 + 512 + len(records[0]) - 4, 'R4: a length of '), 'mark': (4096 + 512 + len(records[0]), 'R3: _mark is not '),
              'chunk': (4096 + 65536, 'R4: the begin of a chunk is not ElfChnk')}
    left = {'mark': 59, 'chunk': 40}
    for name, (at, message) in faults.items():
        broken = bytearray(data)
        broken[at] ^= 1
        pathlib.Path('broken.evtx').write_bytes(broken)
        events, said, status = read('broken.evtx', '--as', 'evtx')
        same(f'evtx: a fault in the {name}', (len(events), message in said, status), (left.get(name, 60), True, 1))
    pathlib.Path('check.py').write_text("import Evtx.Evtx as e, sys\nwith e.Evtx('made.evtx') as log:\n  print([(r.record_num(), r.size(), str(r.timestamp())) "
                                        "for c in log.chunks() for r in c.records()], log.get_file_header().verify(), [c.verify() for c in log.chunks()])\n")
    done = subprocess.run(['/usr/bin/python3', 'check.py'], capture_output=True, text=True)
    if 'ModuleNotFoundError' in done.stderr:
        print('skip evtx as python3-evtx reads it: it is not installed')
        return
    when = [datetime.datetime.fromtimestamp(1700000001 + i, datetime.timezone.utc).strftime('%Y-%m-%d %H:%M:%S') for i in range(60)]
    same('evtx as python3-evtx reads it', done.stdout.strip(), f'{[(i + 1, len(record), when[i]) for i, record in enumerate(records)]} True {[True] * 3 + [False]}')


def looked_at():
    """kymo explain and kymo check, on a capture with bytes that its description does not read."""
    pathlib.Path('made.pcap').write_bytes(pcap_bytes('<', False))
    run = lambda *words: subprocess.run([KYMO, *words], capture_output=True, text=True)  # noqa: E731
    size = len(PACKETS[1][2])
    wanted = ['packet (event), %d bytes at 40' % (16 + size), '40  01 f1 53 65               (time) = 1700000001',
              '44  40 e2 01 00               (hidden) = 123456', '48  07 00 00 00               caplen = 7',
              '52  3d 00 00 00               wire = 61', '56  00 01 02 03 04 05 06      data = "\\x00\\x01\\x02\\x03\\x04\\x05\\x06"']
    done = run('explain', '--record', '2', 'made.pcap')
    same('explain an event', [line.strip() for line in done.stdout.splitlines()], wanted)
    done = run('explain', '--offset', '9', 'made.pcap')
    same('explain a byte', (done.stdout.splitlines()[0], '(not read)' in done.stdout), ('head (control), 24 bytes at 0', True))
    done = run('explain', '--record', '99', 'made.pcap')
    same('explain what is not there', (done.returncode, done.stderr), (3, 'kymo explain: made.pcap: the trace has fewer events\n'))
    if DATA.exists():
        done = run('explain', '--record', '5', str(DATA / 'ctf/lttng-uid-kinds/trace'))
        same('explain an event of LTTng', ('demo:ints, at 399 in ' in done.stdout, '409  1b 1d 00 00               vtid = 7451' in done.stdout), (True, True))
    total = sum(16 + len(data) for _, _, data, _ in PACKETS)
    done = run('check', 'made.pcap')
    same('check', (done.returncode, done.stdout.splitlines()),
         (0, ['made.pcap: 1 record "head" of 24 bytes; 8 of them without a field',
              f'made.pcap: {len(PACKETS)} records "packet" of {total} bytes; 0 of them without a field', f'{len(PACKETS)} events, 0 damaged places']))
    pathlib.Path('cut.pcap').write_bytes(pcap_bytes('<', False)[:-5])
    done = run('check', 'cut.pcap')
    same('check what is cut off', (done.returncode, done.stdout.splitlines()[-1], 'bytes of no record' in done.stdout),
         (1, f'{len(PACKETS) - 1} events, 1 damaged place', True))


if not FOREIGN.exists():
    print('skip files of other tools: no shared data')
for each in (pcap, pcapng, snoop, blf, blf_by_python_can, evtx, wtmp, pacct, simpletrace, dataflash, dlt, ghc, cpel, blktrace, stapbulk, ring, looked_at):
    try:
        each()
    except Exception as problem: # what one of them trips over is not the others' fault
        not_ok(each.__name__, repr(problem))
