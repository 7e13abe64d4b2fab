#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests that take long, on a trace of some size: others are answered meanwhile, and what no page waits for is given up:  budget.py KYMO"""
import os
import select
import signal
import socket
import subprocess
import sys
import time

from client import PATIENCE, Server, check, rows_of, same

KYMO = sys.argv[1]
SPARSE = 'value % 1999 = 7'


def cpu_seconds(server):
    with open(f'/proc/{server.process.pid}/schedstat', encoding='utf-8') as file:
        return int(file.read().split()[0]) / 1e9


def send(server, paths):
    """Requests that arrive at the same time, in this order; their connections."""
    server.process.send_signal(signal.SIGSTOP)
    connections = []
    for path in paths:
        connection = socket.create_connection(('127.0.0.1', server.port), timeout=PATIENCE)
        connection.sendall(f'GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Kymo-Token: {server.token}\r\nConnection: close\r\n\r\n'.encode())
        connections.append(connection)
    server.process.send_signal(signal.SIGCONT)
    return connections


def take(connection):
    content = b''
    while part := connection.recv(1 << 20):
        content += part
    connection.close()
    return content


def widest(server, state, number):
    """The widest picture that may be asked for; each number is another one."""
    return server.path('tile', {'begin': int(state.begin) + number, 'end': int(state.end) + 1, 'pixels': 8192 // 4,
                                'tracks': ','.join(str(i % state.tracks) for i in range(256)), 'filter': server.task('filter', text='value % 7 = 3').id})


def pictures(server, state):
    """Others are answered while the widest pictures are drawn."""
    paths = [widest(server, state, i) for i in range(8)]
    connections = send(server, [*paths, server.path('state', {})])
    take(connections.pop())
    late = len(connections) - len(select.select(connections, [], [], 0)[0])
    replies = [take(connection) for connection in connections]
    assert late > 0, 'the state is answered after all pictures'
    counts = [sum(cell['count'] for row in rows_of(reply.split(b'\r\n\r\n', 1)[1])[:state.tracks] for cell in row) for reply in replies]
    same(counts, [float(server.task('filter', text='value % 7 = 3').count)] * len(counts))


def given_up(server, state):
    """A picture is given up when its connection is closed while it is drawn."""
    def work(waits):
        before = cpu_seconds(server)
        *connections, last = send(server, [*(widest(server, state, i) for i in range(16)), server.path('state', {})])
        take(last)
        server.process.send_signal(signal.SIGSTOP)
        if not waits:
            for connection in connections:
                connection.close()
        server.process.send_signal(signal.SIGCONT)
        for connection in connections if waits else ():
            take(connection)
        server.ask('state')
        return cpu_seconds(server) - before
    assert any(work(False) < 0.8 * work(True) for _ in range(5)), 'pictures that no page waits for are drawn to the end'


def rows(server, _):
    """Rows that are far from one another: as many as a sanitizer's slow code reads within the time of one request."""
    made = server.task('filter', text=SPARSE)
    replies = send(server, [server.path('rows', {'first': 0, 'count': 300, 'filter': made.id}), server.path('state', {})])
    state, listed = take(replies[1]), take(replies[0])
    same((b'"tracks":' in state, listed.count(b'{"number":'), listed[:15]), (True, 300, b'HTTP/1.1 200 OK'))
    printed = subprocess.run([KYMO, 'cat', '-f', 'json', '--filter', SPARSE, 'big'], capture_output=True, check=True).stdout.count(b'\n')
    same(int(made.count), printed)


def looking_ahead(server, state):
    """A filter that has to read the whole trace before it selects anything."""
    text, answered, begin = f'AFTER LAST (BEFORE LAST (value = {int(state.events) // 2}))', 0, time.monotonic()
    while (reply := server.ask('filter', text=text)).state == 'running':
        assert time.monotonic() - begin < PATIENCE
        server.ask('state')
        answered += 1
    same(reply.state, 'done')
    assert answered >= 5, f'{answered} requests are answered meanwhile'


def kept(_, state):
    """An index that was kept is checked while requests are answered, also by a search that looks into all of it."""
    with Server(KYMO, 'big') as server:
        made = server.ask('filter', text=SPARSE)
        replies = send(server, [server.path('chase', {'filter': made.id, 'number': 1}), server.path('search', {'number': 0, 'kind': 150}), server.path('state', {})])
        first = take(replies[2])
        same((b'"isFromCache":true' in first, [b'200 OK' in take(reply)[:40] for reply in replies[:2]]), (True, [True, True]))
        done = server.task('filter', text=SPARSE)
        order = server.ask('chase', filter=done.id, number=1).tracks
        same(sorted(order), list(range(state.tracks)))


def ended(_, __):
    """The server ends while requests are worked on."""
    server = Server(KYMO, 'big')
    state = server.built()
    connections = send(server, [widest(server, state, i) for i in range(8)])
    same(server.stop(), (0, ''))
    for connection in connections:
        connection.close()


def main():
    os.environ['XDG_CACHE_HOME'] = os.path.abspath('kept')
    with Server(KYMO, 'big') as server:
        state = server.built()
        for test in (pictures, given_up, rows, looking_ahead, kept, ended):
            check(f'budget: {test.__name__}', test, server, state)
        check('budget: the server ends with status 0, without words', lambda: same(server.stop(), (0, '')))


main()
