// SPDX-License-Identifier: MIT
// Pictures of rows: which are kept, and which are asked for. One batch of requests is on its way at a time, always for the
// newest window; what is kept is drawn scaled until the exact one is here.
import type {App} from './app';
import {shownAt, windowOf} from './app';
import {decode} from './codes';
import type {Kept} from './columns';
import type {Picture, ValuePicture, ValueText} from './protocol';
import {ReplyError} from './protocol';
import type {GroupRow, Row, TrackRow} from './rows';
import {isAbort, pause} from './source';
import {PictureSum} from './sums';
import {colourField} from './state';
import type {Range} from './steps';
import type {Window} from './window';
import {isOfTimes, whole} from './window';

/** 'all': events without the page's filter; 'hit': those it selects; 'pairs': those of a latency; 'values', 'colours': of a field. */
export type Layer = 'all' | 'hit' | 'spans' | 'values' | 'colours' | 'pairs';

const LAYERS: Layer[] = ['all', 'hit', 'spans', 'values', 'colours', 'pairs'];
const isOfField = (layer: Layer) => layer === 'values' || layer === 'colours';
export const PAIRS_KEY = 'pairs';
const KEPT_MAX = 40, KEPT_CELLS_MAX = 3_000_000, // of a layer: some 100 MB
  TRACKS_MAX = 256, CELLS_MAX = 524288, PIXELS_MAX = 8192, // the server takes no more
  LANES_STEP = 64, // are asked for together
  OVERVIEW_PIXELS = 1024, OVERVIEW_MS = 1000, STALE_MS = 500, FRESH_MS = 200;

/** The rows that are seen, and which part of them: rows with many lanes are higher than the timeline. */
export interface Seen {
  rows: readonly Row[];
  top: number;
  height: number;
}
/** A row of a picture. */
interface Item {
  key: string;
  track: number;
  lane: number;
  members?: readonly number[]; // a folded group: the row is the sum of these tracks
}
/** Those of the visible rows, and of the tracks of the minimap. */
interface Items {
  rows: readonly Row[];
  place: number;
  overview: readonly number[];
  slew: ReadonlyMap<number, bigint>;
  tracks: Item[];
  lanes: Item[];
  all: Item[];
}

interface Request {
  layer: Layer;
  window: Window; // of the trace's times: without slew
  shown: Window; // as it is drawn
  pixels: number;
  rows: Item[];
  version: string;
  name: string;
}

const PAIRS: readonly Item[] = [{key: PAIRS_KEY, track: 0, lane: 0}];
export const trackKey = (track: number, slew: bigint) => slew ? `${track}+${slew}` : String(track);
const laneKey = (track: number, lane: number, slew: bigint) => `${trackKey(track, slew)}:${lane}`;

/** The keys of a row and of its lanes. A frame asks for them again and again. */
interface Keys {
  slew: bigint;
  key: string;
  lanes: string[];
}
const groups = new WeakMap<GroupRow, {slew: ReadonlyMap<number, bigint>; key: string}>();
/** The key of a folded group: other tracks, or other slews, are another sum. */
export function groupKey(row: GroupRow, slew: ReadonlyMap<number, bigint>): string {
  let found = groups.get(row);
  if (found?.slew !== slew)
    groups.set(row, found = {slew, key: `group ${row.members.map(({track}) => trackKey(track, slew.get(track) ?? 0n)).join()}`});
  return found.key;
}

const keys = new WeakMap<TrackRow, Keys>();
export function keysOf(row: TrackRow, slews: ReadonlyMap<number, bigint>): Keys {
  const {track} = row.track, slew = slews.get(track) ?? 0n;
  let found = keys.get(row);
  if (found?.slew !== slew)
    keys.set(row, found = {slew, key: trackKey(track, slew), lanes: Array.from({length: row.lanes}, (_, lane) => laneKey(track, lane, slew))});
  return found;
}

