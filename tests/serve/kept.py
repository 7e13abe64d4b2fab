#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Indexes that are kept: whatever decides how a trace is read, the pictures are of the reading of now:  kept.py KYMO

A log is opened, which keeps its index. The second time the index is taken. Then something changes that is not the log: the
names of kinds, numbers of events or times are those of kymo cat.
"""
import os
import shutil
import struct
import subprocess
import sys

from client import Server, check, same

KYMO = sys.argv[1]
FOLDER = os.path.abspath('kept')
CACHE = os.path.abspath('kept-cache')


def write(path, text):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path, 'wb') as out:
        out.write(text if isinstance(text, bytes) else text.encode())


def fresh():
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.rmtree(CACHE, ignore_errors=True)
    os.makedirs(FOLDER)


def look(*words, env=None, cwd=FOLDER):
    """Whether the index was taken from the cache; names of kinds with their numbers of events, names of tracks, first and last time."""
    before = os.getcwd()
    os.chdir(cwd)
    try:
        with Server(KYMO, *words, env={**os.environ, 'XDG_CACHE_HOME': CACHE, **(env or {})}) as server:
            server.built()
            state = server.ask('state')
            kinds = sorted((kind['name'], int(kind['events'])) for kind in server.ask('kinds').kinds)
            return state.isFromCache, (kinds, [track['name'] for track in server.ask('tracks').tracks], state.begin, state.end)
    finally:
        os.chdir(before)


def changes(change, *words, after=None, env=None, after_env=None):
    """What is shown after the change is what is shown without a cache."""
    first = look(*words, env=env)
    same(first[0], False)
    same(look(*words, env=env), (True, first[1]))
    change()
    now, later_env = after or words, after_env or env
    shown = look(*now, env=later_env)
    same(shown[0], False)
    shutil.rmtree(CACHE)
    same(shown[1], look(*now, env=later_env)[1])
    assert shown[1] != first[1], 'nothing has changed'
    return first[1], shown[1]


# ---- Gist logs ----

# What changes is used by the last events alone: the first ones of a trace are compared with the index in any case.
EARLY, LATE = 600, 100


def log(path='kept/boot.ev'):
    events = b''.join(struct.pack('>QIII', 1000 + 7 * i, 1, 2 if i < EARLY else 103, i) for i in range(EARLY + LATE))
    write(path, struct.pack('>I', EARLY + LATE) + events)


def header(name, path='kept/boot.h'):
    write(path, f'#define B 2 /* halt: %u */\n#define A 103 /* {name} */\n')


def gist_header():
    fresh()
    log()
    header('boot')
    before, after = changes(lambda: header('start'), 'boot.ev')
    assert ('boot', LATE) in before[0] and ('start', LATE) in after[0], (before, after)


def gist_header_comes():
    fresh()
    log()
    _, after = changes(lambda: header('boot'), 'boot.ev')
    assert ('boot', LATE) in after[0], after


def gist_header_goes():
    fresh()
    log()
    header('boot')
    changes(lambda: os.unlink('kept/boot.h'), 'boot.ev')


def gist_included():
    fresh()
    log()
    write('kept/all.h', '#define EV_NET 100 /* pointdefs: ../kept-inc/net.h */\n')
    write('kept-inc/net.h', '#define RX EV_NUM(3) /* rx */\n')
    _, after = changes(lambda: write('kept-inc/net.h', '#define RX EV_NUM(3) /* tx */\n'), 'boot.ev')
    assert ('tx', LATE) in after[0], after


def gist_named():
    fresh()
    log()
    header('boot', 'kept/else/x.h')
    changes(lambda: header('start', 'kept/else/x.h'), '--gist-header', 'else/x.h', 'boot.ev')


def gist_clock():
    fresh()
    log()
    changes(lambda: None, 'boot.ev', after=('--gist-clock', '500', 'boot.ev'))


# ---- described files ----

def describe(name, path='kept/dir/some.tdl', scale='ns'):
    write(path, f'TRACE some;\n  BYTES LITTLE;\n  CLOCK c IS EPOCH "2026-01-01T00:00:00Z";\n  RECORD head CONTROL IS _mark: UNSIGNED 64 = '
          '0x1122334455667788; END;\n  PREFIX p IS m: UNSIGNED 8; END;\n'
          '  RECORD early EVENT WITH p WHEN m=1 IS ACQUISITION: UNSIGNED 32 TIME c POINT UNIT 1 ns; value: UNSIGNED 32; END;\n'
          f'  RECORD {name} EVENT WITH p WHEN m=2 IS ACQUISITION: UNSIGNED 32 TIME c POINT UNIT 1 {scale}; value: UNSIGNED 32; END;\n'
          f'  LAYOUT head; REPEAT early OR {name};\nEND TRACE.\n')


def records(path='kept/records'):
    write(path, struct.pack('<Q', 0x1122334455667788) + b''.join(
        struct.pack('<BII', 1 if i < EARLY else 2, 100 * i, i) for i in range(EARLY + LATE)))


def described(*words):
    fresh()
    records()
    describe('one')
    env = {'KYMO_DESCRIPTIONS': f'{FOLDER}/dir'}
    before, after = changes(lambda: describe('two'), *words, 'records', env=env)
    assert (before[0], after[0]) == ([('some:early', EARLY), ('some:one', LATE)], [('some:early', EARLY), ('some:two', LATE)]), (before, after)
    shutil.rmtree(CACHE)
    changes(lambda: describe('two', scale='us'), *words, 'records', env=env)


def other_descriptions():
    fresh()
    records()
    describe('one')
    describe('two', 'kept/dir2/some.tdl')
    changes(lambda: None, '--as', 'some', 'records', env={'KYMO_DESCRIPTIONS': f'{FOLDER}/dir'}, after_env={'KYMO_DESCRIPTIONS': f'{FOLDER}/dir2'})


# ---- CTF, CPEL, options ----

def trace(path='kept/t'):
    shutil.copytree('kernel', path)


def option(*words):
    fresh()
    trace()
    changes(lambda: None, 't', after=(*words, 't'))


def metadata():
    fresh()
    trace()
    with open('kept/t/metadata', encoding='utf-8') as text:
        other = text.read().replace('k:tick', 'k:tack')
    changes(lambda: write('kept/t/metadata', other), 't')


def stream_is_a_link():
    fresh()
    trace()
    os.rename('kept/t/channel_1', 'kept/channel')
    os.symlink('../channel', 'kept/t/channel_1')
    changes(lambda: shutil.copyfile('kept/t/channel_0', 'kept/channel'), 't')


def cpel_clock():
    fresh()
    shutil.copy('random.cpel', 'kept/t.cpel')
    changes(lambda: None, '--cpel-clock', 'us', 't.cpel', after=('--cpel-clock', 's', 't.cpel'))


def spelled():
    """Three spellings are one index; an offset is that of the trace however it is spelled."""
    fresh()
    trace()
    os.symlink('t', 'kept/link')
    first = look('t')
    same(first[0], False)
    for path in ('./t/', f'{FOLDER}/t', 'link', '../kept/link/../t'):
        same(look(path), (True, first[1]))
    same(len([name for name in os.listdir(f'{CACHE}/kymo') if name.startswith('view-')]), 1)
    shifted = look('--clock-offset', 't=5', 't')
    same(shifted[0], False)
    assert shifted[1] != first[1]
    same(look('--clock-offset', './t=5', './t'), (True, shifted[1]))
    same(look('--clock-offset-ns', '5000000000', 'link'), (True, shifted[1]))


def order():
    """Events of equal times are in the order of the spelled paths."""
    fresh()
    trace('kept/a')
    trace('kept/sub/b')
    first = look('--force-correlate', 'a', 'sub/b')
    same(look('--force-correlate', 'a', 'sub/b'), (True, first[1]))
    same(look('--force-correlate', '../a', './b', cwd=f'{FOLDER}/sub'), (True, first[1]))
    swapped = look('--force-correlate', 'a', f'{FOLDER}/sub/b')  # '/' comes before 'a'
    same((swapped[0], swapped[1][0]), (False, first[1][0]))


def emptied():
    """The folder may be removed at any time."""
    fresh()
    trace()
    with Server(KYMO, 'kept/t', env={**os.environ, 'XDG_CACHE_HOME': CACHE}) as server:
        server.built()
        shutil.rmtree(CACHE)
        state = server.ask('state')
        cells, = server.picture('tile', begin=state.begin, end=int(state.end) + 1, pixels=10, tracks='0')
        assert sum(cell['count'] for cell in cells) > 0
    same(look('t')[0], False)
    same(look('t')[0], True)


def refused_once():
    """A trace with a kept index that cannot be opened any more: the reason is said once."""
    fresh()
    trace()
    same(look('t')[0], False)
    write('kept/t/metadata', '/* CTF 1.8 */ nonsense')
    finished = subprocess.run([KYMO, 'view', '--no-browser', '--idle-exit', '1ms', 'kept/t'], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, env={**os.environ, 'XDG_CACHE_HOME': CACHE})
    same((finished.returncode, finished.stderr.count('metadata:1')), (3, 1))


def not_kept():
    """Without a folder for it the index is in a temporary file. kymo says so once, and the page does."""
    fresh()
    trace()
    write('kept/file', '')
    usual = {name: value for name, value in os.environ.items() if name not in ('XDG_CACHE_HOME', 'HOME')}
    for env, words in (({}, 'neither $XDG_CACHE_HOME nor $HOME is a folder'), ({'HOME': f'{FOLDER}/file'}, f'{FOLDER}/file/.cache/kymo: Not a directory'),
                       ({'XDG_CACHE_HOME': '/proc/none', 'HOME': FOLDER}, '/proc/none/kymo: No such file or directory')):
        with Server(KYMO, 'kept/t', env={**usual, **env}) as server:
            state = server.built()
            same((env, state.isKept, state.isFromCache, int(state.events) > 0), (env, False, False, True))
            server.ask('reload')
            server.built()
            same(server.stop(), (0, f'kymo view: the index is not kept for the next start: {words}\n'))
    with Server(KYMO, '--quiet', 'kept/t', env=usual) as server:
        server.built()
        same(server.stop(), (0, ''))
    with Server(KYMO, 'kept/t', env={**usual, 'XDG_CACHE_HOME': CACHE}) as server:
        same(server.built().isKept, True)
        same(server.stop(), (0, ''))


check('kept: nowhere', not_kept)
check('kept: a header beside a Gist log changes', gist_header)
check('kept: a header comes beside a Gist log', gist_header_comes)
check('kept: a header beside a Gist log goes', gist_header_goes)
check('kept: a header that another one includes', gist_included)
check('kept: --gist-header', gist_named)
check('kept: --gist-clock', gist_clock)
check('kept: a description that is found', described)
check('kept: --as', described, '--as', 'some')
check('kept: --description', described, '--description', 'dir/some.tdl')
check('kept: KYMO_DESCRIPTIONS', other_descriptions)
check('kept: metadata', metadata)
check('kept: a stream that is a link', stream_is_a_link)
check('kept: --cpel-clock', cpel_clock)
check('kept: --clock-offset', option, '--clock-offset', '3')
check('kept: --clock-offset-ns', option, '--clock-offset-ns', 't=3')
check('kept: --event', option, '--event', 'k:*')
check('kept: --track', option, '--track', 'cpu')
check('kept: --track with a field', option, '--track', 'value')
check('kept: spellings of a path', spelled)
check('kept: the order of two traces', order)
check('kept: the cache is emptied', emptied)
check('kept: a trace that cannot be opened any more', refused_once)
