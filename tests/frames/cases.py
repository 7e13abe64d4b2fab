# SPDX-License-Identifier: MIT
"""kymo against the second reader: what programs wrote, and what was done to it. cases.py DIRECTORY: of the programs' files."""
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

from compare import kymo, run
from reader import CUT, MAGIC, TEXT, File, merged, write

os.environ['KYMO_DESCRIPTIONS'] = os.environ['KYMO_SOURCE'] + '/descriptions'
HERE = pathlib.Path(sys.argv[1])


def check(name, found, wanted):
    """One line for tests/run."""
    if found == wanted:
        print('ok ' + name)
        return
    if isinstance(found, tuple) and len(found) == len(wanted):
        found, wanted = next(pair for pair in zip(found, wanted) if pair[0] != pair[1])
    if isinstance(found, list) and isinstance(wanted, list):
        at = next((i for i, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))
        found, wanted = (len(found), at, found[at:at + 2]), (len(wanted), at, wanted[at:at + 2])
    print("not ok", name + ":", f"expected {wanted!r:.1000}, found {found!r:.1000}".replace("\n", "\\n"))


def fresh(name):
    """A directory of its own."""
    path = HERE / ('case-' + name)
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    os.chdir(path)
    return path


def files(pattern):
    """The files that a program left."""
    return sorted(HERE.glob(pattern))


def load(paths):
    """Each of them read by the second reader."""
    return [File(path.read_bytes()) for path in paths]


def same(name, paths, read=None):
    """kymo's events of these files are the second reader's."""
    events, gaps = merged(read or load(paths))
    found, found_gaps, status, said = kymo(paths)
    check(name, found, events)
    check(name + ': losses', (found_gaps, status, said), (gaps, 0, []))
    return events


# ---- what programs wrote ----

turns = files('turns/log_thread*')
written = same('threads that write in turn', turns)
check('... all of them', ([event[0] for event in written], len(turns)), (list(range(6000)), 4))
check('... by their directory', kymo([HERE / 'turns'])[0], written)
check('... named twice', kymo([*turns, HERE / 'turns' / '.' / turns[0].name])[0], written)
signals = same('events of handlers stand behind those that they interrupted', files('signals/log_thread*'))
check('... in the order of the numbers', [event[0] for event in signals], list(range(len(signals))))
same('files a CPU', files('cpus/log_cpu*'))
sizes = same('events longer than a packet, and than 64 KiB', files('sizes/log_thread*'))
check('... none is cut', max(len(event[3]) for event in sizes), 300004)
same('rotated files', files('rotated/log_thread*'))
same('what was in memory', files('memory/log_thread*'))

# ---- what was done to it ----

parts = load(turns)


def edited(name, change, part=0, how=0):
    """The files of the threads with frames that `change` has made of theirs, and numbers in the header."""
    fresh(name)
    for index, (path, file) in enumerate(zip(turns, parts)):
        header = file.header[:36] + struct.pack(file.order + 'II', part, how) + file.header[44:]
        write(path.name, header, file.order, change(index, file.frames))
    return sorted(pathlib.Path('.').glob('log_thread*'))


for start in ((1 << 32) - 3000, (1 << 32) - 1, (1 << 31) - 2000):
    wrapped = edited('wrap', lambda _, frames, start=start: [((number + start) % (1 << 32), *rest) for number, *rest in frames], how=4)
    same(f'numbers from {start} on', wrapped)
    events, gaps, _, _ = kymo(wrapped[:3])
    check('... without one of the files', (len(events), set(gaps.values()), len(gaps)), (4500, {1}, 1499))

without = [path for path in turns if path.name != 'log_thread2']
events, gaps = merged(load(without))
found = kymo(without)
check('a lost file', (found[0], found[1], found[2]), (events, gaps, 0))
text = [line for line in run('cat', *without)[1].decode().splitlines() if 'lost' in line]
check('... is reported where its events were', (len(text), len(gaps)), (len(gaps), len(gaps)))

hole = edited('hole', lambda _, frames: [frame for frame in frames if not 1000 <= frame[0] < 1777])
same('a gap and its size', hole)
check('... the size', kymo(hole)[1], {1777: 777})

def beginning_at(number):
    """What is left if the first events are gone."""
    return lambda _, frames: [frame for frame in frames if frame[0] >= number]


