#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random statements over virtual tables return what they return over imported tables.

    random_queries.py KYMO SEED COUNT TRACE…      with KYMO_EXTENSION: through this extension of Python's SQLite instead
                                                  with KYMO_DATABASE: beside this file of kymo convert --to sqlite instead
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter

import imported

COLUMNS = {  # name: kind of its values
    'events': {'ts': 'ts', 'thread': 'thread', 'tid': 'tid', 'cpu': 'small', 'class': 'class', '"group"': 'group', 'trace': 'small'},
    '"net:rx"': {'ts': 'ts', 'thread': 'thread', 'tid': 'tid', 'cpu': 'small', 'port': 'port', 'len': 'len', 'hash': 'hash', 'state': 'state',
                 '"state.value"': 'small', 'iface': 'text', '"where.x"': 'small', '"where.y"': 'small', 'count': 'small', 'lengths': 'text',
                 '"fields.ts"': 'small'},
    'alloc': {'ts': 'ts', 'tid': 'tid', 'size': 'hash', 'ratio': 'real', '"left"': 'small', 'who': 'text'},
    'work_end': {'ts': 'ts', 'thread': 'thread', 'job': 'job', 'result': 'small'},
}
TEXTS = ["''", "'eth0'", "'ETH0'", "'lo'", "'it''s'", "'é'", "'nobody'", "'[]'"]


class Maker:
    def __init__(self, seed, times):
        self.random, self.times = random.Random(seed), times

    def value(self, kind):
        choose = self.random.choice
        if choose(range(25)) == 0:
            return choose(['NULL', "'7'", "'x'", '0.5', "x'00'"])
        return {'ts': lambda: str(choose(self.times) + choose([-1, 0, 0, 1])) + choose(['', '', '', '.5']),
                'thread': lambda: choose(["'worker 0'", "'worker 1'", "'worker'"]), 'tid': lambda: str(choose(range(99, 105))),
                'class': lambda: choose(["'net:rx'", "'alloc'", "'work_end'", "'nothing'"]), 'group': lambda: choose(["''", "'net'"]),
                'port': lambda: choose(['22', '80', '443', '80.0', '79.5']), 'len': lambda: str(choose([-1, 0, 64, 2**40, -2**63, 2**63 - 1])),
                'hash': lambda: choose(['0', '1', '16', '9223372036854775807', "'9223372036854775808'", "'18446744073709551615'", '4096.0']),
                'state': lambda: choose(["'OPEN'", "'HALF OPEN'", "'SHUT'"]), 'text': lambda: choose(TEXTS),
                'real': lambda: choose(['0.5', '3', '-1.25', '1e300', '0', '9e999']), 'job': lambda: str(choose(range(200))),
                'small': lambda: str(choose(range(-3, 6)))}[kind]()

    def term(self, table, prefix=''):
        name, kind = self.random.choice(list(COLUMNS[table].items()))
        name = prefix + name
        form = self.random.randrange(12)
        if form == 0:
            return f'{name} IS {self.random.choice(["", "NOT "])}NULL'
        if form == 1:
            return f'{name} IN ({", ".join(self.value(kind) for _ in range(self.random.randrange(1, 4)))})'
        if form == 2:
            return f'{name} BETWEEN {self.value(kind)} AND {self.value(kind)}'
        if form == 3 and kind in ('text', 'class', 'thread'):
            return f"{name} LIKE '%{self.random.choice('eo0t')}%'"
        if form == 4:
            return f'{self.value(kind)} {self.random.choice(["=", "<", ">="])} {name}'
        if form == 5:
            return f'{name} COLLATE NOCASE = {self.value(kind)}'
        return f'{name} {self.random.choice(["=", "=", "=", "<", "<=", ">", ">=", "<>"])} {self.value(kind)}'

    def where(self, table, prefix=''):
        terms = [self.term(table, prefix) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3]))]
        if len(terms) > 1 and self.random.randrange(4) == 0:
            return f' WHERE ({terms[0]} OR {terms[1]})' + ''.join(f' AND {term}' for term in terms[2:])
        return (' WHERE ' + ' AND '.join(terms)) if terms else ''

    def aggregate(self, table):
        name, kind = self.random.choice(list(COLUMNS[table].items()))
        if kind in ('text', 'class', 'thread', 'group', 'state', 'hash', 'real', 'len'):
            return self.random.choice([f'count({name})', f'min({name})', f'max({name})', f'count(DISTINCT {name})'])
        return self.random.choice([f'count({name})', f'sum({name} % 1000)', f'min({name})', f'max({name})', f'total({name} % 7)'])

    def plain(self, table):
        names = self.random.sample(list(COLUMNS[table]), self.random.randrange(1, 5))
        distinct = self.random.choice(['', '', 'DISTINCT '])
        form = self.random.randrange(5)
        if form == 0 and not distinct:
            return f'SELECT ts, {", ".join(names)} FROM {table}{self.where(table)} ORDER BY ts', 'first'
        order = f' ORDER BY {names[0]}{self.random.choice(["", " DESC"])}, {", ".join(names)}' if form < 3 else ''
        limit = f' LIMIT {self.random.randrange(50)}' if order and self.random.randrange(2) else ''
        return f'SELECT {distinct}{", ".join(names)} FROM {table}{self.where(table)}{order}{limit}', 'list' if order else 'bag'

    def grouped(self, table):
        names = self.random.sample(list(COLUMNS[table]), self.random.choice([0, 1, 1, 1, 2]))
        if table == 'events' and self.random.randrange(2):
            names = ['class']
        what = ', '.join(names + ['count(*)'] + [self.aggregate(table) for _ in range(self.random.randrange(3))])
        tail = f' GROUP BY {", ".join(names)}' if names else ''
        if names and self.random.randrange(3) == 0:
            tail += f' HAVING count(*) > {self.random.randrange(20)}'
        if names and self.random.randrange(3) == 0:
            tail += f' ORDER BY {names[0]}{self.random.choice(["", " DESC"])}'
        return f'SELECT {what} FROM {table}{self.where(table)}{tail}', 'bag'

    def joined(self, table):
        """Begins and ends: the right side is materialised, or comes by a subquery."""
        return self.random.choice([
            f'WITH b AS MATERIALIZED (SELECT job, ts FROM work_begin), e AS MATERIALIZED (SELECT job, ts, result FROM work_end{self.where("work_end")}) '
            'SELECT count(*), sum(e.ts - b.ts), max(e.result) FROM b JOIN e USING (job)',
            f'SELECT job, ts FROM work_begin WHERE job IN (SELECT job FROM work_end{self.where("work_end")}) ORDER BY job',
            f'SELECT a.ts, a.tid, (SELECT count(*) FROM work_end e WHERE e.ts >= a.ts AND e.ts < a.ts + 200000) FROM work_begin a WHERE a.job < {self.random.randrange(20)}',
            f'SELECT class, n FROM (SELECT class, count(*) AS n FROM events{self.where("events")} GROUP BY class) WHERE n > 3',
            f'SELECT tid, max(d) FROM (SELECT tid, ts - lag(ts) OVER (PARTITION BY tid ORDER BY ts) AS d FROM {table}{self.where(table)}) GROUP BY tid'
            if 'tid' in COLUMNS[table] else f'SELECT count(*) FROM {table}',
            f'SELECT ts, class FROM events{self.where("events")} UNION SELECT ts, \'rx\' FROM "net:rx"{self.where(chr(34) + "net:rx" + chr(34))}',
            f'SELECT count(*) FROM events a, "net:rx" b WHERE a.ts = b.ts AND a.tid = b.tid AND b.port = {self.value("port")} AND b."where.y" < 3']), 'bag'

    def statement(self):
        table = self.random.choice(list(COLUMNS))
        return self.random.choices([self.plain, self.grouped, self.joined], [4, 4, 2])[0](table)


