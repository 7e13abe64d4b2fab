# SPDX-License-Identifier: MIT
"""Counts, tags and presence bytes that the compiler adds to the fields of a description: fields of the same names are the user's."""
import json
import pathlib
import shutil
import subprocess

from described import KYMO, compiled, not_ok, ok

# a file with a field for each name that the compiler would like to have
TDL = '''TRACE t;
  RECORD r EVENT IS
    k: UNSIGNED 8;
    IF k=1 THEN v: UNSIGNED 8; ELSE v: STRING 2; END;
    IF k=1 THEN o: UNSIGNED 8; END;
    has_o,which_v,`v.option0`,`_n_a`,n_a,`count of field 0`,v_option0_7,`.align_2`,align_4: UNSIGNED 8;
    _n: UNSIGNED 8; REPEAT TIMES _n IS a: UNSIGNED 8; END;
    REPEAT TIMES _n IS _size: UNSIGNED 8; b: BYTES _size; END;
    m: REPEAT TIMES _n IS has_x,n_x: UNSIGNED 8; IF has_x=1 THEN x: UNSIGNED 8; END; y: BYTES n_x; END;
  END;
  LAYOUT REPEAT r;
END TRACE.
'''
DATA = b'\1\7\10' + bytes(range(20, 29)) + b'\2\1\2\1A\2BC\1\1\5D\0\0'
# a name that begins with an underscore is hidden from listings
FIELDS = {'k': 1, 'v': 7, 'o': 8, 'has_o': 20, 'which_v': 21, 'v.option0': 22, 'n_a': 24, 'count of field 0': 25, 'v_option0_7': 26, '.align_2': 27,
          'align_4': 28, 'a': [1, 2],
          'b': ['41', '4243'], 'm': [{'has_x': 1, 'n_x': 1, 'x': 5, 'y': '44'}, {'has_x': 0, 'n_x': 0, 'x': None, 'y': ''}]}

# names that the file itself has
LATE = '''TRACE late;
  BYTES LITTLE;
  TYPES code=("b"=UNSIGNED 8, "[b]"=ARRAY 2 OF UNSIGNED 8);
  TABLE forms KEY NUMBER HOLDS RECORDS;
  RECORD head CONTROL IS
    n: UNSIGNED 8; names: STRING n;
    DEFINE forms[1] AS RECORD "seven" FIELDS BY TEXT code OF names SPLIT ",";
  END;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD defined EVENT WITH p FROM forms[k];
  LAYOUT head; REPEAT defined;
END TRACE.
'''
LATE_NAMES = b'[b] a,b n_a,b _n_a,b __n_a,b _align_2,b _align_3'
LATE_DATA = bytes([len(LATE_NAMES)]) + LATE_NAMES + b'\1\1\2\3\4\5\6\7'
LATE_FIELDS = {'k': 1, 'a': [1, 2], 'n_a': 3, '_n_a': 4, '__n_a': 5, '_align_2': 6, '_align_3': 7}


def run(*arguments):
    return subprocess.run([KYMO, *arguments], capture_output=True, text=True)


def hold(name, got, wanted):
    if got == wanted:
        ok(name)
    else:
        not_ok(name, f'{got!r} is not {wanted!r}')


def fields(*arguments):
    done = run('cat', '--format', 'json', *arguments)
    return [json.loads(line)['fields'] for line in done.stdout.splitlines()] if done.returncode == 0 else done.stderr


def files(name, tdl, data):
    key, said = compiled(name, tdl)
    if not key:
        not_ok(f'compiles {name}', said)
    pathlib.Path(f'{name}.bin').write_bytes(data)
    return ['--key', key, f'{name}.bin']


def selected(arguments, expression):
    done = run('cat', '--filter', expression, *arguments)
    return done.stdout.count('\n') if done.returncode == 0 else done.stderr.split(' error: ')[-1].split('"')[0]


def hold_names(what, arguments, wanted, names):
    hold(f'{what}: fields as described', fields(*arguments), [wanted])
    if len(arguments) == 1: # kymo list takes traces only
        listed = [line[2:].split('  ')[0] for line in run('list', *arguments).stdout.splitlines() if line.startswith('  ') and line[2] != ' ']
        hold(f'{what}: kymo list has no others', listed[-len(wanted):], list(wanted))
    for name, value in wanted.items():
        if isinstance(value, int):
            hold(f'{what}: a filter finds {name}', selected(arguments, f'`{name}` = {value}'), 1)
            hold(f'{what}: … and nothing else of that name', selected(arguments, f'`{name}` = {3 - value if value < 3 else 2}'), 0)
    for name in names:
        hold(f'{what}: {name} is no field', selected(arguments, f'{name} = 2'), 'E31 no event has a field ')


def hold_conversions(what, arguments, wanted, names):
    for form in ('ctf1', 'ctf2'):
        out = f'{what}.{form}'
        done = run('convert', *arguments, '--to', form, '--output', out)
        hold(f'{what}: converts to {form}', (done.returncode, done.stderr), (0, ''))
        hold_names(f'{what} as {form}', [out], wanted, names)
    if shutil.which('babeltrace2') and '_align_2' not in wanted: # it takes __x and _x for one name
        done = subprocess.run(['babeltrace2', f'{what}.ctf1'], capture_output=True, text=True)
        hold(f'{what}: babeltrace2 reads CTF 1', (done.returncode, done.stdout.count('\n')), (0, 1))
    # what is left to other readers, who know no hidden fields
    shutil.rmtree(f'{what}.ctf1/.kymo', ignore_errors=True)
    read = fields(f'{what}.ctf1')
    plain = {name: value for name, value in wanted.items() if name.isidentifier() and name not in ('b', 'm')}
    hold(f'{what}: CTF 1 without attributes', [{name: each.get(name) for name in plain} for each in read]
         if isinstance(read, list) else read, [plain])


T = files('t', TDL, DATA)
hold_names('t', T, FIELDS, ('`n_b`', '`__n_a`', '`___n_a`', '`b.n`', '`b.value`', '`a.n`', 'm.which_x', 'm.`__has_x`', 'm.`n_y`'))
hold_conversions('t', T, FIELDS, ('`n_b`', '`__n_a`', '`b.n`', '`b.value`', 'm.`__has_x`', 'm.`n_y`'))
hold('a list without a field of that name has no count', selected(T, 'n_b = 2'), 'E31 no event has a field ')
done = run('cat', '--format', 'csv', *T)
hold('columns of CSV', done.stdout.splitlines()[0].split(',')[6:], list(FIELDS))
done = run('describe', 't.key', '--as', 'doc')
hold('a document', {line.split('`')[1] for line in done.stdout.splitlines() if line.startswith('| `')}, set(FIELDS) | {'v.option1'} | {f'm.{name}' for name in FIELDS['m'][0]})
late = files('late', LATE, LATE_DATA)
hold('fields that a file tells itself', fields(*late), [LATE_FIELDS])
for name, value in LATE_FIELDS.items():
    if isinstance(value, int):
        hold(f'a filter finds {name}, which the file defines', selected(late, f'`{name}` = {value}'), 1)
        hold(f'… and not the count instead of {name}', selected(late, f'`{name}` = 2'), 0)
hold_conversions('late', late, LATE_FIELDS, ())
