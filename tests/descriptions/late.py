# SPDX-License-Identifier: MIT
"""Descriptions of formats whose files define their own records. Each is compared with readers written here after the published
documents, which know nothing of kymo, with the values in shared/data/foreign, and with files made here."""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

SOURCE = pathlib.Path(os.environ['KYMO_SOURCE'])
sys.path.insert(0, str(SOURCE / 'tests/described'))
from described import KYMO, fields, not_ok, ok  # noqa: E402

SECOND = 10**9
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


def written(name, path, events, is_long=False):
    """The CTF 1 and 2 that are written from a file have the same events. A time that it has none of is that of the event before.
    With sanitizers, which are slow, only CTF 2 is written from long files."""
    for form in ('ctf2',) if is_long and os.environ['KYMO_SANITIZE'] else ('ctf1', 'ctf2'):
        shutil.rmtree(form, ignore_errors=True)
        subprocess.run([KYMO, 'convert', str(path), '--to', form, '--output', form], check=True, capture_output=True)
        again, said, status = read(form)
        same(f'{name} as {form}', ([(event, values) for event, _, values in again], said, status), ([(event, values) for event, _, values in events], '', 0))


def registered(name, path):
    """The registry that is made from a file says the same when it is read again."""
    text = subprocess.run([KYMO, 'describe', '--as', 'registry', str(path)], capture_output=True, text=True).stdout
    pathlib.Path('text.registry').write_text(text)
    same(f'{name} as a registry', (subprocess.run([KYMO, 'describe', '--as', 'registry', 'text.registry'], capture_output=True, text=True).stdout, len(text) > 1000),
         (text, True))


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
    registered('ulog', path)
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
    written('ulog of a flight', path, events, is_long=True)


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


# ---- FIT: developer.garmin.com, "FIT Protocol" ----

EPOCH = 631065600 # 1989-12-31 as seconds since 1970
BASES = {0: ('B', 0xff), 1: ('b', 0x7f), 2: ('B', 0xff), 10: ('B', 0), 131: ('h', 0x7fff), 132: ('H', 0xffff), 133: ('i', 0x7fffffff), 134: ('I', 0xffffffff),
         136: ('f', None), 137: ('d', None), 139: ('H', 0), 140: ('I', 0), 142: ('q', 2**63 - 1), 143: ('Q', 2**64 - 1), 144: ('Q', 0)}
MESSAGES = {0: 'file_id', 12: 'sport', 18: 'session', 19: 'lap', 20: 'record', 21: 'event', 23: 'device_info', 34: 'activity', 49: 'file_creator', 78: 'hrv',
            104: 'battery', 206: 'field_description', 207: 'developer_data_id'}
NAMES = {
    0: {0: 'type', 1: 'manufacturer', 2: 'product', 3: 'serial_number', 4: 'time_created', 5: 'number', 8: 'product_name'},
    12: {0: 'sport', 1: 'sub_sport'},
    18: {0: 'event', 1: 'event_type', 2: 'start_time', 3: 'start_position_lat', 4: 'start_position_long', 5: 'sport', 6: 'sub_sport', 7: 'total_elapsed_time',
         8: 'total_timer_time', 9: 'total_distance', 11: 'total_calories', 14: 'avg_speed', 16: 'avg_heart_rate', 17: 'max_heart_rate', 18: 'avg_cadence',
         19: 'max_cadence', 22: 'total_ascent', 23: 'total_descent', 25: 'first_lap_index', 26: 'num_laps', 28: 'trigger'},
    19: {0: 'event', 1: 'event_type', 2: 'start_time', 3: 'start_position_lat', 4: 'start_position_long', 5: 'end_position_lat', 6: 'end_position_long',
         7: 'total_elapsed_time', 8: 'total_timer_time', 9: 'total_distance', 11: 'total_calories', 13: 'avg_speed', 15: 'avg_heart_rate', 16: 'max_heart_rate',
         17: 'avg_cadence', 18: 'max_cadence', 21: 'total_ascent', 22: 'total_descent', 24: 'lap_trigger', 25: 'sport'},
    20: {0: 'position_lat', 1: 'position_long', 2: 'altitude', 3: 'heart_rate', 4: 'cadence', 5: 'distance', 6: 'speed', 7: 'power'},
    21: {0: 'event', 1: 'event_type', 3: 'data', 4: 'event_group'},
    23: {0: 'device_index', 1: 'device_type', 2: 'manufacturer', 3: 'serial_number', 4: 'product', 5: 'software_version', 6: 'hardware_version',
         7: 'cum_operating_time', 10: 'battery_voltage', 11: 'battery_status', 27: 'product_name'},
    34: {0: 'total_timer_time', 1: 'num_sessions', 2: 'type', 3: 'event', 4: 'event_type', 5: 'local_timestamp', 6: 'event_group'},
    49: {0: 'software_version', 1: 'hardware_version'},
    78: {0: 'time'},
    206: {0: 'developer_data_index', 1: 'field_definition_number', 2: 'fit_base_type_id', 3: 'field_name', 6: 'scale', 7: 'offset', 8: 'units', 14: 'native_mesg_num',
          15: 'native_field_num'},
    207: {1: 'application_id', 3: 'developer_data_index', 4: 'application_version'},
}
SCALES = {'distance': 100, 'total_distance': 100, 'speed': 1000, 'avg_speed': 1000, 'total_elapsed_time': 1000, 'total_timer_time': 1000, 'time': 1000,
          'battery_voltage': 256}
