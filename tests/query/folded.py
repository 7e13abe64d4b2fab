#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Statements that only count: count(*), for which each class may be one row, beside count(1), for which it never is.

    folded.py KYMO TRACE...
"""
import subprocess
import sys

TIME = 1_700_000_000_010_000_000
STATEMENTS = [
    'SELECT count(*) FROM events',
    'select\n count(*)--x\n from "events" AS e where 1',
    'SELECT count(*) AS n, 3, count(*) * 2.5 FROM events WHERE 0',
    'SELECT count(*) FROM alloc',
    "SELECT count(*) FROM events WHERE class = 'alloc'",
    "SELECT count(*) FROM events WHERE class IN ('alloc', 'net:rx', 'none', NULL)",
    "SELECT count(*) FROM events WHERE class > 'b' AND class <> 'net:rx'",
    "SELECT count(*) FROM events WHERE class LIKE '%a%'",
    "SELECT count(*) FROM events WHERE class = 'ALLOC' COLLATE NOCASE",
    f'SELECT count(*) FROM events WHERE ts BETWEEN {TIME} AND {TIME + 5_000_000}',
    f'SELECT count(*) FROM events WHERE ts > {TIME} AND ts < {TIME + 5_000_000}',
    f'SELECT count(*) FROM events WHERE ts >= {TIME}.5 OR ts IS NULL',
    f'SELECT count(*) FROM events WHERE ts = {TIME} AND ts = {TIME + 1}',
    'SELECT count(*) FROM events WHERE ts < 9223372036854775807 AND tid = 101',
    'SELECT count(*) FROM events WHERE ts <= 9e18',
    'SELECT count(*) FROM "net:rx" WHERE port = 80',
    'SELECT count(*) FROM "net:rx" WHERE port > 80.5 AND port < 1000',
    "SELECT count(*) FROM \"net:rx\" WHERE iface = 'eth0'",
    'SELECT count(*) FROM "net:rx" WHERE hash = \'18446744073709551615\'',
    'SELECT class, count(*) FROM events GROUP BY class',
    'SELECT count(*), class, count(*) FROM events GROUP BY 2 ORDER BY 1 DESC, 2 LIMIT 3',
    f'SELECT class, count(*) FROM events WHERE ts >= {TIME} GROUP BY class ORDER BY class DESC',
    f'SELECT class, count(*) FROM events WHERE ts >= {TIME} GROUP BY class HAVING count(*) > 100',
    f'SELECT class, count(*) FROM events WHERE ts < {TIME} GROUP BY class COLLATE NOCASE',
    "SELECT class, count(*) FILTER (WHERE class > 'c') FROM events GROUP BY class",
    'SELECT class, count(*), max(ts) FROM events GROUP BY class',
    'SELECT class, count(*), sum(1) FROM events GROUP BY class',
    'SELECT class, count(*), group_concat(class) FROM events GROUP BY class',
    'SELECT count(*), sum(1) FROM events',
    'SELECT count(*), count(DISTINCT class), total(1) FROM events',
    'SELECT count(*) OVER (ORDER BY ts ROWS 3 PRECEDING) AS n FROM events ORDER BY ts LIMIT 20',
    'SELECT count(*), (SELECT count(*) FROM alloc) FROM events',
    'SELECT count(*) FROM events, (SELECT 1 UNION ALL SELECT 2)',
    'SELECT count(*) FROM (SELECT class FROM events LIMIT 10)',
    'SELECT count(*) FROM (SELECT DISTINCT class FROM events)',
    'SELECT count(*) FROM (SELECT class, count(*) FROM events GROUP BY class)',
    'SELECT count(*) FROM alloc JOIN events USING (ts)',
    'SELECT count(*) FROM events WHERE ts IN (SELECT ts FROM alloc)',
    'SELECT count(*) FROM events WHERE abs(random()) >= 0',
    'SELECT count(*) FROM events LIMIT 0',
    'SELECT 1 FROM events GROUP BY class HAVING count(*) > 1',
    'SELECT count(*) FROM spans',
    'SELECT name, count(*) FROM spans GROUP BY name',
    'SELECT count(*) FROM losses',
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT count(*) FROM n, events WHERE class = \'alloc\'',
    'SELECT count(*) FROM events UNION ALL SELECT count(*) FROM alloc',
    'SELECT class, count(*) FROM events WHERE rowid < 100 GROUP BY class',
    'SELECT class || count(*) FROM events GROUP BY class',
]


def answers(kymo, traces, statements):
    text = ''.join(f'{statement}\n;\n' for statement in statements)
    return subprocess.run([kymo, 'query', *traces, '-f', '-', '--format', 'csv'], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def without_titles(text):
    return text.replace('count(1)', 'count(*)')


def main():
    kymo, *traces = sys.argv[1:]
    folded = answers(kymo, traces, STATEMENTS)
    read = answers(kymo, traces, [statement.replace('count(*)', 'count(1)') for statement in STATEMENTS])
    if without_titles(folded) == without_titles(read):
        return 0
    for statement in STATEMENTS:
        one, other = (without_titles(answers(kymo, traces, [text])) for text in (statement, statement.replace('count(*)', 'count(1)')))
        if one != other:
            print(f'{statement}\n  {one!r}\n  {other!r}')
    return 1


sys.exit(main())
