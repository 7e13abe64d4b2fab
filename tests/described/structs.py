# SPDX-License-Identifier: MIT
"""Lists of structs: which REPEATs become some, their names, what is absent in an element, filters of elements. Each holds for the described
file and for the CTF 1 and 2 that are written from it."""
import json
import pathlib
import re
import subprocess

import seeds
from described import IS_SANITIZED, KYMO, compiled, events, fields, not_ok, ok, written


def hold(name, got, wanted):
    if got == wanted:
        ok(name)
    else:
        not_ok(name, f'{got!r} is not {wanted!r}')


def cat(*arguments):
    done = subprocess.run([KYMO, 'cat', '--format', 'json', *arguments], capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def trace(items, groups='', head='RECORD r EVENT IS', rest=''):
    return f'TRACE t;\nBYTES LITTLE;\n{groups}\n{head} {items} END;\n{rest}LAYOUT REPEAT r;\nEND TRACE.\n'


def forms(name, tdl, data):
    """The same as written(), and a seed."""
    out = written(name, tdl, data)
    seed = 'lists-' + re.sub(r'\W+', '-', name)
    if out and not IS_SANITIZED:
        seeds.hold(seed, out[0][1][1], data)
        seeds.hold_text(seed, tdl, data)
    return out


def check(name, tdl, data, wanted):
    for form, arguments in forms(name, tdl, data):
        got, said = cat(*arguments)
        hold(f'{name}, {form}', ([fields(event) for event in got], said), (wanted, ''))


def refused(name, tdl, message):
    _, said = compiled('refused', tdl)
    hold(name, said.splitlines()[0].split(': error: ', 1)[1] if said else 'it compiles', message)


# ---- which REPEATs, and their names ----

GROUP = 'GROUP g IS a,b: UNSIGNED 8; END;'
AB = [dict(a=1, b=2), dict(a=3, b=4)]
check('one field without a name', trace('REPEAT TIMES 2 IS a: UNSIGNED 8; END;'), b'\1\2', [dict(a=[1, 2])])
check('one field beside hidden ones', trace('REPEAT TIMES 2 IS _h: UNSIGNED 8; a: UNSIGNED 8; : UNSIGNED 8; END;'), b'\x63\1\x63\x63\2\x63', [dict(a=[1, 2])])
check('one field, two REPEATs deep', trace('REPEAT TIMES 2 IS REPEAT TIMES 2 IS a: UNSIGNED 8; END; END;'), b'\1\2\3\4', [dict(a=[1, 2, 3, 4])])
check('one field in a named REPEAT', trace('m: REPEAT TIMES 2 IS a: UNSIGNED 8; END;'), b'\1\2', [dict(m=[dict(a=1), dict(a=2)])])
check('a named REPEAT', trace('m: REPEAT TIMES 2 IS a,b: UNSIGNED 8; END;'), b'\1\2\3\4', [dict(m=AB)])
check('a named USE in a REPEAT', trace('REPEAT TIMES 2 IS m: USE g; END;', GROUP), b'\1\2\3\4', [dict(m=AB)])
check('a named USE with one field', trace('REPEAT TIMES 2 IS m: USE g; END;', 'GROUP g IS a: UNSIGNED 8; END;'), b'\1\2', [{'m.a': [1, 2]}])
check('a named USE beside a field', trace('REPEAT TIMES 2 IS m: USE g; c: UNSIGNED 8; END;', GROUP), b'\1\2\5\3\4\6',
      [{'repeat': [{'m.a': 1, 'm.b': 2, 'c': 5}, {'m.a': 3, 'm.b': 4, 'c': 6}]}])
check('an unnamed USE', trace('REPEAT TIMES 2 IS USE g; END;', GROUP), b'\1\2\3\4', [dict(repeat=AB)])
check('a list in a named USE', trace('u: USE h;', GROUP + 'GROUP h IS n: UNSIGNED 8; REPEAT TIMES n IS USE g; END; x: REPEAT TIMES n IS USE g; END; END;'),
      b'\1\1\2\3\4', [{'u.n': 1, 'u.repeat': AB[:1], 'u.x': AB[1:]}])
check('a list in the USE of an element', trace('REPEAT TIMES 1 IS u: USE h; END;', GROUP + 'GROUP h IS n: UNSIGNED 8; REPEAT TIMES n IS y: USE g; END; END;'),
      b'\2\1\2\3\4', [dict(u=[dict(n=2, y=AB)])])
check('derived names', trace('repeat: UNSIGNED 8; REPEAT TIMES 1 IS a,b: UNSIGNED 8; END; REPEAT TIMES 1 IS c,d: UNSIGNED 8; END; repeat3: UNSIGNED 8;'),
      b'\7\1\2\3\4\5', [dict(repeat=7, repeat2=[dict(a=1, b=2)], repeat4=[dict(c=3, d=4)], repeat3=5)])
check('structs in structs', trace('REPEAT TIMES 1 IS REPEAT TIMES 2 IS a,b: UNSIGNED 8; END; END;'), b'\1\2\3\4', [dict(repeat=[dict(repeat=AB)])])
check('a named REPEAT in one without a name', trace('REPEAT TIMES 2 IS m: REPEAT TIMES 1 IS a: UNSIGNED 8; END; END;'), b'\1\2',
      [dict(repeat=[dict(m=[dict(a=1)]), dict(m=[dict(a=2)])])])
check('arrays, blobs and texts of elements', trace('m: REPEAT TIMES 2 IS n: UNSIGNED 8; x: ARRAY n OF UNSIGNED 16; b: BYTES n; t: STRING ENDED 0; END;'),
      b'\1\5\0Ahi\0\0\0', [dict(m=[dict(n=1, x=[5], b='41', t='hi'), dict(n=0, x=[], b='', t='')])])
check('hidden lists', trace('_m: REPEAT TIMES 2 IS a,b: UNSIGNED 8; END; LET n=COUNT OF _m; LET s=_m.a; REPEAT TIMES 1 IS _u: USE g; c: UNSIGNED 8; END;', GROUP),
      b'\1\2\3\4\5\6\7', [dict(n=2, s=3, c=[7])])
check('a list without fields is counted', trace('m: REPEAT TO END IS FILLER 2 BYTES; END; LET n=COUNT OF m;', head='RECORD r EVENT LENGTH 6 IS'), bytes(6), [dict(n=3)])

# ---- names, expressions ----

check('names of a REPEAT are its own', trace('a: UNSIGNED 8; m: REPEAT TIMES a IS a: UNSIGNED 8; b: UNSIGNED 8*a; END; k: REPEAT TIMES m.a IS a,b: UNSIGNED 8; END;'
                                             'LET c=a; LET d=m.a*10+k.b; LET n=COUNT OF m; LET q=COUNT OF k.a;'),
      b'\1\2\2\0\1\2\3\4', [dict(a=1, m=[dict(a=2, b=2)], k=AB, c=1, d=24, n=1, q=2)])
check('in a turn the name of the REPEAT means this turn', trace('m: REPEAT UNTIL m.a=0 IS a: UNSIGNED 8; LET n=COUNT OF m; END;'), b'\7\0', [dict(m=[dict(a=7, n=1), dict(a=0, n=2)])])
check('another record reads the last element', trace('LET x=s.m.b; c: UNSIGNED 8;').replace(
    'LAYOUT REPEAT r;', 'RECORD s CONTROL IS m: REPEAT TIMES 2 IS a,b: UNSIGNED 8; END; END;\nLAYOUT s; REPEAT r;'), b'\1\2\3\4\5', [dict(x=4, c=5)])
check('lengths, checks and places in a turn', trace('m: REPEAT TIMES 2 IS n: UNSIGNED 8 LENGTH OF d; d: BYTES; CHECK n<3; LET p=POSITION; END;'), b'\1A\2BC',
      [dict(m=[dict(n=1, d='41', p=2), dict(n=2, d='4243', p=5)])])
check('BY LIST reads lists of structs', '''TRACE t;
  BYTES LITTLE;
  TYPES w=("b"=UNSIGNED 8);
  TABLE forms KEY NUMBER HOLDS RECORDS;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD d DEFINITION WITH p WHEN k=0 IS
    f: REPEAT TIMES 2 IS name,type: STRING 1; END;
    DEFINE forms[1] AS RECORD "x" FIELDS BY LIST w NAME f.name TYPE f.type;
  END;
  RECORD r EVENT WITH p FROM forms[k];
  LAYOUT REPEAT d OR r;
END TRACE.
''', b'\0xbyb\1\5\6', [dict(k=1, x=5, y=6)])
check('elements of a prefix', 'TRACE t;\nBYTES LITTLE;\nPREFIX p IS n: UNSIGNED 8; m: REPEAT TIMES n IS a,b: UNSIGNED 8; END; k: UNSIGNED 8; END;\n'
      'RECORD r EVENT WITH p WHEN k=1 IS REPEAT TIMES 1 IS c,d: UNSIGNED 8; END; LET q=COUNT OF m; END;\nLAYOUT REPEAT r;\nEND TRACE.\n', b'\2\1\2\3\4\1\5\6',
      [dict(n=2, m=AB, k=1, repeat=[dict(c=5, d=6)], q=2)])
check('units and tokens', trace('m: REPEAT TIMES 1 IS s: UNSIGNED 8 TOKEN st; v: UNSIGNED 16 SCALE 0.5 UNITS "V"; EVENT: UNSIGNED 8 TOKEN st; END;', 'TOKEN st=("on"=1, "off"=2);'),
      b'\1\3\0\2', [dict(m=[dict(s=(1, 'on'), v=1.5, EVENT=(2, 'off'))])])
check('times of elements', 'TRACE t;\nBYTES LITTLE;\nCLOCK c IS RESOLUTION 1 us;\nRECORD r EVENT IS ACQUISITION: UNSIGNED 8 TIME c POINT;\n'
      'm: REPEAT TIMES 2 IS at: UNSIGNED 8 TIME c POINT; : UNSIGNED 8 TIME c ADD UNIT 1 us; v: UNSIGNED 8; END; END;\nLAYOUT REPEAT r;\nEND TRACE.\n',
      b'\1\2\3\4\5\6\7', [dict(m=[dict(at=5000, v=4), dict(at=11000, v=7)])])

# ---- branches ----

KIND = 'k: UNSIGNED 8; n: UNSIGNED 8;'
check('absent members', trace('m: REPEAT TIMES 3 IS k: UNSIGNED 8; IF k=1 THEN a: UNSIGNED 8; ELSIF k=2 THEN a: STRING 1; l: ARRAY 2 OF UNSIGNED 8; END; z: UNSIGNED 8 ABSENT WHEN 0; END;'),
      b'\1\7\1\2x\1\2\0\3\5', [dict(m=[dict(k=1, a=7, l=[], z=1), dict(k=2, a='x', l=[1, 2], z=None), dict(k=3, a=None, l=[], z=5)])])
check('branches that fill one list', trace(f'{KIND} IF k=1 THEN REPEAT TIMES n IS id: UNSIGNED 8; v: UNSIGNED 8; END; ELSE REPEAT TIMES n IS id: UNSIGNED 16; w: UNSIGNED 8; END; END;'),
      b'\1\1\2\3\2\1\4\0\5', [dict(k=1, n=1, repeat=[dict(id=2, v=3, w=None)]), dict(k=2, n=1, repeat=[dict(id=4, v=None, w=5)])])
check('named ones', trace(f'{KIND} IF k=1 THEN m: REPEAT TIMES n IS id: UNSIGNED 8; END; ELSE m: REPEAT TIMES n IS id: UNSIGNED 8; w: UNSIGNED 8; END; END; LET c=COUNT OF m; LET d=m.id;'),
      b'\1\2\2\3\2\1\4\5', [dict(k=1, n=2, m=[dict(id=2, w=None), dict(id=3, w=None)], c=2, d=3), dict(k=2, n=1, m=[dict(id=4, w=5)], c=1, d=4)])
check('named ones, of a group', trace(f'{KIND} IF k=1 THEN m: REPEAT TIMES n IS id: UNSIGNED 8; END; ELSE USE h(n); END; LET c=COUNT OF m; LET d=m.id;',
                                      'GROUP h (n) IS m: REPEAT TIMES n IS id: UNSIGNED 8; w: UNSIGNED 8; END; LET last=m.w; END;'),
      b'\1\1\3\2\1\4\5', [dict(k=1, n=1, m=[dict(id=3, w=None)], last=None, c=1, d=3), dict(k=2, n=1, m=[dict(id=4, w=5)], last=5, c=1, d=4)])
check('branches whose lists occur together', trace(f'{KIND} IF k=1 THEN REPEAT TIMES n IS x: UNSIGNED 8; END; REPEAT TIMES n IS y: UNSIGNED 8; END; '
                                                   'ELSE REPEAT TIMES n IS x: UNSIGNED 8; y: UNSIGNED 8; END; END;'),
      b'\1\1\2\3\2\1\4\5', [dict(k=1, n=1, x=[2], y=[3]), dict(k=2, n=1, x=[4], y=[5])])
check('a field in and beside a list', trace(f'{KIND} IF k=1 THEN a: UNSIGNED 8; ELSE REPEAT TIMES n IS a,b,c: UNSIGNED 8; END; END;'), b'\1\1\2\2\1\3\4\5',
      [dict(k=1, n=1, a=[2], repeat=[]), dict(k=2, n=1, a=[3], repeat=[dict(b=4, c=5)])])

# ---- what is refused, what is damaged ----

refused('two REPEATs of a name', trace('m: REPEAT TIMES 2 IS a: UNSIGNED 8; END; m: REPEAT TIMES 2 IS b: UNSIGNED 8; END;'),
        'E33 "m" is here already, and not in a branch that excludes this one')
refused('two REPEATs of a name, one in a group', trace('m: REPEAT TIMES 2 IS a: UNSIGNED 8; END; USE h;', 'GROUP h IS m: REPEAT TIMES 2 IS b: UNSIGNED 8; END; END;'),
        'E33 "m" is here already, and not in a branch that excludes this one')
refused('a field of the name', trace('m: UNSIGNED 8; m: REPEAT TIMES 2 IS a: UNSIGNED 8; END;'), 'E33 "m" is here already, and not in a branch that excludes this one')
refused('a list is no value', trace('m: REPEAT TIMES 2 IS a: UNSIGNED 8; END; LET x=m;'), 'E41 "m" is a group of fields, not a value')
refused('a member needs its list', trace('m: REPEAT TIMES 2 IS a: UNSIGNED 8; END; LET x=a;'), 'E31 unknown name "a"')
refused('a member that the list does not have', trace('m: REPEAT TIMES 2 IS size: UNSIGNED 8; END; LET x=m.sise;'), 'E31 no field "sise" in "m" (did you mean "size"?)')
refused('elements of another record', trace('LET x=COUNT OF s.a;', rest='RECORD s CONTROL IS REPEAT TIMES 2 IS a: UNSIGNED 8; END; END;\n').replace('LAYOUT', 'LAYOUT s;'),
        'E41 COUNT OF counts in its own record: let "s" have a LET with this number')
refused('a member before it is read', trace('m: REPEAT TIMES 2 IS LET x=a; a: UNSIGNED 8; END;'), 'E34 "a" is used before it is read')
refused('WITH is of filters', trace('m: REPEAT TIMES 2 IS a: UNSIGNED 8; END; LET x=COUNT OF m WITH (m.a=1);'), 'E43 WITH is only for filters')


def nested(depth):
    items = 'x: UNSIGNED 8;'
    for number in range(depth):
        items = f'm{number}: REPEAT TIMES 1 IS {items} END;'
    return trace(items)


def deep(depth):
    value = dict(x=9)
    for number in range(depth):
        value = {f'm{number}': [value]}
    return value


check('28 lists in each other', nested(28), b'\x09', [deep(28)])
refused('29 lists in each other', nested(29), 'E61 expected at most 28 lists of structs within each other')

many = trace('n: UNSIGNED 32; m: REPEAT TIMES n IS k: UNSIGNED 8; IF k=1 THEN ' + ' '.join(f'a{i}: UNSIGNED 64;' for i in range(200)) + ' END; END;')
got, said, status = events('many', many, (600000).to_bytes(4, 'little') + bytes(600000))
hold('elements that take more than they read are limited', (got, 'R9: a record with more than 1024 MiB in lists of structs' in said, status), ([], True, 1))
got, said, status = events('cut', trace('n: UNSIGNED 8 LENGTH OF RECORD; m: REPEAT TO END IS a: UNSIGNED 8; b: UNSIGNED 16; END;', rest='').replace(
    'LAYOUT REPEAT r;', 'LAYOUT REPEAT r; ON ERROR R2 MARK;'), b'\6\1\2\0\3\4\3\5\6')
hold('an element that is cut', ([fields(each)['m'] for each in got], 'R2' in said and ', in m.b' in said, status),
     ([[dict(a=1, b=2), dict(a=3, b=0)], [dict(a=5, b=0)]], True, 1))

# ---- explain ----

compiled('shown', trace('m: REPEAT TIMES 2 IS n: UNSIGNED 8; i: REPEAT TIMES n IS x,y: UNSIGNED 8; END; END;'))
pathlib.Path('shown.bin').write_bytes(b'\1\2\3\2\4\5\6\7')
done = subprocess.run([KYMO, 'explain', '--key', 'shown.key', 'shown.bin'], capture_output=True, text=True)
hold('explain names places', [line[38:] for line in done.stdout.splitlines()[1:]],
     ['m[0].n = 1', 'm[0].i[0].x = 2', 'm[0].i[0].y = 3', 'm[1].n = 2', 'm[1].i[0].x = 4', 'm[1].i[0].y = 5', 'm[1].i[1].x = 6', 'm[1].i[1].y = 7'])

# ---- filters of elements ----

ITEMS = ('id: UNSIGNED 8; m: REPEAT TIMES 2 IS pmid: UNSIGNED 8; value: UNSIGNED 8 TOKEN st; IF pmid=9 THEN extra: STRING 2; END; n: UNSIGNED 8;\n'
         'i: REPEAT TIMES n IS x,y: UNSIGNED 8; END; END; REPEAT TIMES 3 IS v: UNSIGNED 8; END; k: UNSIGNED 8; REPEAT TIMES k IS w: BYTES 1; END;')
FILE = forms('filtered', trace(ITEMS, 'TOKEN st=("low"=0..10, "high"=11..255);'),
             b'\1' + b'\5\3\0' + b'\6\x14\1\7\10' + b'\1\2\3' + b'\0' +
             b'\2' + b'\5\x14\2\1\2\3\4' + b'\x09\1AB\1\7\11' + b'\4\5\6' + b'\1A')


def select(expression, wanted):
    for form, arguments in FILE:
        got, said = cat('--filter', expression, *arguments)
        hold(f'{expression}, {form}', [fields(event)['id'] for event in got] if not said else said.splitlines()[0].split(': error: ', 1)[1], wanted)


def compiled_select(expression, wanted):
    for form, arguments in FILE:
        against = arguments[1] if form == 'described' else arguments[0]
        pathlib.Path('one.fdl').write_text(f'FILTER f; SELECT {expression}.')
        subprocess.run([KYMO, 'compile', 'one.fdl', '--key', against, '-o', 'one.filter'], check=False)
        got, _ = cat('--filter-file', 'one.filter', *arguments)
        hold(f'{expression}, compiled, {form}', [fields(event)['id'] for event in got], wanted)


select('m.pmid = 5 AND m.value > 10', [1, 2])
select('ANY m WITH (m.pmid = 5 AND m.value > 10)', [2])
select('ANY m WITH (m.pmid = 5 AND m.value = "high")', [2])
select('ANY m WITH (m.pmid = 5 AND m.value = "hihg")', 'E32 m.value is never "hihg" (did you mean "high"?)')
select('NOT ANY m WITH (m.pmid = 5 AND m.value > 10)', [1])
select('ALL m WITH (m.pmid IN (5, 6))', [1])
select('ALL m WITH (m.value > 0)', [1, 2])
select('COUNT OF m WITH (m.value > 2) = 2', [1])
select('COUNT OF m WITH (m.value > 2) + COUNT OF m = 3', [2])
select('COUNT OF m WITH (m.n > 1) = id - 1', [1, 2])
select('ANY m WITH (m.extra = "AB" AND m.pmid = 9)', [2])
select('ANY m WITH (m.extra IS PRESENT AND m.pmid = 5)', [])
select('ANY m WITH (m.extra IS NOT PRESENT AND m.pmid = 5)', [1, 2])
select('ALL m WITH (m.extra IS NOT PRESENT)', [1])
select('ANY m WITH (COUNT OF m.i = 2 AND m.i.x = 3)', [2])
select('ANY m WITH (m.i.x = 1 AND m.i.y = 4)', [2])
select('ANY m WITH (ANY m.i WITH (m.i.x = 1 AND m.i.y = 4))', [])
select('ANY m WITH (m.pmid = 6 AND ANY m.i WITH (m.i.x = 7 AND m.i.y = m.pmid + 2 AND id = 1))', [1])
select('ANY m WITH (ALL m.i WITH (m.i.x < m.i.y) AND COUNT OF m.i > 0)', [1, 2])
select('ANY m WITH (COUNT OF m.i WITH (m.i.x > 2) = 1 AND m.pmid = 5)', [2])
select('ANY m.i WITH (m.i.x = 3 AND m.i.y = 4)', [2])
select('ALL m.i WITH (m.i.x = 7)', [1])
select('COUNT OF m.i WITH (m.i.x >= 3) = 2', [2])
select('ANY v WITH (v > 3 AND v < 5)', [2])
select('COUNT OF v WITH (v >= 3) = 1', [1])
select('ALL w WITH (w = x"41")', [1, 2])
select('ANY w WITH (w = x"41")', [2])
select('m.value[0] = 20 AND m.i.y[1] = 4', [2])
select('ANY m WITH (m.pmid = 9 AND m.i.x[0] = 7)', [2])
select('m.i.x = 7 AND ANY m WITH (m.pmid = default(m.n, 0) + 5)', [1])
select('ANY m WITH ((IF m.pmid = 5 THEN m.value ELSE 0) = 20)', [2])
select('ANY m WITH (m.value IN (id .. 3) AND m.extra LIKE "A*")', [])
select('ANY m WITH (m.value IN (1 .. id) AND m.extra MATCHES /^A/)', [2])
select('ANY id WITH (id = 1)', 'E41 expected a sequence, found a number')
select('ANY m.pmid WITH (m.pmid = 1)', 'E41 expected a sequence, found a number in the elements of one')
select('ANY m WITH (m.pmit = 1)', 'E31 no event has a field "m.pmit" (did you mean "m.pmid"?)')
select('ANY mm WITH (mm.pmid = 1)', 'E31 no event has a field "mm"')
select('ANY m WITH (v = 1)', 'E41 expected one value, or what is in an element of "m", found a sequence')
select('ANY m WITH (COUNT OF v = 3)', 'E41 expected one value, or what is in an element of "m", found a sequence')
select('ANY m WITH (m.pmid IS CHANGED)', 'E41 a test with a memory is of events, and this condition of elements of "m"')
select('ANY m WITH (AFTER (id = 1))', 'E41 a test with a memory is of events, and this condition of elements of "m"')
select('ANY m WITH (m.pmid)', [1, 2])
select('ANY m (m.pmid = 1)', 'E21 expected WITH, found (')
select('ANY m WITH m.pmid = 1', 'E21 expected "(", found m')
compiled_select('ANY m WITH (m.pmid = 5 AND ANY m.i WITH (m.i.x = 3 AND m.pmid = 5))', [2])
compiled_select('COUNT OF m WITH (m.value > 2) = 2', [1])
seeds.tell()