/** The lanes of a row that are seen, with some above and below; all if they are few. */
function lanesIn({top, height}: Seen, row: TrackRow): [from: number, to: number] {
  if (row.lanes <= LANES_STEP)
    return [0, row.lanes];
  const at = (y: number) => Math.floor((y - row.y - row.strip) / row.lane / LANES_STEP);
  return [Math.max(0, at(top) * LANES_STEP), Math.min(row.lanes, (at(top + height) + 1) * LANES_STEP)];
}

function isExact(kept: Kept, window: Window, pixels: number): boolean {
  return kept.pixels === pixels && kept.window.span === window.span && kept.window.begin === window.begin;
}
/** The rows that none of the pictures has. */
function missing(items: readonly Item[], pictures: readonly Kept[]): readonly Item[] {
  return items.every(item => pictures.some(kept => kept.rows.has(item.key))) ? NONE : items.filter(item => !pictures.some(kept => kept.rows.has(item.key)));
}
const NONE: readonly Item[] = [];

export class Pictures {
  private kept = new Map<string, Kept[]>();
  private batch: {abort: AbortController; since: number; names: string} | null = null;
  private clock = 0;
  private later = 0;
  private last: Items | null = null;
  private hasPairs = false; // their row is seen
  /** Nothing that is seen is missing. */
  isComplete = false;
  /** Counted for tests: answers with pictures. */
  received = 0;

  /** `changed` is called when there are new pictures. */
  constructor(private app: App, private changed: () => void) {}

  /** Pictures that may show a row; those of other filters and fields do not. */
  of(layer: Layer): readonly Kept[] {
    return this.kept.get(this.name(layer)) ?? [];
  }
  /** The range of the values that give the colours, and the texts that they are numbers of; null: they are not known yet. */
  colours(): {range: Range; texts: readonly ValueText[] | null} | null {
    const newest = this.of('colours').reduce<Kept | null>((found, kept) => found && found.used > kept.used ? found : kept, null), {range = null, texts = null} = newest ? newest.picture as ValuePicture : {};
    return range && {range, texts};
  }
  version(layer: Layer): string {
    const {model} = this.app, generation = model.dataGeneration, filter = layer === 'hit' ? model.filter : layer === 'all' ? model.base : null;
    if (layer === 'pairs')
      return `${generation}/${model.pairs.current?.reply.count}`;
    return `${generation}/${filter ? `${filter.count} ${filter.state} ${filter.indexed ?? ''}` : ''}`;
  }
  /** Pictures of other tracks are of no use any more. */
  clear(): void {
    this.kept.clear();
    this.batch?.abort.abort();
    this.batch = null;
  }

  private name(layer: Layer): string {
    const {model} = this.app;
    return layer === 'all' ? `all ${model.base?.text ?? ''}` : layer === 'hit' ? `hit ${model.filter?.text ?? ''}` : isOfField(layer) ? `values ${this.field(layer)} ${this.isOfTexts(layer) ? 'texts ' : ''}${model.filterText}` : layer === 'pairs' ? `pairs ${model.pairs.id}` : 'spans';
  }

  private field(layer: Layer): string {
    const {state} = this.app.store;
    return layer === 'values' ? state.field : colourField(state);
  }
  /** Whether the values of a layer are texts: colours can be of any field. */
  private isOfTexts(layer: Layer): boolean {
    return layer === 'colours' && this.app.model.fields.some(item => item.name === this.field(layer) && !item.isNumeric);
  }
  /** Whether pictures of a field can be asked for; both layers of one field of numbers have the same. */
  private hasField(layer: Layer): boolean {
    const {model, store} = this.app, field = this.field(layer), info = model.fields.find(item => item.name === field);
    return info !== undefined && !model.isFilterPending && (info.isNumeric ? !(layer === 'colours' && field === store.state.field) : layer === 'colours');
  }