first = edited('first', beginning_at(500))
same('the first events are gone', first)
check('... the size', kymo(first)[1], {500: 500})
check('... the places are reported', run('cat', *first)[1].decode().splitlines()[0], '# lost 500 events in log_thread0')
check('... and counted', 'lost 500 events' in run('info', *first)[1].decode(), True)
for name, wanted, numbers in (('rotated away', {}, {'part': 1}), ('overwritten in memory', {}, {'how': 4}), ('of files a CPU', {500: 500}, {'how': 1})):
    check(f'... {name}', kymo(edited('first', beginning_at(500), **numbers))[1], wanted)
beyond = edited('beyond', lambda _, frames: [((number + (1 << 31)) % (1 << 32), *rest) for number, *rest in frames])
check('... more than half of all numbers: unknown', kymo(beyond)[1:3], ({}, 0))
edited('first', beginning_at(500))

far = edited('far', lambda index, frames: [frame for frame in frames if index != 1 or frame[0] > 4000])
same('a thread that was silent for long', far)


def damaged(name, change, index=1):
    """A file of which `change` has altered the bytes, beside the others; returns all."""
    fresh(name)
    for path in turns:
        shutil.copy(path, '.')
    path = pathlib.Path(turns[index].name)
    content = bytearray(path.read_bytes())
    content = change(content) or content
    path.write_bytes(content)
    return sorted(pathlib.Path('.').glob('log_thread*'))


def place(index, frame):
    """Where a frame is in its file."""
    return 64 + sum(12 + len(content) for _, _, content in parts[index].frames[:frame])


def without_frames(index, gone):
    """All events but some frames of a file."""
    numbers = {parts[index].frames[i][0] for i in gone}
    return [event for event in merged(parts)[0] if event[0] not in numbers]


def overwrite(at, content):
    """A change of some bytes."""
    def change(data):
        data[at:at + len(content)] = content
    return change


at, behind = place(1, 700), place(1, 701)
paths = damaged('truncated', lambda data: data[:at + 20])
found = kymo(paths)
check('a truncated file', (found[0], found[2], found[3]),
      (without_frames(1, range(700, 1500)), 1,
       [f'kymo cat: log_thread1: byte {at}: expected a frame of {behind - at} bytes, found 20 to the end of the file (20 bytes skipped)']))
paths = damaged('in-header', lambda data: data[:at + 7])
found = kymo(paths)
check('... before the event', (found[0], found[2], found[3]),
      (without_frames(1, range(700, 1500)), 1,
       [f'kymo cat: log_thread1: byte {at}: expected a frame of at least 12 bytes, found 7 to the end of the file (7 bytes skipped)']))
found = kymo(damaged('magic', overwrite(at, b'\1\2')))
check('a damaged magic number', (found[0], found[1], found[2], found[3]),
      (without_frames(1, [700]), {parts[1].frames[700][0] + 1: 1}, 1,
       [f'kymo cat: log_thread1: byte {at}: expected a frame (f0 9f a9 ba), found 01 02 a9 ba; the next one begins {behind - at} bytes later '
        f'({behind - at} bytes skipped)']))
found = kymo(damaged('block', overwrite(at + 5, bytes(300))))
check('300 bytes overwritten', (len(found[0]), sum(found[1].values()), found[2], found[3][0].split(':')[2]),
      (6000 - sum(found[1].values()), 6000 - len(found[0]), 1, f' byte {at + 4}'))
number, size = parts[1].frames[700][0], behind - at - 12
for flaw, length in (('longer', size + 40), ('much longer', 1 << 27)):
    found = kymo(damaged('length', overwrite(at + 8, struct.pack('=I', length))))
    wanted = [(n, who, flags | (CUT if n == number else 0), content) for n, who, flags, content in merged(parts)[0]]
    check(f'a length that is {flaw}', (found[0], found[1], found[2], found[3]),
          (wanted, {}, 1, [f'kymo cat: log_thread1: byte {at}: expected a frame after an event of {length} bytes, found one after {size}']))
found = kymo(damaged('number', overwrite(at + 4, struct.pack('=I', 3000000000))))
check('a number from elsewhere', (found[0], found[1], found[2], found[3]),
      (without_frames(1, [700]), {number + 1: 1}, 1,
       [f'kymo cat: log_thread1: byte {at + 4}: expected a sequence number near {parts[1].frames[699][0]}, found 3000000000 '
        f'({behind - at} bytes skipped)']))
