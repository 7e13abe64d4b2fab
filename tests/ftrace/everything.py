# SPDX-License-Identifier: MIT
#
# everything.py EVENTS TRACE_CMD KYMO: for each event of the kernel whose format files are below EVENTS, records of any bytes, as
# trace-cmd report -N and kymo show them. They must be equal, except where trace-cmd reads beyond a record or uses the stack.
import glob
import random
import re
import subprocess
import sys
import trace_dat

events, _, kymo = sys.argv[1:]
# what trace-cmd 3.1.6 prints of these comes from beyond the record, or from no argument at all
UNDEFINED = re.compile(r'%\.\*|__print_hex|__print_array|%c|\(\{|sockaddr|%\*p|__get_dynamic_array\(\w+\)\)|/ |% REC')
random.seed(1)


def record(file, format, text, number):
    fields = re.findall(r'field:([^;]*);\s*offset:(\d+);\s*size:(\d+);\s*signed:(\d)', text)
    end = max(int(offset) + int(size) for _, offset, size, _ in fields)
    data, tail = bytearray(random.getrandbits(8) for _ in range(end)), b''
    data[0:2] = file.pack('H', format)
    data[4:8] = file.pack('i', random.choice([0, 1, 2, 77777]))
    for declaration, offset, size, _ in fields:
        offset, size = int(offset), int(size)
        if declaration.startswith(('__data_loc', '__rel_loc')):
            value = b'a text with % and \\n\0' if 'char' in declaration else bytes(random.getrandbits(8) for _ in range(16))
            place = end + len(tail) - (offset + size if declaration.startswith('__rel') else 0)
            data[offset:offset + 4] = file.pack('I', len(value) << 16 | place)
            tail += value
        elif re.search(r'char \w+\[', declaration):
            data[offset:offset + size] = (b'text%d' % number + bytes(size))[:size]
        elif size == 0:
            tail += b'the rest\0'
        elif size in (4, 8) and number % 2:
            data[offset:offset + size] = file.pack('i' if size == 4 else 'q', random.choice([-1, 5, 0x2345, 1]))
    return bytes(data) + tail


def make(formats):
    file = trace_dat.File()
    file.kallsyms = ''.join('%x T function_%d\n' % (0x1000 * i, i) for i in range(1, 50))
    file.cmdlines = '1 init\n2 a thread\n'
    pages = [file.page(10 ** 9)]
    for number, (group, text) in enumerate(formats):
        (file.ftrace if group == 'ftrace' else file.groups.setdefault(group, [])).append(text)
        id = int(re.search(r'^ID: (\d+)', text, re.M)[1])
        for i in range(2):
            data = record(file, id, text, 2 * number + i)
            if len(pages[-1].data) + len(data) > 3900:
                pages.append(file.page(pages[-1].time + 10 ** 6))
            pages[-1].record(1000, data)
    file.buffers = [('', 'local', {0: pages})]
    with open('every', 'wb') as out:
        out.write(file.bytes())


batches = [[]]
for path in sorted(glob.glob(events + '/*/*/format')):
    text = open(path).read()
    if not UNDEFINED.search(text.split('print fmt:')[1]):
        if len(batches[-1]) == 100:
            batches.append([])
        batches[-1].append((path.split('/')[-3], text))
total = 0
for batch in batches:
    make(batch)
    theirs = subprocess.run(['trace-cmd', 'report', '-N', 'every'], capture_output=True)
    if theirs.returncode < 0:
        continue  # it crashed
    ours = subprocess.run([kymo, 'cat', '--format', 'trace-cmd', 'every'], capture_output=True)
    for one, other in zip(theirs.stdout.split(b'\n'), ours.stdout.split(b'\n')):
        if one != other:
            sys.exit(f'trace-cmd {one}\nkymo      {other}\n{ours.stderr}')
        total += 1
    if ours.returncode:
        sys.exit(ours.stderr)
if total < 1000:
    sys.exit(f'only {total} lines')
