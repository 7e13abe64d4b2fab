# SPDX-License-Identifier: MIT
#
# modules.py KYMO FILE [perf]: writes samples in modules of the kernel, outside of them, and in a function that the kernel has made between two of
# them. kymo has the module's name and the offset in it for each. With `perf`, perf script has the same names.
import json
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from perf_data import *  # noqa: E402,F403

kymo, path, *rest = sys.argv[1:]
S = 1_000_000_000
file = File()
file.features = {4: file.string('0.0.0')}
file.attr('cpu-clock', IP | TID | TIME | CPU | PERIOD | IDENTIFIER, [11])
who = dict(pid=0, tid=0, time=0, cpu=0)


def module(start, length, name):
    file.add(MMAP, KERNEL, file.pack('iiQQQ', -1, 0, start, length, start if name[:8] == '[kernel.' else 0) + file.text(name) + file.tail(**who))


module(0xffffffff81000000, 0x1000000, '[kernel.kallsyms]_text')
module(0xffffffffc0300000, 0x8000, '[late]')
module(0xffffffffc0100000, 0x8000, '[ext4]')
module(0xffffffffc0200000, 0x8000, '/lib/modules/6.1.0/kernel/net/netfilter/nf-tables.ko.xz')
module(0xffffffffc0400000, 0x8000, '/boot/vmlinux')
file.add(KSYMBOL, 0, file.pack('QIHH', 0xffffffffc0104000, 0x40, 1, 0) + file.text('bpf_prog_0123_made') + file.tail(**who))
expected = {
    0xffffffffc0100000: '[ext4]+0x0',
    0xffffffffc0107fff: '[ext4]+0x7fff',
    0xffffffffc0108000: None,
    0xffffffffc0104010: 'bpf_prog_0123_made+0x10',
    0xffffffffc0104040: '[ext4]+0x4040',
    0xffffffffc0200123: '[nf_tables]+0x123',
    0xffffffffc0300001: '[late]+0x1',
    0xffffffffc00fffff: None,
    0xffffffffc0400001: None,
    0x1234: None,
}
for number, ip in enumerate(expected):
    file.add(SAMPLE, KERNEL if ip >> 63 else USER, file.pack('QQiiQIIQ', 11, ip, 7, 7, S + number, 0, 0, 1))
open(path, 'wb').write(file.bytes())

events = [json.loads(line) for line in subprocess.run([kymo, 'cat', '-q', '--format', 'json', path], check=True, capture_output=True).stdout.splitlines()]
got = {}
for event in events:
    if event.get('event') == 'cpu-clock':
        ip = event['fields']['ip']
        got[int(ip['value'] if isinstance(ip, dict) else ip)] = ip['symbol'] if isinstance(ip, dict) else None
if got != expected:
    sys.exit(f'expected {expected}, found {got}')
if 'perf' in rest:
    lines = subprocess.run(['perf', 'script', '-f', '-i', path, '-F', 'ip,sym,dso'], check=True, capture_output=True, text=True).stdout.splitlines()
    found = {}
    for line in filter(str.strip, lines):
        address, _, name = re.fullmatch(r'\s*([0-9a-f]+) (.*) \((.*)\)', line).groups()
        found[int(address, 16)] = name
    for ip, name in expected.items():
        mine = name.split('+')[0] if name and name[0] == '[' else None
        theirs = found[ip] if re.fullmatch(r'\[(?!unknown|kernel)\w+\]', found[ip]) else None
        if mine != theirs and not (name and name.startswith('bpf_')):
            sys.exit(f'{ip:x}: kymo {name}, perf {found[ip]}')
