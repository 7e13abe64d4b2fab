# SPDX-License-Identifier: MIT
"""SQL over a trace: the module sqlite3 of Python with libkymo-sqlite, which has the tables of `kymo query`."""
import itertools
import json
import os
import sqlite3
import warnings

from . import _kymo
from ._types import DamagedPlace, DamageWarning, Error, LossWarning, _damage_of


def _extension():
    """The path of libkymo-sqlite, which is installed beside libkymo."""
    folder = os.path.dirname(_kymo.library)
    return os.path.join(folder, 'libkymo-sqlite')


def connect(trace):
    """A connection with the tables of a trace, of the events that it was opened for. Statements end at damage with an error, after the
    rows that are readable."""
    return _open(trace)


def _open(trace, **options):
    if trace.closed:
        raise ValueError('the trace is closed')
    options |= trace._options
    db = sqlite3.connect(':memory:')
    if not hasattr(db, 'enable_load_extension'):
        raise Error('the sqlite3 of this Python does not load extensions; the python3 of Debian does, and so does the command kymo query')
    db.enable_load_extension(True)
    try:
        db.load_extension(_extension())
        words = ', '.join(['?'] * len(trace.paths) + ['kymo_option(?, ?)'] * len(options))
        db.execute(f'SELECT kymo_open({words})', [*map(os.fsencode, trace.paths), *itertools.chain(*options.items())])
    except sqlite3.OperationalError as error:
        raise Error(str(error)) from None
    db.enable_load_extension(False)
    return db


class Rows:
    """The answer to a statement: an iterator of rows, which are read when they are asked for. A row is a sqlite3.Row:
    row['port'], row[0], tuple(row). At the end it raises Damage, or warns of losses, as a pass over the events does."""

    columns = ()  #: The names of the columns.

    def __init__(self, trace, statement, parameters=()):
        # sqlite3 drops the last row before an error, so damage is asked for at the end
        self._db, self._warns_damage = _open(trace, damage='skip'), trace._warns_damage
        try:
            self._cursor = self._db.execute(statement, parameters)
        except sqlite3.Error as error:
            self._db.close()
            raise Error(str(error)) from None
        self._cursor.row_factory = sqlite3.Row
        self.columns = tuple(column[0] for column in self._cursor.description or ())
        self._is_over = False

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return next(self._cursor)
        except StopIteration:
            self._end()
            raise
        except sqlite3.OperationalError as error:
            raise Error(str(error)) from None

    def _end(self):
        """Reports once what is missing in the answer."""
        if self._is_over:
            return
        self._is_over = True
        met = json.loads(self._db.execute('SELECT kymo_met()').fetchone()[0])
        if lost := ', '.join(f'{count} {_LOST[what]}' for what, count in met['lost'].items() if count):
            warnings.warn(f'the trace lacks events that were lost: {lost} (SELECT * FROM losses)', LossWarning, stacklevel=3)
        if not met['damage']:
            return
        damage = _damage_of([DamagedPlace(place['path'], place['offset'], place['bytes_lost'], place['message']) for place in met['damage']],
                            len(met['damage']), 'rows')
        if not self._warns_damage:
            raise damage from None
        warnings.warn(str(damage), DamageWarning, stacklevel=3)

    def fetchall(self):
        """All rows that are left, as a list."""
        return list(self)


_LOST = {'events': 'events', 'packets': 'packets', 'unknown': 'times an unknown number'}
