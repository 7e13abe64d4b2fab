#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kymo view --html: one file with page and events, completely or not at all:  file.py KYMO"""
import json
import os
import stat
import struct
import subprocess
import sys
from html.parser import HTMLParser

from client import check, run, same

KYMO = sys.argv[1]


class Page(HTMLParser):
    """Elements of a page, and what is in scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self.inside = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside = tag
        if tag == 'script':
            self.scripts.append((dict(attrs), ''))

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == 'script':
            attributes, text = self.scripts.pop()
            self.scripts.append((attributes, text + data))


def write(*words, out='out.html', status=0):
    finished = subprocess.run([KYMO, 'view', '--html', out, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    same((finished.returncode, finished.stdout), (status, ''))
    return finished.stderr


def page_of(path='out.html'):
    with open(path, encoding='utf-8') as file:
        return Page(file.read())


def data_of(page):
    return next(json.loads(text) for attributes, text in page.scripts if attributes.get('id') == 'data')


def self_contained(page):
    """Nothing of it is elsewhere, and it may load nothing."""
    for tag, attributes in page.elements:
        same((tag, {name: value for name, value in attributes.items() if name in ('src', 'href') and value != 'data:,'}), (tag, {}))
    policy = next(attributes['content'] for tag, attributes in page.elements if tag == 'meta' and attributes.get('http-equiv') == 'Content-Security-Policy')
    same("default-src 'none'" in policy and 'http' not in policy, True)
    same([attributes.get('type') for attributes, _ in page.scripts], ['application/json', None])


def events(path, *words):
    """The events are those of kymo cat, with their texts."""
    lost = subprocess.run([KYMO, 'cat', path], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode
    write(path, *words, status=lost)
    page = page_of()
    self_contained(page)
    data = data_of(page)
    cat = [json.loads(line) for line in run([KYMO, 'cat', '-f', 'json', path, *words]).splitlines() if '"event":' in line]
    names = {kind['kind']: kind['name'] for kind in data['kinds']}
    same([(int(event['time']), names[event['kind']]) for event in data['events']], [(event['ts'], event['event']) for event in cat])
    same(bool(cat), True)
    if '--filter' not in words:
        same([int(event['number']) for event in data['events']], [i + 1 for i in range(len(cat))])
        same(sum(int(track['events']) for track in data['tracks']), len(cat))
    for event, wanted in list(zip(data['events'], cat))[:100]:
        fields = dict(event['fields'])
        same([name for name in wanted['fields'] if name not in fields], [])
        same(all(str(value) in fields[name] for name, value in wanted['fields'].items() if isinstance(value, int)), True)
    if data['spanKinds'] and '--filter' not in words:
        rows = map(json.loads, run([KYMO, 'stat', 'latency', '--json', path, *words]).splitlines())
        same(sum(not span['isOpen'] for span in data['spans']), sum(row['count'] for row in rows if row.get('span') and 'count' in row) - int(data['state']['undrawnSpans']))
    same(data['state']['command'].startswith(f'kymo cat {path}'), True)


def evil():
    """Texts of the trace do not leave the script that they are in."""
    write('evil')
    with open('out.html', encoding='utf-8') as file:
        text = file.read()
    page = Page(text)
    self_contained(page)
    same(any(tag in ('img', 'b') for tag, _ in page.elements), False)
    data = data_of(page)
    same(any('</script><b>' in event['text'] for event in data['events']), True)
    same(any(kind['name'] == '<script>alert(1)</script>' for kind in data['kinds']), True)
    same('\u202e' in text, False)


def damage():
    words = write('damaged', status=1)
    same(words, subprocess.run([KYMO, 'cat', 'damaged'], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stderr.replace('kymo cat', 'kymo view'))
    same(len(data_of(page_of())['problems']) > 0, True)
    same(write('-q', 'damaged', status=1), '')


def write_cpel(path, names, count):
    """Events of one track, of these names in turn, a nanosecond apart; their data are their numbers from 0."""
    strings, places = b'T\0', []
    for name in names:
        places.append(len(strings))
        strings += name + b'\0'
    number = len(strings)
    strings += b'%d\0'
    table = b'T'.ljust(64, b'\0')
    rows = b''.join(struct.pack('>QIII', i, 0, i % len(names), i) for i in range(count))
    codes = b''.join(struct.pack('>III', i, place, number) for i, place in enumerate(places))
    sections = [(1, strings), (3, table + struct.pack('>I', len(names)) + codes), (4, table + struct.pack('>III', 1, 0, places[0])),
                (5, table + struct.pack('>II', count, 1000000000) + rows)]
    with open(path, 'wb') as file:
        file.write(struct.pack('>BBHI', 1, 0, 4, 0) + b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))


def too_many():
    """More events than stated: nothing is written, and the words name the number and the options."""
    write_cpel('many.cpel', [b'event'], 200001)
    with open('kept.html', 'w', encoding='utf-8') as file:
        file.write('kept')
    words = write('-q', 'many.cpel', out='kept.html', status=3)
    same(words, 'kymo view: kept.html: 200001 events, expected at most 200000; --begin, --end and --filter select fewer\n')
    with open('kept.html', encoding='utf-8') as file:
        same(file.read(), 'kept')
    write('-q', '--begin', '1ns', 'many.cpel', out='kept.html')
    same(len(data_of(page_of('kept.html'))['events']), 200000)


def too_many_spans():
    """A filter selects few of the events, but all spans would be written."""
    write_cpel('spans.cpel', [b'job_begin', b'job_end'], 400002)
    words = write('-q', '--filter', 'datum = 7', 'spans.cpel', out='spans.html', status=3)
    same(words, 'kymo view: spans.html: 200001 spans, expected at most 200000; --begin and --end select fewer\n')
    same(os.path.exists('spans.html'), False)
    write('-q', '--begin', '2ns', '--filter', 'datum = 7', 'spans.cpel', out='spans.html')
    data = data_of(page_of('spans.html'))
    same((len(data['events']), len(data['spans'])), (1, 200000))


def not_written():
    before = sorted(os.listdir('.'))
    same(write('kernel', out='none/out.html', status=3), 'kymo view: none/out.html: No such file or directory\n')
    os.makedirs('folder', exist_ok=True)
    write('kernel', out='folder', status=3)
    write('no-such-trace', out='new.html', status=3)
    same('expected' in write('--filter', 'bad (', 'kernel', out='new.html', status=2), True)
    write('--compare', 'evil', 'kernel', out='new.html', status=2)
    write('--follow', 'kernel', out='new.html', status=2)
    same(sorted(os.listdir('.')), sorted(set(before) | {'folder'}))
    same(os.listdir('folder'), [])


def no_trace():
    """The reason is said once, as by kymo cat."""
    for path in ('no-such-file', __file__):
        shown = subprocess.run([KYMO, 'view', '--html', 'none.html', path], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        wanted = subprocess.run([KYMO, 'cat', path], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        same((shown.returncode, shown.stderr, os.path.exists('none.html')), (wanted.returncode, wanted.stderr.replace('kymo cat', 'kymo view'), False))


def mode():
    """The file is as the user's files are."""
    os.umask(0o027)
    write('evil', out='mode.html')
    same(stat.S_IMODE(os.stat('mode.html').st_mode), 0o640)


def main():
    for path, words in (('kernel', []), ('random.cpel', ['--begin', '+1ms', '--end', '+20ms']), ('random.cpel', ['--filter', 'datum < 10']), ('packets.pcap', []),
                        ('recorded', [])):
        if os.path.exists(path):
            check(f'html: events of {path} {" ".join(words)}'.strip(), events, path, *words)
    for test in (evil, damage, too_many, too_many_spans, not_written, no_trace, mode):
        check(f'html: {test.__name__}', test)


main()
