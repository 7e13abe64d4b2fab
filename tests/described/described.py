# SPDX-License-Identifier: MIT
"""Running kymo over a description and bytes, and comparing events."""
import json
import os
import pathlib
import shutil
import subprocess

KYMO = os.path.join(os.environ['KYMO_BUILD'], 'kymo')
IS_SANITIZED = bool(os.environ['KYMO_SANITIZE'])
DESCRIPTION = 'tdl' if IS_SANITIZED else 'key'  # the suffix of what events() read by
FORMS = 'ctf1', 'ctf2'
turn = 0  # how many files were written as traces


def ok(name):
    print(f'ok {name}')


def not_ok(name, why):
    print(f'not ok {name}: {why}')


def compiled(name, tdl):
    """The compiled description, or what is said about it."""
    pathlib.Path(f'{name}.tdl').write_text(tdl)
    done = subprocess.run([KYMO, 'compile', '-o', f'{name}.key', f'{name}.tdl'], capture_output=True, text=True)
    return (f'{name}.key', done.stderr) if done.returncode == 0 else (None, done.stderr)


def events(name, tdl, *files, options=()):
    """(events of the JSON output, text on the error stream, exit status)

    With sanitizers a start of kymo takes ten times as long: there one process compiles the text and reads by it, if it has nothing
    to say about the text."""
    paths = []
    for number, data in enumerate(files):
        path = f'{name}.bin' if len(files) == 1 else f'{name}.{number}.bin'
        pathlib.Path(path).write_bytes(data)
        paths.append(path)
    if IS_SANITIZED:
        pathlib.Path(f'{name}.tdl').write_text(tdl)
        read_by_text = read(f'{name}.tdl', *paths, options=options)
        if f'{name}.tdl' not in read_by_text[1]:
            return read_by_text
    key, said = compiled(name, tdl)
    return read(key, *paths, options=options) if key else ([], said, -1)


def written(name, tdl, data):
    """Arguments of kymo cat for the file and for each trace that is written from it; with sanitizers one trace, of each form in turn."""
    global turn
    key, said = (f'{name}.tdl', pathlib.Path(f'{name}.tdl').write_text(tdl)) if IS_SANITIZED else compiled(name, tdl)
    if not key:
        not_ok(f'{name} compiles', said)
        return []
    pathlib.Path(f'{name}.bin').write_bytes(data)
    out = [('described', ['--key', key, f'{name}.bin'])]
    turn += 1
    for form in (FORMS[turn % 2],) if IS_SANITIZED else FORMS:
        shutil.rmtree(f'{name}.{form}', ignore_errors=True)
        subprocess.run([KYMO, 'convert', *out[0][1], '--to', form, '--output', f'{name}.{form}'], check=False, capture_output=True)
        out.append((form, [f'{name}.{form}']))
    return out


def read(key, *paths, options=()):
    done = subprocess.run([KYMO, 'cat', '--key', key, '--format', 'json', *options, *paths], capture_output=True)
    out = [json.loads(line) for line in done.stdout.splitlines()]
    return out, done.stderr.decode(errors='replace'), done.returncode


def plain(value):
    """A value without what formats add: interpretations of numbers stay beside them as (number, texts)."""
    if isinstance(value, dict) and 'value' in value and {'value'} < set(value) <= {'value', 'labels', 'label', 'rest'}:
        names = value.get('labels', value.get('label'))
        return (value['value'], names)
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return value


def fields(event):
    return {name: plain(value) for name, value in event.get('fields', {}).items()}