FIT_EVENTS = {0: 'timer', 8: 'session', 9: 'lap', 26: 'activity'}
LABELS = {'event': FIT_EVENTS, 'event_type': {0: 'start', 1: 'stop', 4: 'stop_all', 9: 'stop_disable_all'}, 'sport': {0: 'generic', 1: 'running', 2: 'cycling'}}


def fit_value(data, base, order, size):
    """A number, text or bytes; None: absent. A list of numbers has only those that are there."""
    if base == 7:
        return data.split(b'\0')[0].decode() or None
    if base not in BASES:
        return data.hex()
    form, absent = BASES[base]
    values = struct.unpack(f'{order}{size // struct.calcsize(form)}{form}', data)
    nothing = b'\xff' * struct.calcsize(form)
    there = [single(each) for number, each in enumerate(values)
             if (data[number * len(nothing):][:len(nothing)] != nothing if absent is None else each != absent)]
    return there if len(values) > 1 else there[0] if there else None


def fit_shown(message, name, value):
    """As the description shows it: scaled, a time, with a label."""
    if value is None or isinstance(value, list):
        return [each / SCALES[name] for each in value] if value and name in SCALES else value
    if name in ('start_time', 'time_created'):
        return (value + EPOCH) * SECOND
    if name in LABELS and value in LABELS[name]:
        return (value, LABELS[name][value])
    if name == 'altitude':
        return value / 5 - 500
    if name == 'software_version' and message == 23:
        return value / 100
    return value / SCALES[name] if name in SCALES else value


def fit_fields(data, at, definition, developers):
    """({field: value}, time or None, where they end)"""
    order, message, own, more = definition
    out, when = {}, None
    for number, size, base in own:
        value = fit_value(data[at:at + size], base, order, size)
        at += size
        if number == 253:
            when = None if value is None else (value + EPOCH) * SECOND
            continue
        name = 'message_index' if number == 254 else NAMES.get(message, {}).get(number, f'field_{number}')
        out[name] = fit_shown(message, name, value)
    for number, size, developer in more:
        name, base, scale, offset = developers.get((developer, number), (f'developer_{developer}_field_{number}', 13, None, None))
        value = fit_value(data[at:at + size], base, order, size)
        at += size
        if value is not None and not isinstance(value, str) and ((scale or 1) != 1 or offset):
            value = value / (scale or 1) - (offset or 0)
        out[name] = value
    return out, when, at


