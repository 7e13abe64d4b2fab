// SPDX-License-Identifier: MIT
// Answers of a page without a server: the same replies as the server's, from the events in the page.
import type {Json} from '../protocol';
import {ReplyError} from '../protocol';
import type {Query, Transport} from '../source';
import type {Data, Event} from './data';
import {bare, floatOf, lowerBound, readData} from './data';
import {compileFilter} from './fdl';
import type {AnomalyQuery, Pair} from './measure';
import {anomalies, distribution, floatDistribution, pairs, spanStatistics} from './measure';
import type {PixelWindow} from './pictures';
import {spanPicture, tilePicture, valuePicture} from './pictures';

const TEXTS_MAX = 1000, WORST_MAX = 100, PAIRS_MAX = 1000, TASKS_MAX = 64;

interface Filtered {
  id: string;
  test: (event: Event) => boolean;
  events: Event[];
}

export class EmbeddedTransport implements Transport {
  readonly name = 'embedded';
  private data: Data;
  private filters = new Map<string, Filtered>();
  private pairsOf = new Map<string, {at: number; length: number; kind: number}[]>();
  private slewed: {key: string; events: Event[]} = {key: '', events: []};
  private fieldNames: {name: string; isNumeric: boolean}[] | null = null;

  constructor(json: Json) {
    this.data = readData(json);
  }

  async get(path: string, query: Query, signal?: AbortSignal): Promise<Json | ArrayBuffer> {
    await Promise.resolve();
    signal?.throwIfAborted();
    const answer = this.answers[path.replace('/api/', '')];
    if (!answer)
      throw new ReplyError('A page without a server cannot do this; kymo view can.', 404);
    return answer(query);
  }

  private readonly answers: {[name: string]: (query: Query) => Json | ArrayBuffer} = {
    state: () => this.data.json.state,
    tracks: query => { const all = this.data.json.tracks as Json[], first = Number(query.first ?? 0); return {total: all.length, tracks: all.slice(first, first + Number(query.count ?? all.length))}; },
    kinds: () => ({kinds: this.data.json.kinds ?? [], spanKinds: this.data.json.spanKinds ?? []}),
    fields: () => ({fields: this.fields().map(field => ({...field}))}),
    schema: () => ({}),
    losses: () => ({losses: this.data.json.losses ?? []}),
    problems: () => ({problems: this.data.json.problems ?? []}),
    tile: query => tilePicture(this.data, this.window(query), numbers(query.tracks), this.test(query), query.latency === undefined ? null : this.pairsAsSpans(String(query.latency))),
    spans: query => spanPicture(this.data, this.window(query), String(query.rows ?? '').split(',')),
    values: query => valuePicture(this.data, this.window(query), numbers(query.tracks), this.known(String(query.field)).name, this.test(query), query.texts !== undefined),
    nearest: query => ({mark: mark(this.nearest(Number(query.track), this.offset(query.time), this.test(query)))}),
    spanat: query => ({span: this.spanAt(`${query.track}:${query.lane}`, this.offset(query.time))}),
    event: query => this.event(Number(query.number)),
    rows: query => this.rows(query),
    rowof: query => ({row: this.rowOf(query)}),
    rowat: query => ({row: this.rowAt(query)}),
    search: query => this.search(query, this.filtered(query) ?? this.data.events),
    filter: query => this.filter(String(query.text)),
    latency: query => this.latency(query),
    histogram: query => this.histogram(this.known(String(query.field)), this.filtered(query) ?? this.data.events),
    statistics: () => ({state: 'done', spans: spanStatistics(this.data.spans), isOfAll: true}),
    selection: query => this.selection(query),
    anomaly: query => ({id: 'anomaly', state: 'done', done: 1, error: null, tracks: anomalies(this.data, this.anomalyQuery(query), this.test(query)).tracks}),
    'anomaly/next': query => this.search({number: query.number, back: query.back}, anomalies(this.data, this.anomalyQuery(query), this.test(query)).events),
    chase: query => ({tracks: this.chase(query)}),
    activity: query => ({tracks: this.activity(query)}),
    compare: () => { throw new ReplyError('There is nothing to compare with: kymo view --compare OTHER TRACE.', 404); },
  };

