#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which requests the server refuses, and that nothing in a trace becomes more than text:  security.py KYMO"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

from client import PATIENCE, Server, bare, check, same

KYMO = sys.argv[1]
SECRET = os.path.abspath('secret')


def request(server, path='/api/state', method='GET', version='HTTP/1.1', **headers):
    """A request with just these headers; a list is a header that comes several times."""
    lines = [f'{method} {path} {version}', 'Connection: close']
    for name, values in headers.items():
        lines += [f'{name.replace("_", "-")}: {value}' for value in (values if isinstance(values, list) else [values])]
    return bare(server.port, ('\r\n'.join(lines) + '\r\n\r\n').encode())


def status_of(reply):
    return int(reply.split()[1]) if reply else None


def answers(server, status, **request_):
    reply = request(server, **request_)
    same(status_of(reply), status)
    return reply


def ours(server, **more):
    return {'Host': f'127.0.0.1:{server.port}', 'X_Kymo_Token': server.token, **more}


def hosts(server):
    """A name that was made to point to this machine (DNS rebinding) is not answered."""
    for host in (f'127.0.0.1:{server.port}', f'localhost:{server.port}', f'[::1]:{server.port}', f'LOCALHOST:{server.port}'):
        answers(server, 200, **ours(server, Host=host))
    for host in ('evil.example', f'evil.example:{server.port}', '127.0.0.1', 'localhost', f'127.0.0.1:{server.port + 1}', f'127.0.0.1.evil.example:{server.port}',
                 f'localhost:{server.port}.evil.example', f'0.0.0.0:{server.port}', '', [f'127.0.0.1:{server.port}', 'evil.example']):
        answers(server, 421, **ours(server, Host=host))
        answers(server, 421, path='/', **ours(server, Host=host))
    answers(server, 421, version='HTTP/1.0', X_Kymo_Token=server.token)


def origins(server):
    for origin in (f'http://127.0.0.1:{server.port}', f'http://localhost:{server.port}'):
        answers(server, 200, **ours(server, Origin=origin))
    for origin in ('http://evil.example', 'null', '', f'https://127.0.0.1:{server.port}', f'http://127.0.0.1:{server.port + 1}',
                   f'http://127.0.0.1:{server.port}@evil.example', [f'http://127.0.0.1:{server.port}', 'http://evil.example']):
        answers(server, 403, **ours(server, Origin=origin))
        answers(server, 403, path='/', **ours(server, Origin=origin))


def tokens(server):
    wrong = ('0' if server.token[0] != '0' else '1') + server.token[1:]
    for token in (wrong, server.token[:-1], server.token + '0', server.token.upper() + ' x', '', [server.token, wrong]):
        reply = answers(server, 403, **ours(server, X_Kymo_Token=token))
        same(b'events' in reply, False)
    reply = answers(server, 403, Host=f'127.0.0.1:{server.port}')
    same(server.token.encode() in reply, False)
    answers(server, 403, path=f'/api/state?token={server.token}', Host=f'127.0.0.1:{server.port}')
    same(re.fullmatch('[0-9a-f]{32}', server.token) is not None, True)
    with Server(KYMO, 'kernel') as other:
        same(other.token == server.token, False)
        answers(other, 403, **ours(other, X_Kymo_Token=server.token))


def methods(server):
    for method in ('POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT', 'BREW'):
        reply = answers(server, 405, method=method, **ours(server))
        same(b'\r\nAllow: GET\r\n' in reply, True)
        same(b'access-control' in reply.lower(), False)
    reply = bare(server.port, (f'POST /api/state HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Kymo-Token: {server.token}\r\nContent-Length: 1000000\r\n\r\n' + 'x' * 1000).encode())
    same(status_of(reply), 405)