for name, change, why in (
        ('order', overwrite(8, b'\1\1\1\1'), 'byte 8: order of bytes: expected 0x01020304 in either order, found 0x01010101'),
        ('size', overwrite(14, struct.pack('=H', 20)), 'byte 14: length of the header: expected at least 64, found 20'),
        ('short', lambda data: data[:40], 'byte 0: expected a header of 64 bytes, found 40 to the end of the file')):
    damaged('header-' + name, change)
    check(f'a header of bad {name}', run('cat', 'log_thread1'), (3, b'', f'kymo cat: log_thread1: {why}\n'))
damaged('none', lambda data: data[:64])
check('a file without events', kymo(['log_thread1'])[:3], ([], {}, 0))

# ---- the other order of bytes ----

fresh('swapped')
for path, file in zip(turns, parts):
    other = {'<': '>', '>': '<'}[file.order]
    header = bytearray(file.header)
    for begin, length in ((8, 4), (12, 2), (14, 2), (32, 4), (36, 4), (40, 4), (44, 4), (48, 8)):
        header[begin:begin + length] = header[begin:begin + length][::-1]
    write(path.name, bytes(header), other, file.frames)
same('files of the other order of bytes', sorted(pathlib.Path('.').glob('log_thread*')))

# ---- SystemTap's ----


def stap(name, order, frames, fill=None):
    """Files of two CPUs, the frames by turns; `fill` puts zeroes between them."""
    fresh(name)
    content = [b'', b'']
    for index, (number, text) in enumerate(frames):
        frame = MAGIC + struct.pack(order + 'II', number, len(text)) + text
        page = -len(content[index % 2]) % 4096
        if fill and page < 12:
            content[index % 2] += bytes(page)
        content[index % 2] += frame
    for cpu in range(2):
        pathlib.Path(f'bulk_cpu{cpu}').write_bytes(content[cpu])
    return [pathlib.Path('bulk_cpu0'), pathlib.Path('bulk_cpu1')]


def lines(count, start=1):
    """Texts as printf of a script writes them."""
    chance = random.Random(count)
    return [((start + i) % (1 << 32), b'event %d %s\n' % (i, b'x' * chance.randrange(200))) for i in range(count)]


for order, fill, start in (('<', False, 1), ('>', True, 1), ('<', True, (1 << 32) - 500), ('>', False, (1 << 32) - 1)):
    frames = lines(2000, start)
    paths = stap('stap', order, frames, fill)
    wanted = [(number, index % 2, TEXT, text) for index, (number, text) in enumerate(frames)]
    found = kymo(paths)
    check(f'SystemTap, {order}, from {start} on', found, (wanted, {}, 0, []))
    if order == '<' and not fill:
        status, out, said = run('cat', '--format', 'json', '--as', 'stapbulk', *paths)
        check('... and by its description', (status, [json.loads(line)['fields']['TEXT'].encode() for line in out.splitlines()], said),
              (0, [text for _, text in frames], ''))
    check('... merged', run('merge', *paths, '-o', 'all')[0::2], (0, ''))
    check('... and read again', [event[0::3] for event in kymo(['all'])[0]], frames)
    run('merge', *paths, '-o', 'text', '--to', 'raw')
    check('... what was printed', pathlib.Path('text').read_bytes(), b''.join(text for _, text in frames))
paths = stap('stap-cpu', '<', lines(10)[0::2])
check('SystemTap, what another CPU has is a gap', kymo(paths)[1], {3: 1, 5: 1, 7: 1, 9: 1})
paths = stap('stap-binary', '<', [(1, b'\1\2\0\3'), (2, b'ok\n')])
check('SystemTap, binary and text', [event[2:] for event in kymo(paths)[0]], [(0, b'\1\2\0\3'), (TEXT, b'ok\n')])
# the first piece of an event across two sub-buffers is gone, and the header has the whole length
frames = lines(20)
paths = stap('stap-crossing', '<', frames)
data = paths[0].read_bytes()
begin = sum(12 + len(text) for _, text in frames[0:10:2])
text = frames[10][1]
paths[0].write_bytes(data[:begin + 12] + text[5:] + data[begin + 12 + len(text):])
found = kymo(paths)
check('SystemTap, a first piece that is gone', (found[0], found[1], found[2], found[3]),
      ([(number, index % 2, TEXT | (CUT if index == 10 else 0), text[5:] if index == 10 else text)
        for index, (number, text) in enumerate(frames)], {}, 1,
       [f'kymo cat: bulk_cpu0: byte {begin}: expected a frame after an event of {len(text)} bytes, found one after {len(text) - 5}']))

# ---- SystemTap's without a magic, as releases up to 4.8 write them ----

MERGER = shutil.which('stap-merge')


def bare_frame(order, number, text):
    """One frame."""
    return struct.pack(order + 'II', number, len(text)) + text