def fit_events(data):
    at, definitions, developers, last = data[0], {}, {}, None
    end = at + struct.unpack_from('<I', data, 4)[0]
    while at < end:
        head, at = data[at], at + 1
        if head & 0xc0 == 0x40:
            order = '><'[data[at + 1] == 0]
            message, count = struct.unpack_from(order + 'HB', data, at + 2)
            at += 5
            lists = []
            for _ in range(1 + (head >> 5 & 1)):
                if lists:
                    count, at = data[at], at + 1
                lists.append([tuple(data[at + 3 * i:at + 3 * i + 3]) for i in range(count)])
                at += 3 * count
            definitions[head & 15] = (order, message, lists[0], lists[1] if len(lists) > 1 else [])
            continue
        definition = definitions[head >> 5 & 3 if head & 0x80 else head & 15]
        values, when, at = fit_fields(data, at, definition, developers)
        if head & 0x80: # the lowest bits of a time that is not before the last
            seconds = last // SECOND - EPOCH
            when = (seconds + ((head & 31) - seconds) % 32 + EPOCH) * SECOND
        last = when if when is not None else last
        if definition[1] == 206:
            developers[values['developer_data_index'], values['field_definition_number']] = (
                values['field_name'], values['fit_base_type_id'], values.get('scale'), values.get('offset'))
        yield MESSAGES.get(definition[1], f'message_{definition[1]}'), when, values


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xa001 if crc & 1 else 0)
    return crc


def fit_file(content):
    head = struct.pack('<BBHI4s', 14, 0x20, 2000, len(content), b'.FIT')
    head += struct.pack('<H', crc16(head))
    return head + content + struct.pack('<H', crc16(head + content))


def fit_definition(local, message, own, more=(), order='<'):
    flat = lambda fields_: bytes([len(fields_)]) + b''.join(bytes(each) for each in fields_)  # noqa: E731
    return (bytes([0x40 | (0x20 if more else 0) | local, 0, order == '>']) + struct.pack(order + 'H', message) + flat(own) + (flat(more) if more else b''))


DESCRIBING = [(0, 1, 2), (1, 1, 2), (2, 1, 2), (3, 8, 7), (6, 1, 2), (7, 1, 1), (8, 4, 7)]


def described_field(number, base, name, scale=255, offset=127, units=''):
    return struct.pack('<BBBB8sBb4s', 5, 0, number, base, name.encode(), scale, offset, units.encode())


def fit_content():
    """Both byte orders, times of 5 bits, texts, lists, what is absent, fields of developers with and without a description."""
    return b''.join([
        fit_definition(0, 0, [(0, 1, 0), (4, 4, 134), (8, 6, 7), (3, 4, 140)]), struct.pack('<BBI6sI', 0, 4, 1000000000, b'watch', 0),
        fit_definition(1, 20, [(253, 4, 134), (5, 4, 134), (2, 2, 132), (3, 1, 2)], order='>'),
        struct.pack('>BIIHB', 1, 1000000000, 12345, 3000, 99), struct.pack('>BIIHB', 1, 0xffffffff, 0xffffffff, 0xffff, 0xff),
        fit_definition(2, 20, [(6, 2, 132)]), bytes([0x80 | 2 << 5 | 30]) + struct.pack('<H', 1500), bytes([0x80 | 2 << 5 | 1]) + struct.pack('<H', 0xffff),
        fit_definition(3, 78, [(0, 6, 132)]), struct.pack('<B3H', 3, 800, 0xffff, 1000),
        fit_definition(4, 400, [(0, 4, 136), (1, 8, 137), (2, 3, 13), (9, 2, 131), (10, 2, 139), (11, 8, 142)]),
        struct.pack('<Bfd3shHq', 4, 1.5, -2.25, b'abc', -5, 7, -1), struct.pack('<BI8s3shHq', 4, 0xffffffff, b'\xff' * 8, b'\0\xff\1', 0x7fff, 0, 2**63 - 1),
        fit_definition(5, 206, DESCRIBING), described_field(1, 132, 'oxygen', 10, 5, '%'), described_field(2, 7, 'note'), described_field(3, 2, 'laps'),
        fit_definition(6, 20, [(253, 4, 134)], [(1, 2, 0), (2, 4, 0), (3, 1, 0), (4, 3, 1)]),
        struct.pack('<BIH4sB3s', 6, 1000000040, 985, b'ok', 7, b'xyz'), struct.pack('<BIH4sB3s', 6, 1000000041, 0xffff, b'', 255, b'\1\2\3')])


