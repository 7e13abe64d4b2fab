# SPDX-License-Identifier: MIT
"""Events without a time, among others that have one: they are in no window of time, and say that they have none."""
import json
import pathlib
import re
import subprocess

from described import KYMO, compiled, not_ok, ok

TDL = '''TRACE t;
  CLOCK run IS EPOCH "2020-01-01T00:00:00Z";
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD timed EVENT WITH p WHEN k=1 IS ACQUISITION: UNSIGNED 8 TIME run POINT UNIT 1 s; END;
  RECORD bare EVENT WITH p WHEN k=2 IS v: UNSIGNED 8; END;
  RECORD maybe EVENT WITH p IS v: UNSIGNED 8; IF v=9 THEN ACQUISITION: UNSIGNED 8 TIME run POINT UNIT 1 s; END; END;
  LAYOUT REPEAT timed OR bare OR maybe;
END TRACE.
'''
# a list of fields keeps records from the fast path, a plain one does not
SLOW = TDL.replace('v: UNSIGNED 8; END;\n  RECORD maybe', 'v: UNSIGNED 8; REPEAT TIMES 0 IS x: UNSIGNED 8; END; END;\n  RECORD maybe')
DATA = b'\2\1' + b'\1\12' + b'\2\2' + b'\3\0' + b'\3\11\13' + b'\1\15' + b'\2\3'
SECOND = 1577836800
WANTED = [None, 10, None, None, 11, 13, None]
KINDS = ['bare', 'timed', 'bare', 'maybe', 'maybe', 'timed', 'bare']
PLAIN = 'TRACE plain;\n RECORD r EVENT IS q: UNSIGNED 8; END;\n LAYOUT REPEAT r;\nEND TRACE.\n'


def run(*arguments):
    return subprocess.run([KYMO, *arguments], capture_output=True, text=True)


def hold(name, got, wanted):
    if got == wanted:
        ok(name)
    else:
        not_ok(name, f'{got!r} is not {wanted!r}')


def times(*arguments):
    """Seconds of each event; None: it has no time."""
    done = run('cat', '--format', 'json', *arguments)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return [event['ts'] // 10**9 - SECOND if 'ts' in event else None for event in events] if done.returncode == 0 else done.stderr


def files(name, tdl, data):
    key, said = compiled(name, tdl)
    if not key:
        not_ok(f'compiles {name}', said)
    pathlib.Path(f'{name}.bin').write_bytes(data)
    return ['--key', key, f'{name}.bin']


def hold_times(what, trace, wanted=None):
    wanted = WANTED if wanted is None else wanted
    timed = [each for each in wanted if each is not None]
    hold(f'{what}: JSON', times(*trace), wanted)
    text = [line.split('] ')[0] for line in run('cat', *trace).stdout.splitlines() if line.startswith('[')]
    hold(f'{what}: text', [each == '[-' for each in text], [each is None for each in wanted])
    rows = [line.split(',')[:2] for line in run('cat', '--format', 'csv', *trace).stdout.splitlines()[1:]]
    hold(f'{what}: CSV', [row == ['', ''] for row in rows], [each is None for each in wanted])
    babeltrace2 = run('cat', '--format', 'babeltrace2', *trace).stdout.splitlines()
    hold(f'{what}: babeltrace2', [not line.startswith('[') for line in babeltrace2], [each is None for each in wanted])
    generic = [line for line in run('cat', '--format', 'generic', *trace).stdout.splitlines() if line.startswith('<')]
    hold(f'{what}: generic', [' time: ' not in line for line in generic], [each is None for each in wanted])
    details = run('cat', '--format', 'details', *trace).stdout
    hold(f'{what}: details', len(re.findall(r' ns from origin\]\n[^\n]*\nEvent ', details)), len(timed))
    info = json.loads(run('info', '--json', *trace).stdout)
    hold(f'{what}: info', [info['events'], info['begin'] // 10**9 - SECOND, info['end'] // 10**9 - SECOND],
         [len(wanted), timed[0], timed[-1]])
    for expression, of in (('TIME IN (START .. +1 s)', [each for each in timed if each <= timed[0] + 1]),
                           ('TIME IN (-1 s .. END)', [each for each in timed if each >= timed[-1] - 1]),
                           ('NOT TIME IN (START .. END)', [each for each in wanted if each is None]),
                           ('ACQUISITION IS PRESENT', timed), ('NOT ACQUISITION IS PRESENT', [each for each in wanted if each is None]),
                           ('ACQUISITION < "2019-01-01"', []), ('ACQUISITION > "2019-01-01"', timed)):
        hold(f'{what}: {expression}', times('--filter', expression, *trace), of)
    hold(f'{what}: --begin', times('--begin', '+1s', *trace), [each for each in timed if each >= timed[0] + 1])
    hold(f'{what}: --end', times('--end', '+1s', *trace), [each for each in timed if each <= timed[0] + 1])
    hold(f'{what}: both', times('--begin', '+0s', '--end', '-0s', *trace), timed)


def hold_written(what, *trace):
    for form in ('ctf1', 'ctf2'):
        done = run('convert', '--to', form, '--output', f'{what}.{form}', *trace)
        hold(f'{what}: converts to {form}', (done.returncode, done.stderr), (0, ''))
        hold_times(f'{what} as {form}', [f'{what}.{form}'])
        pathlib.Path(f'{what}.{form}/.kymo/registry').unlink()
        hold(f'{what} as {form}, without the registry beside it', times(f'{what}.{form}'), WANTED)


def hold_cpel(what, *trace):
    """CPEL has a time for each event: those of others are borrowed, with a word."""
    done = run('convert', '--to', 'cpel', '--output', f'{what}.cpel', *trace)
    hold(f'{what}: CPEL cannot say it, and a warning does', (done.returncode, done.stderr), (
        0, f'kymo convert: warning: {what}.cpel: 4 events without a time have that of the event before: CPEL has a time for each event\n'))
    hold(f'{what} as CPEL', times(f'{what}.cpel'), [-SECOND, 10, 10, 10, 11, 13, 13])


for name, tdl in (('fast', TDL), ('slow', SLOW)):
    trace = files(name, tdl, DATA)
    hold_times(name, trace)
    hold_written(name, *trace)
    hold_cpel(name, *trace)
# merged with one that has no clock at all
run('convert', *files('plain', PLAIN, b'ab'), '--output', 'plain.ctf')
done = run('merge', 'fast.ctf1', 'plain.ctf', '--output', 'merged')
hold('merges', (done.returncode, done.stderr), (0, ''))
hold_times('merged', ['merged'], [None] * 2 + WANTED)
hold_times('side by side', ['fast.ctf2', 'plain.ctf'], [None] * 2 + WANTED)
