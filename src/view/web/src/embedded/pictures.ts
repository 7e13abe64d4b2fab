// SPDX-License-Identifier: MIT
// Pictures of pages without a server: cells of pixels, as the server computes them.
import {writePicture} from '../protocol';
import type {Range} from '../steps';
import type {Data, DrawnSpan, Event} from './data';
import {bare, lowerBound, numberOf} from './data';

export interface PixelWindow {
  /** Offsets from the begin of the trace; `end` is not in it. */
  begin: number;
  end: number;
  pixels: number;
}
interface Cell {
  pixel: number;
  doubles: number[];
  words: number[];
}

const NO_KIND = 0xffffffff, TEXTS_MAX = 255;

function pixelOf(window: PixelWindow, at: number): number {
  return Math.max(0, Math.min(window.pixels - 1, Math.floor((at - window.begin) * window.pixels / (window.end - window.begin))));
}
function addKind(cell: Cell, kind: number): void {
  const bit = kind % 64;
  if (bit < 32) cell.words[1] = (cell.words[1] | 1 << bit) >>> 0; else cell.words[2] = (cell.words[2] | 1 << bit - 32) >>> 0;
}

/** How many events are in each pixel, and the one that lasts longest until the next of its track. */
function eventCells(events: readonly Event[], window: PixelWindow, test: ((event: Event) => boolean) | null): Cell[] {
  const cells: Cell[] = [];
  for (let i = lowerBound(events, event => event.at < window.begin); i < events.length && events[i].at < window.end; i++) {
    const event = events[i];
    if (test && !test(event))
      continue;
    const pixel = pixelOf(window, event.at), lasts = i + 1 < events.length ? events[i + 1].at - event.at : 0;
    let cell = cells[cells.length - 1];
    if (cell?.pixel !== pixel)
      cells.push(cell = {pixel, doubles: [0, -1], words: [NO_KIND, 0, 0]});
    cell.doubles[0]++;
    if (lasts > cell.doubles[1]) {
      cell.doubles[1] = lasts;
      cell.words[0] = event.kind;
    }
    addKind(cell, event.kind);
  }
  return cells;
}

/** Spans of a lane: how many begin in a pixel, and the longest of those that are in it at any time. */
export function spanCells(spans: readonly Pick<DrawnSpan, 'at' | 'length' | 'kind'>[], window: PixelWindow): Cell[] {
  const cells = new Map<number, Cell>();
  for (const span of spans) {
    if (span.at >= window.end || span.at + span.length < window.begin)
      continue;
    const from = pixelOf(window, span.at), to = pixelOf(window, Math.max(span.at, span.at + span.length - 1));
    for (let pixel = from; pixel <= to; pixel++) {
      let cell = cells.get(pixel);
      if (!cell)
        cells.set(pixel, cell = {pixel, doubles: [0, -1], words: [NO_KIND, 0, 0]});
      if (pixel === from && span.at >= window.begin)
        cell.doubles[0]++;
      if (span.length > cell.doubles[1]) {
        cell.doubles[1] = span.length;
        cell.words[0] = span.kind;
      }
      addKind(cell, span.kind);
    }
  }
  return [...cells.values()].sort((a, b) => a.pixel - b.pixel);
}

export function tilePicture(data: Data, window: PixelWindow, tracks: readonly number[], test: ((event: Event) => boolean) | null, pairs: readonly Pick<DrawnSpan, 'at' | 'length' | 'kind'>[] | null): ArrayBuffer {
  const rows = tracks.map(track => eventCells(data.byTrack[track] ?? [], window, test));
  return writePicture(0, data.state.generation, window.pixels, pairs ? [...rows, spanCells(pairs, window)] : rows);
}
export function spanPicture(data: Data, window: PixelWindow, rows: readonly string[]): ArrayBuffer {
  return writePicture(1, data.state.generation, window.pixels, rows.map(row => spanCells(data.lanes.get(row) ?? [], window)));
}
function rangeOf(events: readonly Event[], field: string, test: ((event: Event) => boolean) | null): Range | null {
  const range = {least: Infinity, most: -Infinity};
  for (const event of events) {
    const value = test && !test(event) ? null : numberOf(event.values.get(field));
    if (value !== null) {
      range.least = Math.min(range.least, value);
      range.most = Math.max(range.most, value);
    }
  }
  return range.least <= range.most ? range : null;
}
/** The texts of a field, in the order in which they come first. */
function textsOf(events: readonly Event[], field: string, test: ((event: Event) => boolean) | null): Map<string, number> {
  const texts = new Map<string, number>();
  for (const event of events) {
    const value = test && !test(event) ? undefined : event.values.get(field);
    if (value !== undefined)
      texts.set(bare(value), (texts.get(bare(value)) ?? 0) + 1);
  }
  return texts;
}
export function valuePicture(data: Data, window: PixelWindow, tracks: readonly number[], field: string, test: ((event: Event) => boolean) | null, areTexts: boolean): ArrayBuffer {
  const texts = areTexts ? textsOf(data.events, field, test) : null, numbers = texts && new Map([...texts.keys()].map((text, i) => [text, Math.min(i, TEXTS_MAX)]));
  const valueOf = (event: Event) => { const text = event.values.get(field); return !numbers ? numberOf(text) : text === undefined ? null : numbers.get(bare(text)) ?? null; };
  const list = texts && [...texts].slice(0, TEXTS_MAX).map(([text, events]) => ({text, isCut: false, events})), range = texts ? texts.size ? {least: 0, most: Math.min(texts.size - 1, TEXTS_MAX)} : null : rangeOf(data.events, field, test);
  return writePicture(2, data.state.generation, window.pixels, tracks.map(track => {
    const cells: Cell[] = [], events = data.byTrack[track] ?? [];
    for (let i = lowerBound(events, event => event.at < window.begin); i < events.length && events[i].at < window.end; i++) {
      const value = valueOf(events[i]), pixel = pixelOf(window, events[i].at), last = cells[cells.length - 1];
      if (value === null || test && !test(events[i]))
        continue;
      if (last?.pixel === pixel)
        last.doubles = [last.doubles[0] + 1, Math.min(last.doubles[1], value), Math.max(last.doubles[2], value), value];
      else
        cells.push({pixel, doubles: [1, value, value, value], words: []});
    }
    return cells;
  }), range, list);
}
