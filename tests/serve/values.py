#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the server says is what the commands print:  values.py KYMO"""
import functools
import json
import math
import os
import sys
from collections import Counter

from client import Server, check, range_of, rows_of, run, same, texts_of

KYMO = sys.argv[1]


@functools.cache
def printed(*words, statuses=(0, 1)):
    """The lines of JSON that a command prints; it runs once."""
    return [json.loads(line) for line in run([KYMO, *words], statuses).splitlines() if line.startswith('{')]


def events_printed(path, text=None):
    """The events that kymo cat prints of those that a filter selects."""
    return [line for line in printed('cat', '-f', 'json', *(['--filter', text] if text else []), path) if 'event' in line]


class Trace:
    """A trace, what the commands say of it, and its server."""

    def __init__(self, path, filters, pair_filter, pairs, field, text=None):
        self.path, self.filters, self.pair_filter, self.pairs, self.field, self.text = path, filters, pair_filter, pairs, field, text
        self.server = Server(KYMO, path)
        self.state = self.server.built()
        self.tracks = self.server.ask('tracks').tracks
        self.kinds = self.server.ask('kinds').kinds
        self.cat = events_printed(path)

    def stat(self, *words, filter_=None):
        return printed('stat', *words, *(['--filter', filter_] if filter_ else []), '--json', self.path)

    def id_of(self, filter_):
        """Of the task of a filter; None: there is no filter."""
        return self.server.task('filter', text=filter_).id if filter_ else None

    def events_of(self, filter_=None):
        """The events that a filter selects, with their numbers among all."""
        if not filter_:
            return list(enumerate(self.cat, 1))
        page = [row for first in range(0, len(self.cat), 1000) for row in self.server.ask('rows', first=first, count=1000, filter=self.id_of(filter_)).rows]
        return [(int(row['number']), self.cat[int(row['number']) - 1]) for row in page]

    def window(self, pixels):
        return {'begin': self.state.begin, 'end': int(self.state.end) + 1, 'pixels': pixels}

    def number_of(self, cells):
        return int(sum(cell['count'] for cell in cells))


def counts(trace, ours, by):
    same(ours, Counter({row[by]: row['count'] for row in trace.stat('counts', '--by', by) if row.get(by) is not None}))


def tracks(trace):
    ours = Counter()
    for track in trace.tracks:
        ours[track['name']] += int(track['events'])
    ours.pop('(none)', None)
    counts(trace, ours, 'track')
    same(sum(int(track['events']) for track in trace.tracks), int(trace.state.events))
    page = trace.server.ask('tracks', first=1, count=1)
    same((page.total, page.tracks), (len(trace.tracks), trace.tracks[1:2]))


def kinds(trace):
    counts(trace, Counter({kind['name']: int(kind['events']) for kind in trace.kinds}), 'event')


def tiles(trace):
    """Any picture has all events, at their times."""
    numbers = ','.join(str(track['track']) for track in trace.tracks)
    for pixels in (1, 7, 1000):
        rows = trace.server.picture('tile', tracks=numbers, **trace.window(pixels))
        same([trace.number_of(row) for row in rows], [int(track['events']) for track in trace.tracks])
    begin, end = int(trace.state.begin), int(trace.state.end)
    middle = begin + (end - begin) // 3
    rows = trace.server.picture('tile', tracks=numbers, begin=begin, end=middle, pixels=50)
    same(sum(map(trace.number_of, rows)), sum(event['ts'] < middle for event in trace.cat))
    same(trace.server.picture('tile', tracks=numbers, begin=end + 1, end=end + 10, pixels=50), [[] for _ in trace.tracks])


