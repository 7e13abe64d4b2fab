// SPDX-License-Identifier: MIT
// The events of a page without a server, in arrays. Times are also kept as offsets from the begin, in doubles: they are
// exact up to 104 days.
import type {EventDetail, Json, Span} from '../protocol';
import {count, fields, list, number, parseKinds, parseState, parseTrack, text, time} from '../protocol';
import type {Kinds, ServerState, Track} from '../protocol';

export interface Event extends Omit<EventDetail, 'name'> {
  index: number; // in the order of kymo cat
  at: number; // offset of its time
  values: Map<string, string>;
}

export interface DrawnSpan extends Span {
  track: number;
  lane: number;
  at: number;
  length: number;
  isOpen: boolean;
}

export interface Data {
  json: {[name: string]: Json};
  state: ServerState;
  tracks: Track[];
  kinds: Kinds;
  begin: bigint;
  events: Event[];
  /** Events of each track, by time. */
  byTrack: Event[][];
  byNumber: Map<number, Event>;
  spans: DrawnSpan[];
  /** "track:lane". */
  lanes: Map<string, DrawnSpan[]>;
}

export function readData(json: Json): Data {
  const from = fields(json), state = parseState(from.state), {begin} = state, tracks = list(from.tracks).map(parseTrack), kinds = parseKinds({kinds: from.kinds ?? [], spanKinds: from.spanKinds ?? []});
  const events = list(from.events).map((item, index): Event => {
    const event = fields(item), pairs = list(event.fields).map(pair => ({path: text(list(pair)[0]), text: text(list(pair)[1])})), at = time(event.time);
    return {index, number: count(event.number), time: at, at: Number(at - begin), track: count(event.track), kind: count(event.kind), text: text(event.text), fields: pairs, isGone: false, values: new Map(pairs.map(pair => [pair.path, pair.text]))};
  });
  const byTrack: Event[][] = tracks.map(() => []);
  for (const event of events)
    (byTrack[event.track] ??= []).push(event);
  for (const track of byTrack)
    track?.sort((a, b) => a.at - b.at || a.index - b.index);
  const lanes = new Map<string, DrawnSpan[]>(), spans = list(from.spans).map((item): DrawnSpan => {
    const span = fields(item), at = time(span.begin), duration = time(span.duration), kind = number(span.kind);
    return {track: count(span.track), lane: count(span.lane), begin: at, duration, kind, name: kinds.spanKinds[kind] ?? '', at: Number(at - begin), length: Number(duration), isOpen: span.isOpen === true};
  });
  for (const span of spans) {
    const key = `${span.track}:${span.lane}`, lane = lanes.get(key);
    if (lane) lane.push(span); else lanes.set(key, [span]);
  }
  for (const lane of lanes.values())
    lane.sort((a, b) => a.at - b.at);
  return {json: from, state, tracks, kinds, begin, events, byTrack, byNumber: new Map(events.map(event => [event.number, event])), spans, lanes};
}

/** The first place whose item is not before. */
export function lowerBound<T>(items: readonly T[], isBefore: (item: T) => boolean): number {
  let low = 0, high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(items[middle])) low = middle + 1; else high = middle;
  }
  return low;
}

/** The number at the begin of a field's text: "0x1f", "3 (OPEN)"; null: it is a text. */
export function numberOf(value: string | undefined): number | null {
  const found = value === undefined ? null : /^(-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?))(?=$|\s)/.exec(value);
  return found ? found[1].startsWith('-0x') ? -Number(found[1].slice(1)) : Number(found[1]) : null;
}
const OTHERS: {[text: string]: number} = {'nan': NaN, 'inf': Infinity, '-inf': -Infinity};
/** The same, with what a floating-point number may be besides. */
export function floatOf(value: string): number | null {
  return Object.hasOwn(OTHERS, value) ? OTHERS[value] : numberOf(value);
}
/** A text without the quotes around it. */
export function bare(value: string): string {
  return value.replace(/^"(.*)"$/s, '$1');
}