def by_command(kymo, traces, statements):
    with tempfile.NamedTemporaryFile('w', suffix='.sql', encoding='utf-8') as file:
        for i, statement in enumerate(statements):
            file.write(f"SELECT {i} AS \"--\";\n{statement};\n")
        file.flush()
        done = subprocess.run([kymo, 'query', *traces, '-f', file.name, '--format', 'json'], stdout=subprocess.PIPE, check=False)
    assert done.returncode == 0, f'exit status {done.returncode}'
    results = []
    for line in done.stdout.decode().splitlines():
        row = json.loads(line)
        if '--' in row:
            results.append([])
        else:
            results[-1].append(tuple(json.dumps(value, separators=(',', ':')) if isinstance(value, list) else value for value in row.values()))
    return results


def by_extension(extension, traces, statements):
    import sqlite3
    db = sqlite3.connect(':memory:')
    db.enable_load_extension(True)
    db.load_extension(extension)
    db.execute(f'SELECT kymo_open({",".join("?" * len(traces))})', traces)
    return [[tuple(as_json(value) for value in row) for row in db.execute(statement)] for statement in statements]


def as_json(value):
    """As the command prints it."""
    if isinstance(value, bytes):
        return value.hex()
    return {float('inf'): 'Infinity', float('-inf'): '-Infinity'}.get(value, value) if isinstance(value, float) else value


def agree(result, wanted, how):
    """Whether they have the same rows; also in the same order, or with the same first column in each row."""
    if how == 'list':
        return repr(result) == repr(wanted)
    if how == 'first' and [row[0] for row in result] != [row[0] for row in wanted]:
        return False
    return Counter(map(repr, result)) == Counter(map(repr, wanted))


def main():
    kymo, seed, count, *traces = sys.argv[1:]
    file = os.environ.get('KYMO_DATABASE')
    db = imported.open_file(file) if file else imported.database(kymo, traces)
    times = [row[0] for row in db.execute('SELECT ts FROM events')]
    maker = Maker(int(seed), times)
    statements, forms = zip(*(maker.statement() for _ in range(int(count))))
    extension = os.environ.get('KYMO_EXTENSION')
    results = by_extension(extension, traces, statements) if extension else by_command(kymo, traces, statements)
    assert len(results) == len(statements), f'{len(results)} results of {len(statements)} statements'
    bad = rows = 0
    for statement, result, how in zip(statements, results, forms):
        wanted = [tuple(as_json(value) for value in row) for row in db.execute(statement)]
        rows += len(wanted)
        if not agree(result, wanted, how):
            bad += 1
            print(f'{statement}\n  virtual  {len(result)} rows {sorted(set(map(repr, result)) - set(map(repr, wanted)))[:3]}\n'
                  f'  imported {len(wanted)} rows {sorted(set(map(repr, wanted)) - set(map(repr, result)))[:3]}')
    assert rows > len(statements), 'the statements return hardly a row'
    print(f'{len(statements)} statements, {rows} rows, {bad} differ')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
