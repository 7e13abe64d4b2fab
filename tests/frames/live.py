# SPDX-License-Identifier: MIT
"""kymo cat --follow of framed logs that are being written. live.py DIRECTORY PROGRAM"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import threading
import time

KYMO = os.environ['KYMO_BUILD'] + '/kymo'
MAGIC = b'\xf0\x9f\xa9\xba'
DEADLINE = 60


class Follower:
    """kymo cat --follow, and what it has said: numbers, and losses as 'lost N'."""

    def __init__(self, *paths):
        self.said, self.changed = [], threading.Condition()
        self.process = subprocess.Popen([KYMO, 'cat', '--follow', '--format', 'json', *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            one = json.loads(line)
            with self.changed:
                self.said.append(one['context']['sequence'] if 'event' in one else f'lost {one["lost"]["count"]}')
                self.changed.notify()

    def expect(self, wanted):
        """Waits until it has said this; seconds that it took."""
        begin = time.monotonic()
        with self.changed:
            self.changed.wait_for(lambda: len(self.said) >= len(wanted), DEADLINE)
            assert self.said == wanted, f'expected {wanted[-12:]}, found {self.said[-12:]}'
        return time.monotonic() - begin

    def stop(self):
        """Its status, and its messages about damage."""
        self.process.send_signal(signal.SIGINT)
        said = self.process.stderr.read().decode()
        return self.process.wait(DEADLINE), said


def header(who, part=0):
    """Of a file of a stream."""
    return b'KYMOSTR\n' + struct.pack('=IHH16sIIIIQQ', 0x01020304, 1, 64, b'one stream of it', who, part, 0, 1, 0, 0)


def frame(number, size=3):
    """Of an event."""
    return MAGIC + struct.pack('=II', number, size) + b'x' * size


def append(path, *pieces):
    """Writes at the end, the pieces at once."""
    with open(path, 'ab') as file:
        file.write(b''.join(pieces))


def a_program():
    writer = subprocess.Popen([PROGRAM, 'log', '3', '20', 'live'], stdin=subprocess.PIPE)
    writer.stdin.write(b'go\n')
    writer.stdin.flush()
    end = time.monotonic() + DEADLINE
    while not pathlib.Path('log_thread0').exists() and time.monotonic() < end:
        time.sleep(0.01)
    follower = Follower('log_thread0')
    for written in range(10, 61, 10):
        follower.expect(list(range(written)))
        if written < 60:
            writer.stdin.write(b'go\n')
            writer.stdin.flush()
    assert writer.wait(DEADLINE) == 0 and follower.stop() == (0, '')


def what_another_file_has_is_waited_for():
    append('a_thread0', header(0), frame(0), frame(1), frame(4))
    append('a_thread1', header(1))
    follower = Follower('a_thread0', 'a_thread1')
    follower.expect([0, 1])
    append('a_thread1', frame(2), frame(3))
    follower.expect([0, 1, 2, 3, 4])
    assert follower.stop() == (0, '')


def what_does_not_come_is_lost():
    append('b_thread0', header(0), frame(0), frame(1), frame(4))
    append('b_thread1', header(1))
    follower = Follower('b_thread0', 'b_thread1')
    assert follower.expect([0, 1, 'lost 2', 4]) > 1
    assert follower.stop() == (1, 'kymo cat: the trace is incomplete: 2 events are lost\n')


def what_no_file_can_have_is_lost():
    append('c_thread0', header(0), frame(0), frame(3))
    append('c_thread1', header(1), frame(4))
    follower = Follower('c_thread0', 'c_thread1')
    follower.expect([0, 'lost 2', 3, 4])
    assert follower.stop() == (1, 'kymo cat: the trace is incomplete: 2 events are lost\n')


def half_a_frame_is_no_damage():
    append('d_thread0', header(0), frame(0), frame(1)[:9])
    follower = Follower('d_thread0')
    follower.expect([0])
    append('d_thread0', frame(1)[9:], frame(2)[:-1])
    follower.expect([0, 1])
    append('d_thread0', frame(2)[-1:], frame(3)[:5])
    follower.expect([0, 1, 2])
    assert follower.stop() == (1, 'kymo cat: d_thread0: byte 109: expected a frame of at least 12 bytes, found 5 to the end of the file '
                                  '(5 bytes skipped)\n')


def files_rotate():
    append('e_thread0', header(0), frame(0))
    follower = Follower('e_thread0')
    follower.expect([0])
    append('e_thread0.1', header(0, 1), frame(1))
    follower.expect([0, 1])
    append('e_thread0.1', frame(2))
    append('e_thread0.2', header(0, 2)[:30])
    follower.expect([0, 1, 2])
    append('e_thread0.2', header(0, 2)[30:], frame(3))
    follower.expect([0, 1, 2, 3])
    assert follower.stop() == (0, '')


def files_that_are_removed_are_let_go():
    append('g_thread0', header(0), frame(0))
    follower = Follower('g_thread0')
    follower.expect([0])
    for part in range(1, 6):
        append(f'g_thread0.{part}', header(0, part), frame(part))
        follower.expect(list(range(part + 1)))
        os.unlink(f'g_thread0.{part - 1}' if part > 1 else 'g_thread0')
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        links = [os.readlink(link) for link in pathlib.Path(f'/proc/{follower.process.pid}/fd').iterdir()]
        if not any('(deleted)' in link for link in links):
            break
        time.sleep(0.01)
    assert not any('(deleted)' in link for link in links), links
    append('g_thread0.5', frame(6))
    follower.expect([0, 1, 2, 3, 4, 5, 6])
    assert follower.stop() == (0, '')


def a_file_that_comes_later():
    os.mkdir('f')
    follower = Follower('f')
    append('f/f_thread0', header(0), frame(0))
    follower.expect([0])
    assert follower.stop() == (0, '')


os.chdir(sys.argv[1])
PROGRAM = sys.argv[2]
for case in (a_program, what_another_file_has_is_waited_for, what_does_not_come_is_lost, what_no_file_can_have_is_lost,
             half_a_frame_is_no_damage, files_rotate, files_that_are_removed_are_let_go, a_file_that_comes_later):
    try:
        case()
        print('ok following: ' + case.__name__.replace('_', ' '))
    except Exception as problem:
        print(f'not ok following: {case.__name__}: {problem!r}')