def paths(server):
    """There are no files but those of the page."""
    with open(SECRET, 'w', encoding='utf-8') as file:
        file.write('the secret')
    for path in ('/../secret', '/..%2fsecret', '/%2e%2e/secret', '//secret', f'/{SECRET}', SECRET, '/api/../secret', '/kymo.js/../../secret', '/etc/passwd', '/%2fetc%2fpasswd',
                 '/kymo.js%00', '/api/', '/api', '/api/state/', '/api/State', '/API/state', '/index.html', f'http://127.0.0.1:{server.port}/secret', '*', '/.', '/\\secret'):
        reply = request(server, path=path, **ours(server))
        assert status_of(reply) in (400, 404), f'{path}: {reply[:200]}'
        same(b'the secret' in reply or b'root:' in reply, False)
    for path, kind in (('/', 'text/html'), ('/kymo.js', 'text/javascript'), ('/kymo.css', 'text/css'), ('/icon.svg', 'image/svg+xml')):
        status, headers, content = server.raw(path, headers={})
        same((status, headers['Content-Type'].split(';')[0], len(content) > 0), (200, kind, True))
        same(server.token.encode() in content, False)


def headers(server):
    wanted = {'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer', 'Cross-Origin-Resource-Policy': 'same-origin',
              'Cross-Origin-Opener-Policy': 'same-origin', 'Cache-Control': 'no-store'}
    for path in ('/', '/kymo.js', '/api/state', '/api/none'):
        _, got, _ = server.raw(path)
        for name, value in wanted.items():
            same((name, got[name]), (name, value))
        policy = dict(part.split(' ', 1) for part in got['Content-Security-Policy'].split('; '))
        same(policy['default-src'], "'none'")
        same((policy['script-src'], policy['style-src'], policy['connect-src']), ("'self'", "'self'", "'self'"))
        same('unsafe' in got['Content-Security-Policy'] or 'Access-Control-Allow-Origin' in got, False)


def targets(server):
    """Addresses that are too long, and queries that are wrong: one line of JSON says what was expected."""
    room = 8192 - len('/api/filter?text=')
    same(status_of(request(server, path='/api/filter?text=' + 'x' * room, **ours(server))), 200)
    for length in (room + 1, 20000, 1 << 20):
        same(status_of(request(server, path='/api/filter?text=' + 'x' * length, **ours(server))), 414)
    for query in ('text', 'text=%', 'text=%zz', 'text=%00', 'text=%ff', 'text=a&text=b', 'TEXT=a', '=a', '&', '&'.join(f'{"abcdefghijklmnopqrs"[i]}=1' for i in range(17))):
        reply = request(server, path=f'/api/filter?{query}', **ours(server))
        same((query, status_of(reply)), (query, 400))
        same(bool(json.loads(reply.split(b'\r\n\r\n', 1)[1])['error']['message']), True)
    for path in ('tile?begin=0&end=0&pixels=10&tracks=0', 'tile?begin=5&end=0&pixels=10&tracks=0', 'tile?begin=0&end=9&pixels=0&tracks=0', 'tile?begin=0&end=9&pixels=8193&tracks=0',
                 'tile?begin=0&end=9&pixels=10&tracks=', 'tile?begin=0&end=9&pixels=10&tracks=0,', 'tile?begin=0&end=9&pixels=10&tracks=0,x',
                 'tile?begin=0&end=9223372036854775808&pixels=10&tracks=0', 'tile?begin=-9223372036854775809&end=9&pixels=10&tracks=0',
                 'tile?begin=0x10&end=90&pixels=10&tracks=0', 'tile?begin=0&end=9&pixels=10&tracks=' + ','.join(['0'] * 257),
                 'tile?begin=0&end=9&pixels=8192&tracks=' + ','.join(['0'] * 65), 'spans?begin=0&end=9&pixels=10&rows=0', 'spans?begin=0&end=9&pixels=10&rows=0:0:0',
                 'rows?first=0', 'rows?first=0&count=1001', 'rows?first=-1&count=1', 'event?number=0', 'event?number=', 'event', 'tracks?count=10001', 'search?number=1&back=2',
                 'chase?number=1', 'trackby?by=nothing', 'values?begin=0&end=9&pixels=10&tracks=0', 'latency?from=a', 'histogram'):
        same((path, status_of(request(server, path=f'/api/{path}', **ours(server)))), (path, 400))
    widest = f'tile?begin={-2**63}&end={2**63 - 1}&pixels=8192&tracks=' + ','.join(['0'] * 64)
    same(status_of(request(server, path=f'/api/{widest}', **ours(server))), 200)
    for path in ('tile?begin=0&end=9&pixels=10&tracks=4294967295', 'spans?begin=0&end=9&pixels=10&rows=0:99', 'rows?first=0&count=1&filter=77',
                 'event?number=18446744073709551614', 'tile?begin=0&end=9&pixels=10&tracks=0&latency=5'):
        same((path, status_of(request(server, path=f'/api/{path}', **ours(server)))), (path, 404))


