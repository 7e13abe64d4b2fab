# SPDX-License-Identifier: MIT
"""Running kymo over a description and bytes, and comparing events."""
import json
import os
import pathlib
import subprocess

KYMO = os.path.join(os.environ['KYMO_BUILD'], 'kymo')


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
    """(events of the JSON output, text on the error stream, exit status)"""
    key, said = compiled(name, tdl)
    if not key:
        return [], said, -1
    paths = []
    for number, data in enumerate(files):
        path = f'{name}.bin' if len(files) == 1 else f'{name}.{number}.bin'
        pathlib.Path(path).write_bytes(data)
        paths.append(path)
    return read(key, *paths, options=options)


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