def bare(name, order, frames, cpus=2):
    """Files of CPUs, the frames by turns; the last file is empty."""
    fresh(name)
    paths = [pathlib.Path(f'leold_{cpu}') for cpu in range(cpus + 1)]
    for cpu, path in enumerate(paths):
        path.write_bytes(b''.join(bare_frame(order, *frame) for frame in frames[cpu::cpus]) if cpu < cpus else b'')
    return paths


def by_turns(frames, cpus=2):
    """The events of such files."""
    return [(number, index % cpus, TEXT, text) for index, (number, text) in enumerate(frames)]


for order, start, count, cpus in (('<', 1, 2000, 2), ('>', 1, 2000, 3), ('<', (1 << 32) - 500, 2000, 4), ('>', (1 << 32) - 1, 64, 2), ('<', 1, 3, 2)):
    frames = lines(count, start)
    paths = bare('bare', order, frames, cpus)
    check(f'SystemTap without magic, {order}, {count} from {start} on, {cpus} CPUs', kymo(paths), (by_turns(frames, cpus), {}, 0, []))
    check('... in a directory', kymo(['.']), (by_turns(frames, cpus), {}, 0, []))
    run('merge', *paths, '-o', 'text', '--to', 'raw')
    check('... what was printed', pathlib.Path('text').read_bytes(), b''.join(text for _, text in frames))
    run('merge', *paths, '-o', 'framed')
    check('... framed', [event[0::3] for event in kymo(['framed'])[0]], frames)
frames = [frame for frame in lines(3000) if frame[0] % 97 and not 1000 <= frame[0] < 1100]
paths = bare('bare-merge', '<', frames)
if MERGER:
    done = subprocess.run([MERGER, '-o', 'theirs', *map(str, paths)], capture_output=True, check=False)
    lost = [tuple(map(int, re.findall(r'[0-9]+', line))) for line in done.stderr.decode().splitlines()]
    found = kymo(paths)
    check('as stap-merge reads them: the bytes, and that some are lost', (run('merge', *paths, '-o', 'ours', '--to', 'raw')[0], pathlib.Path('ours').read_bytes()),
          (1, pathlib.Path('theirs').read_bytes()))
    check('... the gaps', found[1], {number: number - expected for number, expected in lost})
    check('... their number', len(lost) > 20, True)
else:
    print('skip as stap-merge reads them: it is not installed')

# what is wrong in them
frames = lines(60)
paths = bare('bare-short', '<', frames)
data = paths[0].read_bytes()
place0 = [sum(8 + len(text) for _, text in frames[0:2 * i:2]) for i in range(31)]
paths[0].write_bytes(data[:-3])
found = kymo(paths)
text = frames[58][1]
check('without magic, a file that ends within a frame', (found[0], found[2:]), ([event for event in by_turns(frames) if event[0] != 59], (
    1, [f'kymo cat: leold_0: byte {place0[29]}: expected a frame of {8 + len(text)} bytes, found {5 + len(text)} to the end of the file ({5 + len(text)} bytes skipped)'])))
text = frames[20][1]
paths[0].write_bytes(data[:place0[10] + 8] + text[5:] + data[place0[11]:])
check('without magic, a first piece that is gone', kymo(paths),
      ([(number, index % 2, TEXT | (CUT if index == 20 else 0), text[5:] if index == 20 else text) for index, (number, text) in enumerate(frames)], {}, 1,
       [f'kymo cat: leold_0: byte {place0[10]}: expected a frame after an event of {len(text)} bytes, found one after {len(text) - 5}']))
paths[0].write_bytes(data[:place0[10]] + b'some noise' + data[place0[10]:])
found = kymo(paths)
check('without magic, bytes between frames', (found[0], found[1], found[2], [line[:100] for line in found[3]]),
      (by_turns(frames), {}, 1, [f'kymo cat: leold_0: byte {place0[10]}: expected a frame with a number near 19 and a length, found 1701670771 and'[:100]]))
paths[0].write_bytes(data[:place0[10]] + bytes(40) + data[place0[10]:])
found = kymo(paths)
check('without magic, zeroes between frames', (found[0], found[2]), (by_turns(frames), 1))
paths[0].write_bytes(data[:place0[10]] + struct.pack('<I', 0x40000000) + data[place0[10] + 4:])
found = kymo(paths)
check('without magic, a number far from the others', (found[0], found[2:]), ([event for event in by_turns(frames) if event[0] != 21], (
    1, [f'kymo cat: leold_0: byte {place0[10]}: expected a sequence number near 19, found 1073741824 ({8 + len(text)} bytes skipped)'])))