  /** Asks for what is missing of the rows in this window. Call it after each change; it does no work twice. */
  want(seen: Seen, pixels: number, overview: readonly number[]): void {
    this.hasPairs = seen.rows.some(row => row.type === 'pairs');
    const window = windowOf(this.app), needed = this.plan(seen, window, Math.min(PIXELS_MAX, pixels), overview);
    this.isComplete = needed.length === 0;
    const wanted = this.isComplete ? this.surroundings(seen, window, Math.min(PIXELS_MAX, pixels), overview) : needed;
    if (wanted.length === 0)
      return;
    const names = wanted.map(request => `${request.name} ${request.window.begin} ${request.window.span} ${request.version}`).join('\n');
    if (this.batch) {
      if (this.batch.names !== names && performance.now() - this.batch.since > STALE_MS) {
        this.batch.abort.abort();
        this.batch = null;
      } else
        return;
    }
    const batch = {abort: new AbortController(), since: performance.now(), names};
    this.batch = batch;
    void this.run(wanted, batch).then(() => {
      if (this.batch === batch) {
        this.batch = null;
        this.changed();
      }
    });
  }

  private layers(): Layer[] {
    const {model, store} = this.app, {filter, hides} = store.state, isFiltered = filter.trim() !== '' && !model.filter?.error;
    return LAYERS.filter(layer => layer === 'all' ? !(isFiltered && hides) && (!model.base || model.base.id !== null)
      : layer === 'hit' ? isFiltered && model.filter?.id != null : isOfField(layer) ? this.hasField(layer) : layer === 'pairs' ? this.hasPairs && model.pairs.id !== null && model.tracks.length > 0 : true);
  }

  private plan(seen: Seen, window: Window, pixels: number, overview: readonly number[]): Request[] {
    const requests: Request[] = [], all = whole(this.app.model.bounds), items = this.itemsOf(seen, overview);
    for (const layer of this.layers()) {
      const version = this.version(layer), list = this.of(layer), wanted = this.items(layer, items);
      const coarse = list.filter(kept => this.isOverview(kept, all, version)), exact = list.filter(kept => isExact(kept, window, pixels) && kept.version === version);
      this.ask(requests, layer, missing(layer === 'all' || layer === 'hit' ? items.all : wanted, coarse), all, OVERVIEW_PIXELS, version);
      this.ask(requests, layer, missing(wanted, exact), window, pixels, version);
    }
    return requests;
  }

  /** What is beside the window, for moving. */
  private surroundings(seen: Seen, window: Window, pixels: number, overview: readonly number[]): Request[] {
    const requests: Request[] = [], wide = {begin: window.begin - window.span / 2n, span: window.span * 2n}, items = this.itemsOf(seen, overview);
    if (pixels * 2 > PIXELS_MAX || window.span >= whole(this.app.model.bounds).span || !isOfTimes(wide))
      return requests;
    for (const layer of this.layers())
      if (!isOfField(layer))
        this.ask(requests, layer, missing(this.items(layer, items), this.of(layer).filter(kept => isExact(kept, wide, pixels * 2))), wide, pixels * 2, this.version(layer));
    return requests;
  }

  /** The rows that pictures have, found once for each change of the visible rows. */
  private itemsOf(seen: Seen, overview: readonly number[]): Items {
    const {slew} = this.app.store.state, {last} = this, {rows} = seen, place = rows.some(row => row.type === 'track' && row.lanes > LANES_STEP) ? seen.top : 0;
    if (last && last.rows === rows && last.place === place && last.overview === overview && last.slew === slew)
      return last;
    const trackRows = rows.filter((row): row is TrackRow => row.type === 'track'), folded = rows.filter((row): row is GroupRow => row.type === 'group' && row.isCollapsed);
    const own = trackRows.map(row => ({key: keysOf(row, slew).key, track: row.track.track, lane: 0})), known = new Set(own.map(item => item.key));
    const tracks = [...own, ...folded.map(row => ({key: groupKey(row, slew), track: -1, lane: 0, members: row.members.map(({track}) => track)}))];
    const others = overview.map(track => ({key: trackKey(track, slew.get(track) ?? 0n), track, lane: 0})).filter(item => !known.has(item.key));
    const lanes = trackRows.flatMap(row => {
      const [from, to] = lanesIn(seen, row);
      return keysOf(row, slew).lanes.slice(from, to).map((key, i) => ({key, track: row.track.track, lane: from + i}));
    });
    return this.last = {rows, place, overview, slew, tracks, lanes, all: [...tracks, ...others]};
  }
  private items(layer: Layer, items: Items): readonly Item[] {
    return layer === 'pairs' ? PAIRS : layer === 'spans' ? items.lanes : isOfField(layer) ? items.tracks.filter(item => !item.members) : items.tracks;
  }

