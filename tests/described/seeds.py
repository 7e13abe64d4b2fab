# SPDX-License-Identifier: MIT
"""Seeds of the fuzzers of keys and of descriptions: plans or texts, and bytes that they describe. Plans of another compiler would
be refused at their first byte, and nothing after that be fuzzed: these are held to this compiler's. KYMO_REWRITE=1 rewrites them."""
import os
import pathlib
import struct

from described import IS_SANITIZED, compiled, not_ok, ok

CORPUS = pathlib.Path(os.environ['KYMO_SOURCE'], 'fuzz/corpus/key')
DESCRIBED = CORPUS.parent / 'described'
HEADER, RECORD_PLAN = 80, 9
SEED_MAX = 32 << 10
stale = []


def plan_of(key):
    """The plan in a compiled description (docs/registry.md)."""
    content, at = pathlib.Path(key).read_bytes(), HEADER
    while at < len(content):
        kind, length = struct.unpack_from('<2I', content, at)
        if kind == RECORD_PLAN:
            return content[at + 8:at + 8 + length]
        at += 8 + length + 4
    return b''


def hold_bytes(seed, wanted):
    if os.environ.get('KYMO_REWRITE'):
        seed.parent.mkdir(exist_ok=True)
        seed.write_bytes(wanted)
    elif not seed.exists() or seed.read_bytes() != wanted:
        stale.append(f'{seed.parent.name}/{seed.name}')


def hold(name, key, data):
    """The seed of a compiled description and of a file that it describes, if they are small."""
    plan = plan_of(key)
    if len(plan) + len(data) <= SEED_MAX:
        hold_bytes(CORPUS / name, struct.pack('<I', len(plan)) + plan + data)


def hold_text(name, tdl, data):
    """The seed of a description and of a file that it describes."""
    text = tdl.encode()
    if len(text) + len(data) <= SEED_MAX:
        hold_bytes(DESCRIBED / name, struct.pack('<H', len(text)) + text + data)


def hold_descriptions():
    """The same of those that are installed, each with the bytes that its seed has."""
    for description in sorted(pathlib.Path(os.environ['KYMO_SOURCE'], 'descriptions').glob('*.tdl')):
        seed = CORPUS / description.stem
        old = seed.read_bytes() if seed.exists() else bytes(4)
        data = old[4 + struct.unpack_from('<I', old)[0]:]
        hold(description.stem, compiled(description.stem, description.read_text())[0], data)
        hold_text(description.stem, description.read_text(), data)


def tell():
    if IS_SANITIZED:
        return  # the plain build compares them; a sanitizer changes nothing in them
    if stale:
        not_ok('the seeds of fuzz_key and fuzz_described are of this compiler', f'KYMO_REWRITE=1 makes {", ".join(stale)} anew')
    else:
        ok('the seeds of fuzz_key and fuzz_described are of this compiler')
