# SPDX-License-Identifier: MIT
#
# check.py KYMO FILE JSON [WORD…]: what kymo reads is what make.py wrote. Words are further arguments of kymo cat.
import json
import subprocess
import sys

kymo, path, wanted, *words = sys.argv[1:]
run = subprocess.run([kymo, 'cat', '--format', 'json', *words, path], capture_output=True)


def plain(value):
    """Without names of addresses and labels."""
    if isinstance(value, dict):
        return plain(value['value']) if 'value' in value and set(value) <= {'value', 'symbol', 'label', 'labels'} else {
            name: plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return int(value[2:], 16) if isinstance(value, str) and value.startswith('0x') else value


got = []
for line in run.stdout.splitlines():
    event = json.loads(line)
    if 'lost' in event:
        got.append(event)
        continue
    fields = {**event.get('event_context', {}), **event.get('fields', {})}
    got.append(dict(ts=event.get('ts'), event=event['event'], cpu=event['cpu'], pid=event['context']['pid'], tid=event['tid'],
                    thread=event['thread'], fields={name: plain(value) for name, value in fields.items()}))
expected = [json.loads(line) for line in open(wanted)]
for number, (one, other) in enumerate(zip(expected, got)):
    if one != other:
        print(f'event {number}:\n  wanted {one}\n  found  {other}')
        break
if len(expected) != len(got):
    print(f'{len(expected)} events expected, {len(got)} found')
if run.returncode or run.stderr:
    print(f'status {run.returncode}', run.stderr.decode())
sys.exit(expected != got or run.returncode != 0 or bool(run.stderr))