def noise(server):
    """Bytes that are no HTTP, and headers that are too many, end the connection, not the server."""
    for text in (b'\0' * 100, b'GET\r\n\r\n', b'\x16\x03\x01\x02\x00', b'GET / HTTP/9.9\r\n\r\n', b'GET / HTTP/1.1\r\n' + b'A: b\r\n' * 50000 + b'\r\n', b'x' * 100000 + b'\r\n\r\n'):
        with socket.create_connection(('127.0.0.1', server.port), timeout=PATIENCE) as connection:
            try:
                connection.sendall(text)
                connection.shutdown(socket.SHUT_WR)
                while part := connection.recv(65536):
                    same(b'"events"' in part, False)
            except OSError:
                pass
    same(server.ask('state').tracks > 0, True)


def half_requests(server):
    """A connection that does not complete its request is closed, also if a byte comes now and then."""
    connections = [socket.create_connection(('127.0.0.1', server.port), timeout=PATIENCE) for _ in range(3)]
    connections[0].sendall(b'GET /api/state HTTP/1.1\r\nHost: 127')
    begin, closed = time.monotonic(), set()
    while len(closed) < 3:
        assert time.monotonic() - begin < PATIENCE, f'{3 - len(closed)} are still open'
        for connection in connections:
            if connection in closed:
                continue
            try:
                if connection is connections[1]:
                    connection.sendall(b'G' if time.monotonic() - begin < 0.2 else b'E')
                connection.settimeout(0.1)
                if not connection.recv(1000):
                    closed.add(connection)
            except TimeoutError:
                pass
            except OSError:
                closed.add(connection)
        same(server.ask('state').error, None)
    for connection in connections:
        connection.close()


def many_connections(server):
    """500 connections that say nothing keep no other out."""
    connections = []
    for i in range(500):
        connections.append(socket.create_connection(('127.0.0.1', server.port), timeout=PATIENCE))
        if i % 50 == 0:
            begin = time.monotonic()
            same(server.ask('state').error, None)
            assert time.monotonic() - begin < 9, 'it waits for the connections to end'
    same(server.ask('tracks').total > 0, True)
    with open(f'/proc/{server.process.pid}/limits', encoding='utf-8') as file:
        same('Max open files' in file.read(), True)
    assert len(os.listdir(f'/proc/{server.process.pid}/fd')) < 400
    for connection in connections:
        connection.close()
    same(server.ask('state').error, None)


def half_of_many(server):
    """500 connections with half a request each keep no other out, and so do requests without the body that they announce."""
    connections = []
    for i in range(500):
        connections.append(socket.create_connection(('127.0.0.1', server.port), timeout=PATIENCE))
        head = f'GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n'
        connections[-1].sendall((head if i % 2 else head + 'Content-Length: 1000\r\n\r\n').encode())
        if i % 100 == 99:
            same(server.ask('state').error, None)
    for connection in connections:
        connection.close()
    same(server.ask('state').error, None)


def oversized(server):
    """Headers and bodies of any size cost the server nothing: they are refused or not read."""
    for extra in ('X-Long: ' + 'x' * (1 << 20), f'Cookie: {"a=b; " * 100000}', *('X-' + 'y' * 60000 + str(i) + ': 1' for i in range(2))):
        try:
            reply = bare(server.port, f'GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Kymo-Token: {server.token}\r\nConnection: close\r\n{extra}\r\n\r\n'.encode())
        except OSError:  # closed before all was sent
            reply = b''
        assert status_of(reply) in (None, 400, 413, 431), reply[:100]
        same(b'"events"' in reply, False)
    for body in ('Content-Length: 1000000000', 'Transfer-Encoding: chunked', 'Content-Length: -1', 'Content-Length: 5\r\nContent-Length: 6', 'Content-Length: 99999999999999999999'):
        reply = bare(server.port, f'GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Kymo-Token: {server.token}\r\nConnection: close\r\n{body}\r\n\r\n'.encode())
        assert status_of(reply) in (None, 200, 400, 413), f'{body}: {reply[:100]}'
    with open(f'/proc/{server.process.pid}/status', encoding='ascii') as file:
        anonymous = next(int(line.split()[1]) for line in file if line.startswith('RssAnon:'))
    assert anonymous < 150000 or os.environ.get('ASAN_OPTIONS'), f'{anonymous} KiB'


