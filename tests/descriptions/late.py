# SPDX-License-Identifier: MIT
"""Descriptions of formats whose files define their own records. Each is compared with readers written here after the published
documents, which know nothing of kymo, with the values in shared/data/foreign, and with files made here."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

SOURCE = pathlib.Path(os.environ['KYMO_SOURCE'])
sys.path.insert(0, str(SOURCE / 'tests/described'))
from described import KYMO, fields, not_ok, ok  # noqa: E402

FOREIGN = pathlib.Path(os.environ.get('KYMO_SHARED', '/nonexistent')) / 'data/foreign'


def read(path, *options):
    """(name, time, fields) of each event, the messages, exit status; kymo finds out itself what the file is."""
    done = subprocess.run([KYMO, 'cat', '--format', 'json', *options, str(path)], capture_output=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return [(event['event'].split(':', 1)[1], event.get('ts'), fields(event)) for event in events], done.stderr.decode(errors='replace'), done.returncode


def same(name, got, wanted):
    if got == wanted:
        ok(name)
        return
    for number, (have, want) in enumerate(zip(got, wanted) if isinstance(got, list) and isinstance(wanted, list) else [(got, wanted)]):
        if have != want:
            not_ok(name, f'{number}: {have}, not {want}')
            return
    not_ok(name, f'{len(got)} instead of {len(wanted)}')


def written(name, path, events):
    """The CTF 1 and 2 that are written from a file have the same events. A time that it has none of is that of the event before."""
    for form in ('ctf1', 'ctf2'):
        shutil.rmtree(form, ignore_errors=True)
        subprocess.run([KYMO, 'convert', str(path), '--to', form, '--output', form], check=True, capture_output=True)
        again, said, status = read(form)
        same(f'{name} as {form}', ([(event, values) for event, _, values in again], said, status), ([(event, values) for event, _, values in events], '', 0))


def single(value):
    """A number of 32 bits of floating point, as JSON has it."""
    if value != value or value in (float('inf'), -float('inf')):
        return 'NaN' if value != value else 'Infinity' if value > 0 else '-Infinity'
    return value


def equal(have, want):
    """Numbers of 32 bits of floating point are written with as many digits as they have."""
    if isinstance(want, list):
        return isinstance(have, list) and len(have) == len(want) and all(map(equal, have, want))
    if isinstance(want, dict):
        return isinstance(have, dict) and list(have) == list(want) and all(equal(have[name], want[name]) for name in want)
    if isinstance(want, float) and isinstance(have, float):
        return have == want or struct.pack('<f', have) == struct.pack('<f', want)
    return have == want


# ---- ULog: docs.px4.io, "ULog File Format" ----

ULOG_TYPES = {'int8_t': 'b', 'uint8_t': 'B', 'int16_t': 'h', 'uint16_t': 'H', 'int32_t': 'i', 'uint32_t': 'I', 'int64_t': 'q', 'uint64_t': 'Q',
              'float': 'f', 'double': 'd', 'bool': 'B'}
LEVELS = 'emergency alert critical error warning notice info debug'.split()


def ulog_type(text):
    """(name, how many or 0, name of the field) of `type[n] field`."""
    kind, field = text.split(' ')
    name, _, count = kind.partition('[')
    return name, int(count[:-1]) if count else 0, field


def ulog_values(formats, name, data, at, before=''):
    """({field: value}, where it ends) of one value of a type."""
    out = {}
    for kind, count, field in formats[name]:
        if field.startswith('_padding'):
            at += count or 1
            continue
        if kind == 'char':
            out[before + field] = data[at:at + (count or 1)].split(b'\0')[0].decode()
            at += count or 1
        elif kind in ULOG_TYPES:
            values = list(struct.unpack_from(f'<{count or 1}{ULOG_TYPES[kind]}', data, at))
            at += struct.calcsize(f'<{count or 1}{ULOG_TYPES[kind]}')
            values = [each * 1000 if field == 'timestamp' else single(each) if kind in ('float', 'double') else each for each in values]
            out[before + field] = values if count else values[0]
        elif count:
            out[before + field] = []
            for _ in range(count):
                element, at = ulog_values(formats, kind, data, at)
                out[before + field].append(element)
        else:
            inner, at = ulog_values(formats, kind, data, at, f'{before}{field}.')
            out.update(inner)
    return out, at


def ulog_pair(payload):
    """type, name and value of an information or a parameter."""
    kind, name = payload[1:1 + payload[0]].decode().split(' ')
    rest = payload[1 + payload[0]:]
    value = struct.unpack(f'<{ULOG_TYPES[kind]}', rest)[0] if kind in ULOG_TYPES else rest.split(b'\0')[0].decode()
    return dict(type=kind, name=name, value=value)


def ulog_events(data):
    """What the description has to give. A message without a time has that of the message before."""
    formats, topics = {}, {}
    last = struct.unpack_from('<Q', data, 8)[0] * 1000
    yield 'start', last, dict(version=data[7])
    at = 16
    while at < len(data):
        size, kind = struct.unpack_from('<HB', data, at)
        payload = data[at + 3:at + 3 + size]
        at += 3 + size
        kind = chr(kind)
        if kind == 'F':
            name, text = payload.decode().split(':')
            formats[name] = [ulog_type(each) for each in text.split(';') if each]
        elif kind == 'A':
            topics[struct.unpack_from('<H', payload, 1)[0]] = (payload[3:].decode(), payload[0])
        elif kind == 'D':
            name, instance = topics[struct.unpack_from('<H', payload)[0]]
            values, _ = ulog_values(formats, name, payload, 2)
            last = values.pop('timestamp')
            yield name, last, dict(multi_id=instance, **values)
        elif kind in 'IP':
            yield {'I': 'information', 'P': 'parameter'}[kind], last, ulog_pair(payload)
        elif kind == 'M':
            yield 'information_part', last, dict(is_continued=payload[0], **ulog_pair(payload[1:]))
        elif kind == 'L':
            last = struct.unpack_from('<Q', payload, 1)[0] * 1000
            level = LEVELS[payload[0] - 48]
            yield level, last, dict(EVENT=(payload[0], level), TEXT=payload[9:].decode())
        elif kind == 'O':
            yield 'dropout', last, dict(DURATION=struct.unpack('<H', payload)[0] * 1000000)


def agree(name, events, wanted):
    for number, (have, want) in enumerate(zip(events, wanted)):
        if have[:2] != want[:2] or not equal(have[2], want[2]):
            not_ok(name, f'{number}: {have}, not {want}')
            return
    same(name, len(events), len(wanted))


def ulog_message(kind, payload):
    return struct.pack('<HB', len(payload), ord(kind)) + payload


def ulog_made():
    """All kinds of messages; a type that is defined after it is named; padding that is left out, and padding that is not."""
    pair = lambda text, value: bytes([len(text)]) + text.encode() + value  # noqa: E731
    topic = lambda number, form, *values: ulog_message('D', struct.pack('<H' + form, number, *values))  # noqa: E731
    inner = (5, 1.5, -2)
    return b'ULog\1\x12\x35\1' + struct.pack('<Q', 1000) + b''.join([
        ulog_message('B', bytes(40)), ulog_message('I', pair('char[5] sys_name', b'PX4\0\0')), ulog_message('I', pair('uint32_t ver', b'\1\0\0\2')),
        ulog_message('F', b'outer:uint64_t timestamp;inner[2] list;uint8_t[3] _padding0;inner one;char[4] text;bool on;uint8_t[7] _padding1;'),
        ulog_message('F', b'inner:uint64_t timestamp;float f;int16_t n;uint8_t[2] _padding0;'),
        ulog_message('F', b'plain:uint64_t timestamp;double d;uint8_t[4] _padding0;'),
        ulog_message('P', pair('float GAIN', struct.pack('<f', 0.25))), ulog_message('P', pair('int32_t LIMIT', struct.pack('<i', -7))),
        ulog_message('A', b'\0\7\0outer'), ulog_message('A', b'\2\x08\0plain'),
        topic(7, 'QQfh2xQfh2x3xQfh2x4s?', 2000, *inner, 6, 2.5, 3, 7, 3.5, 4, b'ab\0c', True),
        topic(7, 'QQfh2xQfh2x3xQfh2x4s?7x', 3000, *inner, 6, 2.5, 3, 7, 3.5, 4, b'abcd', False),
        ulog_message('M', b'\0' + pair('char[3] part', b'one')), ulog_message('M', b'\1' + pair('char[3] part', b'two')),
        topic(8, 'Qd', 4000, 0.1), ulog_message('O', struct.pack('<H', 30)), ulog_message('S', bytes.fromhex('2f731320250cbb12')),
        ulog_message('L', b'4' + struct.pack('<Q', 5000) + b'too hot'), topic(8, 'Qd4x', 6000, float('nan')),
        ulog_message('P', pair('float GAIN', struct.pack('<f', 0.5)))])


def ulog():
    data = ulog_made()
    path = pathlib.Path('made.ulg')
    path.write_bytes(data)
    events, said, status = read(path)
    agree('ulog', events, list(ulog_events(data)))
    same('ulog: nothing is damaged', (said, status), ('', 0))
    same('ulog: a type in a type, and a list', [event[2] for event in events if event[0] == 'outer'][0],
         {'multi_id': 0, 'list': [dict(timestamp=5000, f=1.5, n=-2), dict(timestamp=6000, f=2.5, n=3)], 'one.timestamp': 7000, 'one.f': 3.5, 'one.n': 4,
          'text': 'ab', 'on': 1})
    written('ulog', path, events)
    faults = {'no subscription': (ulog_message('A', b'\2\x08\0plain'), ulog_message('A', b'\2\x09\0plain'), 'R7: a record without a definition'),
              'a type that is not there': (b'inner[2] list', b'outer[2] list', 'R7: a record whose definition is one with a type that contains itself, found "outer"'),
              'a type without a name': (b'float f', b'flout f', 'R7: a record whose definition is one with a type that is not defined, found "flout", in "list.f" of "outer"'),
              'a length': (ulog_message('O', struct.pack('<H', 30)), struct.pack('<HB', 9, 79) + b'\x1e\0', 'byte ')}
    for name, (old, new, message) in faults.items():
        pathlib.Path('broken.ulg').write_bytes(data.replace(old, new))
        got, said, status = read('broken.ulg')
        same(f'ulog: {name}', (message in said, status, data.count(old)), (True, 1, 1))
    if not FOREIGN.exists():
        return
    path = FOREIGN / 'ulog/ulog.ulg'
    events, said, status = read(path)
    same('ulog of a flight: nothing is damaged', (said, status), ('', 0))
    agree('ulog of a flight', events, list(ulog_events(path.read_bytes())))
    ulog_flight(events)
    written('ulog of a flight', path, events)


def ulog_flight(events):
    """The values in shared/data/foreign/ulog/README.md."""
    plain = {'start', 'parameter', 'information', 'information_part', 'dropout', *LEVELS}
    count = lambda name: sum(event[0] == name for event in events)  # noqa: E731
    of = lambda name: [event for event in events if event[0] == name]  # noqa: E731
    same('ulog: start, parameters, information, messages, dropouts', (events[0][:2], count('parameter'), count('information'), count('information_part'), count('dropout')),
         (('start', 20309082000), 980, 14, 131, 1))
    data = [event for event in events if event[0] not in plain]
    same('ulog: data', (len(data), len({(name, values['multi_id']) for name, _, values in data})), (14604, 70))
    logged = [event for event in events if event[0] in LEVELS]
    same('ulog: messages', (len(logged), logged[0][1], logged[0][0], logged[0][2]['TEXT']), (3, 22683736000, 'info', '[commander] Takeoff detected'))
    combined = of('sensor_combined')
    same('ulog: sensor_combined', (len(combined), combined[0][1], combined[-1][1], abs(combined[0][2]['gyro_rad'][0] - 0.0029683833473) < 1e-9),
         (1298, 20326716000, 26822868000, True))
    attitude = of('vehicle_attitude')
    same('ulog: vehicle_attitude', (len(attitude), equal(attitude[0][2]['q'][0], 0.9926282167)), (1298, True))
    for instance, volts in ((0, 23.348753), (1, 49.744926)):
        battery = [event for event in of('battery_status') if event[2]['multi_id'] == instance]
        same(f'ulog: battery {instance}', (len(battery), battery[0][2]['voltage_v']), (21, volts))
    same('ulog: cpuload', (count('cpuload'), equal(round(of('cpuload')[0][2]['load'], 6), 0.207138)), (14, True))
    same('ulog: types in types', (count('telemetry_status') + count('position_setpoint_triplet'), list(of('telemetry_status')[0][2])[-1],
                                 [list(each) for each in of('telemetry_status')[0][2]['heartbeats']],
                                 sum(name.split('.')[0] in ('previous', 'current', 'next') for name in of('position_setpoint_triplet')[0][2])),
         (17, 'heartbeats', [['timestamp', 'system_id', 'component_id', 'type', 'state']] * 4, 3 * 33))


for each in (ulog,):
    try:
        each()
    except Exception as problem: # what one of them trips over is not the others' fault
        not_ok(each.__name__, repr(problem))
