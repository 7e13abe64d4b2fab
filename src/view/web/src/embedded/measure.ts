// SPDX-License-Identifier: MIT
// Statistics of pages without a server, as kymo stat computes them.
import type {Json} from '../protocol';
import type {Data, DrawnSpan, Event} from './data';
import {numberOf} from './data';

type Fields = {[name: string]: Json};

/** The smallest value that this number of thousandths is not above. */
export function percentile(sorted: readonly number[], thousandths: number): number {
  const {length} = sorted, wanted = Math.floor(length / 1000) * thousandths + Math.floor((length % 1000 * thousandths + 999) / 1000);
  return sorted[Math.max(0, Math.min(length - 1, wanted - 1))];
}

/** The power of two at which the bucket of a size begins; 0 for 0 and 1. */
function lowOf(size: number): number {
  if (size < 2)
    return 0;
  const low = 2 ** Math.floor(Math.log2(size));
  return low > size ? low / 2 : low * 2 <= size ? low * 2 : low;
}
export function buckets(values: readonly number[]): {low: number; high: number; count: number}[] {
  const found = new Map<string, {low: number; high: number; count: number}>();
  for (const value of values) {
    const low = lowOf(Math.abs(value)), high = low ? 2 * low : 2, key = `${value < 0} ${low}`, bucket = found.get(key);
    if (bucket)
      bucket.count++;
    else
      found.set(key, value < 0 ? {low: 1 - high, high: low ? 1 - low : 0, count: 1} : {low, high, count: 1});
  }
  return [...found.values()].sort((a, b) => a.low - b.low);
}

export function distribution(values: readonly number[]): Fields {
  const sorted = Float64Array.from(values).sort() as unknown as number[], total = values.reduce((sum, value) => sum + value, 0), {length} = sorted;
  if (length === 0)
    return {count: 0, buckets: []};
  return {count: length, least: sorted[0], most: sorted[length - 1], mean: total / length, p50: percentile(sorted, 500), p90: percentile(sorted, 900), p99: percentile(sorted, 990), p999: percentile(sorted, 999), buckets: buckets(values)};
}

/** Floating-point numbers: as the server has them, with a bar for zero and no percentiles. */
export function floatDistribution(values: readonly number[]): Fields {
  const found = new Map<number, {low: number; high: number; count: number}>(), finite = values.filter(Number.isFinite);
  for (const value of finite) {
    let low = 2 ** Math.floor(Math.log2(Math.abs(value)));
    low = value === 0 ? 0 : low > Math.abs(value) ? low / 2 : 2 * low <= Math.abs(value) ? 2 * low : low;
    const begin = value >= 0 ? low : -value === low ? value : -2 * low, bucket = found.get(begin);
    if (bucket)
      bucket.count++;
    else
      found.set(begin, {low: Math.max(-Number.MAX_VALUE, begin), high: Math.min(Number.MAX_VALUE, begin < 0 ? begin / 2 : 2 * begin), count: 1});
  }
  const notNumbers = values.filter(Number.isNaN).length, rest = {isFloat: true, notNumbers, infinite: values.length - finite.length - notNumbers};
  if (finite.length === 0)
    return {count: 0, buckets: [], ...rest};
  return {count: finite.length, least: finite.reduce((a, b) => Math.min(a, b)), most: finite.reduce((a, b) => Math.max(a, b)), mean: finite.reduce((sum, value) => sum + value / finite.length, 0), buckets: [...found.values()].sort((a, b) => a.low - b.low), ...rest};
}