def filters(trace):
    numbers = ','.join(str(track['track']) for track in trace.tracks)
    for text in trace.filters:
        lines = events_printed(trace.path, text)
        wanted = len(lines)
        reply = trace.server.task('filter', text=text)
        same((reply.state, int(reply.count)), ('done', wanted))
        own = [line['ts'] for line in lines if line['event'] != 'pair']
        same((int(reply.added), len(own)), (wanted - len(own), int(reply.count) - int(reply.added)))  # activities add events that have no number
        same(trace.server.ask('filter', text=text).id, reply.id)  # the same task
        rows = trace.server.picture('tile', tracks=numbers, filter=reply.id, **trace.window(33))
        same(sum(map(trace.number_of, rows)), len(own))
        page = trace.server.ask('rows', first=0, count=1000, filter=reply.id)
        same(int(page.total), len(own))
        same([int(row['time']) for row in page.rows], own[:1000])
        for place in (0, len(page.rows) // 2, len(page.rows) - 1):
            same(int(trace.server.ask('rowof', number=page.rows[place]['number'], filter=reply.id).row), place)
    failed = trace.server.ask('filter', text='bad (')
    same((failed.id, failed.state, failed.error['column']), (None, 'failed', 6))


def rows(trace):
    page = trace.server.ask('rows', first=len(trace.cat) // 2, count=100)
    same(int(page.total), len(trace.cat))
    wanted = trace.cat[len(trace.cat) // 2:][:100]
    names = {kind['kind']: kind['name'] for kind in trace.kinds}
    same([(int(row['time']), names[row['kind']]) for row in page.rows], [(event['ts'], event['event']) for event in wanted])
    same([int(row['number']) for row in page.rows], [len(trace.cat) // 2 + 1 + i for i in range(len(wanted))])
    same(trace.server.ask('rows', first=len(trace.cat), count=10).rows, [])
    time = trace.cat[len(trace.cat) // 3]['ts']
    same(int(trace.server.ask('rowat', time=time).row), next(i for i, event in enumerate(trace.cat) if event['ts'] >= time))


def slewed_rows(trace):
    """Rows in the order of the times that are shown: with and without a filter, forward and back by hours, on the edges of 64 bits."""
    ask, all_rows = trace.server.ask, []
    while len(all_rows) < len(trace.cat):
        all_rows += ask('rows', first=len(all_rows), count=1000).rows
    span, tracks_ = int(trace.state.end) - int(trace.state.begin), [track['track'] for track in trace.tracks]
    filter_ = trace.server.task('filter', text=trace.filters[0]).id
    kept = {row['number'] for first in range(0, len(trace.cat), 1000) for row in ask('rows', first=first, count=1000, filter=filter_).rows}
    for slews in ({tracks_[0]: span // 3}, {tracks_[-1]: -span // 2 - 7, tracks_[0]: 1}, {track: 3600 * 10**9 for track in tracks_}, {tracks_[0]: -(1 << 62)}):
        def shown(row, slews=slews):
            return int(row['time']) + slews.get(row['track'], 0)
        text = ','.join(f'{track}:{slews[track]}' for track in sorted(slews))
        for id_ in (None, filter_):
            wanted = sorted((row for row in all_rows if id_ is None or row['number'] in kept), key=lambda row: (shown(row), int(row['number'])))
            for first in (0, len(wanted) // 2, max(0, len(wanted) - 7)):
                page = ask('rows', first=first, count=300, slew=text, filter=id_)
                same((page.rows, int(page.total)), (wanted[first:first + 300], len(wanted)))
            for row in range(0, len(wanted), max(1, len(wanted) // 20)):
                same(int(ask('rowof', number=wanted[row]['number'], slew=text, filter=id_).row), row)
                same(int(ask('rowat', time=shown(wanted[row]), slew=text, filter=id_).row), next(i for i, other in enumerate(wanted) if shown(other) >= shown(wanted[row])))
                for back, other in ((0, row - 1), (1, (row + 1) % len(wanted))): # searching goes by the same order, round the end
                    found = ask('search', number=wanted[other]['number'], back=back, slew=text, filter=id_)
                    same((found.mark['number'], found.isWrapped), (wanted[row]['number'], row == 0 if back == 0 else other == 0))
            same(ask('rows', first=len(wanted), count=10, slew=text, filter=id_).rows, [])
    for text in ('0', '0:', ':5', '0:5,', '0:x', '4294967296:1', '0:9223372036854775808', 'a:5'):
        trace.server.refused('rows', 400, first=0, count=1, slew=text)
    trace.server.refused('rows', 404, first=0, count=1, slew='4000000000:1')


def events(trace):
    for number in (1, len(trace.cat) // 2, len(trace.cat)):
        event, wanted = trace.server.ask('event', number=number), trace.cat[number - 1]
        same((int(event.number), int(event.time), event.name), (number, wanted['ts'], wanted['event']))
        fields = {field['path']: field['text'] for field in event.fields}
        for name, value in wanted['fields'].items():
            if isinstance(value, (int, str)):
                same(str(value) in fields[name], True)
        row = trace.server.ask('rows', first=number - 1, count=1).rows[0]
        same((event.text, event.track, event.kind), (row['text'], row['track'], row['kind']))
    trace.server.refused('event', 404, number=len(trace.cat) + 1)


def search(trace):
    """Forward over all of one kind, and back again; round the end."""
    name = trace.cat[len(trace.cat) // 2]['event']
    kind = next(kind['kind'] for kind in trace.kinds if kind['name'] == name)
    places = [i + 1 for i, event in enumerate(trace.cat) if event['event'] == name]
    at = 0
    for wanted in places[:20]:
        mark = trace.server.ask('search', number=at, kind=kind).mark
        same((int(mark['number']), mark['kind'], int(mark['time'])), (wanted, kind, trace.cat[wanted - 1]['ts']))
        at = wanted
    back = trace.server.ask('search', number=places[1], kind=kind, back=1)
    same((int(back.mark['number']), back.isWrapped), (places[0], False))
    around = trace.server.ask('search', number=places[-1], kind=kind)
    same((int(around.mark['number']), around.isWrapped), (places[0], True))
    around = trace.server.ask('search', number=places[0], kind=kind, back=1)
    same((int(around.mark['number']), around.isWrapped), (places[-1], True))


def nearest(trace):
    track = trace.tracks[-1]
    mark = trace.server.ask('nearest', track=track['track'], time=int(track['begin']) - 5).mark
    same((mark['time'], mark['track']), (track['begin'], track['track']))
    mark = trace.server.ask('nearest', track=track['track'], time=int(track['end']) + 5).mark
    same(mark['time'], track['end'])
    same(trace.server.ask('nearest', track=9999, time=0).mark, None)


def orders(trace):
    """By activity: by the counts of the tracks."""
    window = trace.window(1)
    order = trace.server.ask('activity', begin=window['begin'], end=window['end']).tracks
    same(sorted(order), [track['track'] for track in trace.tracks])
    events_of = [int(trace.tracks[track]['events']) for track in order]
    same(events_of, sorted(events_of, reverse=True))
    reply = trace.server.task('filter', text=trace.filters[0])
    chased = trace.server.ask('chase', filter=reply.id, number=1).tracks
    first = trace.server.ask('rows', first=0, count=1, filter=reply.id).rows[0]
    same((chased[0], sorted(chased)), (first['track'], sorted(order)))


def latency(trace):
    for pair in trace.pairs:
        for text in (None, *trace.filters, trace.pair_filter):
            measure(trace, pair, text)
    trace.server.refused('latency', 400, from_='none', to='such')
    trace.server.refused('latency', 404, from_=trace.pairs[0][0], to=trace.pairs[0][1], filter=99999)
    trace.server.refused('latency', 400, from_=trace.pairs[0][0], to=trace.pairs[0][1], low=5)


def measure(trace, pair, text):
    """Times from one kind to another, of the events that a filter selects; and the pairs of one bar."""
    key, id_ = ['--key', pair[2]] if len(pair) > 2 else [], trace.id_of(text)
    lines = trace.stat('latency', '--from', pair[0], '--to', pair[1], *key, '--worst', '100', filter_=text)
    total = next((line for line in lines if 'track' in line and line['track'] is None), {'count': 0})
    query = {'from_': pair[0], 'to': pair[1], 'key': pair[2] if len(pair) > 2 else None, 'filter': id_}
    reply = trace.server.task('latency', **query)
    same(int(reply.count), total['count'])
    if total['count']:
        same({name: int(getattr(reply, name)) for name in ('least', 'most', 'p50', 'p90', 'p99', 'p999')},
             {'least': total['min'], 'most': total['max'], **{name: total[name] for name in ('p50', 'p90', 'p99', 'p999')}})
        same(round(reply.mean, 1), round(total['mean'], 1))
    left_out = next((line for line in lines if 'without_begin' in line), Counter())
    same((int(reply.withoutBegin), int(reply.withoutEnd), int(reply.withoutKey), int(reply.overGaps)),
         tuple(left_out[name] for name in ('without_begin', 'without_end', 'without_key', 'over_lost_events')))
    same(sum(int(bucket['count']) for bucket in reply.buckets), total['count'])
    longest = [line for line in lines if 'longest' in line]
    same([(int(worst['duration']), int(worst['begin'])) for worst in reply.worst], [(line['longest'], line['begin']) for line in longest])
    for worst in reply.worst[:3]:
        event = trace.server.ask('event', number=worst['numberEnd'])
        same((event.name, event.time, event.track), (pair[1], worst['end'], worst['track']))
    drawn = trace.server.picture('tile', tracks=0, latency=reply.id, **trace.window(100))
    same((len(drawn), trace.number_of(drawn[1])), (2, total['count']))
    for bucket in reply.buckets:
        bar(trace, query, bucket, longest if len(longest) == total['count'] else None)


def bar(trace, query, bucket, longest):
    """The pairs of one bar are listed, and only they are drawn."""
    low, high = int(bucket['low']), int(bucket['high']) - 1
    reply = trace.server.task('latency', **query, low=low, high=high)
    same(int(reply.limited), int(bucket['count']))
    same(len(reply.pairs), min(int(bucket['count']), 1000))
    same(all(low <= int(pair['duration']) <= high for pair in reply.pairs), True)
    same([int(pair['end']) for pair in reply.pairs], sorted(int(pair['end']) for pair in reply.pairs))
    if longest is not None:
        same(sorted(int(pair['duration']) for pair in reply.pairs), sorted(line['longest'] for line in longest if low <= line['longest'] <= high))
    drawn = trace.server.picture('tile', tracks=0, latency=reply.id, **trace.window(100))
    same(trace.number_of(drawn[1]), int(bucket['count']))




def filtered_spans(trace):
    """All spans, of the events that a filter selects."""
    names = ('count', 'total', 'self', 'least', 'most', 'p50', 'p99')
    for text in (*trace.filters, trace.pair_filter):
        reply = trace.server.task('statistics', filter=trace.id_of(text))
        same(sorted((span['name'], *(int(span[name]) for name in names)) for span in reply.spans if int(span['count'])),
             sorted((row['span'], *(row[name] for name in ('count', 'total', 'self', 'min', 'max', 'p50', 'p99')))
                    for row in trace.stat('latency', filter_=text) if row.get('span') and row.get('count')))
    trace.server.refused('statistics', 404, filter=99999)


def spans(trace):
    rows_ = [line for line in trace.stat('latency') if line.get('span') and 'count' in line]
    ours = [{'span': span['name'], 'count': int(span['count']), 'total': int(span['total']), 'self': int(span['self']), 'min': int(span['least']),
             'p50': int(span['p50']), 'p99': int(span['p99']), 'max': int(span['most'])} for span in trace.server.ask('statistics').spans]
    def by_name(row):
        return row['span']
    same(sorted(ours, key=by_name), sorted(({name: row[name] for name in ours[0]} for row in rows_), key=by_name))
    lanes = [(track['track'], lane) for track in trace.tracks for lane in range(track['lanes'])]
    drawn = trace.server.picture('spans', rows=','.join(f'{track}:{lane}' for track, lane in lanes), **trace.window(500))
    same(sum(map(trace.number_of, drawn)), sum(row['count'] for row in rows_) - int(trace.state.undrawnSpans))
    row = next(place for place, cells in enumerate(drawn) if cells)
    cell = drawn[row][0]
    begin, end = int(trace.state.begin), int(trace.state.end) + 1
    found = None
    for step in range(2000):
        time = begin + ((end - begin) * (cell['pixel'] * 2000 + step)) // (500 * 2000)
        found = found or trace.server.ask('spanat', track=lanes[row][0], lane=lanes[row][1], time=time).span
        if found:
            break
    assert found and int(found['duration']) > 0 and found['name'], found


def percentile(values_, thousandths):
    """The smallest value that this number of thousandths is not above."""
    return values_[max(0, (len(values_) * thousandths + 999) // 1000 - 1)]


def histogram(trace):
    for text in (None, *trace.filters):
        reply = trace.server.task('histogram', field=trace.field, filter=trace.id_of(text))
        theirs = {row['from']: row['count'] for row in trace.stat('histogram', trace.field, filter_=text) if row.get('from', -1) >= 0}
        ours, exact = Counter(), Counter()
        for bucket in reply.buckets:
            ours[max(key for key in theirs if key <= int(bucket['low']))] += int(bucket['count'])
        same(dict(ours), {key: count for key, count in theirs.items() if count})
        values_ = sorted(event['fields'][trace.field] for event in events_printed(trace.path, text) if trace.field in event['fields'])
        for value in values_:
            exact[str(0 if value < 2 else 1 << (value.bit_length() - 1))] += 1
        same({bucket['low']: int(bucket['count']) for bucket in reply.buckets}, dict(exact))
        same(int(reply.count), len(values_))
        if values_ and len(values_) <= 4096:  # of more, percentiles are those of buckets
            same((int(reply.least), int(reply.most), int(reply.p50), int(reply.p90), int(reply.p99), int(reply.p999)),
                 (values_[0], values_[-1], *(percentile(values_, part) for part in (500, 900, 990, 999))))
            same(round(reply.mean, 6), round(sum(values_) / len(values_), 6))
    trace.server.refused('histogram', 404, field=trace.field, filter=99999)


def bar_of(value):
    """The begin of the bar of a floating-point number."""
    if value == 0:
        return 0.0
    part, exponent = math.frexp(abs(value))
    if exponent == 1024 and part > 0.5 and value < 0:
        return -math.inf
    return math.ldexp(0.5, exponent) if value > 0 else -math.ldexp(0.5, exponent) if part == 0.5 else -2 * math.ldexp(0.5, exponent)


def float_histogram():
    """A floating-point field: bars and what is in none are those of kymo stat histogram, and of the events."""
    with Server(KYMO, 'floats') as server:
        server.built()
        same([field['isNumeric'] for field in server.ask('fields').fields if field['name'] == 'x'], [True])
        for text in (None, 'i % 3 = 0', 'x > 0.25 AND x <= 1.5', 'i > 99999'):
            words = ['--filter', text] if text else []
            reply = server.task('histogram', field='x', filter=server.task('filter', text=text).id if text else None)
            stat = printed('stat', 'histogram', 'x', '--json', *words, 'floats')
            events = [event['fields']['x'] for event in events_printed('floats', text)]
            numbers = [value for value in events if not isinstance(value, str)]
            same({float(bar['from']): bar['count'] for bar in stat if 'from' in bar}, dict(Counter(map(bar_of, numbers))))
            same({bar['value']: bar['count'] for bar in stat if 'value' in bar}, dict(Counter(value for value in events if isinstance(value, str))))
            for bar in stat:
                assert 'value' in bar or all(value == bar['from'] == 0 or float(bar['from']) <= value < float(bar['to']) for value in numbers if bar_of(value) == float(bar['from'])), bar
            if not numbers:
                continue
            same([(bucket['low'], min(bucket['high'], sys.float_info.max), int(bucket['count'])) for bucket in reply.buckets],
                 [(max(float(bar['from']), -sys.float_info.max), min(float(bar['to']), sys.float_info.max), bar['count']) for bar in stat if 'from' in bar])
            same((int(reply.count), int(reply.notNumbers), int(reply.infinite)), (len(numbers), events.count('NaN'), len(events) - len(numbers) - events.count('NaN')))
            same((reply.least, reply.most), (min(numbers), max(numbers)))
            mean = math.fsum(value / len(numbers) for value in numbers)
            assert abs(reply.mean - mean) <= 1e-9 * max(map(abs, numbers)), (reply.mean, mean)


def texts(trace):
    for text in (None, *trace.filters):
        reply = trace.server.task('histogram', field=trace.text, filter=trace.id_of(text))
        theirs = {row[trace.text]: row['count'] for row in trace.stat('counts', '--by', trace.text, filter_=text) if row.get(trace.text) is not None}
        same(({value['text']: int(value['count']) for value in reply.values}, int(reply.all)), (theirs, len(theirs)))


def values(trace):
    """Count, minimum, maximum and last value of each pixel are those of the events that a filter selects, or of all."""
    window = trace.window(200)
    for text in (None, *trace.filters):
        content = trace.server.content('values', field=trace.field, filter=trace.id_of(text), tracks=','.join(str(track['track']) for track in trace.tracks), **window)
        wanted = {}
        for number, event in trace.events_of(text):
            if trace.field in event['fields']:
                pixel = (event['ts'] - int(window['begin'])) * 200 // (window['end'] - int(window['begin']))
                wanted.setdefault(pixel, []).append((event['ts'], number, event['fields'][trace.field]))
        cells = {}
        for row in rows_of(content):
            for cell in row:
                cells.setdefault(cell['pixel'], []).append(cell)
        same({pixel: (sum(cell['count'] for cell in list_), min(cell['least'] for cell in list_), max(cell['most'] for cell in list_)) for pixel, list_ in cells.items()},
             {pixel: (len(list_), min(item[2] for item in list_), max(item[2] for item in list_)) for pixel, list_ in wanted.items()})
        numbers = [item[2] for list_ in wanted.values() for item in list_]
        if numbers:
            same(range_of(content), (min(numbers), max(numbers)))
        else:
            assert all(math.isnan(number) for number in range_of(content))
    trace.server.refused('values', 404, field=trace.field, filter=99999, tracks=0, **window)


def values_of_texts(trace):
    """Texts are numbered as they come; their events are counted, and each pixel has the least and the newest number of its events."""
    window = trace.window(200)
    for text in (None, *trace.filters):
        picture, texts_ = texts_of(trace.server.content('values', field=trace.text, texts=1, filter=trace.id_of(text), tracks=','.join(str(track['track']) for track in trace.tracks), **window))
        wanted, seen, pixels = [], Counter(), {}
        for _, event in trace.events_of(text):
            value = event['fields'].get(trace.text, event.get('thread'))  # LTTng's procname
            if value is not None:
                if value not in seen:
                    wanted.append(value)
                seen[value] += 1
                pixels.setdefault((event['ts'] - int(window['begin'])) * 200 // (window['end'] - int(window['begin'])), []).append(value)
        same([(item['text'], int(item['length']), int(item['events'])) for item in texts_], [(value[:100], len(value.encode()), seen[value]) for value in wanted])
        cells = {}
        for row in rows_of(picture):
            for cell in row:
                cells.setdefault(cell['pixel'], []).append(cell)
        same({pixel: (sum(cell['count'] for cell in list_), min(cell['least'] for cell in list_), max(cell['most'] for cell in list_)) for pixel, list_ in cells.items()},
             {pixel: (len(list_), min(map(wanted.index, list_)), max(map(wanted.index, list_))) for pixel, list_ in pixels.items()})


def fields(trace):
    names = {field['name']: field['isNumeric'] for field in trace.server.ask('fields').fields}
    for event in trace.cat[:50]:
        for name, value in event['fields'].items():
            if isinstance(value, (int, float)):
                same(names.get(name), True)


def selection(trace):
    """What is in a window, with and without a filter, by brute force; spans as kymo stat latency has them in the window."""
    begin, end = int(trace.state.begin), int(trace.state.end)
    first, last = begin + (end - begin) // 4, begin + (end - begin) // 2
    inside = [event for event in trace.cat if first <= event['ts'] < last]
    reply = trace.server.task('selection', begin=first, end=last)
    names = {kind['kind']: kind['name'] for kind in trace.kinds}
    same(int(reply.events), len(inside))
    same({names[kind['kind']]: int(kind['events']) for kind in reply.kinds}, Counter(event['event'] for event in inside))
    same(sum(int(track['events']) for track in reply.tracks), len(inside))
    text = trace.filters[0]
    filter_ = trace.server.ask('filter', text=text)
    reply = trace.server.task('selection', begin=first, end=last, filter=filter_.id)
    wanted = [event['ts'] for event in events_printed(trace.path, text)]
    same(int(reply.events), sum(first <= time < last for time in wanted))
    slewed(trace, first, last, text, filter_.id)


def slewed(trace, first, last, text, id_):
    """Tracks that are shown earlier or later are in the window by the times at which they are shown."""
    length = last - first
    slews = {track['track']: [0, length // 3, -length, 2 ** 62, -7][track['track'] % 5] for track in trace.tracks if track['track'] % 5}
    rows_ = [row for at in range(0, len(trace.cat), 1000) for row in trace.server.ask('rows', first=at, count=1000).rows]
    kept = {number for number, _ in trace.events_of(text)}
    for filter_ in (None, id_):
        inside = [row for row in rows_ if first <= int(row['time']) + slews.get(row['track'], 0) < last and (not filter_ or int(row['number']) in kept)]
        query = {'begin': first, 'end': last, 'filter': filter_}
        reply = trace.server.task('selection', slew=','.join(f'{track}:{slew}' for track, slew in slews.items()) or None, **query)
        same({track['track']: int(track['events']) for track in reply.tracks}, Counter(row['track'] for row in inside))
        same({kind['kind']: int(kind['events']) for kind in reply.kinds}, Counter(row['kind'] for row in inside))
        same(int(reply.events), len(inside))
        all_ = ','.join(f"{track['track']}:{length}" for track in trace.tracks)
        moved, plain = trace.server.task('selection', slew=all_, **query), trace.server.task('selection', **{**query, 'begin': first - length, 'end': last - length})
        same((moved.events, moved.tracks, moved.kinds, moved.spans), (plain.events, plain.tracks, plain.kinds, plain.spans))
    for slew in ('x', '1', '1:', '1:2,', '1:2:3', '1:99999999999999999999', '-1:5', ','.join(['1:2'] * 257)):
        trace.server.refused('selection', 400, begin=first, end=last, slew=slew)


def anomaly(trace):
    for text in (None, trace.pair_filter):
        anomalies_of(trace, text)
    trace.server.refused('anomaly', 400, field=trace.field, threshold=0)
    trace.server.refused('anomaly', 404, field=trace.field, threshold=1, kind=9999)
    trace.server.refused('anomaly', 404, field=trace.field, threshold=1, filter=99999)


def anomalies_of(trace, text):
    """Mean and deviation of the population by track, of the events that a filter selects; what is above is found one after the other, and
    the end leads to the start."""
    numbers = [(number, event['fields'][trace.field]) for number, event in trace.events_of(text) if trace.field in event['fields']]
    track_of = {}
    for at in range(0, len(trace.cat), 1000):
        track_of.update((int(row['number']), row['track']) for row in trace.server.ask('rows', first=at, count=1000).rows)
    by_track = {}
    for number, value in numbers:
        by_track.setdefault(track_of[number], []).append((number, value))
    wanted, found = {}, []
    for track, list_ in by_track.items():
        mean = sum(value for _, value in list_) / len(list_)
        deviation = (sum((value - mean) ** 2 for _, value in list_) / len(list_)) ** 0.5
        high = [number for number, value in list_ if value - mean > 1.5 * deviation]
        wanted[track] = (len(list_), round(mean, 3), round(deviation, 3), len(high))
        found += high
    query = {'field': trace.field, 'threshold': 1.5, 'sides': 'high', 'filter': trace.id_of(text)}
    reply = trace.server.task('anomaly', **query)
    same({track['track']: (int(track['count']), round(track['mean'], 3), round(track['deviation'], 3), int(track['anomalies'])) for track in reply.tracks}, wanted)
    same(bool(found), True)
    found.sort(key=lambda number: (trace.cat[number - 1]['ts'], number))
    at = 0
    for number in found[:30]:
        at = int(trace.server.ask('anomaly/next', number=at, **query).mark['number'])
        same(at, number)
    same(int(trace.server.ask('anomaly/next', number=found[-1], **query).mark['number']), found[0])
    same(int(trace.server.ask('anomaly/next', number=found[1], back=1, **query).mark['number']), found[0])


def nearest_selected(trace):
    """With a filter: the nearest of those that it selects, by brute force."""
    reply = trace.server.task('filter', text=trace.filters[0])
    page = trace.server.ask('rows', first=0, count=1000, filter=reply.id)
    track = page.rows[0]['track']
    times = [int(row['time']) for row in page.rows if row['track'] == track]
    for time in (times[0] - 7, times[0], times[len(times) // 2] + 3, times[len(times) // 2] - 40):
        mark = trace.server.ask('nearest', track=track, time=time, filter=reply.id).mark
        same((abs(int(mark['time']) - time), mark['track']), (min(abs(other - time) for other in times), track))


def losses(trace):
    lost = json.loads(run([KYMO, 'info', '--json', trace.path]))
    said = trace.server.ask('losses').losses
    same(sum(int(loss['count'] or 0) for loss in said if not loss['isPackets']), int(trace.state.lostEvents))
    same(len(said), int(trace.state.losses))
    assert lost


def track_by(trace):
    """By class: a track for each kind; and back."""
    trace.server.ask('trackby', by='class')
    state = trace.server.built()
    same((state.trackBy, state.tracks), ('class', len(trace.kinds)))
    tracks_ = trace.server.ask('tracks').tracks
    same(Counter({track['name']: int(track['events']) for track in tracks_}), Counter({kind['name']: int(kind['events']) for kind in trace.kinds}))
    trace.server.refused('trackby', 400, by='field', field='there_is_no_such_field')
    same(trace.server.ask('state').trackBy, 'class')
    trace.server.ask('trackby', by='thread')
    trace.server.built()
    same(trace.server.ask('tracks').tracks, trace.tracks)


def compare(path, other):
    with Server(KYMO, '--compare', other, path) as server:
        server.built()
        differences = {(row['isSpan'], row['name']): row for row in server.task('compare').differences}
        for index, trace in enumerate((path, other)):
            rows_ = printed('stat', 'counts', '--by', 'event', '--json', trace)
            length = next(row['span'] for row in rows_ if row.get('event', '') is None)
            spans = {row['span']: row for row in printed('stat', 'latency', '--json', trace, statuses=(0, 1, 2)) if isinstance(row.get('span'), str)}
            wanted = {(False, row['event']): (row['count'], row['rate'], 0, 0) for row in rows_ if row.get('event') is not None}
            wanted.update({(True, name): (row['count'], row['count'] / length * 1e9, row['p50'], row['p99']) for name, row in spans.items() if row['count']})
            ours = {key: (int(row['counts'][index]), row['rates'][index], int(row['p50'][index]), int(row['p99'][index])) for key, row in differences.items()}
            same({key: (*row[:1], *row[2:]) for key, row in ours.items() if row[0]}, {key: (*row[:1], *row[2:]) for key, row in wanted.items()})
            for key, row in wanted.items():
                assert abs(ours[key][1] - row[1]) <= 1e-9 * row[1], (trace, key, ours[key], row)
        same(server.ask('state').compare, {'title': other})


def several(paths):
    """Traces that are opened together."""
    with Server(KYMO, '--force-correlate', *paths) as server:
        same(int(server.built().events), sum(len(events_printed(path)) for path in paths))


def main():
    traces = [('LTTng', 'kernel', ['value < 100 AND vtid = 103', 'EVENT = "k:tick"', 'EVERY 10 OF (EVENT = "k:tick")'], 'value % 5 > 0 AND vtid <> 101',
               [('syscall_entry_read', 'syscall_exit_read'), ('k:tick', 'k:irq_exit', 'value')], 'value', 'procname'),
              ('CPEL', 'random.cpel', ['datum < 10 AND track = "worker 3"', 'EVENT = "begin"'], 'NOT track = "worker 3" AND datum < 90',
               [('begin', 'end'), ('begin', 'end', 'datum')], 'datum'),
              ('packets', 'packets.pcap', ['caplen < 70'], 'caplen < 88', [('pcap:packet', 'pcap:packet')], 'caplen')]
    if os.path.exists('recorded'):
        traces.insert(0, ('recorded', 'recorded', ['EVENT = "job:step" AND i % 7 = 3', 'EVERY 10 OF (EVENT = "job:begin")',
                                                   'FILTER f; ACTIVITY pair FROM (EVENT = "job:begin") TO (EVENT = "job:end") SAME id WITHIN 1 s; SELECT pair OR EVENT = "job:end" FIRST 900.'],
                          'NOT id % 3 = 1', [('job:begin', 'job:end'), ('job:begin', 'job:end', 'id')], 'id'))
    for name, *rest in traces:
        trace = Trace(*rest)
        tests = [tracks, kinds, tiles, filters, rows, slewed_rows, events, search, nearest, nearest_selected, orders, selection, anomaly, histogram, values, fields, losses]
        tests += [latency] if trace.pairs else []
        tests += [texts, values_of_texts] if trace.text else []
        tests += [spans, filtered_spans] if int(trace.state.spans) else []
        for test in tests + [track_by]:
            check(f'{name}: {test.__name__}', test, trace)
        check(f'{name}: the server ends with status 0, without words', lambda server: same(server.stop(), (0, '')), trace.server)
    for pair in ('kernel', 'random.cpel'), ('kernel', 'spans.cpel'), *([('recorded', 'kernel'), ('spans.cpel', 'recorded')] if os.path.exists('recorded') else []):
        check(f'two traces are compared: {pair[0]} and {pair[1]}', compare, *pair)
    check('a histogram of floating-point numbers', float_histogram)
    check('several traces are one', several, ['kernel', 'random.cpel'])


main()