# files that are no such frames are not taken for any
fresh('bare-others')
chance = random.Random(7)
others = {
    'sound_1': b'RIFF' + struct.pack('<I', 400) + b'WAVE' + bytes(396), 'list_2': b'FORM' + struct.pack('>I', 300) + bytes(300),
    'zeroes_3': bytes(4096), 'text_4': b'a line of words\n' * 200, 'empty_5': b'', 'random_6': chance.randbytes(70000),
    'types_7': b''.join(struct.pack('<II', 7, 4) + b'abcd' for _ in range(100)), 'falling_8': b''.join(bare_frame('<', 5000000 - 1000 * i, b'x') for i in range(9)),
    'parts': b''.join(struct.pack('<II', i + 1, 4) + b'abcd' for i in range(5)), 'short_9': struct.pack('<II', 1, 9) + b'abcd',
    'none_10': b''.join(bare_frame('<', i + 1, b'') for i in range(40))}
known = os.environ.pop('KYMO_DESCRIPTIONS')
os.environ['KYMO_DESCRIPTIONS'] = str(HERE)
for name, content in others.items():
    pathlib.Path(name).write_bytes(content)
    check(f'no frames: {name}', run('cat', name)[0::2], (3, f'kymo cat: {name}: no trace found here: a file of no known format (--key FILE reads it by a description)\n'))
os.environ['KYMO_DESCRIPTIONS'] = known

# ---- merging ----

fresh('merge')
check('kymo merge', run('merge', *turns, '-o', 'all')[0::2], (0, ''))
one = File(pathlib.Path('all').read_bytes())
check('... is one framed log', [(n, flags, content) for n, flags, content in one.frames], [(n, f, c) for n, _, f, c in written])
check('... another one than its files', one.id != parts[0].id and kymo([*turns, 'all'])[2] == 0, True)
check('... read again, each event with its thread', kymo(['all'])[0], written)
run('merge', 'all', '-o', 'again')
check('... merged again it is the same stream', pathlib.Path('again').read_bytes(), pathlib.Path('all').read_bytes())
wide = bytearray(parts[0].header)
wide[14:16] = struct.pack(parts[0].order + 'H', 128)
write('wide_thread0', bytes(wide) + bytes(64), parts[0].order, parts[0].frames)
run('merge', 'wide_thread0', '-o', 'narrow')
check('... of files with longer headers', kymo(['narrow'])[:1], kymo(['wide_thread0'])[:1])
write('far', parts[0].header, parts[0].order, [((step << 30) + i, 0, bytes(60)) for step in range(4) for i in range(30000)])
write('short', one.header, one.order, [(0, 0, bytes(4)), (1, 0, b'ab'), (2, 0, bytes(5))])
check('... an event without space for that', kymo(['short'])[2:],
      (1, ['kymo cat: short: byte 88: expected the number of a thread or CPU, 4 bytes, found an event of 2 (14 bytes skipped)']))
run('merge', *turns, '-o', 'bytes', '--to', 'raw')
check('... the bytes alone', pathlib.Path('bytes').read_bytes(), b''.join(event[3] for event in written))
check('... to the standard output', run('merge', *turns, '-o', '-', '--to', 'raw')[1], b''.join(event[3] for event in written))
run('merge', *without, '-o', 'less')
check('... losses remain gaps', kymo(['less'])[1], kymo(without)[1])
for to in ('ctf1', 'ctf2', 'cpel'):
    check(f'... to {to}, with losses', run('merge', *without, '-o', to, '--to', to)[0], 1)
for to in ('ctf1', 'ctf2'):
    found = kymo([to])
    check(f'... the same events in {to}', (found[0], found[1]), kymo(without)[:2])
check('... into a file that is there', run('merge', *turns, '-o', 'all'), (3, b'', 'kymo merge: all: cannot write: File exists\n'))
check('... two streams', run('merge', HERE / 'sizes' / 'log_thread0', turns[0], '-o', 'two'),
      (2, b'', f'kymo merge: {turns[0]}: another stream than {HERE}/sizes/log_thread0, with numbers of its own\n'))
check('... what is no stream', run('merge', 'ctf1', '-o', 'two', '--to', 'raw'),
      (2, b'', 'kymo merge: ctf1/stream_0: its events are not byte ranges of a stream\n'))
check('... and no part of it is left', pathlib.Path('two').exists(), False)