/** Spans by their names. Those that are open have no end in the events. */
export function spanStatistics(spans: readonly DrawnSpan[]): Json[] {
  const inside = new Map<DrawnSpan, number>(), byName = new Map<string, DrawnSpan[]>();
  for (const span of spans.filter(item => !item.isOpen)) {
    const list = byName.get(span.name);
    if (list) list.push(span); else byName.set(span.name, [span]);
  }
  for (const lanes of lanesOf(spans).values())
    addInside(lanes, inside);
  return [...byName].map(([name, list]) => {
    const found = distribution(list.map(span => span.length)), total = list.reduce((sum, span) => sum + span.length, 0);
    return {...found, name, total, self: total - list.reduce((sum, span) => sum + (inside.get(span) ?? 0), 0), buckets: null};
  });
}
function lanesOf(spans: readonly DrawnSpan[]): Map<number, DrawnSpan[][]> {
  const tracks = new Map<number, DrawnSpan[][]>();
  for (const span of spans) {
    const lanes = tracks.get(span.track) ?? [];
    (lanes[span.lane] ??= []).push(span);
    tracks.set(span.track, lanes);
  }
  return tracks;
}
/** Adds the length of each closed span to the one around it, on the lane before. */
function addInside(lanes: DrawnSpan[][], inside: Map<DrawnSpan, number>): void {
  for (let lane = 1; lane < lanes.length; lane++) {
    const outer = lanes[lane - 1] ?? [];
    let at = 0;
    for (const span of lanes[lane] ?? []) {
      while (at + 1 < outer.length && outer[at + 1].at <= span.at)
        at++;
      const around = outer[at];
      if (around && !span.isOpen && around.at <= span.at && around.at + around.length >= span.at + span.length)
        inside.set(around, (inside.get(around) ?? 0) + span.length);
    }
  }
}

export interface Pair {
  from: Event;
  to: Event;
  length: number;
}

/** An end belongs to the latest begin of its thread (or of the same key) that has no end yet. */
export function pairs(data: Data, events: readonly Event[], from: string, to: string, key: string | undefined): {list: Pair[]; withoutBegin: number; withoutEnd: number; withoutKey: number} {
  const open = new Map<string, Event[]>(), list: Pair[] = [], names = data.kinds.kinds.map(kind => kind.name);
  let withoutBegin = 0, withoutKey = 0;
  for (const event of events) {
    const name = names[event.kind];
    if (name !== from && name !== to)
      continue;
    const value = key === undefined ? event.values.get('tid') ?? event.values.get('vtid') ?? `#${event.track}` : event.values.get(key);
    if (value === undefined) {
      withoutKey++;
      continue;
    }
    const begins = open.get(value), begin = name === to ? begins?.pop() : undefined;
    if (begin)
      list.push({from: begin, to: event, length: event.at - begin.at});
    else if (name === to && name !== from)
      withoutBegin++;
    if (name === from)
      if (begins) begins.push(event); else open.set(value, [event]);
  }
  return {list, withoutBegin, withoutKey, withoutEnd: [...open.values()].reduce((sum, events) => sum + events.length, 0)};
}

export interface AnomalyQuery {
  kind: number | null;
  field: string;
  threshold: number;
  sides: string;
}

/** g2's anomalies: by track, values beyond mean ± threshold · standard deviation of all. */
export function anomalies(data: Data, query: AnomalyQuery, test: ((event: Event) => boolean) | null): {tracks: Json[]; events: Event[]} {
  const tracks: Json[] = [], events: Event[] = [];
  data.byTrack.forEach((list, track) => {
    const found = list.flatMap(event => {
      const value = (query.kind === null || event.kind === query.kind) && (!test || test(event)) ? numberOf(event.values.get(query.field)) : null;
      return value === null ? [] : [{event, value}];
    });
    const n = found.length, mean = found.reduce((sum, item) => sum + item.value, 0) / n, deviation = Math.sqrt(found.reduce((sum, item) => sum + (item.value - mean) ** 2, 0) / n), away = query.threshold * deviation;
    const hits = found.filter(({value}) => query.sides !== 'low' && value - mean > away || query.sides !== 'high' && mean - value > away);
    events.push(...hits.map(item => item.event));
    const values = found.map(item => item.value);
    tracks.push({track, count: n, least: n ? values.reduce((a, b) => Math.min(a, b)) : null, most: n ? values.reduce((a, b) => Math.max(a, b)) : null, mean: n ? mean : null, deviation: n ? deviation : null, threshold: n ? mean + away : null, anomalies: hits.length});
  });
  return {tracks, events: events.sort((a, b) => a.index - b.index)};
}
