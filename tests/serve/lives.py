#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces that are damaged, change or grow, and the life of the server:  lives.py KYMO"""
import http.client
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time

from client import PATIENCE, Server, check, run, same

KYMO = sys.argv[1]


def words_of(*words, status, env=None):
    finished = subprocess.run([KYMO, 'view', *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=env, timeout=PATIENCE)
    same((words, finished.returncode), (words, status))
    return finished.stderr


# ---- damage ----

def damaged(path):
    """Problems are those that kymo cat lists, and all that it can read is there."""
    finished = subprocess.run([KYMO, 'cat', '-f', 'json', path], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    readable = finished.stdout.count('"event":')
    places = re.findall(r'^kymo cat: (.*): byte (\d+): (.*?)(?: \((\d+) bytes skipped\))?$', finished.stderr, re.MULTILINE)
    same(bool(places) and readable > 1000, True)
    with Server(KYMO, path) as server:
        state = server.built()
        same((int(state.events), state.problems, state.error), (readable, len(places), None))
        same([(problem['path'], problem['offset'], problem['message'], int(problem['bytesLost'])) for problem in server.ask('problems').problems],
             [(file, offset, message, int(lost or 0)) for file, offset, message, lost in places])
        last = server.ask('rows', first=readable - 5, count=10).rows
        same(len(last), 5)
        tracks = ','.join(str(i) for i in range(state.tracks))
        drawn = server.picture('tile', begin=state.begin, end=int(state.end) + 1, pixels=10, tracks=tracks)
        same(int(sum(cell['count'] for row in drawn for cell in row)), readable)


def no_trace():
    same(words_of(__file__, status=3).startswith(f'kymo view: {__file__}: '), True)
    same(words_of('no-such-file', status=3), run_words('no-such-file'))


def run_words(path):
    """What kymo cat says of it, as kymo view."""
    return subprocess.run([KYMO, 'cat', path], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stderr.replace('kymo cat', 'kymo view')


# ---- the index that is kept ----

def kept():
    """A second start takes the index; a trace that has changed gets a new one; so does an index that is damaged."""
    shutil.copytree('kernel', 'changing', dirs_exist_ok=True)
    with Server(KYMO, 'changing') as server:
        state = server.built()
        same(state.isFromCache, False)
    with Server(KYMO, 'changing') as server:
        again = server.built()
        same((again.isFromCache, again.events, again.tracks), (True, state.events, state.tracks))
    os.truncate('changing/channel_0', os.path.getsize('changing/channel_0') // 2)
    with Server(KYMO, 'changing') as server:
        less = server.built()
        same((less.isFromCache, int(less.events)), (False, run([KYMO, 'cat', '-f', 'json', 'changing']).count('"event":')))


def killed():
    """A server that is killed leaves nothing that hinders the next one, which has another secret."""
    first = Server(KYMO, 'kernel')
    first.built()
    first.process.kill()
    first.process.communicate()
    with Server(KYMO, '--port', first.port, 'kernel') as second:
        same(second.port, first.port)
        same(second.built().error, None)
        status, _, _ = second.raw('/api/state', headers={'X-Kymo-Token': first.token})
        same(status, 403)


# ---- the end ----

def ends_by(number):
    server = Server(KYMO, 'kernel')
    server.built()
    server.process.send_signal(number)
    same((server.process.wait(timeout=PATIENCE), server.process.communicate()[1]), (0, ''))


def ends_when_idle():
    """No page asks; requests without the secret do not count."""
    server = Server(KYMO, '--idle-exit', '300ms', 'kernel')
    while server.process.poll() is None:
        try:
            server.raw('/', headers={})
        except OSError:
            pass
    same(server.process.returncode, 0)
    server.process.communicate()


def ends_while_asked():
    """A connection that is open does not delay the end."""
    server = Server(KYMO, 'kernel')
    connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=PATIENCE)
    connection.request('GET', '/api/state', headers={'X-Kymo-Token': server.token})
    connection.getresponse().read()
    begin = time.monotonic()
    same(server.stop(), (0, ''))
    assert time.monotonic() - begin < 60
    connection.close()


# ---- the command ----

def usage():
    for words, text in ((['--port', 'x', 'kernel'], '--port is a number up to 65535, not "x"'), (['--port', '65536', 'kernel'], '--port is a number up to 65535, not "65536"'),
                        (['--idle-exit', '0', 'kernel'], '--idle-exit is a time from 1ms, not "0"'), (['--begin', '1s'], 'which trace?'), (['--html', 'x.html'], 'which trace?'), (['--offer', '.', '--html', 'x.html', 'kernel'], '--offer is for the server'),
                        (['--stream-intersection', 'kernel'], '--stream-intersection is for --html; the page takes a --filter'),
                        (['--filter', 'bad (', 'kernel'], 'expected'), (['--begin', 'x', 'kernel'], '--begin x'), (['--track', 'no_such_field', 'kernel'], 'no_such_field')):
        said = words_of(*words, status=2)
        same((words, text in said), (words, True))


def ports():
    with Server(KYMO, 'kernel') as server:
        same(words_of('--port', str(server.port), 'kernel', status=3), f'kymo view: cannot listen on port {server.port} of 127.0.0.1: Address already in use\n')


def start():
    """--filter, --begin and --end are where the page begins, and the events are all there."""
    text = 'value < 100'
    with Server(KYMO, '--filter', text, '--begin', '+1us', '--end', '+1ms', 'kernel') as server:
        state = server.built()
        begin = int(state.begin)
        same(state.start, {'filter': text, 'begin': str(begin + 1000), 'end': str(begin + 1000000), 'slew': []})
        same(int(state.events), run([KYMO, 'cat', '-f', 'json', 'kernel']).count('"event":'))
        same(state.command, 'kymo cat kernel')


def quits():
    """The page ends the server, with its token alone, and hears that it has."""
    with Server(KYMO, 'kernel') as server:
        for headers in ({}, {'X-Kymo-Token': '0' * 32}, {'X-Kymo-Token': server.token, 'Origin': 'http://evil.example'}):
            same(server.raw('/api/quit', headers)[0], 403)
        same(server.raw('/api/quit', method='POST')[0], 405)
        same(server.ask('quit').isEnded, True)
        same((server.process.wait(60), server.process.stderr.read()), (0, ''))


def offers():
    """Other traces by numbers of a list; a list that is older, a number that is not in it, and what cannot be a trace are refused."""
    os.makedirs('offered/folder', exist_ok=True)
    os.mkfifo('offered/pipe')
    for name in ('random.cpel', '.hidden', 'two'):
        shutil.copy('random.cpel', f'offered/{name}')
    with open('offered/no trace', 'w', encoding='utf-8') as file:
        file.write('nothing\n')
    with Server(KYMO, '--offer', 'offered', '--offer', 'kernel', '--offer', 'not there', '--begin', '+1us', 'packets.pcap') as server:
        before = server.built()
        reply = server.ask('offers')
        numbers = {offer['name']: offer['offer'] for offer in reply.offers}
        same(sorted(numbers), ['kernel', 'offered/folder', 'offered/no trace', 'offered/random.cpel', 'offered/two'])
        same('there is no such trace' in server.refused('open', 404, list=reply.list, offer=5), True)
        same('is older' in server.refused('open', 404, list=reply.list - 1, offer=0), True)
        for words in ({'list': reply.list}, {'list': reply.list, 'offer': 'kernel'}, {'list': reply.list, 'offer': 0, 'gistclock': 4294967296},
                      {'list': reply.list, 'offer': 0, 'cpelclock': 'h'}):
            server.refused('open', 400, **words)
        for name in ('offered/no trace', 'offered/folder'):
            same('no trace found' in server.refused('open', 500, list=reply.list, offer=numbers[name]), True)
        same(vars(server.ask('state')), vars(before))
        for name, format_ in (('offered/random.cpel', 'random.cpel'), ('kernel', 'kernel')):
            server.ask('open', list=reply.list, offer=numbers[name])
            state = server.built()
            same((state.title, state.files, state.command), (os.path.basename(name), [name], f'kymo cat {name}'))
            same(state.start, {'filter': None, 'begin': None, 'end': None, 'slew': []})
            same(int(state.events), run([KYMO, 'cat', '-f', 'json', format_]).count('"event":'))
        server.ask('reload')
        same(server.built().opened, 3)
        same(server.task('filter', text='value < 17').count, str(run([KYMO, 'cat', '-f', 'json', '--filter', 'value < 17', 'kernel']).count('"event":')))
    with Server(KYMO, 'kernel') as server:
        same(server.ask('offers').offers, [])


def without_traces():
    """Nothing is shown until the page asks for it; it may ask for what is in the folder."""
    with Server(KYMO) as server:
        state = server.ask('state')
        same((state.files, state.events, state.isComplete), ([], '0', True))
        for name in ('tracks', 'kinds', 'fields', 'schema', 'losses', 'problems', 'statistics', 'compare', 'reload'):
            same(server.refused(name, 404), 'no trace is open')
        reply = server.ask('offers')
        server.ask('open', list=reply.list, offer=[offer['offer'] for offer in reply.offers if offer['name'] == 'kernel'][0])
        same(server.built().title, 'kernel')


def tracks():
    with Server(KYMO, '--track', 'vtid', 'kernel') as server:
        state = server.built()
        same((state.trackBy, state.field, state.tracks), ('field', 'vtid', 5))
    with Server(KYMO, '--track', 'cpu', 'kernel') as server:
        same((server.built().trackBy, server.ask('state').tracks), ('cpu', 2))


def browser():
    """The first program of $BROWSER that there is gets a file that only this user can read, since other users see the arguments of processes."""
    with open('browser', 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\n[ "$1" = --new ] || exit\nstat -c %a "$2" >opened.part\necho "$2" >>opened.part\ncat "$2" >>opened.part\nmv opened.part opened\n')
    os.chmod('browser', 0o755)
    if os.path.exists('opened'):
        os.unlink('opened')
    os.makedirs('runtime', mode=0o700, exist_ok=True)
    env = {**os.environ, 'DISPLAY': ':7', 'BROWSER': f'no-such-browser -x:{os.path.abspath("browser")} --new', 'XDG_RUNTIME_DIR': os.path.abspath('runtime')}
    process = subprocess.Popen([KYMO, 'view', '--idle-exit', '5min', 'kernel'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    address, end = process.stdout.readline().strip(), time.monotonic() + PATIENCE
    while not os.path.exists('opened'):
        assert time.monotonic() < end, 'the browser is not started'
        time.sleep(0.01)
    with open('opened', encoding='utf-8') as file:
        mode, path, page = file.read().split('\n', 2)
    same((mode, f'url={address}"' in page, stat.S_ISREG(os.stat(path).st_mode)), ('600', True, True))
    process.terminate()
    same((process.communicate(timeout=PATIENCE)[1], process.returncode, os.path.exists(path)), ('', 0, False))


def over_ssh():
    process = subprocess.Popen([KYMO, 'view', '--idle-exit', '5min', 'kernel'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, 'SSH_CONNECTION': '1.2.3.4 5 6.7.8.9 22', 'DISPLAY': ':7', 'BROWSER': '/bin/false'})
    port = process.stdout.readline().split(':')[2].split('/')[0]
    process.terminate()
    same(re.fullmatch(rf'kymo view: over SSH, .*: ssh -N -L {port}:127.0.0.1:{port} \S+\n', process.communicate(timeout=PATIENCE)[1]) is not None, True)


# ---- live ----

class Program:
    """Records one event at a time."""

    def __init__(self, **env):
        self.process = subprocess.Popen(['./served'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, 'KYMO_ENABLE': '*', 'KYMO_CONTROL': '0', **env})
        same(self.process.stdout.readline(), 'ready\n')

    def record(self, count):
        for _ in range(count):
            self.process.stdin.write('x')
            self.process.stdin.flush()
            same(self.process.stdout.readline(), 'done\n')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=PATIENCE)


def server_of(program, by_name):
    program.record(10)
    return Server(KYMO, 'served' if by_name else program.process.pid)


def live(by_name):
    """What a running program records comes, is counted by a filter that was there before, and the end of the program is no error."""
    with Program() as program, server_of(program, by_name) as server:
        def grown(count):
            state = server.until(lambda state: int(state.events) >= count)
            same((int(state.events), state.isLive, state.error), (count, True, None))
            return state
        before = grown(10)
        reply = server.task('filter', text='count % 2 = 0')
        same(int(reply.count), 5)
        program.record(25)
        after = grown(35)
        server.until(lambda state: state.generation > before.generation)
        same(int(after.end) > int(before.end), True)
        end = time.monotonic() + PATIENCE
        while int((reply := server.ask('filter', text='count % 2 = 0')).count) < 18:
            assert time.monotonic() < end, f'the filter has {reply.count}'
            time.sleep(0.01)
        same(int(reply.count), 18)
        drawn = server.picture('tile', begin=after.begin, end=int(after.end) + 1, pixels=10, tracks=0)
        same(int(sum(cell['count'] for cell in drawn[0])), 35)
        same([row['text'] for row in server.ask('rows', first=32, count=10).rows], [f'count = {i}' for i in (32, 33, 34)])
        program.end()
        same(int(server.ask('state').events), 35)
        same(server.stop(), (0, ''))


def from_of(reply):
    return getattr(reply, 'from')


def overwritten():
    """A flight recorder: events that its ring has overwritten are rows without a text, and each result says from when on it has all events."""
    chunk, chunks = 1000, 12
    with Program(KYMO_MODE='overwrite', KYMO_BUFFER='64k') as program, server_of(program, False) as server:
        program.record(chunk - 10)
        state = server.until(lambda state: int(state.events) >= chunk)
        same((state.overwrittenBefore, from_of(server.task('filter', text='count >= 0'))), (None, None))
        for i in range(1, chunks):
            program.record(chunk)
            state = server.until(lambda state, all_=(i + 1) * chunk: int(state.events) >= all_)
        all_ = chunk * chunks
        same(int(state.events), all_)
        rows = [row for first in range(0, all_, 1000) for row in server.ask('rows', first=first, count=1000).rows]
        same([int(row['number']) for row in rows], list(range(1, all_ + 1)))
        gone = [row for row in rows if row['text'] is None]
        same((0 < len(gone) < all_, rows[:len(gone)]), (True, gone))
        same([row['text'] for row in rows[len(gone):]], [f'count = {i}' for i in range(len(gone), all_)])
        same(len(server.ask('rows', first=0, count=300).rows), 300)
        old, new = server.ask('event', number=5), server.ask('event', number=all_)
        same((old.isGone, old.fields, old.number, old.time, old.name, old.text), (True, [], '5', rows[4]['time'], 'live:step', None))
        same((new.isGone, new.text, bool(new.fields)), (False, f'count = {all_ - 1}', True))
        server.refused('event', 404, number=all_ + 1)
        text = 'count % 3 = 1'

        def is_of_all(reply):
            return int(reply.indexed) == all_

        def matching(first, last=int(state.end) + 1):
            return sum(first <= int(row['time']) < last and i % 3 == 1 for i, row in enumerate(rows))

        reply = server.task('filter', is_of_all, text=text)
        same((int(reply.count), from_of(reply)), (matching(int(from_of(reply))), server.ask('state').overwrittenBefore))
        same(sum(int(row['time']) < int(from_of(reply)) for row in rows), len(gone))
        same([row['text'] for row in server.ask('rows', first=0, count=1000, filter=reply.id).rows][0], f'count = {len(gone) + (1 - len(gone)) % 3}')
        for name, query in (('latency', {'from_': 'live:step', 'to': 'live:step'}), ('histogram', {'field': 'count'}), ('anomaly', {'field': 'count', 'threshold': 2, 'sides': 'high'}),
                            ('selection', {'begin': state.begin, 'end': int(state.end) + 1, 'filter': reply.id})):
            same((name, from_of(server.task(name, is_of_all, **query))), (name, from_of(reply)))
        late = {'begin': from_of(reply), 'end': int(state.end) + 1}
        for query in (late, {**late, 'filter': reply.id}, {**late, 'begin': state.begin}):
            selection = server.task('selection', **query)
            same((from_of(selection), int(selection.events)), (None, matching(int(from_of(reply))) if 'filter' in query else sum(int(query['begin']) <= int(row['time']) for row in rows)))
        same(server.stop(), (0, ''))


def main():
    for path in ('damaged', 'corrupt'):
        check(f'lives: {path}', damaged, path)
    for test in (no_trace, kept, killed, ends_when_idle, ends_while_asked, usage, ports, start, quits, offers, without_traces, tracks, browser, over_ssh):
        check(f'lives: {test.__name__}', test)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        check(f'lives: ends by {number.name}', ends_by, number)
    if os.path.exists('served'):
        check('lives: a running program by its number', live, False)
        check('lives: a running program by its name', live, True)
        check('lives: a running program whose rings are overwritten', overwritten)


main()