  /** A picture of the whole trace; while that grows, an older one will do for a second. */
  private isOverview(kept: Kept, all: Window, version: string): boolean {
    if (kept.window.span * 4n < all.span * 3n || kept.pixels < OVERVIEW_PIXELS)
      return false;
    const age = performance.now() - kept.at, isFresh = kept.version === version && kept.window.span === all.span || age < OVERVIEW_MS;
    if (isFresh && (kept.version !== version || kept.window.span !== all.span)) {
      clearTimeout(this.later);
      this.later = window.setTimeout(this.changed, OVERVIEW_MS - age + 1);
    }
    return isFresh;
  }

  /** Adds requests for the rows: tracks of the same slew together, no more than the server takes. */
  private ask(requests: Request[], layer: Layer, items: readonly Item[], shown: Window, pixels: number, version: string): void {
    if (items.length === 0)
      return;
    const bySlew = new Map<bigint, Item[]>();
    for (const item of items) {
      if (item.members) {
        requests.push({layer, window: shown, shown, pixels, rows: [item], version, name: this.name(layer)});
        continue;
      }
      const slew = shownAt(this.app, {time: 0n, track: item.track}), group = bySlew.get(slew);
      if (group) group.push(item); else bySlew.set(slew, [item]);
    }
    for (const [slew, group] of bySlew)
      for (let i = 0, most = Math.min(TRACKS_MAX, Math.floor(CELLS_MAX / pixels)); i < group.length; i += most)
        requests.push({layer, window: {begin: shown.begin - slew, span: shown.span}, shown, pixels, rows: group.slice(i, i + most), version, name: this.name(layer)});
  }

  private async run(requests: Request[], batch: {abort: AbortController}): Promise<void> {
    const {signal} = batch.abort;
    await pause(0, signal).catch(() => {}); // the frame that asks is drawn first: to send takes as long as many rows
    if (signal.aborted)
      return;
    await Promise.all(requests.map(async request => {
      try {
        const picture = await this.fetch(request, signal);
        if (picture && !signal.aborted)
          this.keep(request, picture);
      } catch (error) {
        if (isAbort(error) || signal.aborted)
          return;
        if (error instanceof ReplyError && error.status >= 400 && request.layer !== 'spans')
          request.layer === 'pairs' ? this.app.model.pairs.start() : this.app.model.refilter(true); // its task may be freed
        else
          this.app.say(error instanceof Error ? error.message : String(error));
        await pause(STALE_MS, signal).catch(() => {});
      }
    }));
  }

  private async fetch(request: Request, signal: AbortSignal): Promise<Picture | ValuePicture | null> {
    const {source, model} = this.app, {begin, span} = request.window, query = {begin, end: begin + span, pixels: request.pixels};
    const tracks = request.rows.map(row => row.track), [{members}] = request.rows;
    if (members)
      return this.sum(members, request, signal);
    if (request.layer === 'spans')
      return source.spans({...query, rows: request.rows}, signal);
    if (isOfField(request.layer)) {
      const picture = await source.values({...query, tracks, field: this.field(request.layer), filter: model.filterId, texts: this.isOfTexts(request.layer) ? 1 : undefined}, signal);
      if (!picture)
        await pause(FRESH_MS, signal);
      return picture;
    }
    if (request.layer === 'pairs') // the last row of the reply
      return source.tile({...query, begin: request.shown.begin, end: request.shown.begin + span, tracks: [0], latency: model.pairs.id ?? undefined}, signal);
    return source.tile({...query, tracks, filter: (request.layer === 'hit' ? model.filter : model.base)?.id ?? undefined}, signal);
  }

