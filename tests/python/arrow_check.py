#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the streams of Trace.arrow() with `kymo cat --format json`. They are read by ctypes as the specification of Arrow's C data
interface says, and by pyarrow, polars and DuckDB where these are installed.

    arrow_check.py KYMO [--together] TRACE…
    arrow_check.py --libraries TRACE
"""
import ctypes
import gc
import importlib.util
import json
import struct
import subprocess
import sys
import warnings

import kymo
from same_events import same


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [('format', ctypes.c_char_p), ('name', ctypes.c_char_p), ('metadata', ctypes.c_char_p), ('flags', ctypes.c_int64),
                   ('n_children', ctypes.c_int64), ('children', ctypes.POINTER(ctypes.POINTER(Schema))), ('dictionary', ctypes.POINTER(Schema)),
                   ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))), ('private_data', ctypes.c_void_p)]
Array._fields_ = [('length', ctypes.c_int64), ('null_count', ctypes.c_int64), ('offset', ctypes.c_int64), ('n_buffers', ctypes.c_int64),
                  ('n_children', ctypes.c_int64), ('buffers', ctypes.POINTER(ctypes.c_void_p)),
                  ('children', ctypes.POINTER(ctypes.POINTER(Array))), ('dictionary', ctypes.POINTER(Array)),
                  ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))), ('private_data', ctypes.c_void_p)]
Stream._fields_ = [('get_schema', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
                   ('get_next', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
                   ('get_last_error', ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
                   ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ('private_data', ctypes.c_void_p)]
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
NUMBERS = {b'c': 'b', b'C': 'B', b's': 'h', b'S': 'H', b'i': 'i', b'I': 'I', b'l': 'q', b'L': 'Q', b'f': 'f', b'g': 'd', b'tsn:UTC': 'q'}


def bytes_of(array, index, size):
    address = array.buffers[index]
    assert address or size == 0, 'a buffer is NULL'
    return ctypes.string_at(address, size) if size else b''


def is_there(array, index):
    bits = array.buffers[0]
    return True if not bits else bool(ctypes.cast(bits, ctypes.POINTER(ctypes.c_uint8))[index // 8] >> index % 8 & 1)


def bare_values(schema, array):
    """The values, whether they are null or not."""
    count, form = array.length, schema.format
    if schema.dictionary:
        names = column(schema.dictionary.contents, array.dictionary.contents)
        indices = struct.unpack(f'={count}i', bytes_of(array, 1, 4 * count))
        return [names[index] if index < len(names) else None for index in indices]
    if form in NUMBERS:
        assert array.n_buffers == 2
        code = NUMBERS[form]
        return list(struct.unpack(f'={count}{code}', bytes_of(array, 1, struct.calcsize('=' + code) * count)))
    if form == b'b':
        bits = bytes_of(array, 1, (count + 7) // 8)
        return [bool(bits[i // 8] >> i % 8 & 1) for i in range(count)]
    if form in (b'u', b'z'):
        assert array.n_buffers == 3
        offsets = struct.unpack(f'={count + 1}i', bytes_of(array, 1, 4 * count + 4))
        data = bytes_of(array, 2, offsets[-1])
        parts = [data[begin:end] for begin, end in zip(offsets, offsets[1:])]
        return [part.decode() for part in parts] if form == b'u' else parts
    if form == b'+l':
        assert array.n_buffers == 2 and array.n_children == 1
        offsets = struct.unpack(f'={count + 1}i', bytes_of(array, 1, 4 * count + 4))
        items = column(schema.children[0].contents, array.children[0].contents)
        assert len(items) == offsets[-1]
        return [items[begin:end] for begin, end in zip(offsets, offsets[1:])]
    assert form == b'+s' and array.n_buffers == 1, form
    names = [schema.children[i].contents.name.decode() for i in range(schema.n_children)]
    parts = [column(schema.children[i].contents, array.children[i].contents) for i in range(schema.n_children)]
    assert len(set(names)) == len(names) and all(len(part) == count for part in parts)
    return [dict(zip(names, row)) for row in zip(*parts)] if parts else [{} for _ in range(count)]


def column(schema, array):
    assert array.offset == 0 and schema.n_children == array.n_children and bool(schema.dictionary) == bool(array.dictionary)
    values = [value if is_there(array, index) else None for index, value in enumerate(bare_values(schema, array))]
    assert sum(not is_there(array, index) for index in range(array.length)) == array.null_count
    return values


def read(table):
    """(format of ts, rows, error) of a stream."""
    capsule = table.__arrow_c_stream__()
    stream = Stream.from_address(pointer_of(capsule, b'arrow_array_stream'))
    schema, rows = Schema(), []
    assert stream.get_schema(stream, schema) == 0
    assert schema.format == b'+s'
    while True:
        array = Array()
        if stream.get_next(stream, array):
            error = stream.get_last_error(stream).decode()
            break
        if not array.release:
            error = None
            break
        rows += column(schema, array)
        array.release(array)
        assert not array.release
    form = schema.children[0].contents.format
    schema.release(schema)
    del capsule  # it releases the stream
    return form, rows, error


# ---- values of JSON ----

def fits_value(row, key, wanted):
    """Whether the columns of a member have a value of JSON."""
    ours = row[key]
    if isinstance(wanted, dict) and 'value' in wanted and key + '.value' in row:
        number, name = row[key + '.value'], wanted.get('label')
        if 'labels' in wanted and 'label' not in wanted:
            name = '|'.join([*wanted['labels'], *([str(wanted['rest'])] if 'rest' in wanted else [])]) or None
        return number == wanted['value'] and ours == name
    return fits(ours, wanted)


def fits(ours, wanted):
    if isinstance(wanted, dict) and 'symbol' in wanted and isinstance(ours, int):
        return ours == wanted['value']
    if isinstance(ours, dict) and set(ours) == {'label', 'value'} and isinstance(wanted, dict) and 'value' in wanted:
        return fits_value({'x': ours['label'], 'x.value': ours['value']}, 'x', wanted)
    if isinstance(ours, dict) and isinstance(wanted, dict) and fits_struct(ours, wanted):
        return True
    if isinstance(ours, dict):  # the options of a variant: one of them is there
        there = [key for key in ours if ours[key] is not None or ours.get(key + '.value') is not None]
        if not there:
            return wanted is None
        return any(fits_value(ours, key, wanted) for key in there)
    if isinstance(ours, list):
        return isinstance(wanted, list) and len(ours) == len(wanted) and all(map(fits, ours, wanted))
    return same(ours, wanted)


def fits_struct(row, wanted):
    return all(key in row and fits_value(row, key, value) for key, value in wanted.items()) and \
        all(key in wanted or (key.endswith('.value') and key[:-6] in wanted) for key in row)


def place_of(row, key):
    return f'fields.{key}' if f'fields.{key}' in row else key


def check_class(trace, name, lines):
    _, rows, error = read(trace.arrow(name))
    assert len(rows) == len(lines), f'{name}: {len(rows)} rows, not {len(lines)}'
    for number, (row, line) in enumerate(zip(rows, lines), 1):
        assert row['ts'] == line.get('ts') and row['tid'] == line.get('tid') and row['cpu'] == line.get('cpu'), f'{name} {number}: {row}, not {line}'
        for key, value in line['fields'].items():
            names = [column for column in row if column == place_of(row, key) or column.startswith(place_of(row, key) + '#')]
            assert any(fits_value(row, column, value) for column in names if not column.endswith('.value')), f'{name} {number}: {key}: {row}, not {value}'
    return error


def check(command, paths):
    done = subprocess.run([command, 'cat', '-q', '--format', 'json', *paths], stdout=subprocess.PIPE, check=False)
    lines = [line for line in map(json.loads, done.stdout.decode().splitlines()) if 'event' in line]
    trace = kymo.open(*paths)
    form, rows, error = read(trace.arrow())
    assert len(rows) == len(lines), f'{len(rows)} rows, not {len(lines)}'
    assert form == (b'l' if any(line.get('epoch') is False or 'ts' not in line for line in lines) else b'tsn:UTC')
    for row, line, event in zip(rows, lines, kymo.open(*paths, damage='warn')):
        wanted = {'ts': line.get('ts'), 'class': line['event'], 'tid': line.get('tid'), 'cpu': line.get('cpu'), 'trace': line.get('trace', 0),
                  'group': event.group, 'process': event.process, 'pid': event.pid, 'thread': event.thread, 'stream': event.stream.id}
        assert row == wanted, f'{row}, not {wanted}'
    errors = [error]
    for name in {event_class.name for event_class in trace.classes}:
        errors.append(check_class(trace, name, [line for line in lines if line['event'] == name]))
    if done.returncode == 0:
        assert not any(errors), errors
    return len(lines), errors[0]


# ---- other readers ----

def check_libraries(path):
    """What each library that is installed makes of a stream."""
    events = [event for event in kymo.open(path) if event.name == 'net:rx']
    wanted = [(event.fields['port'], event.fields['hash'], event.fields['state'].name, event.fields['where']['y']) for event in events]
    statement = 'SELECT port, hash, state::TEXT, "where".y FROM rows'
    for name in ('pyarrow', 'polars', 'duckdb'):
        if not importlib.util.find_spec(name):
            print(f'skip {name} reads a stream: {name} is not installed')
            continue
        rows = kymo.open(path).arrow('net:rx')
        if name == 'pyarrow':
            import pyarrow
            got = [(row['port'], row['hash'], row['state'], row['where']['y']) for row in pyarrow.table(rows).to_pylist()]
        elif name == 'polars':
            import polars
            got = [(row['port'], row['hash'], row['state'], row['where']['y']) for row in polars.DataFrame(rows).to_dicts()]
        else:
            import duckdb
            got = duckdb.sql(statement).fetchall()
        print(f'ok {name} reads a stream' if got == wanted else f'not ok {name} reads a stream: other values')


def main():
    command, traces = sys.argv[1], sys.argv[2:]
    warnings.simplefilter('ignore')
    if command == '--libraries':
        check_libraries(traces[0])
        return
    total, together = 0, traces[0] == '--together'
    for paths in [traces[1:]] if together else [[trace] for trace in traces]:
        try:
            total += check(command, paths)[0]
        except AssertionError as error:
            sys.exit(f'{" ".join(paths)}: {error}')
    gc.collect()
    print(f'{total} events')
    assert total


if __name__ == '__main__':
    main()