  // ---- of requests ----

  private offset(time: unknown): number {
    return Number(BigInt(String(time)) - this.data.begin);
  }
  private window(query: Query): PixelWindow {
    return {begin: this.offset(query.begin), end: this.offset(query.end), pixels: Number(query.pixels)};
  }
  private found(query: Query): Filtered | null {
    if (query.filter === undefined)
      return null;
    const filter = this.filters.get(String(query.filter));
    if (!filter)
      throw new ReplyError('There is no such filter.', 404);
    return filter;
  }
  private test(query: Query): ((event: Event) => boolean) | null {
    return this.found(query)?.test ?? null;
  }
  private filtered(query: Query): Event[] | null {
    return this.found(query)?.events ?? null;
  }
  private fields(): {name: string; isNumeric: boolean}[] {
    if (!this.fieldNames) {
      const isNumeric = new Map<string, boolean>();
      for (const event of this.data.events)
        for (const [name, value] of event.values)
          isNumeric.set(name, (isNumeric.get(name) ?? true) && floatOf(value) !== null);
      this.fieldNames = [...isNumeric].map(([name, numeric]) => ({name, isNumeric: numeric})).sort((a, b) => a.name < b.name ? -1 : 1);
    }
    return this.fieldNames;
  }
  private known(name: string): {name: string; isNumeric: boolean} {
    const field = this.fields().find(item => item.name === name);
    if (!field)
      throw new ReplyError(`No event has a field "${name}".`, 400);
    return field;
  }
  private needKind(name: string): string {
    if (!this.data.kinds.kinds.some(kind => kind.name === name))
      throw new ReplyError(`There is no kind "${name}".`, 400);
    return name;
  }
  private anomalyQuery(query: Query): AnomalyQuery {
    return {kind: query.kind === undefined ? null : Number(query.kind), field: this.known(String(query.field)).name, threshold: Number(query.threshold), sides: String(query.sides ?? 'high')};
  }

  // ---- events ----