def smuggled(server):
    """What follows a request on its connection is a request of its own, which is checked as any other."""
    ours_ = f'GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Kymo-Token: {server.token}\r\n'
    for second, status in (('Host: evil.example', 421), (f'Host: 127.0.0.1:{server.port}', 403)):
        reply = bare(server.port, f'{ours_}\r\nGET /api/state HTTP/1.1\r\n{second}\r\nConnection: close\r\n\r\n'.encode())
        statuses = [int(line.split()[1]) for line in re.findall(rb'HTTP/1.1 \d+', reply)]
        assert statuses in ([200], [200, status]), statuses  # or it is not answered
    for name in ('X-Kymo-Token ', ' X-Kymo-Token', 'X-Kymo-Token\t', 'X_Kymo_Token'):
        reply = bare(server.port, f'GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{name}: {server.token}\r\nConnection: close\r\n\r\n'.encode())
        same((name, status_of(reply) in (400, 403, 421)), (name, True))


def unread_reply(server):
    """Clients that do not take their replies do not stop others."""
    state, connections = server.ask('state'), []
    for _ in range(20):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.connect(('127.0.0.1', server.port))
        connection.sendall(f'GET /api/tile?begin={state.begin}&end={state.end}&pixels=8192&tracks=0,1,2,3,4 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n'
                           f'X-Kymo-Token: {server.token}\r\n\r\n'.encode())
        connections.append(connection)
        same(server.ask('state').error, None)
    for connection in connections:
        connection.close()


def requests_of_the_past(server):
    """What a page no longer waits for is not worked out: connections that are closed before their turn."""
    state = server.ask('state')
    tracks = ','.join(['0,1,2,3,4'] * 12)
    text = (f'GET /api/tile?begin={state.begin}&end={state.end}&pixels=8192&tracks={tracks} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n'
            f'X-Kymo-Token: {server.token}\r\n\r\n').encode()

    def cpu_seconds():
        with open(f'/proc/{server.process.pid}/stat', encoding='utf-8') as file:
            fields = file.read().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def work(count, waits):
        before = cpu_seconds()
        server.process.send_signal(signal.SIGSTOP)
        connections = [socket.create_connection(('127.0.0.1', server.port), timeout=PATIENCE) for _ in range(count)]
        for connection in connections:
            connection.sendall(text)
            if not waits:
                connection.close()
        server.process.send_signal(signal.SIGCONT)
        for connection in connections:
            if waits:
                connection.recv(65536)  # nothing, if the server closes it since the machine is too slow
        server.ask('state')
        for connection in connections:
            connection.close()
        return cpu_seconds() - before
    waited, left = work(40, True), work(40, False)
    assert left < waited / 3 + 0.05, f'{left} s of CPU for pictures that no page waits for, {waited} s for others'


def kept_alive(server):
    """Many requests on one connection."""
    connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=PATIENCE)
    for _ in range(200):
        connection.request('GET', '/api/state', headers={'X-Kymo-Token': server.token})
        same(connection.getresponse().read()[:1], b'{')
    connection.close()


def loopback(server):
    """Only the loopback address listens."""
    with open('/proc/net/tcp', encoding='utf-8') as file:
        bound = [line.split()[1] for line in file if line.split()[1].endswith(f':{server.port:04X}') and line.split()[3] == '0A']
    same(bound, [f'0100007F:{server.port:04X}'])
    with open('/proc/net/tcp6', encoding='utf-8') as file:
        bound = [line.split()[1] for line in file if line.split()[1].endswith(f':{server.port:04X}') and line.split()[3] == '0A']
    if not bound:
        return  # there is no ::1
    same(bound, [f'00000000000000000000000001000000:{server.port:04X}'])
    for host, status in ((f'[::1]:{server.port}', 200), (f'localhost:{server.port}', 200), ('evil.example', 421), (f'[::]:{server.port}', 421), ('[::1]', 421)):
        with socket.create_connection(('::1', server.port), timeout=PATIENCE) as connection:
            connection.sendall(f'GET /api/state HTTP/1.1\r\nHost: {host}\r\nX-Kymo-Token: {server.token}\r\nOrigin: http://[::1]:{server.port}\r\nConnection: close\r\n\r\n'.encode())
            same((host, status_of(connection.recv(100))), (host, status))


