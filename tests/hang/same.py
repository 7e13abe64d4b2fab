#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same.py JSON PAGE: whether the JSON of kymo hang has what the page has: findings, threads, calls, frames."""
import json
import re
import sys

page = json.load(open(sys.argv[1]))
text = open(sys.argv[2]).read()
lines = text.splitlines()


def must(condition, what):
    if not condition:
        print(what)
        print(text)
        sys.exit(1)


must(lines[0].startswith(f'process {page["pid"]} ({page["name"]}): {page["state"]}, {page["threads_in_all"]} thread'), lines[0])
must(lines[1] == page['program'], page['program'])
must([finding['kind'] for finding in page['findings']] == ['deadlock'], page['findings'])
for finding in page['findings']:
    must(finding['text'] in lines, finding['text'])
    must(len(finding['threads']) == 2 and all(str(tid) in finding['text'] for tid in finding['threads']), finding)
heads = re.findall(r"^thread (\d+) '(.*?)': (\S+) in (.*?), kernel: (.*)$", text, flags=re.M)
threads = [(str(t['tid']), t['name'], t['state'], t['call']['text'], t['kernel']) for t in page['threads']]
must(heads == threads, threads)
frames = re.findall(r'^    #\d+ +([^+ ]+)\+(0x[0-9a-f]+)', text, flags=re.M)
must(frames == [(f['function'], f['offset']) for t in page['threads'] for f in t['stack']], frames)
waits = [t for t in page['threads'] if t['waits_for'] and t['waits_for']['kind'] == 'mutex']
must(len(waits) == 2 and sorted(t['waits_for']['holders'][0] for t in waits) == sorted(t['tid'] for t in waits), waits)
for t in waits:
    must(t['waits_for']['text'].startswith(f'the mutex at {t["waits_for"]["address"]} '), t)
    must(f'    waits for {t["waits_for"]["text"]}' in lines, t)
must(all(f'    {line}' in lines for line in page['not_seen']), page['not_seen'])
