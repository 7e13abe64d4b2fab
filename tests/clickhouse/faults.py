#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whatever breaks while traces are sent: they are sent again, and each event is there exactly once.

    faults.py KYMO FOLDER [ROUNDS]      FOLDER has the traces one, two (make_trace.py) and large and few (bench/query/generate.c)
"""
import random
import selectors
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from clickhouse import Server, case, check_once, convert, events_of, expected, summary

KYMO, FOLDER = sys.argv[1], Path(sys.argv[2])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else 0
ONE, TWO, LARGE = FOLDER / 'one', FOLDER / 'two', FOLDER / 'large'
FEW = FOLDER / 'few'  # the begin of large, as another trace of the same UUID
SMALL = [ONE, TWO]
CHANCE = random.Random(18)


class Cutter:
    """Passes bytes between the sender and the server, and ends all connections after `limit` bytes of the sender."""

    def __init__(self, server, limit=None):
        self.server, self.limit, self.sent, self.boundaries = server, limit, 0, set()
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port, self.is_over = self.listener.getsockname()[1], False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        chooser, other = selectors.DefaultSelector(), {}
        chooser.register(self.listener, selectors.EVENT_READ)
        while not self.is_over:
            for key, _ in chooser.select(0.1):
                source = key.fileobj
                if source is self.listener:
                    near, far = self.listener.accept()[0], socket.create_connection((self.server.host, self.server.http))
                    other[near], other[far] = (far, True), (near, False)
                    for one in (near, far):
                        chooser.register(one, selectors.EVENT_READ)
                    continue
                if source not in other:
                    continue
                target, is_of_sender = other[source]
                try:
                    data = source.recv(65536)
                    if data and is_of_sender:
                        data = data[:self.limit - self.sent] if self.limit is not None else data
                        self.sent += len(data)
                    elif data:
                        self.boundaries.add(self.sent)
                    target.sendall(data)
                except OSError:
                    data = b''
                if not data:
                    for one in (source, target):
                        chooser.unregister(one)
                        one.close()
                        other.pop(one)
                if self.limit is not None and self.sent >= self.limit:
                    self.is_over = True
        for one in [self.listener, *other]:
            one.close()

    def stop(self):
        self.is_over = True
        self.thread.join()


def through(server, database, limit=None):
    """Sends by a Cutter; returns it and the exit status."""
    cutter = Cutter(server, limit)
    status, said = convert(KYMO, SMALL, f'http://127.0.0.1:{cutter.port}/{database}', '--jobs', '1')
    cutter.stop()
    return cutter, status, said


def chosen(values, count):
    values = sorted(values)
    return values if ROUNDS or len(values) <= count else CHANCE.sample(values, count)


def cut(server):
    """At the end of each answer, one byte before and after it, and inside of what is sent between."""
    wanted = expected(KYMO, *SMALL)
    server.new_database('whole')
    cutter, status, said = through(server, 'whole')
    assert status == 0, said
    check_once(server, wanted, 'whole')
    ends = sorted(cutter.boundaries)
    places = {ends[-1] // 2, *chosen(ends[:-1], 4), *chosen([end - 1 for end in ends], 1), *chosen([end + 1 for end in ends[:-1]], 1)}
    places |= {CHANCE.randrange(1, ends[-1]) for _ in range(ROUNDS or 4)}
    failed = 0
    for number, place in enumerate(sorted(places)):
        name = f'cut{number}'
        server.new_database(name)
        _, status, said = through(server, name, place)
        assert status == 3 or (status == 0 and place >= ends[-1] - 1), f'cut at {place} of {ends[-1]}: exit status {status}: {said}'
        failed += status == 3
        status, said = convert(KYMO, SMALL, f'{server.url}/{name}')
        assert status == 0, f'cut at {place}, then: {said}'
        check_once(server, wanted, name)
        server.ask(f'DROP DATABASE {name}')
    assert failed >= len(places) - 2
    server.ask('DROP DATABASE whole')


def timed(server):
    server.new_database('timed')
    begin = time.monotonic()
    status, said = convert(KYMO, [LARGE], f'{server.url}/timed')
    seconds = time.monotonic() - begin
    assert status == 0, said
    check_once(server, expected(KYMO, LARGE), 'timed')
    return seconds


def start(server, name, *words):
    return subprocess.Popen([KYMO, 'convert', '-q', LARGE, '--to', 'clickhouse', '-o', f'{server.url}/{name}', *words],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(server, name, wanted):
    status, said = convert(KYMO, [LARGE], f'{server.url}/{name}')
    assert status == 0, f'sent again: {said}'
    check_once(server, wanted, name)


def senders_killed(server, seconds):
    wanted, killed = expected(KYMO, LARGE), 0
    for number in range(ROUNDS or 6):
        name = f'sender{number % 3}'  # some go on where others were killed
        if number < 3:
            server.new_database(name)
        sender = start(server, name)
        time.sleep(CHANCE.uniform(0, seconds))
        killed += sender.poll() is None
        sender.kill()
        sender.communicate()
    for number in range(3):
        finish(server, f'sender{number}', wanted)
    assert killed, 'no sender was killed'


def servers_killed(server, seconds):
    wanted, failed, number = expected(KYMO, LARGE), 0, 0
    while number < (ROUNDS or 2) or (not failed and number < 50):  # until one was ended while it was sent to
        name = f'server{number}'
        number += 1
        server.new_database(name)
        sender = start(server, name)
        time.sleep(CHANCE.uniform(0, seconds))
        server.stop()
        said = sender.communicate()[1].decode()
        assert sender.returncode in (0, 3) and said.count('\n') == (sender.returncode != 0), said
        failed += sender.returncode == 3
        server.start()
        finish(server, name, wanted)
        server.ask(f'DROP DATABASE {name}')
    assert failed, 'no server was killed while it was sent to'


def senders_at_once(server):
    wanted = expected(KYMO, LARGE)
    for number in range(ROUNDS or 1):
        server.new_database('both')
        senders = [start(server, 'both', '--jobs', str(jobs)) for jobs in (1, 3, 2)]
        for sender in senders:
            said = sender.communicate()[1].decode()
            assert sender.returncode == 0, f'round {number}: {said}'
        check_once(server, wanted, 'both')


def rename(trace, copy):
    """The same events as another trace, of another UUID."""
    old, new = '00112233-4455-6677-8899-aabbccddeeff', '10112233-4455-6677-8899-aabbccddeeff'
    copy.mkdir()
    for path in trace.iterdir():
        data = path.read_bytes().replace(old.encode(), new.encode())
        (copy / path.name).write_bytes(data.replace(bytes.fromhex(old.replace('-', '')), bytes.fromhex(new.replace('-', ''))))
    return copy


def disk_full():
    folder = FOLDER / 'narrow'
    data = folder.resolve() / 'data'
    mount = f'mkdir -p {data} && mount -t tmpfs -o size=3m none {data} && exec "$@"'
    server = Server(folder, data=data, wrapper=['unshare', '-m', 'sh', '-c', mount, 'sh']).start()
    try:
        server.new_database()
        # A table that cannot be made leaves a file, and its server makes it no more until that is removed: so they are made before.
        other = rename(FEW, FOLDER / 'other')
        status, said = convert(KYMO, [other], f'{server.url}/k')
        assert status == 0, said
        status, said = convert(KYMO, [LARGE], f'{server.url}/k')
        assert status == 3 and said.count('\n') == 1 and said.startswith('kymo convert: table ') and 'no space left' in said.lower(), f'exit status {status}: {said}'
        subprocess.run(['nsenter', '-t', str(server.process.pid), '-m', 'mount', '-o', 'remount,size=500m', data], check=True)
        status, said = convert(KYMO, [LARGE], f'{server.url}/k')
        assert status == 0, f'sent again: {said}'
        check_once(server, summary((e['event'], e['ts']) for trace in (LARGE, other) for e in events_of(KYMO, [trace])))
    finally:
        server.stop()


def changed(server):
    """The same trace with other times, or more events, is not mixed with what is there."""
    server.new_database()
    assert convert(KYMO, [ONE], f'{server.url}/k')[0] == 0
    status, said = convert(KYMO, [ONE], f'{server.url}/k', '--clock-offset', '1')
    assert status == 3 and 'the trace or its clock has changed since it was sent' in said and said.startswith('kymo convert: table '), said
    check_once(server, expected(KYMO, ONE))


def sent_twice(server):
    """Another cut of the same recording: the same events in other files."""
    server.new_database()
    assert convert(KYMO, [FEW], f'{server.url}/k')[0] == 0
    status, said = convert(KYMO, [LARGE], f'{server.url}/k')
    assert status == 3 and ' twice, from packet 0 on: it was sent from other files, too' in said and said.count('\n') == 1, said


def damaged_tables(server):
    """Rows that were removed by others are missed."""
    server.new_database()
    assert convert(KYMO, [ONE], f'{server.url}/k')[0] == 0
    server.ask('CREATE TABLE half AS alloc', 'k')
    server.ask('INSERT INTO half SELECT * FROM alloc LIMIT 10', 'k')
    server.ask('DROP TABLE alloc', 'k')
    server.ask('RENAME TABLE half TO alloc', 'k')
    status, said = convert(KYMO, [ONE], f'{server.url}/k')
    assert status == 3 and said.startswith('kymo convert: table alloc: ') and ' has 10 rows of batch 0 of trace ' in said, said


def refusals(server):
    server.new_database()
    status, said = convert(KYMO, [ONE], f'{server.url}/nothing')
    assert (status, said) == (3, f"kymo convert: {server.url}/nothing refuses: Database nothing doesn't exist\n"), said
    status, said = convert(KYMO, [ONE], f'http://guarded:wr0ng@127.0.0.1:{server.http}/k')
    assert (status, said) == (3, f'kymo convert: {server.url}/k refuses: Wrong password for user guarded\n'), said
    server.ask('CREATE VIEW `net:rx` AS SELECT 1 AS host', 'k')
    status, said = convert(KYMO, [ONE], f'{server.url}/k')
    assert status == 3 and said.startswith(f'kymo convert: table net:rx: {server.url}/k refuses: ') and said.count('\n') == 1, said
    server.new_database()
    status, said = convert(KYMO, [ONE], f'{server.url}/k', env={'KYMO_CLICKHOUSE_USER': 'guarded', 'KYMO_CLICKHOUSE_PASSWORD': 's3cret'})
    assert (status, said) == (0, ''), said


def main():
    server = Server(FOLDER / 'faults').start()
    case('a server that refuses', refusals, server)
    case('a trace that has changed', changed, server)
    case('events that are sent twice', sent_twice, server)
    case('rows that are missing', damaged_tables, server)
    case('connections that are cut', cut, server)
    seconds = timed(server)
    case('senders that are killed', senders_killed, server, seconds)
    case('three senders at once', senders_at_once, server)
    case('servers that are killed', servers_killed, server, seconds)
    server.stop()
    if subprocess.run(['unshare', '-m', 'true'], stderr=subprocess.DEVNULL, check=False).returncode:
        print('skip a disk that is full: mounts need root')
    else:
        case('a disk that is full', disk_full)


main()
