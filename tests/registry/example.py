# SPDX-License-Identifier: MIT
"""The example in docs/registry.md: "text" prints its text, "bytes" its bytes, "fill FILE" puts the bytes of a registry
of the same size behind its offsets."""
import re
import sys
from pathlib import Path

LINE = re.compile(r'^([0-9a-f]{8})  ((?:[0-9a-f]{2} ?)+)', re.M)


def block(document, name):
    return re.search(rf'^```{name}\n(.*?)^```$', document, re.M | re.S)


def main(path, what, file=None):
    document = path.read_text()
    dump = block(document, 'hexdump')
    data = b''
    for match in LINE.finditer(dump[1]):
        if int(match[1], 16) != len(data):
            sys.exit(f'{match[1]}: expected offset {len(data):08x}')
        data += bytes.fromhex(match[2])
    if what == 'text':
        print(block(document, 'registry')[1], end='')
    elif what == 'bytes':
        sys.stdout.buffer.write(data)
    elif what == 'fill':
        new = Path(file).read_bytes()
        if len(new) != len(data):
            sys.exit(f'expected {len(data)} bytes, found {len(new)}')

        def fill(match):
            at, count = int(match[1], 16), len(bytes.fromhex(match[2]))
            return f'{match[1]}  ' + new[at:at + count].hex(' ') + ' ' * (len(match[2]) - len(match[2].rstrip()))
        path.write_text(document[:dump.start(1)] + LINE.sub(fill, dump[1]) + document[dump.end(1):])


main(Path(sys.argv[1]), *sys.argv[2:])
