# SPDX-License-Identifier: MIT
"""What the package defines in Python: values, descriptions of traces, errors. The part in C takes them from here."""
import re
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def to_datetime(ns):
    """A time in nanoseconds since 1970 as a datetime in UTC, cut to microseconds. OverflowError: after the year 9999."""
    return _EPOCH + timedelta(microseconds=ns // 1000)


# ---- values ----

class Enum(int):
    """The value of an enumeration: a number that also has a name. It equals the number."""
    names = ()  #: All names of the value; ranges of names may overlap.

    @property
    def name(self):
        """The first name of the value, or None."""
        return self.names[0] if self.names else None

    def __repr__(self):
        return f'<{self.name or "?"}: {int(self)}>'

    def __str__(self):
        return self.name or str(int(self))

    def __format__(self, spec):
        return format(int(self), spec) if spec else str(self)

    def __reduce__(self):
        return _restored, (type(self), int(self), self.names, None)


class Flags(int):
    """A number whose bits have names. It equals the number; `'READ' in flags` asks for a name."""
    names = ()  #: The names of the flags that are set.
    rest = 0  #: The bits that have no name.

    def __contains__(self, name):
        return name in self.names

    def __repr__(self):
        return f'<{self}: {int(self)}>'

    def __str__(self):
        return '|'.join([*self.names, *([str(self.rest)] if self.rest or not self.names else [])])

    def __format__(self, spec):
        return format(int(self), spec) if spec else str(self)

    def __reduce__(self):
        return _restored, (type(self), int(self), self.names, self.rest)


def _restored(kind, number, names, rest):
    value = kind(number)
    value.names = names
    if rest is not None:
        value.rest = rest
    return value


# ---- traces ----

class EventClass(NamedTuple):
    """The events of one name: what describes them."""
    name: str
    group: str
    id: int
    level: 'int | None'
    fields: 'tuple[str, ...]'
    description: 'str | None'


class Stream(NamedTuple):
    """A sequence of packets, usually of one thread or CPU: its number in its trace, its file, the number of the trace, and the
    name of the process."""
    id: int
    path: str
    trace: int
    process: 'str | None'


class Part(NamedTuple):
    """One of the traces that were opened together."""
    path: str
    format: str
    name: 'str | None'
    uuid: 'bytes | None'
    environment: 'dict[str, str | int]'


class Loss(NamedTuple):
    """Events or packets that were recorded and are missing."""
    what: str
    count: 'int | None'
    begin: 'int | None'
    end: 'int | None'
    path: str


class DamagedPlace(NamedTuple):
    """A place in a file whose bytes are corrupt; reading went on after it."""
    file: 'str | None'
    offset: 'int | None'
    bytes_lost: int
    message: str

    @property
    def expected(self):
        """What the message says was expected, or None."""
        return _said(self.message)[0]

    @property
    def found(self):
        """What the message says was found, or None."""
        return _said(self.message)[1]

    def __str__(self):
        file = f'{self.file}: ' if self.file else ''
        offset = f'byte {self.offset}: ' if self.offset is not None else ''
        return f'{file}{offset}{self.message}'


def _said(message):
    match = re.search(r'expected (.*), found (.*)', message, re.S)
    return match.groups() if match else (None, None)


# ---- errors and warnings ----

class Error(Exception):
    """Something cannot be opened or read: file, offset (bytes), line, column, message, and `code` of kymo/error.h."""

    def __init__(self, text, *, message=None, file=None, offset=None, line=None, column=None, code=None):
        super().__init__(text)
        self.message, self.file, self.offset = text if message is None else message, file, offset
        self.line, self.column, self.code = line, column, code


class Damage(Error):
    """Bytes of a trace are corrupt. The events that are readable were delivered before. The attributes are those of the first
    place; `places` lists all (DamagedPlace), and `total` counts also those that the list has no space for."""

    def __init__(self, text, *, places=(), total=None, expected=None, found=None, **more):
        super().__init__(text, **more)
        self.expected, self.found, self.places = expected, found, tuple(places)
        self.total = len(self.places) if total is None else total


class DamageWarning(UserWarning):
    """Bytes of a trace are corrupt (open(damage='warn'))."""


class LossWarning(UserWarning):
    """Events were recorded and are missing in the trace."""


class ReadingWarning(UserWarning):
    """What should be known of how a trace is read, and possible mistakes of a filter."""


_E_FORMAT = -4


def _error_of(code, text, message, file, offset, line, column):
    words = {'message': message, 'file': file or None, 'offset': offset, 'line': line or None, 'column': column or None, 'code': code}
    if code != _E_FORMAT:
        return Error(text, **words)
    expected, found = _said(message)
    return Damage(text, expected=expected, found=found, places=[DamagedPlace(file or None, offset, 0, message)], **words)


def _damage_of(places, total, what='events'):
    first = places[0]
    more = f' (and {total - 1} more damaged places)' if total > 1 else ''
    return Damage(f'{first}{more}; the {what} before this error are what is readable', message=first.message, file=first.file,
                  offset=first.offset, code=_E_FORMAT, expected=first.expected, found=first.found, places=places, total=total)


def _counted(losses, what):
    known = sum(loss.count for loss in losses if loss.what == what and loss.count is not None)
    return [f'{known} {what}'] if known else []


def _loss_text(losses):
    if len(losses) == 1:
        first = losses[0]
        count = 'an unknown number of' if first.count is None else first.count
        times = f' between {first.begin} and {first.end} ns' if first.begin is not None else ''
        return f'{count} {first.what} were lost{times} in {first.path} (Trace.losses)'
    unknown = sum(loss.count is None for loss in losses)
    parts = [*_counted(losses, 'events'), *_counted(losses, 'packets'), *([f'{unknown} times an unknown number'] if unknown else [])]
    return f'lost in {len(losses)} places: {", ".join(parts)} (Trace.losses)'
