#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the package promises, one case each. Prints ok or not ok.

    api.py ONE SAMPLE DAMAGED ODD     traces of tests/query/make_trace.py, tests/cli/sample_trace.py; one with corrupt bytes; names.py
"""
import copy
import datetime
import os
import pickle
import sqlite3
import struct
import sys
import tempfile
import traceback
import warnings

import kymo

ONE, SAMPLE, DAMAGED, ODD = sys.argv[1:]
CASES = []


def case(function):
    CASES.append(function)
    return function


def raises(kind, text, function, *words, **more):
    try:
        function(*words, **more)
    except kind as error:
        assert type(error) is kind and (str(error) == text or str(error).startswith(text + '\n')), f'{type(error)}: {error}, not {text}'
        return error
    raise AssertionError(f'nothing is raised, instead of: {text}')


@case
def every_attribute_of_an_event():
    event = next(iter(kymo.open(ONE)))
    assert (event.name, event.group, event.level, event.number) == ('work_end', '', None, 1)
    assert (event.time, event.time_text, event.cycles) == (1700000000000001002, '2023-11-14T22:13:20.000001002Z', 1002)
    assert event.datetime == datetime.datetime(2023, 11, 14, 22, 13, 20, 1, tzinfo=datetime.timezone.utc)
    assert (event.process, event.pid, event.thread, event.tid, event.cpu, event.trace) == ('server', 4001, 'worker 0', 100, 0, 0)
    assert event.stream == kymo.Stream(0, f'{ONE}/stream_0', 0, 'server') and event.losses == () and event.after_damage is False
    assert event.fields == {'job': 0, 'result': 0} and event.context == {'vtid': 100, 'procname': 'worker 0'} and event.event_context == {}
    assert event.event_class in kymo.open(ONE).classes and event.event_class.fields == ('job', 'result') and event.message is None
    assert repr(event) == "<kymo.Event work_end 2023-11-14T22:13:20.000001002Z {'job': 0, 'result': 0}>"


@case
def values_of_all_kinds():
    fields = next(event.fields for event in kymo.open(SAMPLE) if event.name == 'all:kinds')
    assert fields['min'] == -2**63 and fields['max'] == 2**64 - 1 and fields['f64'] == 1e-07 and fields['nan'] != fields['nan']
    assert fields['pairs'] == [{'a': 1, 'b': 2}, {'a': 3, 'b': 4}] and fields['nothing'] == {} and fields['value'] == 99
    assert fields['text'] == 'tab\t "quoted" \\ é \ufffd \x1b[31m'


@case
def enumerations_are_numbers_with_names():
    states = [event.fields['state'] for event in kymo.open(SAMPLE) if event.name == 'net:rx']
    assert [(int(state), state.name, state.names) for state in states] == [(1, 'OPEN', ('OPEN',)), (3, 'HALF OPEN', ('HALF OPEN', 'SHUT')), (9, None, ())]
    assert states[0] == 1 and str(states[0]) == 'OPEN' and f'{states[0]:02}' == '01' and repr(states[2]) == '<?: 9>' and {1: 'one'}[states[0]] == 'one'
    for again in pickle.loads(pickle.dumps(states[1])), copy.deepcopy(states[1]):
        assert again == states[1] and again.names == states[1].names


@case
def flags_are_numbers_with_names():
    flags = kymo.Flags(13)
    flags.names, flags.rest = ('A', 'C'), 8
    assert 'A' in flags and 'B' not in flags and str(flags) == 'A|C|8' and flags & 4 and pickle.loads(pickle.dumps(flags)).rest == 8


@case
def losses_are_before_the_event_and_in_a_warning():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always')
        trace = kymo.open(SAMPLE)
        events = list(trace)
    assert [(warning.category, str(warning.message)) for warning in said] == [
        (kymo.LossWarning, 'lost in 2 places: 12 events, 2 packets (Trace.losses)')]
    assert said[0].filename == __file__
    lossy = [event.losses for event in events if event.losses]
    assert lossy == [tuple(trace.losses)] and [(loss.what, loss.count) for loss in trace.losses] == [('events', 12), ('packets', 2)]


@case
def a_warning_of_losses_can_be_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        raises(kymo.LossWarning, 'lost in 2 places: 12 events, 2 packets (Trace.losses)', list, kymo.open(SAMPLE))


@case
def damage_is_raised_after_what_is_readable():
    readable = []
    try:
        for event in kymo.open(DAMAGED):
            readable.append(event)
    except kymo.Damage as damage:
        assert (damage.file, damage.offset, damage.message, damage.total) == (f'{DAMAGED}/stream_1', 416, 'no event class has the id 32391', 1)
        assert str(damage) == f'{DAMAGED}/stream_1: byte 416: no event class has the id 32391; the events before this error are what is readable'
        assert damage.places == (kymo.DamagedPlace(f'{DAMAGED}/stream_1', 416, damage.places[0].bytes_lost, damage.message),)
        assert damage.places[0].bytes_lost > 0 and isinstance(damage, kymo.Error)
    else:
        raise AssertionError('no damage is raised')
    assert len(readable) > 1900 and sum(event.after_damage for event in readable) == 1


@case
def damage_may_be_a_warning():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always')
        trace = kymo.open(DAMAGED, damage='warn')
        count = sum(1 for _ in trace)
    assert count > 1900 and [warning.category for warning in said] == [kymo.DamageWarning] and len(trace.damage) == 1


@case
def expected_and_found_are_those_of_the_message():
    place = kymo.DamagedPlace('f', 3, 1, 'page 2: expected 7 bytes, found 5')
    assert (place.expected, place.found, str(place)) == ('7 bytes', '5', 'f: byte 3: page 2: expected 7 bytes, found 5')
    assert kymo.DamagedPlace('f', None, 1, 'odd').expected is None


@case
def what_cannot_be_opened():
    error = raises(kymo.Error, 'absent: cannot open: No such file or directory', kymo.open, 'absent')
    assert (error.file, error.offset, error.line) == ('absent', None, None)
    raises(TypeError, 'which trace?', kymo.open)
    raises(ValueError, "damage is 'raise' or 'warn', not 'skip'", kymo.open, ONE, damage='skip')
    raises(TypeError, 'expected str, bytes or os.PathLike object, not int', kymo.open, 3)
    raises(ValueError, 'embedded null byte', kymo.open, 'a\0b')
    raises(ValueError, 'embedded null byte', kymo.open, ONE, filter='port\0 = 80')


@case
def a_filter_that_is_wrong_has_a_place():
    error = raises(kymo.Error, 'filter:1:1: error: E31 no event has a field "prot" (did you mean "port"?)', kymo.open, ONE, filter='prot = 80')
    assert (error.line, error.column, error.message) == (1, 1, 'E31 no event has a field "prot" (did you mean "port"?)')


@case
def a_filter_selects():
    assert [event.number for event in kymo.open(ONE, filter='port = 80')] == \
        [event.number for event in kymo.open(ONE) if event.fields.get('port') == 80]


@case
def a_window_of_time_selects():
    begin, end = 1700000000010000000, 1700000000020000000
    wanted = [event.time for event in kymo.open(ONE) if begin <= event.time <= end]
    assert wanted and [event.time for event in kymo.open(ONE, begin=begin, end=end)] == wanted
    assert [event.time for event in kymo.open(ONE, begin='@1700000000.01', end='@1700000000.02')] == wanted
    first, last = kymo.open(ONE).range()
    assert first == 1700000000000001002 and last >= max(event.time for event in kymo.open(ONE))
    raises(OverflowError, 'int too big to convert', kymo.open, ONE, begin=2**70)
    raises(TypeError, "'list' object cannot be interpreted as an integer", kymo.open, ONE, begin=[])


@case
def several_traces_are_merged():
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        both = kymo.open(ONE, SAMPLE)
        events = list(both)
    assert [part.path for part in both.parts] == [ONE, SAMPLE] and {event.trace for event in events} == {0, 1}
    assert [event.time for event in events] == sorted(event.time for event in events)
    assert both.parts[0].environment == {'hostname': 'box', 'procname': 'server', 'vpid': 4001} and both.parts[0].format == 'ctf'


@case
def a_closed_trace_says_so():
    trace = kymo.open(ONE)
    with trace as same:
        events = iter(same)
        event = next(events)
    assert trace.closed and event.fields == {'job': 0, 'result': 0}
    for refused in (lambda: iter(trace), lambda: next(events), trace.range, trace.arrow, lambda: trace.query('SELECT 1'), trace.__enter__):
        raises(ValueError, 'the trace is closed', refused)
    trace.close()
    assert repr(trace) == f'<kymo.Trace closed {ONE}>' and trace.classes


@case
def each_pass_begins_anew():
    trace = kymo.open(ONE)
    one, other = iter(trace), iter(trace)
    assert [next(one).number for _ in range(400)] == [next(other).number for _ in range(400)] == list(range(1, 401))
    assert sum(1 for _ in trace) == 2000
    one.close()
    raises(ValueError, 'the trace is closed', next, one)
    assert next(other).number == 401 and next(iter(other)).number == 402


@case
def a_pass_that_is_over_stays_so():
    events = iter(kymo.open(ONE, filter='port = 80'))
    assert len(list(events)) and list(events) == [] and next(events, None) is None


@case
def objects_are_not_made_by_hand():
    for kind in kymo.Event, kymo.Events, kymo.ArrowTable:
        try:
            kind()
        except TypeError:
            continue
        raise AssertionError(kind)


@case
def odd_names_are_keys():
    classes = kymo.open(ODD).classes
    assert classes[0].fields == ('Len', 'len', 'len#2', 'say "x"') and classes[0].level is None
    assert [event.fields for event in kymo.open(ODD)] == [{'Len': 1, 'len': 2, 'len#2': 3, 'say "x"': 4}]


@case
def arrow_refuses_a_misspelt_class():
    raises(kymo.Error, 'the trace has no events "net:xr" (did you mean "net:rx"?)', kymo.open(ONE).arrow, 'net:xr')


if hasattr(sqlite3.Connection, 'enable_load_extension') and os.path.exists(os.path.join(os.path.dirname(kymo._kymo.library), 'libkymo-sqlite.so')):
    @case
    def a_statement_is_answered():
        rows = kymo.open(ONE).query('SELECT class, count(*) AS n FROM events GROUP BY class')
        assert rows.columns == ('class', 'n')
        counts = {}
        for event in kymo.open(ONE):
            counts[event.name] = counts.get(event.name, 0) + 1
        assert {row['class']: row['n'] for row in rows} == counts
        assert kymo.open(ONE).query('SELECT count(*) FROM "net:rx" WHERE port = ?', [80]).fetchall()[0][0] == len(list(kymo.open(ONE, filter='port = 80')))

    @case
    def a_statement_over_damage_ends_with_it():
        rows, readable = kymo.open(DAMAGED).query('SELECT ts, fields FROM events'), 0
        try:
            for _ in rows:
                readable += 1
        except kymo.Damage as damage:
            assert (damage.file, damage.offset, damage.message) == (f'{DAMAGED}/stream_1', 416, 'no event class has the id 32391')
            assert damage.places[0].bytes_lost > 0 and str(damage).endswith('; the rows before this error are what is readable')
        else:
            raise AssertionError('no damage is raised')
        assert list(rows) == []
        assert readable == sum(1 for _ in kymo.open(DAMAGED, damage='warn'))

    @case
    def a_statement_may_warn_of_damage_and_of_losses():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter('always')
            kymo.open(DAMAGED, damage='warn').query('SELECT ts FROM events').fetchall()
            kymo.open(SAMPLE).query('SELECT ts FROM events').fetchall()
        assert [warning.category for warning in said] == [kymo.DamageWarning, kymo.LossWarning]
        assert str(said[1].message) == 'the trace lacks events that were lost: 12 events, 2 packets (SELECT * FROM losses)'

    def same_events(*paths, **options):
        """How many events there are, which a statement and a pass agree on."""
        trace = kymo.open(*paths, **options)
        events = [(event.time, event.name, event.stream.id, event.trace) for event in trace]
        assert [tuple(row) for row in trace.query('SELECT ts, class, stream, trace FROM events')] == events
        names = [event[1] for event in events]
        counted = {row[0]: row[1] for row in trace.query('SELECT class, count(*) FROM events GROUP BY class')}
        assert counted == {name: names.count(name) for name in names}
        assert trace.query('SELECT count(*) FROM events').fetchall()[0][0] == len(events)
        assert trace.connect().execute('SELECT count(*), min(ts), max(ts) FROM events').fetchone() == (
            len(events), *((min(event[0] for event in events), max(event[0] for event in events)) if events else (None, None)))
        return len(events)

    @case
    def a_statement_sees_the_events_of_the_filter():
        assert 0 < same_events(ONE, filter='port = 80') < 2000
        assert same_events(ONE, filter='EVENT = "net:rx" AND port = 80 OR size > 32') > same_events(ONE, filter='size > 32') > 0
        assert same_events(ONE, filter='port = 99999') == 0
        trace = kymo.open(ONE, filter='port = 80')
        assert {row[0] for row in trace.query('SELECT DISTINCT port FROM "net:rx" WHERE port >= 0')} == {80}
        assert trace.query('SELECT count(*) FROM alloc').fetchall()[0][0] == 0

    @case
    def a_statement_sees_the_events_of_the_window():
        begin, end = 1700000000010000000, 1700000000020000000
        count = same_events(ONE, begin=begin, end=end)
        assert 0 < count < 2000 and count == same_events(ONE, begin='@1700000000.01', end='@1700000000.02')
        assert 0 < same_events(ONE, begin=begin, end=end, filter='port = 80') < count
        assert same_events(ONE, begin=begin) + same_events(ONE, end=begin - 1) == same_events(ONE) == 2000
        assert 0 < same_events(ONE, begin='+1ms', end='-1ms') < 2000
        assert same_events(ONE, begin=end, end=begin) == same_events(ONE, begin=-1, end=-1) == 0
        first = kymo.open(ONE).range()[0]
        assert same_events(ONE, end=first) == 1 and same_events(ONE, SAMPLE, end=first) > 1
        trace = kymo.open(ONE, begin=begin)
        wanted = [(event.time,) for event in trace if event.time <= end]
        assert [tuple(row) for row in trace.query('SELECT ts FROM events WHERE ts BETWEEN ? AND ? ORDER BY ts', [begin - 10**6, end])] == wanted

    class Index:
        """An integer that is no int, as those of numpy."""
        def __index__(self):
            return 1700000000010000000

    @case
    def limits_and_formats_of_all_kinds_reach_a_statement():
        assert same_events(ONE, begin=Index()) == same_events(ONE, begin=1700000000010000000)
        assert same_events(ONE, format='ctf') == 2000
        assert same_events(os.fsencode(ONE), format='ctf', filter='EVENT = "net:rx"', end='-1ms') > 0

    @case
    def a_statement_sees_files_by_their_description():
        with tempfile.TemporaryDirectory() as folder:
            odd = os.path.join(os.fsencode(folder), b'odd\xff.tdl')
            with open(odd, 'w') as file:
                file.write('TRACE log VERSION 1; BYTES LITTLE; CLOCK ns IS EPOCH "1970-01-01T00:00:00Z" RATE 1000000000; RECORD temperature EVENT IS '
                           'ACQUISITION: UNSIGNED 64 TIME ns POINT; degrees: INTEGER 16; END; LAYOUT REPEAT temperature; END TRACE.')
            with open(os.path.join(folder, 'log.bin'), 'wb') as file:
                file.write(b''.join(struct.pack('<Qh', 1000 + number, number) for number in range(9)))
            log = os.path.join(folder, 'log.bin')
            for description in odd, os.fsdecode(odd):
                trace = kymo.open(log, description=description, filter='degrees > 3')
                assert [row[0] for row in trace.query(f'SELECT degrees FROM "{trace.classes[0].name}"')] == [4, 5, 6, 7, 8]

    @case
    def damage_outside_of_the_window_is_not_met():
        first = kymo.open(DAMAGED).range()[0]
        assert len(kymo.open(DAMAGED, end=first).query('SELECT ts FROM events').fetchall()) == 1
        raises_damage = kymo.open(DAMAGED, filter='port = 80').query('SELECT ts FROM events')
        try:
            rows = raises_damage.fetchall()
        except kymo.Damage as damage:
            assert damage.offset == 416
        else:
            raise AssertionError(f'no damage is raised after {len(rows)} rows')

    @case
    def rows_go_on_when_the_trace_is_closed():
        with kymo.open(ONE, filter='port = 80', begin='+1ms') as trace:
            rows, db = trace.query('SELECT ts FROM events'), trace.connect()
            wanted = [event.time for event in trace]
            begun = [next(rows)[0] for _ in range(3)]
        del trace
        assert begun + [row[0] for row in rows] == wanted and db.execute('SELECT count(*) FROM events').fetchone()[0] == len(wanted)

    @case
    def a_connection_has_the_tables():
        db = kymo.open(ONE, SAMPLE).connect()
        assert db.execute('SELECT count(*) FROM events WHERE trace = 0').fetchone() == (2000,)
        db.close()

    @case
    def a_statement_that_is_wrong():
        raises(kymo.Error, 'no such column: prot', kymo.open(ONE).query, 'SELECT prot FROM "net:rx"')
else:
    print("skip statements: the sqlite3 of this Python does not load extensions, or kymo is built without it")

for function in CASES:
    name = function.__name__.replace('_', ' ')
    try:
        with warnings.catch_warnings():
            if 'warning' not in name:
                warnings.simplefilter('ignore')
            function()
        print(f'ok {name}')
    except Exception as error:
        print('    ' + traceback.format_exc().replace('\n', '\n    '))
        print(f'not ok {name}: {error}'.splitlines()[0])