  /** The sum of tracks, no more of them at a time than the server takes. */
  private async sum(members: readonly number[], {layer, shown, pixels}: Request, signal: AbortSignal): Promise<Picture> {
    const {source, model, store} = this.app, bySlew = new Map<bigint, number[]>(), total = new PictureSum(pixels), most = Math.min(TRACKS_MAX, Math.floor(CELLS_MAX / pixels));
    for (const track of members) {
      const slew = store.state.slew.get(track) ?? 0n, group = bySlew.get(slew);
      if (group) group.push(track); else bySlew.set(slew, [track]);
    }
    for (const [slew, tracks] of bySlew)
      for (let i = 0; i < tracks.length; i += most)
        total.add(await source.tile({begin: shown.begin - slew, end: shown.begin - slew + shown.span, pixels, tracks: tracks.slice(i, i + most), filter: (layer === 'hit' ? model.filter : model.base)?.id ?? undefined}, signal));
    return total.picture();
  }

  private keep(request: Request, picture: Picture | ValuePicture): void {
    const list = (this.kept.get(request.name) ?? []).filter(kept => isOfSameTexts(kept.picture, picture)), rows = new Map(request.rows.map((row, i) => [row.key, request.layer === 'pairs' ? picture.rows - 1 : i]));
    const {densest, sums} = measured(picture);
    const isSame = (kept: Kept) => isExact(kept, request.shown, request.pixels);
    const isOlder = (kept: Kept) => isSame(kept) || kept.pixels === OVERVIEW_PIXELS && request.pixels === OVERVIEW_PIXELS && kept.window.span * 4n >= request.shown.span * 3n;
    for (const kept of list.filter(isOlder)) // newer rows replace older ones of the same picture
      for (const key of rows.keys())
        kept.rows.delete(key);
    const added: Kept = {window: request.shown, pixels: request.pixels, version: request.version, picture, rows, densest, sums, used: ++this.clock, at: performance.now()};
    list.push(added);
    if (picture.type !== 'values')
      decode(added);
    const span = whole(this.app.model.bounds).span, there = list.filter(kept => kept.rows.size > 0), isOverview = (kept: Kept) => kept.window.span * 4n >= span * 3n && kept.pixels === OVERVIEW_PIXELS;
    let cells = 0;
    const moving = there.filter(kept => !isOverview(kept)).sort((a, b) => b.used - a.used).slice(0, KEPT_MAX).filter((kept, i) => (cells += kept.picture.count.length) <= KEPT_CELLS_MAX || i < 2);
    const overviews = there.filter(isOverview).sort((a, b) => b.used - a.used).slice(0, KEPT_MAX * 2);
    this.kept.set(request.name, [...overviews, ...moving]);
    if (this.kept.size > 24)
      for (const name of [...this.kept.keys()].filter(key => !LAYERS.some(layer => this.name(layer) === key)).slice(0, this.kept.size - 24))
        this.kept.delete(name);
    this.received++;
    this.changed();
  }
}

/** Texts of a live trace have other numbers when the first ones are overwritten. */
function isOfSameTexts(a: Picture | ValuePicture, b: Picture | ValuePicture): boolean {
  return a.type !== 'values' || b.type !== 'values' || !a.texts || !b.texts || a.texts.every(({text}, i) => b.texts?.[i]?.text === text);
}

/** The highest count of a cell, and the sum of each row. */
function measured({rows, start, count}: Picture | ValuePicture): {densest: number; sums: Float64Array} {
  const sums = new Float64Array(rows);
  let densest = 0;
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let cell = start[row], end = start[row + 1]; cell < end; cell++) {
      sum += count[cell];
      if (count[cell] > densest)
        densest = count[cell];
    }
    sums[row] = sum;
  }
  return {densest, sums};
}
