#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The statements that make tables are those of the server's version; the server is that of bench/clickhouse, which keeps nothing.

    dialect.py KYMO TRACE      a trace of make_trace.py
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'bench/clickhouse'))
import sink  # noqa: E402
from clickhouse import convert  # noqa: E402

KYMO, TRACE = sys.argv[1:]


def made_by(version):
    server = sink.Sink(version)
    status, said = convert(KYMO, [TRACE], f'http://127.0.0.1:{server.port}/k')
    return status, said, {sql.split('`')[1]: sql for sql in server.made}, server.rows


status, said, old, rows = made_by(b'18.16.1')
assert (status, said) == (0, '') and rows >= 2000, said
assert not [sql for sql in old.values() if 'LowCardinality' in sql or 'CODEC' in sql], old
for version in (b'20.3.1', b'24.8.4.13'):
    status, said, new, rows = made_by(version)
    assert (status, said) == (0, '') and rows >= 2000, said
    table = new['net:rx']
    for column in ('host LowCardinality(String)', '`thread` LowCardinality(Nullable(String))', '`state` LowCardinality(Nullable(String))', '`iface` Nullable(String)',
                   '`ts` Int64 CODEC(Delta, LZ4)', '`hash` Nullable(UInt64),'):
        assert column in table, f'{column}: {table}'
    assert set(new) == set(old)
assert made_by(b'19.1.6')[2] == old
status, said, made, rows = made_by(b'1.1.54388')
assert status == 3 and said.endswith('/k: ClickHouse 1.1 is older than 18.16\n') and not made and not rows, said