def process_arguments(server):
    """Other users see arguments and environment of no process with the token."""
    for name in ('cmdline',):
        with open(f'/proc/{server.process.pid}/{name}', 'rb') as file:
            same(server.token.encode() in file.read(), False)


def evil_names(_):
    """Names and texts are the trace's, as JSON text alone: valid UTF-8, and no character that a terminal or a page obeys."""
    with Server(KYMO, 'evil') as server:
        server.built()
        names = [kind['name'] for kind in server.ask('kinds').kinds]
        same('<script>alert(1)</script>' in names and '\u202egnp.exe' in names, True)
        for path in ('/api/kinds', '/api/tracks', '/api/rows?first=0&count=100', '/api/event?number=3', '/api/event?number=5', '/api/fields', '/api/state'):
            status, got, content = server.raw(path)
            same((path, status, got['Content-Type'], got['X-Content-Type-Options']), (path, 200, 'application/json', 'nosniff'))
            text = content.decode()  # strictly
            json.loads(text)
            same([character for character in text if ord(character) < 32 or ord(character) in (127, 0x202e, 0x2028, 0x2029)], [])
        texts = [row['text'] for row in server.ask('rows', first=0, count=100).rows]
        same(any('\ufffd' in text for text in texts) and any('<script>' in text for text in texts) and any('\u202e' in text for text in texts), True)
        evil_filter = server.task('filter', text='text = "<script>"')
        same(int(evil_filter.count), 10)
        message = server.ask('filter', text='"<script>alert(1)</script>\x1b[31m').error['message']
        same('\x1b' in json.dumps(message), False)


def long_texts(_):
    """A table cuts long texts between characters, so that a reply has a limit. One event has its whole text."""
    with open('long.tdl', 'w', encoding='utf-8') as out:
        out.write('TRACE long; RECORD note EVENT IS said: STRING ENDED 0; END; LAYOUT REPEAT note; END TRACE.')
    whole = 'x' + 'é' * 5000
    with open('long.bin', 'wb') as out:
        out.write(whole.encode() + b'\0short\0')
    with Server(KYMO, '--description', 'long.tdl', 'long.bin') as server:
        server.built()
        rows = server.ask('rows', first=0, count=2).rows
        same((rows[0]['text'][-1], len(rows[0]['text'].encode()) in range(4090, 4101), 'short' in rows[1]['text']), ('…', True, True))
        same(whole in server.ask('event', number=1).text, True)


def evil_path(_):
    """The path of a trace is untrusted, too."""
    name = '<img src=x onerror=alert(1)>\n\u202e'.encode() + b'\xff'
    os.makedirs(name, exist_ok=True)
    for file in os.listdir('kernel'):
        if not os.path.lexists(os.path.join(name, file.encode())):
            os.symlink(os.path.abspath(f'kernel/{file}'), os.path.join(name, file.encode()))
    process = subprocess.Popen([KYMO.encode(), b'view', b'--no-browser', b'--idle-exit', b'5min', name], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    address = process.stdout.readline().decode().strip()
    connection = http.client.HTTPConnection('127.0.0.1', int(address.split(':')[2].split('/')[0]), timeout=PATIENCE)
    connection.request('GET', '/api/state', headers={'X-Kymo-Token': address.split('=')[1]})
    reply = connection.getresponse().read()
    process.terminate()
    process.communicate(timeout=PATIENCE)
    same(json.loads(reply.decode())['title'].endswith('\ufffd'), True)


def main():
    with Server(KYMO, 'kernel') as server:
        server.built()
        for test in (hosts, origins, tokens, methods, paths, headers, targets, noise, kept_alive, unread_reply, requests_of_the_past, many_connections, half_of_many, half_requests, oversized, smuggled, loopback, process_arguments,
                     evil_names, long_texts, evil_path):
            check(f'security: {test.__name__}', test, server)
        check('security: the server ends with status 0, without words', lambda: same(server.stop(), (0, '')))


main()
