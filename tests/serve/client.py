# SPDX-License-Identifier: MIT
"""A server of `kymo view` and requests to it, for the other files of this folder."""
import http.client
import json
import select
import socket
import struct
import subprocess
import sys
import time
import traceback
import urllib.parse
from types import SimpleNamespace

PATIENCE = 120  # seconds: the machine may be busy
MAGIC = 0x31564b59


class Server:
    def __init__(self, kymo, *arguments, env=None):
        self.process = subprocess.Popen([kymo, 'view', '--no-browser', '--idle-exit', '5min', *map(str, arguments)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise AssertionError(f'no address: {self.process.communicate()[1]}')
        self.port = int(self.address.split(':')[2].split('/')[0])
        self.token = self.address.split('#token=')[1]
        self.connection = None  # of the last request: the next one takes it

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Its exit status after SIGTERM, and what it has said."""
        if self.process.poll() is None:
            self.process.terminate()
        self.disconnect()
        words = self.process.communicate(timeout=PATIENCE)[1]
        return self.process.returncode, words

    def raw(self, path, headers=None, method='GET'):
        """Status, headers, bytes of a reply."""
        if self.connection and select.select([self.connection.sock], [], [], 0)[0]:
            self.disconnect()  # the server has closed it
        is_used = self.connection is not None
        try:
            self.connection = self.connection or http.client.HTTPConnection('127.0.0.1', self.port, timeout=PATIENCE)
            self.connection.request(method, path, headers={'X-Kymo-Token': self.token} if headers is None else headers)
            reply = self.connection.getresponse()
            content = reply.read()
        except BaseException as error:
            self.disconnect()
            if is_used and isinstance(error, ConnectionError):  # the server closed it at the same time
                return self.raw(path, headers, method)
            raise
        if reply.will_close:
            self.disconnect()
        return reply.status, reply.headers, content

    def disconnect(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def ask(self, name, **query):
        """The JSON of a path, which must be there."""
        status, _, content = self.raw(self.path(name, query))
        assert status in (200, 202), f'{name} {query}: {status} {content[:300]}'
        return SimpleNamespace(status=status, **json.loads(content))

    def refused(self, name, status, **query):
        """The message of a reply with this status."""
        got, _, content = self.raw(self.path(name, query))
        assert got == status, f'{name} {query}: {got} instead of {status}: {content[:300]}'
        return json.loads(content)['error']['message']

    @staticmethod
    def path(name, query):
        words = {key.rstrip('_'): str(value) for key, value in query.items() if value is not None}
        return f'/api/{name}' + ('?' + urllib.parse.urlencode(words, quote_via=urllib.parse.quote) if words else '')

    def task(self, name, holds=lambda reply: True, **query):
        """The reply of a task that is done, and of a live trace made anew until it is as it should be."""
        end = time.monotonic() + PATIENCE
        while True:
            reply = self.ask(name, **query)
            if reply.state != 'running' and holds(reply):
                return reply
            assert time.monotonic() < end, f'{name} {query} is not done'
            time.sleep(0.01)

    def picture(self, name, **query):
        """The cells of each row of a picture, when it is there."""
        return rows_of(self.content(name, **query))

    def content(self, name, **query):
        """The bytes of a picture, when it is there."""
        end = time.monotonic() + PATIENCE
        while True:
            status, _, content = self.raw(self.path(name, query))
            if status != 202:
                break
            assert time.monotonic() < end, f'{name} {query} is not done'
            time.sleep(0.01)
        assert status == 200, f'{name} {query}: {status} {content[:300]}'
        return content

    def built(self):
        """The state when everything is indexed."""
        return self.until(lambda state: state.isComplete)

    def until(self, holds):
        end = time.monotonic() + PATIENCE
        while not holds(state := self.ask('state')):
            assert time.monotonic() < end, f'not reached: {state}'
            time.sleep(0.01)
        return state


def texts_of(content):
    """A picture of texts, as one of values, and the texts."""
    size = struct.unpack_from('<I', content, len(content) - 4)[0]
    end = len(content) - 4 - (size + 3) // 4 * 4
    return content[:20] + struct.pack('<I', 2) + content[24:end], json.loads(content[end:end + size])['texts']


def rows_of(content):
    magic, _, rows, cells, pixels, kind = struct.unpack_from('<6I', content)
    assert magic == MAGIC
    at = 24
    starts = struct.unpack_from(f'<{rows + 1}I', content, at)
    at += (rows + 1 + (rows + 1) % 2) * 4
    names = ('count', 'least', 'most', 'last') if kind == 2 else ('count', 'longest')
    arrays = {}
    for name in names:
        arrays[name] = struct.unpack_from(f'<{cells}d', content, at)
        at += 8 * cells
    for name in ('pixel',) if kind == 2 else ('pixel', 'kind', 'low', 'high'):
        arrays[name] = struct.unpack_from(f'<{cells}I', content, at)
        at += 4 * cells
    assert at + (cells % 2 * 4 + 16 if kind == 2 else 0) == len(content), 'the picture has another size'
    assert all(pixel < pixels for pixel in arrays['pixel'])
    return [[{name: array[i] for name, array in arrays.items()} for i in range(starts[r], starts[r + 1])] for r in range(rows)]


def range_of(content):
    """The least and the largest value of all tracks and times, of a picture of values."""
    return struct.unpack_from('<2d', content, len(content) - 16)


def bare(port, request, patience=PATIENCE):
    """What comes back for some bytes, until the server closes the connection."""
    with socket.create_connection(('127.0.0.1', port), timeout=patience) as connection:
        connection.sendall(request)
        reply = b''
        while part := connection.recv(65536):
            reply += part
    return reply


def run(argv, statuses=(0, 1)):
    finished = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert finished.returncode in statuses, f'{argv}: exit code {finished.returncode}\n{finished.stderr.decode()}'
    return finished.stdout.decode(errors='replace')


def check(name, test, *arguments):
    """A line for tests/run."""
    try:
        test(*arguments)
        print(f'ok {name}', flush=True)
    except Exception as error:  # pylint: disable=broad-except
        for line in traceback.format_exc().splitlines():
            print('    ' + line[:1000])
        print(f'not ok {name}: {str(error).splitlines()[0][:200] if str(error) else type(error).__name__}', flush=True)


def same(ours, theirs):
    if ours != theirs:
        sys.stdout.flush()
        raise AssertionError(f'the server: {ours!r:.1500}\nexpected: {theirs!r:.1500}')
