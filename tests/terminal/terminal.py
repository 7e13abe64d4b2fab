# SPDX-License-Identifier: MIT
"""Commands on a pseudo-terminal, over what is untrusted. terminal.py KYMO HOLD"""
import json
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import time
import tty

KYMO, HOLD = sys.argv[1:3]
# a colour, a title, C1 controls as UTF-8 and as a byte, an override of direction, an isolate, a return, a bell, delete; and sound text
EVIL = b'\x1b[31mred\x1b]0;title\x07\xc2\x9b2J\x9b1m\xe2\x80\xaegnp\xe2\x81\xa6\r\x08\x7f\xc3\xa9'
NAME = b'\x1b[31mname\x1b[2J\xc2\x9b5m\xe2\x80\xae\r\xc3\xa9'
ESCAPED = b'\\x1b'
COLORS = (b'\x1b[36m', b'\x1b[1m', b'\x1b[31m', b'\x1b[2m', b'\x1b[0m')
OBEYED = re.compile('[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]')


def on_terminal(*arguments, until=None):
    """(status, bytes) of a command whose three streams are a terminal; `until`: it is ended when this was printed."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    process = subprocess.Popen([KYMO, *arguments], stdin=slave, stdout=slave, stderr=slave, close_fds=True)
    os.close(slave)
    out, deadline = b'', time.monotonic() + 120
    while time.monotonic() < deadline:
        if not select.select([master], [], [], 1)[0]:
            continue
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
        if until and until in out:
            process.kill()
    process.kill() if time.monotonic() >= deadline else None
    os.close(master)
    return process.wait(), out


def fault_of(out, mine=()):
    """What a terminal would obey, or None. `mine`: what the command may send."""
    for one in mine:
        out = out.replace(one, b'')
    try:
        found = OBEYED.search(out.decode())
    except UnicodeDecodeError as error:
        return f'no UTF-8: {out[max(0, error.start - 20):error.start + 20]!r}'
    return f'{out.decode()[max(0, found.start() - 20):found.start() + 20]!r}' if found else None


def check(name, fault):
    """One line for tests/run."""
    print(f'not ok {name}: {fault}' if fault else f'ok {name}')


def inert(name, *arguments, status=None, mine=(), until=None, shows=ESCAPED):
    """The command prints what is untrusted, with nothing in it that is obeyed."""
    found, out = on_terminal(*arguments, until=until)
    fault = fault_of(out, mine)
    if not fault and shows not in out.replace(b'?[', ESCAPED + b'['): # some words have question marks
        fault = f'the untrusted text is not there at all: {out[:300]!r}'
    if not fault and status is not None and found != status:
        fault = f'status {found}: {out[:300]!r}'
    check(name, fault)


def cpel(path, evil):
    """A CPEL file all of whose strings are untrusted."""
    strings = bytearray(b'T\0')

    def add(text):
        at = len(strings)
        strings.extend(text + b'\0')
        return at
    event, datum, track, text, number = add(b'event' + evil), add(b'%s' + evil), add(b'track' + evil), add(b'text' + evil), add(b'%d' + evil)
    strings.extend(bytes(-len(strings) % 4))
    table = b'T'.ljust(64, b'\0')
    sections = [(1, bytes(strings)), (3, table + struct.pack('>I6I', 2, 1, event, datum, 2, event, number)), (4, table + struct.pack('>III', 1, 1, track)),
                (5, table + struct.pack('>II', 2, 10**9) + struct.pack('>QIIIQIII', 5, 1, 1, text, 9, 1, 2, 7)), (77, b'x')]
    path.write_bytes(struct.pack('>BBHI', 1, 0, len(sections), 1700000000) +
                     b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))


def ctf1(directory, evil):
    """A CTF 1.8 trace with untrusted names, labels and environment."""
    directory.mkdir()
    quoted = evil.replace(b'\r', b'').replace(b'\n', b'')
    (directory / 'metadata').write_bytes(b'''/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
trace { major = 1; minor = 8; byte_order = le; };
env { hostname = "''' + quoted + b'''"; domain = "''' + quoted + b'''"; };
clock { name = clock; freq = 1000000000; description = "''' + quoted + b'''"; };
typealias integer { size = 64; align = 8; map = clock.clock.value; } := stamp;
stream { event.header := struct { u8 id; stamp timestamp; }; };
event { name = "event''' + quoted + b'''"; id = 0; model.emf.uri = "''' + quoted + b'''";
  fields := struct { u8 number; enum : u8 { "label''' + quoted + b'''" = 1 } state; string text; }; };
''')
    (directory / 'stream').write_bytes(b''.join(struct.pack('<BQBB', 0, 1000 * i, i, 1) + b'text' + evil + b'\0' for i in range(3)))


# ---- what commands print of traces ----

here = pathlib.Path(os.fsencode('plain').decode())
cpel(here.with_name('evil.cpel'), EVIL)
ctf1(pathlib.Path('evil.ctf'), EVIL)
for trace in ('evil.ctf', 'evil.cpel'):
    for form in ('text', 'json', 'csv', 'generic', 'details', 'details:2.0', 'babeltrace2'):
        shows = b'\\u001b' if form == 'json' else b'\\e' if form == 'babeltrace2' else b'\\x1b'
        inert(f'kymo cat -f {form} {trace}', 'cat', '-q', '--color=never', '-f', form, trace, shows=b'event' if form == 'babeltrace2' else shows)
    inert(f'kymo cat in colours {trace}', 'cat', '-q', trace, mine=COLORS)
    inert(f'kymo cat --fields all {trace}', 'cat', '-q', '--fields', 'all', trace, mine=COLORS)
    inert(f'kymo info {trace}', 'info', trace)
    inert(f'kymo info --json {trace}', 'info', '--json', trace, shows=b'u001b')
    for form in ('registry', 'tsdl', 'ctf2', 'c', 'doc'):
        inert(f'kymo describe -a {form} {trace}', 'describe', '-a', form, trace, shows=b'')
    inert(f'kymo stat counts {trace}', 'stat', 'counts', trace)
    inert(f'kymo stat histogram {trace}', 'stat', 'histogram', 'number' if trace == 'evil.ctf' else 'datum', trace, shows=b'')
    inert(f'kymo check {trace}', 'check', trace, shows=b'')
for trace in ('evil.ctf', 'evil.cpel'):
    seen = [on_terminal('cat', '-q', '-f', 'json', trace)[1], subprocess.run([KYMO, 'cat', '-q', '-f', 'json', trace], capture_output=True, check=True).stdout]
    texts = [[json.loads(line) for line in out.decode().splitlines()] for out in seen]
    check(f'JSON of {trace} says the same on a terminal', None if texts[0] == texts[1] and '\x1b[31mred' in str(texts[0]).replace('\\x1b', '\x1b') else f'{seen}')
inert('kymo cat -f cpeldump', 'cat', '-q', '-f', 'cpeldump', 'evil.cpel')
inert('kymo cat -f cpel', 'cat', '-q', '-f', 'cpel', 'evil.cpel')
inert('kymo infer', 'infer', 'evil.ctf', shows=b'')
inert('kymo explain', 'explain', '--record', '1', 'evil.ctf', shows=b'')
seen = [on_terminal('cat', '-q', '-f', 'details', 'evil.ctf')[1], subprocess.run([KYMO, 'cat', '-q', '-f', 'details', 'evil.ctf'], capture_output=True, check=True).stdout]
check('details are the bytes of the trace on a pipe', None if b'\x1b[31mred' in seen[1] and b'\x1b' not in seen[0] else 'they are not')
check('text that is sound stays as it is', None if 'é'.encode() in seen[0] else 'it does not')

# ---- paths, and what is said of them ----

odd = os.fsencode('dir') + NAME
os.mkdir(odd)
pathlib.Path(os.fsdecode(odd) + '/x.cpel').write_bytes(pathlib.Path('evil.cpel').read_bytes()[:-3])
ctf1(pathlib.Path(os.fsdecode(odd) + '/ctf'), EVIL)
with open(odd + b'/ctf/stream', 'ab') as file:
    file.write(b'\0\1\2')
with open(odd + b'/bad.tdl', 'wb') as file:
    file.write(b'TRACE x;\n  BYTES ' + EVIL + b';\n')
for command in ('cat', 'info', 'check', 'explain', 'describe'):
    inert(f'kymo {command} of a damaged file in an odd directory', command, odd + b'/x.cpel', mine=COLORS)
    inert(f'kymo {command} of an odd file that is not there', command, odd + b'/none')
    inert(f'kymo {command} of a damaged trace in an odd directory', command, odd + b'/ctf', mine=COLORS)
for form in ('json', 'csv', 'details'):
    inert(f'kymo cat -f {form} of a damaged trace', 'cat', '-f', form, odd + b'/ctf', shows=b'x1b')
inert('kymo cat with an odd description', 'cat', '--description', odd + b'/bad.tdl', 'evil.cpel')
inert('kymo compile', 'compile', odd + b'/bad.tdl')
inert('kymo convert into an odd file that is there', 'convert', 'evil.ctf', '-o', odd + b'/x.cpel')
inert('kymo merge', 'merge', odd + b'/none', '-o', 'merged')
inert('kymo types', 'types', odd + b'/x.cpel', '--all-traced')
inert('kymo list of an odd file', 'list', odd + b'/x.cpel')
inert('kymo record of a program that is not there', 'record', '-o', 'none', '--', odd + b'/none')
inert('kymo clean of odd things', 'clean', NAME, shows=b'')

# ---- command lines ----

inert('a command that is not there', NAME)
inert('an option that is not there', 'cat', b'--' + NAME)
inert('a format that is not there', 'cat', '-f', NAME, 'evil.cpel')
inert('a filter that is none', 'cat', '--filter', b'x = ' + NAME, 'evil.cpel', shows=b'kymo')
inert('a time that is none', 'cat', '--begin', NAME, 'evil.cpel')
inert('a field that is not there', 'stat', 'histogram', NAME, 'evil.cpel')
inert('kymo --help', '--help', shows=b'Usage')
inert('kymo cat --help', 'cat', '--help', shows=b'Usage')

# ---- processes ----

hold = subprocess.Popen([HOLD, b'\x1b[31mx\xc2\x9b\r'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, 'KYMO_ENABLE': '*'})
hold.stdout.readline()
for _ in range(1000): # until its control thread serves
    if str(hold.pid).encode() in subprocess.run([KYMO, 'list', '--brief'], stdout=subprocess.PIPE).stdout.split():
        break
    time.sleep(0.02)
inert('kymo list', 'list', shows=str(hold.pid).encode())
inert('kymo list of a process', 'list', str(hold.pid), shows=b'hold:began')
inert('kymo stat of a process', 'stat', '--once', str(hold.pid), shows=b'TID')
inert('kymo stat of a process, live', 'stat', str(hold.pid), shows=b'TID', mine=(b'\x1b[H\x1b[J',), until=b'BUFFER')
inert('kymo enable with an odd pattern', 'enable', str(hold.pid), NAME, shows=b'')
inert('kymo snapshot into an odd place', 'snapshot', str(hold.pid), '-o', odd + b'/none/snapshot')
inert('kymo cat of its rings', 'cat', os.environ['KYMO_RINGS'], mine=COLORS, shows=b'hold:began')
hold.stdin.close()
hold.wait()

# ---- bytes ----

for number, cpu in ((1, 0), (2, 1)):
    pathlib.Path(f'tap_{cpu}').write_bytes(struct.pack('<II', number, len(EVIL)) + EVIL)
inert('kymo merge of what was printed', 'merge', '--to', 'raw', '-o', '-', 'tap_0', 'tap_1')
inert('kymo convert to CPEL', 'convert', '--to', 'cpel', '-o', '-', 'evil.ctf', shows=b'is a terminal')

# ---- tables ----

formulas = (b'=1+1', b'+1', b'-1', b'@x', b'\tx', b'\rx', b'x=1', b'"=1', b'')
pathlib.Path('formula_0').write_bytes(b''.join(struct.pack('<II', i + 1, len(text) + 1) + text + b'.' for i, text in enumerate(formulas)))


def cells(form):
    """The texts of the table."""
    import csv
    out = subprocess.run([KYMO, 'cat', '-f', form, 'formula_0'], capture_output=True, check=True).stdout.decode()
    return [row['text'] for row in csv.DictReader(out.splitlines(keepends=True))]


plain = [text.decode() + '.' for text in formulas]
check('a table without a guard', None if cells('csv') == plain else f'{cells("csv")!r}')
guarded = ["'" + text if text[0] in '=+-@\t\r' else text for text in plain]
check('a table with a guard', None if cells('csv:guard') == guarded else f'{cells("csv:guard")!r}')
numbers = subprocess.run([KYMO, 'cat', '-q', '-f', 'csv:guard', 'evil.cpel'], capture_output=True, check=True).stdout
check('numbers have no guard', None if b"'1" not in numbers else 'they have')
