# SPDX-License-Identifier: MIT
"""What kymo reads of framed logs. compare.py FILE…: fails unless it is what the second reader reads of them. KYMO names the program,
or KYMO_BUILD its directory."""
import json
import os
import pathlib
import subprocess
import sys

from reader import CUT, TEXT, File, merged

KYMO = os.environ.get('KYMO') or os.environ['KYMO_BUILD'] + '/kymo'


def run(*arguments):
    """The output of kymo: (status, standard output, standard error)."""
    done = subprocess.run([KYMO, *map(str, arguments)], capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def kymo(paths, *options):
    """(number, who, flags, bytes) of the events, gaps, status, lines of the standard error stream. The line that sums up the gaps has to be
    there if there are any, and is left out; so is the status that it alone would give."""
    status, out, said = run('cat', '--format', 'json', *options, *paths)
    events, gaps, lost, all_lost, words = [], {}, 0, 0, said.splitlines()
    for line in out.decode().splitlines():
        one = json.loads(line)
        if 'event' not in one:
            lost = one['lost']['count']
            all_lost += lost
            continue
        fields, context = one['fields'], one['context']
        number = context['sequence']
        if lost:
            gaps[number] = lost
            lost = 0
        kind = one['event'].split(':')[1]
        flags = (CUT if kind.startswith('cut') else 0) | (TEXT if kind.endswith('text') else 0)
        content = fields['text'].encode() if flags & TEXT else bytes.fromhex(fields['bytes'])
        events.append((number, context.get('thread', one.get('cpu')), flags, content))
    summary = f'kymo cat: the trace is incomplete: {all_lost} event{" is" if all_lost == 1 else "s are"} lost'
    if all_lost and summary in words:
        words.remove(summary)
        status = 0 if status == 1 and not words else status
    elif all_lost:
        words.append(f'there is no line "{summary}"')
    return events, gaps, status, words


if __name__ == '__main__':
    files = [File(pathlib.Path(name).read_bytes()) for name in sys.argv[1:]]
    events, gaps = merged(files)
    found = kymo(sys.argv[1:])
    assert found == (events, gaps, 0, []), 'the second reader reads something else'
    print(len(events), 'events', {file.order for file in files})