  private nearest(track: number, at: number, test: ((event: Event) => boolean) | null): Event | undefined {
    const events = (this.data.byTrack[track] ?? []).filter(event => !test || test(event)), next = lowerBound(events, event => event.at < at), before = events[next - 1], after = events[next];
    return before && (!after || at - before.at <= after.at - at) ? before : after;
  }
  private spanAt(lane: string, at: number): Json {
    const spans = this.data.lanes.get(lane) ?? [], span = spans[lowerBound(spans, item => item.at <= at) - 1];
    return span && at <= span.at + span.length ? {begin: String(span.begin), duration: String(span.duration), kind: span.kind, name: span.name} : null;
  }
  private event(number: number): Json {
    const event = this.data.byNumber.get(number);
    if (!event)
      throw new ReplyError('There is no such event.', 404);
    return {...mark(event), name: this.data.kinds.kinds[event.kind]?.name ?? '', text: event.text, fields: event.fields.map(field => ({...field}))};
  }
  /** The time at which an event is shown: with the slew of its track. */
  private shown(query: Query): (event: Event) => number {
    const slews = new Map(String(query.slew ?? '').split(',').filter(Boolean).map(pair => pair.split(':').map(Number) as [number, number]));
    return event => event.at + (slews.get(event.track) ?? 0);
  }
  /** The events that are rows, in order. */
  private listed(query: Query): Event[] {
    const events = this.filtered(query) ?? this.data.events;
    if (query.slew === undefined)
      return events;
    const key = `${query.filter ?? ''} ${query.slew}`;
    if (this.slewed.key !== key) {
      const at = this.shown(query);
      this.slewed = {key, events: [...events].sort((a, b) => at(a) - at(b) || a.number - b.number)};
    }
    return this.slewed.events;
  }
  private rows(query: Query): Json {
    const all = this.listed(query), first = Number(query.first), rows = all.slice(first, first + Number(query.count));
    return {first, total: all.length, rows: rows.map(event => ({...mark(event), text: event.text}))};
  }
  private rowOf(query: Query): number {
    const events = this.listed(query), event = this.data.byNumber.get(Number(query.number)), index = event?.index ?? this.data.events.length;
    if (query.slew === undefined || !event)
      return query.filter === undefined ? index : lowerBound(events, other => other.index < index);
    const at = this.shown(query);
    return lowerBound(events, other => at(other) < at(event) || at(other) === at(event) && other.number < event.number);
  }
  private rowAt(query: Query): number {
    const events = this.listed(query), at = this.shown(query), time = this.offset(query.time), found = events.findIndex(event => at(event) >= time);
    return found < 0 ? events.length : found;
  }
  /** The order of the times that are shown. */
  private order(query: Query): (a: Event, b: Event) => number {
    const at = this.shown(query);
    return query.slew === undefined ? (a, b) => a.index - b.index : (a, b) => at(a) - at(b) || a.number - b.number;
  }
  private search(query: Query, events: readonly Event[]): Json {
    const order = this.order(query), wanted = [...events].sort(order).filter(event => (query.kind === undefined || event.kind === Number(query.kind)) && (query.track === undefined || event.track === Number(query.track)));
    const from = Number(query.number), isBack = Number(query.back) === 1, {length} = wanted;
    if (length === 0)
      return {mark: null, isWrapped: false};
    const here = this.data.byNumber.get(from), next = here ? lowerBound(wanted, event => order(event, here) < 0) : isBack && from === 0 ? length : 0;
    const at = isBack ? next - 1 : here && wanted[next] === here ? next + 1 : next;
    return {mark: mark(wanted[(at + length) % length]), isWrapped: at < 0 || at >= length};
  }

  // ---- what the server has tasks for ----

