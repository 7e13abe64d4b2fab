# SPDX-License-Identifier: MIT
"""A ClickHouse server of this test, in a folder of its own, on free ports of the loopback; and what is sent to it."""
import collections
import functools
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

CONFIG = '''<yandex>
<logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>{host}</listen_host>
<path>{data}/</path><tmp_path>{data}/tmp/</tmp_path><user_files_path>{folder}/user_files/</user_files_path>
<format_schema_path>{folder}/schemas/</format_schema_path>
<users_config>{folder}/users.xml</users_config><mark_cache_size>67108864</mark_cache_size>
<default_profile>default</default_profile><default_database>default</default_database>{more}
</yandex>
'''
USERS = '''<yandex><profiles><default></default></profiles><quotas><default></default></quotas><users>
<default><password></password><networks><ip>127.0.0.0/8</ip></networks><profile>default</profile><quota>default</quota></default>
<guarded><password>s3cret</password><networks><ip>127.0.0.0/8</ip></networks><profile>default</profile><quota>default</quota></guarded>
</users></yandex>
'''
PRIME = 1000003
WAIT = 120  # seconds; the machine may be busy


def free_port(host='127.0.0.1'):
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, folder, host='127.0.0.1', http=None, tcp=None, data=None, more='', wrapper=()):
        self.folder, self.host = Path(folder).resolve(), host
        self.http, self.tcp = http or free_port(host), tcp or free_port(host)
        self.folder.mkdir()
        self.wrapper, self.process = list(wrapper), None
        (self.folder / 'config.xml').write_text(CONFIG.format(folder=self.folder, http=self.http, tcp=self.tcp, host=host,
                                                              data=data or self.folder / 'data', more=more))
        (self.folder / 'users.xml').write_text(USERS)

    @property
    def url(self):
        return f'http://{self.host}:{self.http}'

    def start(self):
        with open(self.folder / 'output', 'ab') as output:
            self.process = subprocess.Popen([*self.wrapper, 'clickhouse-server', f'--config-file={self.folder}/config.xml'], cwd=self.folder,
                                            stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        end = time.monotonic() + WAIT
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if urllib.request.urlopen(f'{self.url}/ping', timeout=5).read() == b'Ok.\n':
                    return self
            except OSError:
                time.sleep(0.02)
        raise AssertionError('the server does not start: ' + (self.folder / 'output').read_text()[-2000:])

    def stop(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait()

    def ask(self, sql, database='default'):
        words = urllib.parse.urlencode({'database': database, 'wait_end_of_query': 1, 'output_format_json_quote_64bit_integers': 0,
                                        'output_format_json_quote_denormals': 1})
        try:
            return urllib.request.urlopen(f'{self.url}/?{words}', sql.encode(), timeout=WAIT).read().decode()
        except urllib.error.HTTPError as error:
            raise AssertionError(f'{sql}: {error.read().decode()}') from None

    def rows(self, sql, database='k'):
        return [json.loads(line) for line in self.ask(f'{sql} FORMAT JSONEachRow', database).splitlines()]

    def new_database(self, name='k'):
        self.ask(f'DROP DATABASE IF EXISTS {name}')
        self.ask(f'CREATE DATABASE {name}')
        return f'{self.url}/{name}'


def convert(kymo, traces, url, *words, env=None):
    """Exit status and messages."""
    done = subprocess.run([kymo, 'convert', '-q', *traces, '--to', 'clickhouse', '-o', url, *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=WAIT * 2, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout.decode()


def events_of(kymo, traces):
    done = subprocess.run([kymo, 'cat', '-q', '--format', 'json', *traces], stdout=subprocess.PIPE, check=False)
    assert done.returncode in (0, 1), done.returncode
    return [event for event in map(json.loads, done.stdout.decode().splitlines()) if 'event' in event]


def multiset(rows):
    return collections.Counter(json.dumps(row, sort_keys=True) for row in rows)


def check_once(server, wanted, database='k'):
    """Each event is there exactly once: `wanted` is what summary() has of all events."""
    rows = server.rows('SELECT count() AS n, uniqExact(trace, stream, packet, seq) AS u FROM events', database)[0]
    assert rows['n'] == rows['u'] == sum(count for count, _ in wanted.values()), f"{rows['n']} rows, {rows['u']} of them different, not {wanted}"
    got = {row['class']: (row['n'], row['s']) for row in server.rows(f'SELECT class, count() AS n, sum(abs(ts) % {PRIME}) AS s FROM events GROUP BY class', database)}
    assert got == wanted, f'{got}, not {wanted}'


def summary(times):
    """How many events of each class there are, and a sum of their times; from pairs of both."""
    out = {}
    for name, ts in times:
        count, total = out.get(name, (0, 0))
        out[name] = (count + 1, total + abs(ts) % PRIME)
    return out


@functools.lru_cache
def expected(kymo, *traces):
    return summary((event['event'], event['ts']) for event in events_of(kymo, traces))


def case(name, function, *words):
    """Prints the line that tests/run counts."""
    try:
        function(*words)
        print(f'ok {name}', flush=True)
    except Exception as error:  # a broken case must not end the others
        print(f'not ok {name}: {type(error).__name__}: {error}'.replace('\n', ' '), flush=True)
