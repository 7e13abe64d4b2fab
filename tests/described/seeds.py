# SPDX-License-Identifier: MIT
"""Seeds of the fuzzer of keys: plans, and bytes that they describe. Plans of another compiler would be refused at their first byte,
and nothing behind that be fuzzed: so these are held to this compiler's. KYMO_REWRITE=1 rewrites them."""
import os
import pathlib
import struct

from described import compiled, not_ok, ok

CORPUS = pathlib.Path(os.environ['KYMO_SOURCE'], 'fuzz/corpus/key')
HEADER, RECORD_PLAN = 80, 9
SEED_MAX = 32 << 10
stale = []


def plan_of(key):
    """The plan in a key file (docs/registry.md)."""
    content, at = pathlib.Path(key).read_bytes(), HEADER
    while at < len(content):
        kind, length = struct.unpack_from('<2I', content, at)
        if kind == RECORD_PLAN:
            return content[at + 8:at + 8 + length]
        at += 8 + length + 4
    return b''


def hold(name, key, data):
    """The seed of a key file and of a file that it describes, if they are small."""
    plan, seed = plan_of(key), CORPUS / name
    if len(plan) + len(data) > SEED_MAX:
        return
    wanted = struct.pack('<I', len(plan)) + plan + data
    if os.environ.get('KYMO_REWRITE'):
        seed.write_bytes(wanted)
    elif not seed.exists() or seed.read_bytes() != wanted:
        stale.append(name)


def hold_descriptions():
    """The same of those that are installed, each with the bytes that its seed has."""
    for description in sorted(pathlib.Path(os.environ['KYMO_SOURCE'], 'descriptions').glob('*.tdl')):
        seed = CORPUS / description.stem
        old = seed.read_bytes() if seed.exists() else bytes(4)
        data = old[4 + struct.unpack_from('<I', old)[0]:]
        hold(description.stem, compiled(description.stem, description.read_text())[0], data)


def tell():
    if stale:
        not_ok('the seeds of fuzz_key are of this compiler', f'KYMO_REWRITE=1 makes {", ".join(stale)} anew')
    else:
        ok('the seeds of fuzz_key are of this compiler')