  private filter(text: string): Json {
    let filter = this.filters.get(text);
    try {
      if (!filter) {
        const test = compileFilter(text, this.data);
        filter = {id: text, test, events: this.data.events.filter(test)};
        if (this.filters.size >= TASKS_MAX)
          this.filters.delete([...this.filters.keys()][0]);
        this.filters.set(text, filter);
      }
      return {id: filter.id, state: 'done', done: 1, count: String(filter.events.length), error: null};
    } catch (error) {
      if (error instanceof ReplyError)
        return {id: null, state: 'failed', done: 1, count: '0', error: {message: error.message, column: error.column}};
      throw error;
    }
  }
  private latency(query: Query): Json {
    const from = this.needKind(String(query.from)), to = this.needKind(String(query.to)), key = query.key === undefined ? undefined : this.known(String(query.key)).name;
    const found = pairs(this.data, this.filtered(query) ?? this.data.events, from, to, key), id = JSON.stringify([from, to, key, query.filter, query.slew, String(query.low), String(query.high)]), at = this.shown(query);
    for (const pair of found.list)
      pair.length = at(pair.to) - at(pair.from);
    const time = (event: Event) => event.time + BigInt(at(event) - event.at);
    const isLimited = query.low !== undefined, limited = found.list.filter(pair => !isLimited || pair.length >= Number(query.low) && pair.length <= Number(query.high));
    const worst = [...found.list].sort((a, b) => b.length - a.length || a.from.index - b.from.index).slice(0, WORST_MAX);
    const shown = (pair: Pair) => ({begin: String(time(pair.from)), end: String(time(pair.to)), duration: String(time(pair.to) - time(pair.from)), numberBegin: pair.from.number, numberEnd: pair.to.number, track: pair.to.track});
    this.pairsOf.set(id, limited.map(pair => ({at: at(pair.from), length: pair.length, kind: 0})));
    return {
      ...distribution(found.list.map(pair => pair.length)), id, state: 'done', done: 1, error: null, withoutBegin: found.withoutBegin, withoutEnd: found.withoutEnd, withoutKey: found.withoutKey, overGaps: 0,
      worst: worst.map(shown), limited: isLimited ? limited.length : 0, pairs: isLimited ? limited.slice(0, PAIRS_MAX).map(shown) : [],
    };
  }
  private pairsAsSpans(id: string): {at: number; length: number; kind: number}[] {
    const list = this.pairsOf.get(id);
    if (!list)
      throw new ReplyError('There is no such latency.', 404);
    return list;
  }
  private histogram(field: {name: string; isNumeric: boolean}, events: readonly Event[]): Json {
    const values = events.flatMap(event => { const value = event.values.get(field.name); return value === undefined ? [] : [value]; }), head = {id: field.name, state: 'done', done: 1, error: null};
    if (field.isNumeric) {
      const found = values.map(value => floatOf(value) ?? NaN);
      return {...head, ...(found.every(Number.isInteger) ? distribution : floatDistribution)(found)};
    }
    const counts = new Map<string, number>();
    for (const value of values)
      counts.set(bare(value), (counts.get(bare(value)) ?? 0) + 1);
    return {...head, all: counts.size, values: [...counts].sort((a, b) => b[1] - a[1]).slice(0, TEXTS_MAX).map(([text, count]) => ({text, count}))};
  }
  private selection(query: Query): Json {
    const slews = new Map(String(query.slew ?? '').split(',').filter(Boolean).map(pair => pair.split(':').map(Number) as [number, number])), slew = (track: number) => slews.get(track) ?? 0;
    const begin = this.offset(query.begin), end = this.offset(query.end), events = (this.filtered(query) ?? this.data.events).filter(event => event.at + slew(event.track) >= begin && event.at + slew(event.track) < end);
    const tracks = this.data.tracks.map(() => 0), kinds = this.data.kinds.kinds.map(() => 0);
    for (const event of events) {
      tracks[event.track]++;
      kinds[event.kind]++;
    }
    return {
      id: 'selection', state: 'done', done: 1, error: null, isOfAll: true, events: events.length, tracks: tracks.map((count, track) => ({track, events: count})), kinds: kinds.map((count, kind) => ({kind, events: count})),
      spans: spanStatistics(this.data.spans.filter(span => span.at + slew(span.track) >= begin && span.at + slew(span.track) + span.length < end)),
    };
  }

  // ---- tracks in order ----

  private chase(query: Query): number[] {
    const order = this.order(query), start = this.data.byNumber.get(Number(query.number)) ?? this.data.events[0], isBack = Number(query.back) === 1, matches = [...this.filtered(query) ?? this.data.events].sort(order);
    const found = isBack ? matches.filter(event => order(event, start) <= 0).reverse() : matches.filter(event => order(event, start) >= 0);
    return [...new Set([...found, ...this.data.events].map(event => event.track)), ...this.data.tracks.map(track => track.track)].filter((track, i, all) => all.indexOf(track) === i);
  }
  private activity(query: Query): number[] {
    const begin = this.offset(query.begin), end = this.offset(query.end), counts = this.data.tracks.map(() => 0);
    for (const event of this.filtered(query) ?? this.data.events)
      if (event.at >= begin && event.at < end)
        counts[event.track]++;
    return this.data.tracks.map(track => track.track).sort((a, b) => counts[b] - counts[a] || a - b);
  }
}

function mark(event: Event): {time: string; number: number; track: number; kind: number};
function mark(event: Event | undefined): {time: string; number: number; track: number; kind: number} | null;
function mark(event: Event | undefined): {time: string; number: number; track: number; kind: number} | null {
  return event ? {time: String(event.time), number: event.number, track: event.track, kind: event.kind} : null;
}
function numbers(list: unknown): number[] {
  return String(list ?? '').split(',').filter(Boolean).map(Number);
}
