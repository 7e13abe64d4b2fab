# SPDX-License-Identifier: MIT
"""Traces in Python.

    import kymo
    for event in kymo.open('mytrace', filter='len > 1000'):
        print(event.time, event.name, event.fields['len'])

    kymo.open('mytrace').query('SELECT class, count(*) FROM events GROUP BY class')
    pyarrow.table(kymo.open('mytrace').arrow('net:rx'))

docs/python.md describes it by example.
"""
import difflib
import operator
import os
import warnings

from . import _kymo, _query
from ._kymo import ArrowTable, Event, Events
from ._types import (Damage, DamagedPlace, DamageWarning, Enum, Error, EventClass, Flags, Loss, LossWarning, Part, ReadingWarning, Stream,
                     to_datetime)

__all__ = ['ArrowTable', 'Damage', 'DamageWarning', 'DamagedPlace', 'Enum', 'Error', 'Event', 'EventClass', 'Events', 'Flags', 'Loss',
           'LossWarning', 'Part', 'ReadingWarning', 'Rows', 'Stream', 'Trace', 'open', 'to_datetime', 'version']

version = _kymo.version
Rows = _query.Rows


class Trace(_kymo.Trace):
    """Traces that were opened by kymo.open(). Iterating over it is a pass over its events (Event) in the order of time; each pass
    begins anew, and several may go on at a time, also in several threads (one thread for each)."""
    __slots__ = ('_options',)

    def query(self, statement, parameters=()):
        """Answers a statement of SQL: Rows, with the tables of `kymo query` (docs/queries.md). They have the events that a pass has:
        those of the filter and the window with which the trace was opened."""
        return _query.Rows(self, statement, parameters)

    def connect(self):
        """A new connection of the module sqlite3 with the tables of query(), for example for pandas.read_sql()."""
        return _query.connect(self)

    def arrow(self, name=None):
        """The events of one class as columns, or those that all events have: an object with the Arrow stream interface
        (`__arrow_c_stream__`), for pyarrow.table(), polars.DataFrame(), DuckDB …"""
        names = {event_class.name for event_class in self.classes}
        if name is not None and name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f' (did you mean "{near[0]}"?)' if near else ''
            raise Error(f'the trace has no events "{name}"{hint}')
        return self._arrow(name)

    def __repr__(self):
        closed = ' closed' if self.closed else ''
        return f'<kymo.Trace{closed} {" ".join(map(str, self.paths or ()))}>'


def open(*paths, filter=None, begin=None, end=None, damage='raise', format=None, description=None):
    """Opens traces (files, or directories that are searched for traces), merged by time, and returns a Trace.

    filter       a text in FDL: only events that it selects (docs/filters.md)
    begin, end   a window of time: nanoseconds, or a text as for `kymo cat --begin` ("+1.5s", "2026-11-21 15:04:05", UTC)
    damage       'raise': a pass over damaged files ends with Damage, after the events that are readable; 'warn': with a
                 DamageWarning
    format       the name of a format ("ctf"); otherwise it is detected
    description  the path of a compiled description, or of its text, by which the files are read

    Error says what cannot be opened and where; its line and column are places in the filter."""
    if not paths:
        raise TypeError('which trace?')
    if damage not in ('raise', 'warn'):
        raise ValueError(f"damage is 'raise' or 'warn', not {damage!r}")
    trace = Trace(tuple(map(os.fspath, paths)), filter, begin, end, format, description, damage == 'warn')
    options = {'filter': filter, 'begin': _limit(begin), 'end': _limit(end), 'format': format,
               'description': None if description is None else os.fsencode(description)}
    trace._options = {name: value for name, value in options.items() if value is not None}
    for text in trace.warnings:
        warnings.warn(text, ReadingWarning, stacklevel=2)
    return trace


def _limit(value):
    """A limit of time as SQLite takes it: other integers than int become one."""
    return value if value is None or isinstance(value, str) else operator.index(value)
