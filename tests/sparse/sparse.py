# SPDX-License-Identifier: MIT
"""Makes files with a hole of 5 GiB, reads them with each command, and holds time, memory and what is said against the limits."""
import os
import shutil
import struct
import subprocess
import sys

kymo, source = sys.argv[1], sys.argv[2]
HOLE = 5 << 30
SECONDS, KIBIBYTES = 5, 300 << 10  # of the processor, not of the clock: other programs may run


def tell(name, problem):
    print(f'not ok {name}: {problem}' if problem else f'ok {name}', flush=True)


def run(*args):
    """Status, output, words; and what is beyond the limits, or None."""
    with open('out', 'wb') as out, open('err', 'wb') as err:
        child = subprocess.Popen([kymo, *args], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        status, usage = os.wait4(child.pid, 0)[1:]
        child.returncode = status
    used = usage.ru_utime + usage.ru_stime
    beyond = None
    if used > SECONDS or usage.ru_maxrss > KIBIBYTES:
        beyond = f'{" ".join(args)} took {used:.1f} s and {usage.ru_maxrss >> 10} MiB'
    if os.WIFSIGNALED(status):
        beyond = f'{" ".join(args)} ended by signal {os.WTERMSIG(status)}'
    return os.waitstatus_to_exitcode(status), open('out', errors='replace').read(), open('err', errors='replace').read(), beyond


def write(path, before, after=b'', end=HOLE):
    """The bytes, a hole up to `end`, more bytes."""
    with open(path, 'wb') as file:
        file.write(before)
        file.truncate(end)
        file.seek(end)
        file.write(after)


def frame(number, event):
    return b'\xf0\x9f\xa9\xba' + struct.pack('<II', number, len(event)) + event


def u32(*values):
    return struct.pack(f'>{len(values)}I', *values)


def section(kind, content):
    return u32(kind, len(content)) + content


def cpel(count, events):
    """A file whose event section says that it has `count` events."""
    strings = b'FileStrtab\0start\0%d\0'
    strings += bytes(-len(strings) % 4)
    name = b'FileStrtab'.ljust(64, b'\0')
    parts = section(1, strings) + section(3, name + u32(1, 1, 11, 17))
    return b'\x01\0' + struct.pack('>H', 3) + u32(0x56be2070) + parts + u32(5, 68 + 8 + count * 20) + name + u32(count, 1000000000) + events


CTF = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
stream { packet.context := struct { u32 content_size; u32 packet_size; }; event.header := struct { u32 id; }; };
event { id = 0; name = "mine"; fields := struct { u32 number; }; };
"""


def packet(number):
    return struct.pack('<5I', 0xc1fc1fc1, 160, 160, 0, number)


def wtmp(number):
    """A record of 384 bytes: a user logs in, a second later each time."""
    return struct.pack('<hxxi32s4s32s256shhiii16s20x', 7, 100 + number, b'tty1', b'1', b'mine', b'', 0, 0, 0, 1600000000 + number, 0, b'')


def make():
    write('log.cpel', cpel(200000000, u32(0, 7, 0, 1, 42)))
    write('file.wtmp', wtmp(1) + wtmp(2), wtmp(3), (HOLE // 384 + 1) * 384)
    seed = open(source + '/fuzz/corpus/frames/little', 'rb').read()
    frames = seed[3:3 + struct.unpack('<H', seed[1:3])[0]]
    write('frames_thread0', frames, frames[frames.index(b'\xf0\x9f\xa9\xba'):])
    write('fill_0', frame(1, b'mine\n') + frame(2, b'mine\n'), frame(3, b'mine\n'))
    write('nothing', b'')
    os.mkdir('ctf')
    with open('ctf/metadata', 'w') as file:
        file.write(CTF)
    write('ctf/stream', packet(1), packet(2) + packet(3), HOLE + 1)


def hole_is_named(file, words, events, name):
    status, out, err, beyond = run('cat', file)
    lines = [line for line in out.splitlines() if name in line]
    problem = beyond
    if words not in err:
        problem = f'said {err!r}'
    elif status != (1 if words else 0):
        problem = f'status {status}'
    elif len(lines) != events:
        problem = f'{len(lines)} events'
    tell(f'{file}: the hole is named, and what is before and after it is read', problem)


COMMANDS = (['cat', '-f', 'json'], ['cat', '-f', 'csv'], ['info'], ['list'], ['stat'], ['stat', 'counts'], ['explain', '--offset', '3000000000'],
            ['infer'], ['check'], ['describe'], ['compile'], ['convert', '--to', 'ctf1', '-o', 'made'], ['convert', '--to', 'cpel', '-o', 'made'])


def every_command(file):
    problem = None
    for command in COMMANDS:
        shutil.rmtree('made', ignore_errors=True)
        if os.path.exists('made'):
            os.unlink('made')
        problem = problem or run(*command, file)[3]
    tell(f'{file}: no command needs more than {SECONDS} s or {KIBIBYTES >> 10} MiB', problem)


make()
with open('nothing', 'rb') as empty:
    if os.lseek(empty.fileno(), 0, os.SEEK_HOLE) == HOLE:
        print('skip holes: the file system has none')
        sys.exit()
NOTHING = 'a hole in the file (never written), where '
NAMED = (('log.cpel', NOTHING, 1, 'start'), ('file.wtmp', NOTHING, 3, 'mine'), ('frames_thread0', 'expected a frame (f0 9f a9 ba)', 8, 'bytes'),
         ('fill_0', '', 3, 'mine'), ('ctf', 'packet magic number: expected 0xc1fc1fc1, found 0x00000000 (5368709', 3, 'mine'))
for entry in NAMED:
    hole_is_named(*entry)
for entry in ('log.cpel', 'file.wtmp', 'frames_thread0', 'fill_0', 'ctf', 'nothing'):
    every_command(entry)
