# SPDX-License-Identifier: MIT
"""cases.py KYMO WORK: what `kymo cat --follow` makes of traces that grow. Prints "ok" and "not ok" lines."""
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

from writer import Follower, Trace, packet

KYMO, WORK = sys.argv[1], Path(sys.argv[2])


def packets_in_pieces(path):
    trace = Trace(path, 'a', 'b')
    follower = Follower(KYMO, path, '--hold', '0')
    written = []
    for sequence in range(6):
        begin = 1000 * sequence
        data = packet(0, sequence, [(begin + k, k % 2, 10 * sequence + k) for k in range(3)])
        for size in range(0, len(data), 1 + len(data) // (sequence + 2)):
            trace.append('s', data[size:size + 1 + len(data) // (sequence + 2)])
            assert follower.numbers() in (written, written + [10 * sequence + k for k in range(3)])
        written += [10 * sequence + k for k in range(3)]
        follower.expect(*written)
    assert follower.stop() == written


def half_a_packet_is_no_damage(path):
    trace = Trace(path, 'a')
    trace.append('s', packet(0, 0, [(1, 0, 1)]) + packet(0, 1, [(2, 0, 2)])[:-9])
    follower = Follower(KYMO, path, '--hold', '0')
    follower.expect(1)
    assert follower.stop() == [1]
    assert subprocess.run([KYMO, 'cat', '-q', path], stdout=subprocess.DEVNULL).returncode == 1


def half_a_header_is_no_damage(path):
    trace = Trace(path, 'a')
    trace.append('s', packet(0, 0, [(1, 0, 1)]) + packet(0, 1, [(2, 0, 2)])[:7])
    follower = Follower(KYMO, path, '--hold', '0')
    follower.expect(1)
    trace.append('s', packet(0, 1, [(2, 0, 2)])[7:])
    follower.expect(1, 2)
    follower.stop()


def damage_is_told(path):
    trace = Trace(path, 'a')
    trace.append('s', packet(0, 0, [(1, 0, 1)]) + b'garbage that is no packet, and long enough to be known as such.....')
    follower = Follower(KYMO, path, '--hold', '0')
    follower.expect(1)
    trace.append('s', packet(0, 1, [(2, 0, 2)]))
    follower.expect(1, 2)
    follower.stop(1, b'packet magic number')


def event_before_its_description(path):
    trace = Trace(path, 'a')
    trace.append('s', packet(0, 0, [(1, 0, 1), (2, 1, 2), (3, 0, 3)]))
    follower = Follower(KYMO, path, '--hold', '0')
    follower.expect(1)
    trace.describe('late')
    follower.expect(1, 2, 3)
    trace.describe('later')
    trace.append('s', packet(0, 1, [(4, 2, 4), (5, 1, 5)]))
    follower.expect(1, 2, 3, 4, 5)
    follower.stop()
    assert b'"event":"later"' in follower.text


def description_in_two_pieces(path):
    trace = Trace(path)
    with open(trace.path / 'metadata', 'a') as file:
        file.write('event { name = "a"; id = 0; stream_id = 0; fields := struct { integer { si')
    follower = Follower(KYMO, path, '--hold', '0')
    time.sleep(0.1)
    with open(trace.path / 'metadata', 'a') as file:
        file.write('ze = 32; } n; }; };\n')
    trace.append('s', packet(0, 0, [(1, 0, 1)]))
    follower.expect(1)
    follower.stop()


def description_never_good(path):
    trace = Trace(path, 'a')
    with open(trace.path / 'metadata', 'a') as file:
        file.write('event { name = oops; };')
    follower = Follower(KYMO, path)
    time.sleep(0.2)
    follower.stop(1, b'line 12, column 1: a second event with the id 0')


def events_never_described(path):
    trace = Trace(path, 'a')
    trace.append('s', packet(0, 0, [(1, 0, 1), (2, 7, 2)]))
    follower = Follower(KYMO, path, '--hold', '0')
    follower.expect(1)
    follower.stop(1, b'no event class has the id 7')


def new_streams(path):
    trace = Trace(path, 'a')
    follower = Follower(KYMO, path, '--hold', '0')
    for n in range(1, 8):
        trace.append(f's{n % 4}', packet(n % 4, n, [(n, 0, n)]))
        follower.expect(*range(1, n + 1))
    follower.stop(1, b'packets are lost')


def new_traces(path):
    follower = None
    for n in range(1, 6):
        trace = Trace(path / f'{n}' / 'deep', 'a', f'b{n}', uuid=f'{n:08d}-89ab-cdef-0123-456789abcdef')
        trace.append('s', packet(0, 0, [(n, n % 2, n)]))
        follower = follower or Follower(KYMO, path, '--hold', '0')
        follower.expect(*range(1, n + 1))
    follower.stop()


def directory_without_trace(path):
    path.mkdir()
    follower = Follower(KYMO, path, '--hold', '0')
    time.sleep(0.1)
    Trace(path / 'made', 'a').append('s', packet(0, 0, [(1, 0, 1)]))
    follower.expect(1)
    follower.stop()


def rotated_files(path):
    trace = Trace(path, 'a')
    follower = Follower(KYMO, path, '--hold', '0')
    for n in range(1, 7):
        trace.append(f's_{n // 2}', packet(0, n, [(n, 0, n)]))
        follower.expect(*range(1, n + 1))
    follower.stop()


def chunks_moved_away(path):
    """As LTTng rotates: files go to a directory of their own with a copy of the metadata, new ones take their place."""
    trace = Trace(path / 'now', 'a')
    follower = Follower(KYMO, path, '--hold', '0')
    for n in range(1, 6):
        trace.append('s', packet(0, 2 * n, [(2 * n, 0, 2 * n)]))
        follower.expect(*range(2, 2 * n + 1))
        trace.append('s', packet(0, 2 * n + 1, [(2 * n + 1, 0, 2 * n + 1)]))
        archive = path / 'archives' / f'{n}'
        archive.mkdir(parents=True)
        (archive / 'metadata').write_bytes((trace.path / 'metadata').read_bytes())
        os.rename(trace.path / 's', archive / 's')
    follower.expect(*range(2, 12))
    follower.stop()


def file_taken_away(path):
    trace = Trace(path, 'a')
    trace.append('s', packet(0, 0, [(1, 0, 1)]))
    trace.append('t', packet(1, 0, [(2, 0, 2)]))
    follower = Follower(KYMO, path, '--hold', '0')
    follower.expect(1, 2)
    os.remove(trace.path / 't')
    trace.append('s', packet(0, 1, [(3, 0, 3)]))
    follower.expect(1, 2, 3)
    follower.stop()


def streams_are_waited_for(path):
    trace = Trace(path, 'a')
    trace.append('s', packet(0, 0, [(10, 0, 1), (30, 0, 3)]))
    trace.append('t', packet(1, 0, [(20, 0, 2)]))
    follower = Follower(KYMO, path, '--hold', '1h')
    follower.expect(1, 2)
    time.sleep(0.3)
    follower.expect(1, 2)
    trace.append('t', packet(1, 1, [(40, 0, 4)]))
    follower.expect(1, 2, 3)
    trace.append('s', packet(0, 1, [(50, 0, 5)]))
    follower.expect(1, 2, 3, 4)
    assert follower.stop() == [1, 2, 3, 4, 5]


def end_of_a_packet_tells_as_much_as_an_event(path):
    trace = Trace(path, 'a')
    trace.append('s', packet(0, 0, [(10, 0, 1), (30, 0, 2)]))
    trace.append('t', packet(1, 0, [(5, 0, 0)], end=35))
    follower = Follower(KYMO, path, '--hold', '1h')
    follower.expect(0, 1, 2)
    follower.stop()


def silent_streams_are_left_behind(path):
    trace = Trace(path, 'a')
    trace.append('t', packet(1, 0, [(1, 0, 0)]))
    follower = Follower(KYMO, path, '--hold', '300ms')
    begin = time.monotonic()
    trace.append('s', packet(0, 0, [(10 + k, 0, k + 1) for k in range(1000)]))
    follower.expect(*range(1001))
    assert 0.2 < time.monotonic() - begin < 10
    trace.append('t', packet(1, 1, [(20, 0, 5000)]))
    follower.expect(*range(1001), 5000)
    trace.append('s', packet(0, 1, [(2000, 0, 2000)]))
    follower.expect(*range(1001), 5000, 2000)
    follower.stop()


def window_and_classes(path):
    trace = Trace(path, 'a', 'b')
    trace.append('s', packet(0, 0, [(1, 0, 1), (2, 1, 2), (3, 0, 3)]))
    follower = Follower(KYMO, path, '--hold', '0', '--begin', '2ns', '--end', '8ns', '--event', 'b,late')
    follower.expect(2)
    trace.describe('late')
    trace.append('s', packet(0, 1, [(4, 0, 4), (5, 2, 5), (6, 1, 6), (7, 0, 7)]))
    follower.expect(2, 5, 6)
    trace.append('s', packet(0, 2, [(8, 1, 8), (9, 1, 9)]))
    assert follower.end() == [2, 5, 6, 8]


def offsets_of_new_traces(path):
    (path / 'x').mkdir(parents=True)
    (path / 'y').mkdir()
    follower = Follower(KYMO, path / 'x', path / 'y', '--hold', '0', f'--clock-offset-ns={path}/y=100')
    Trace(path / 'y' / 't', 'a').append('s', packet(0, 0, [(1, 0, 1)]))
    follower.expect(1)
    Trace(path / 'x' / 't', 'a').append('s', packet(0, 0, [(102, 0, 2)]))
    follower.expect(1, 2)
    follower.stop()
    assert b'"ts":101,' in follower.text and b'"ts":102,' in follower.text


def main():
    cases = [value for value in list(globals().values()) if callable(value) and getattr(value, '__module__', '') == '__main__'
             and value is not main]
    for case in cases:
        name = case.__name__.replace('_', ' ')
        try:
            case(WORK / case.__name__)
            print(f'ok {name}')
        except Exception as error:  # any failure is the case's
            where = traceback.extract_tb(error.__traceback__)
            line = next(frame.lineno for frame in reversed(where) if frame.filename == __file__)
            print(f'not ok {name}: line {line}: {type(error).__name__}: {error}')


main()
