# SPDX-License-Identifier: MIT
"""Measures `kymo view` as a page sees it: time to the first picture, CPU and wall time of pictures, memory."""
import http.client
import json
import os
import random
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools import Broken

TRACKS, PIXELS, HEADER_BYTES = 40, 1500, 24


class Server:
    """A server, and one connection to it, as a page keeps it."""

    def __init__(self, kymo, trace, cache):
        self.begun = time.monotonic()
        self.process = subprocess.Popen([kymo, 'view', '--no-browser', '--idle-exit', '10min', trace], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, 'XDG_CACHE_HOME': str(cache)})
        address = self.process.stdout.readline().strip()
        if not address:
            raise Broken('kymo view: no address')
        self.address = address
        self.token = address.split('#token=')[1]
        self.connection = http.client.HTTPConnection('127.0.0.1', int(address.split(':')[2].split('/')[0]))

    def get(self, path):
        self.connection.request('GET', f'/api/{path}', headers={'X-Kymo-Token': self.token})
        reply = self.connection.getresponse()
        content = reply.read()
        if reply.status != 200:
            raise Broken(f'{path}: {reply.status} {content[:200]}')
        return content

    def state(self):
        return json.loads(self.get('state'))

    def picture(self, begin, end, tracks):
        """How many events there are in it."""
        content = self.get(f'tile?begin={begin}&end={end}&pixels={PIXELS}&tracks={",".join(map(str, range(tracks)))}')
        rows, cells = struct.unpack_from('<2I', content, 8)
        place = HEADER_BYTES + 4 * (rows + 1 + (rows + 1) % 2)
        return sum(struct.unpack_from(f'<{cells}d', content, place))

    def first_picture(self):
        """Seconds from the start of the command to a picture that has events."""
        while True:
            state = self.state()
            tracks = min(state['tracks'], TRACKS)
            if tracks and self.picture(state['begin'], int(state['end']) + 1, tracks):
                return time.monotonic() - self.begun
            time.sleep(0.001)

    def complete(self):
        while not (state := self.state())['isComplete']:
            time.sleep(0.05)
        return state

    def idle(self):
        """Waits until there is nothing more to do: an index that was kept is checked between requests."""
        before = -1
        while (now := self.cpu_ms()) != before:
            before = now
            time.sleep(0.3)

    def cpu_ms(self):
        return int(Path(f'/proc/{self.process.pid}/schedstat').read_text(encoding='ascii').split()[0]) / 1e6

    def anonymous_mb(self):
        lines = Path(f'/proc/{self.process.pid}/status').read_text(encoding='ascii').splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith('RssAnon:')) / 1e3

    def stop(self):
        self.process.terminate()
        if self.process.wait() != 0:
            raise Broken(f'kymo view: exit code {self.process.returncode}')


def pictures(server, state, count):
    """CPU and wall milliseconds of each of some pictures, over log-uniform zooms."""
    rng, begin, end = random.Random(1), int(state['begin']), int(state['end']) + 1
    rows = []
    for _ in range(count):
        width = max(int((end - begin) * 10 ** rng.uniform(-6, 0)), PIXELS)
        at = begin + rng.randrange(max(end - begin - width, 1))
        cpu, wall = server.cpu_ms(), time.monotonic()
        server.picture(at, at + width, min(state['tracks'], TRACKS))
        rows.append((server.cpu_ms() - cpu, (time.monotonic() - wall) * 1e3))
    return rows


def percentile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def measure(kymo, trace, cache, count):
    """Figures by name. The index of the trace must not be in the cache."""
    cold = Server(kymo, trace, cache)
    figures = {'cold_s': cold.first_picture()}
    cold.complete()
    figures['complete_s'] = time.monotonic() - cold.begun
    cold.stop()
    warm = Server(kymo, trace, cache)
    figures['warm_s'] = warm.first_picture()
    state = warm.complete()
    if not state['isFromCache']:
        raise Broken('kymo view does not take the index that is kept')
    warm.idle()
    cpu, wall = zip(*pictures(warm, state, count))
    for name, values in ('cpu', cpu), ('wall', wall):
        figures.update({f'{name}_{share:g}_ms': percentile(values, share / 100) for share in (50, 99)})
    figures['anonymous_mb'] = warm.anonymous_mb()
    warm.stop()
    return figures
