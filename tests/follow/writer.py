# SPDX-License-Identifier: MIT
"""Writes CTF traces bit by bit, and drives `kymo cat --follow` meanwhile."""
import json
import os
import signal
import struct
import subprocess
import time
from pathlib import Path

DEADLINE = 20

HEAD = '''/* CTF 1.8 */
trace {{ major = 1; minor = 8; uuid = "{uuid}"; byte_order = le;
  packet.header := struct {{ integer {{ size = 32; }} magic; integer {{ size = 32; }} stream_id;
    integer {{ size = 32; }} stream_instance_id; }}; }};
clock {{ name = c; freq = 1000000000; offset = 0; absolute = true; }};
typealias integer {{ size = 64; map = clock.c.value; }} := time_t;
stream {{ id = 0;
  packet.context := struct {{ time_t timestamp_begin; time_t timestamp_end; integer {{ size = 64; }} content_size;
    integer {{ size = 64; }} packet_size; integer {{ size = 64; }} packet_seq_num; }};
  event.header := struct {{ integer {{ size = 16; }} id; time_t timestamp; }}; }};
'''
EVENT = 'event {{ name = "{name}"; id = {id}; stream_id = 0; fields := struct {{ integer {{ size = 32; }} n; }}; }};\n'


class Trace:
    """A directory whose metadata describes the events of these names."""

    def __init__(self, path, *names, uuid='01234567-89ab-cdef-0123-456789abcdef'):
        self.path, self.names = Path(path), []
        self.path.mkdir(parents=True)
        (self.path / 'metadata').write_text(HEAD.format(uuid=uuid))
        for name in names:
            self.describe(name)

    def describe(self, name):
        with open(self.path / 'metadata', 'a') as file:
            file.write(EVENT.format(name=name, id=len(self.names)))
        self.names.append(name)

    def append(self, stream, data):
        with open(self.path / stream, 'ab') as file:
            file.write(data)


def packet(instance, sequence, events, end=None):
    """The bytes of a packet; events are (time in nanoseconds, id, n)."""
    body = b''.join(struct.pack('<HQI', id_, time_ns, n) for time_ns, id_, n in events)
    size = 12 + 40 + len(body)
    times = [time_ns for time_ns, _, _ in events]
    context = struct.pack('<QQQQQ', times[0], times[-1] if end is None else end, size * 8, size * 8 + 64, sequence)
    return struct.pack('<III', 0xc1fc1fc1, 0, instance) + context + body + bytes(8)


class Follower:
    """kymo cat --follow; `numbers` are the fields called n of what it has printed, in order."""

    def __init__(self, kymo, *arguments):
        self.process = subprocess.Popen([kymo, 'cat', '--follow', '--format', 'json', *map(str, arguments)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.text = b''
        os.set_blocking(self.process.stdout.fileno(), False)

    def numbers(self):
        self.text += self.process.stdout.read() or b''
        whole = self.text[:self.text.rfind(b'\n') + 1]
        return [event['fields']['n'] for event in map(json.loads, whole.splitlines()) if 'fields' in event]

    def expect(self, *wanted):
        """Waits until it has printed these."""
        end = time.monotonic() + DEADLINE
        while (seen := self.numbers()) != list(wanted):
            assert self.process.poll() is None, f'it ended: {self.process.stderr.read()}'
            assert time.monotonic() < end, f'expected {list(wanted)}, found {seen}'
            assert seen == list(wanted)[:len(seen)], f'expected {list(wanted)}, found {seen}'
            time.sleep(0.01)

    def stop(self, status=0, said=b''):
        """Interrupts it; returns all numbers."""
        self.process.send_signal(signal.SIGINT)
        return self.end(status, said)

    def end(self, status=0, said=b''):
        deadline = time.monotonic() + DEADLINE
        while self.process.poll() is None:
            self.numbers()
            assert time.monotonic() < deadline, 'it does not end'
            time.sleep(0.01)
        words = self.process.stderr.read()
        assert self.process.returncode == status and said in words and (said or not words), (self.process.returncode, words)
        return self.numbers()