def fit():
    path = pathlib.Path('made.fit')
    data = fit_file(fit_content())
    path.write_bytes(data)
    events, said, status = read(path)
    agree('fit', events, list(fit_events(data)))
    same('fit: nothing is damaged', (said, status), ('', 0))
    same('fit: times of 5 bits', [when for name, when, values in events if name == 'record'][2:4], [(1000000000 + EPOCH + 30) * SECOND, (1000000000 + EPOCH + 33) * SECOND])
    same('fit: a field of a developer, scaled', [values for _, when, values in events if when == (1000000040 + EPOCH) * SECOND],
         [{'oxygen': 93.5, 'note': 'ok', 'laps': 7, 'developer_1_field_4': '78797a'}])
    written('fit', path, events)
    registered('fit', path)
    same('fit: the unit of a field of a developer', re.findall(r'"unit":"(%)"', pathlib.Path('ctf2/metadata').read_text().replace(' ', '')), ['%'])
    twice = pathlib.Path('twice.fit')
    twice.write_bytes(data + data)
    again, said, status = read(twice)
    same('fit: two files in one', ([event[2] for event in again], said, status), ([event[2] for event in events] * 2, '', 0))
    content = fit_content()
    faults = {'a checksum': (data[:40] + b'\7' + data[41:], 'R4: crc is not the crc16arc'),
              'two descriptions of a field': (fit_file(content + described_field(1, 132, 'other')), 'R7: another definition of the key 1, expected "oxygen", found "other"'),
              'a size that no number has': (fit_file(content + fit_definition(7, 20, [(5, 3, 134)]) + b'\7abc'),
                                            'R7: a definition of a record with a size that its type cannot have, found 3, in "distance" of "record"'),
              'a type that is not known': (fit_file(content + fit_definition(7, 20, [(5, 1, 99)]) + b'\7a'),
                                           'R7: a definition of a record with a type that is not known, found "99", in "distance" of "record"'),
              'a field twice': (fit_file(content + fit_definition(7, 20, [(5, 1, 2), (5, 1, 2)]) + b'\7ab'),
                                'R7: a definition of a record with two fields of one name, found "distance", in "distance" of "record"'),
              'no definition': (fit_file(content + b'\x0f'), 'R7: a record without a definition, found the key 15'),
              'a cut file': (data[:-30], 'R4: the file is cut')}
    for name, (broken, message) in faults.items():
        pathlib.Path('broken.fit').write_bytes(broken)
        got, said, status = read('broken.fit', '--as', 'fit')
        same(f'fit: {name}', (message in said, status, len(got) >= len(events) - 2), (True, 1, True))
    for name in ('activity', 'activity_dev') if FOREIGN.exists() else ():
        path = FOREIGN / f'fit/{name}.fit'
        events, said, status = read(path)
        same(f'fit, {name}: nothing is damaged', (said, status), ('', 0)) # the checksum is right
        agree(f'fit, {name}', events, list(fit_events(path.read_bytes())))
        written(f'fit, {name}', path, events, is_long=True)
        {'activity': fit_activity, 'activity_dev': fit_developers}[name](events)


def fit_activity(events):
    """The values in shared/data/foreign/fit/README.md."""
    names = [event[0] for event in events]
    counts = {number: names.count(MESSAGES.get(number, f'message_{number}')) for number in (0, 12, 18, 19, 20, 21, 22, 23, 34, 49, 104, 113)}
    same('fit: messages', (counts, len(names)), ({0: 1, 12: 1, 18: 1, 19: 46, 20: 2050, 21: 5, 22: 1, 23: 6, 34: 1, 49: 1, 104: 27, 113: 1}, 2141))
    records = [event for event in events if event[0] == 'record']
    same('fit: the first record', (records[0][1], records[0][2]['position_lat'], records[0][2]['position_long']),
         (1693717202 * SECOND, 707797045, 215355376)) # 2023-09-03T05:00:02Z
    same('fit: the last record', (records[-1][1], records[-1][2]['distance'], records[-1][2]['speed']), (1693724753 * SECOND, 45988.27, 4.949))


def fit_developers(events):
    names = [event[0] for event in events]
    same('fit: messages of developers', (names.count('record'), names.count('field_description'), names.count('developer_data_id'), len(names)), (3601, 2, 1, 3611))
    _, when, values = [event for event in events if event[0] == 'record'][-1]
    same('fit: the last record of developers', (when, values['distance'], values['Heart Rate']), (1599260404 * SECOND, 3600.0, 126)) # 2020-09-04T23:00:04Z


for each in (ulog, fit):
    try:
        each()
    except Exception as problem: # what one of them trips over is not the others' fault
        not_ok(each.__name__, repr(problem))
